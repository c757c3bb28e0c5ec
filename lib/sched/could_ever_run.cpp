#include <fmt/format.h>

#include <algorithm>

#include "sched/eligible/eligible.hpp"
#include "sched/feasible/fitting_nodes.hpp"
#include "sched/pass.hpp"
#include "sched/placement/chooser.hpp"

namespace sy::sched {

namespace {

// A plain request fits a joined tree exactly when it fits without one: no need to look at the topology.
bool wishes_about_topology(const ClusterShape& shape, std::size_t p, const Group& g) {
  const auto* t = topology_of(shape, p);
  const bool plain = t == nullptr || t->kind == Topology::Kind::flat || (t->kind == Topology::Kind::tree && t->joined);
  return !plain || !g.children.empty() || g.replicas > 1 || !g.segments.empty() || !g.spread.empty() || !g.exclusive_level.empty() ||
         !g.pack.prefer.empty() || !g.pack.require.empty() || !g.pack.ladder.empty();
}

Verdict in_partition(const ClusterShape& shape, std::size_t p, const Settings& settings, const JobSpec& spec, Uid uid) {
  Verdict limits = within_partition(shape.partitions[p], spec, settings);
  if (limits.kind == Verdict::Kind::never) return limits;
  auto fitting = fitting_nodes(shape, p, settings, spec.groups.front(), uid, /*by_kind_only=*/true);
  if (!fitting) {
    Verdict v;
    v.kind = Verdict::Kind::never;
    v.reason = Reason::bad_constraints;
    Error e = fitting.error();
    e.hint.clear();  // the one who refuses adds its own
    v.detail = to_text(e);
    return v;
  }
  const Group& group = spec.groups.front();
  if (!wishes_about_topology(shape, p, group)) return fits_when_idle(shape, p, *fitting, group);
  Verdict v =
      placement::place_on_idle(with_partition(shape, p, settings, group), shape, *index_of(shape, p), options_for(shape, p, uid)).verdict;
  if (v.fits() || v.reason == Reason::search_limit) return Verdict{};
  v.kind = Verdict::Kind::never;
  v.reason = Reason::bad_constraints;
  return v;
}

}  // namespace

// Any of its partitions is enough; when none is, the last one's reason stands for all.
Verdict could_ever_run(const ClusterShape& shape, const Settings& settings, const JobSpec& spec, Uid uid) {
  Verdict worst = partition_is_gone(spec.partitions.empty() ? "(default)" : spec.partitions.front());
  for (std::size_t p = 0; p < shape.partitions.size(); ++p) {
    const Partition& part = shape.partitions[p];
    const bool asked = spec.partitions.empty()
                           ? part.is_default
                           : std::find(spec.partitions.begin(), spec.partitions.end(), part.name) != spec.partitions.end();
    if (!asked) continue;
    Verdict v = in_partition(shape, p, settings, spec, uid);
    if (v.fits()) return v;
    worst = std::move(v);
  }
  return worst;
}

}  // namespace sy::sched

#include <fmt/format.h>

#include <algorithm>

#include "sched/eligible/eligible.hpp"
#include "sched/feasible/fitting_nodes.hpp"
#include "sched/pass.hpp"

namespace sy::sched {

namespace {

Verdict in_partition(const ClusterShape& shape, std::size_t p, const Settings& settings, const JobSpec& spec, Uid uid) {
  Verdict limits = within_partition(shape.partitions[p], spec, settings);
  if (limits.kind == Verdict::Kind::never) return limits;
  auto fitting = fitting_nodes(shape, p, settings, spec.groups.front(), uid);
  if (!fitting) {
    Verdict v;
    v.kind = Verdict::Kind::never;
    v.reason = Reason::bad_constraints;
    v.detail = to_text(fitting.error());
    return v;
  }
  return fits_when_idle(shape, p, *fitting, spec.groups.front());
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

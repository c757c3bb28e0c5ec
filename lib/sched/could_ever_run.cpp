#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/hostlist.hpp"
#include "sched/eligible/eligible.hpp"
#include "sched/feasible/fitting_kinds.hpp"
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

// A submission is on the controller's loop: a gang that is not known to fit after so many steps is accepted.
constexpr std::uint64_t steps_at_submission = 10'000;

Verdict never_for(Error error) {
  Verdict v;
  v.kind = Verdict::Kind::never;
  v.reason = Reason::bad_constraints;
  error.hint.clear();  // the one who refuses adds its own
  v.detail = to_text(error);
  return v;
}

// What no node could hold is told of a group as of a job.
Verdict each_group_by_itself(const ClusterShape& shape, std::size_t p, const Settings& settings, const Group& g, Uid uid) {
  for (const auto& child : g.children)
    if (Verdict v = each_group_by_itself(shape, p, settings, child, uid); !v.fits()) return v;
  if (!g.children.empty()) return {};
  const auto fitting = fitting_kinds(shape, p, settings, g, uid);
  Verdict v = fitting ? fits_when_idle(shape, p, *fitting, g) : never_for(fitting.error());
  if (fitting && v.fits() && !fitting->decide) v = named_nodes_suit(shape, *fitting, g);
  if (!v.fits() && !g.name.empty()) v.detail = fmt::format("group {}: {}", g.name, v.detail);
  return v;
}

Verdict in_partition(const ClusterShape& shape, std::size_t p, const Settings& settings, const JobSpec& spec, Uid uid) {
  Verdict limits = within_partition(shape.partitions[p], spec, settings);
  if (limits.kind == Verdict::Kind::never) return limits;
  const Group& group = spec.groups.front();
  const bool wishes = wishes_about_topology(shape, p, group);
  if (!group.children.empty())
    if (Verdict v = each_group_by_itself(shape, p, settings, group, uid); !v.fits()) return v;
  if (!wishes) {
    const auto fitting = fitting_kinds(shape, p, settings, group, uid);
    if (!fitting) return never_for(fitting.error());
    Verdict v = fits_when_idle(shape, p, *fitting, group);
    if (v.fits() && !fitting->decide) v = named_nodes_suit(shape, *fitting, group);
    if (fitting->decide || !v.fits()) return v;
  }
  auto options = options_for(shape, p, settings, uid);
  options.budget = steps_at_submission;
  Verdict v = placement::place_on_idle(with_partition(shape, p, settings, group), shape, *index_of(shape, p), options).verdict;
  if (v.fits() || v.reason == Reason::search_limit) return Verdict{};
  v.kind = Verdict::Kind::never;
  v.reason = Reason::bad_constraints;
  const std::string& name = shape.partitions[p].name;
  if (!wishes && !v.causes.empty())
    v.detail = v.offered == 0 && !group.exclude.empty()
                   ? fmt::format("--exclude leaves no node of partition {} that could hold it", name)
                   : fmt::format("the nodes that could hold it in partition {} do not together satisfy {}", name, not_together(group));
  return v;
}

bool asked_for(const Partition& p, const JobSpec& spec) {
  return spec.partitions.empty() ? p.is_default
                                 : std::find(spec.partitions.begin(), spec.partitions.end(), p.name) != spec.partitions.end();
}

bool has_wishes(const Group& g) {
  return !g.children.empty() || g.replicas > 1 || !g.segments.empty() || !g.spread.empty() || !g.exclusive_level.empty() ||
         !g.pack.prefer.empty() || !g.pack.require.empty() || !g.pack.ladder.empty() || !g.affinity.empty() || !g.anti_affinity.empty() ||
         g.switches || g.contiguous;
}

Error branch_error(const model::TopologyIndex& t, const Group& g, std::string message) {
  return {Code::invalid_argument, std::move(message), "--within",
          t.known_levels(),       g.pack.require,     "require a level that these nodes have"};
}

// Branches may differ in depth: the level required must be there where the nodes are.
Result<void> check_branches(const ClusterShape& shape, std::size_t p, const model::TopologyIndex& t, const Group& g) {
  for (const auto& child : g.children)
    if (auto ok = check_branches(shape, p, t, child); !ok) return ok;
  const auto level = g.pack.require.empty() ? std::nullopt : t.find_level(g.pack.require);
  if (!level || *level < 0 || *level == t.node_level()) return {};
  const auto has_level = [&](std::uint32_t node) {
    const auto at = t.position_of(node);
    return at >= 0 && t.ancestor(t.leaf_at(static_cast<std::uint32_t>(at)), *level) >= 0;
  };
  bool any = false;
  shape.partitions[p].nodes.for_each([&](NodeIndex n) { any = any || has_level(n.value); });
  if (!any)
    return fail(branch_error(t, g, fmt::format("no node of partition {} is in a {}", shape.partitions[p].name, t.level_name(*level))));
  const auto named = base::expand_hostlist(g.nodelist);
  if (g.nodelist.empty() || !named || named->size() > g.nodes.min) return {};  // a list to choose from
  for (const auto& name : *named) {
    const auto found = std::find_if(shape.nodes.begin(), shape.nodes.end(), [&](const auto& n) { return n.name == name; });
    if (found != shape.nodes.end() && !has_level(static_cast<std::uint32_t>(found - shape.nodes.begin())))
      return fail(branch_error(t, g, fmt::format("node {} hangs on a branch without a {}", name, t.level_name(*level))));
  }
  return {};
}

}  // namespace

Result<void> check_wishes(const ClusterShape& shape, const JobSpec& spec, std::vector<std::string>& warnings) {
  const Group& group = spec.groups.front();
  if (!has_wishes(group)) return {};
  Result<void> worst{};
  for (std::size_t p = 0; p < shape.partitions.size(); ++p) {
    if (!asked_for(shape.partitions[p], spec)) continue;
    const auto index = index_of(shape, p);
    auto ok = placement::check_request(group, *index);
    if (ok) ok = check_branches(shape, p, *index, group);
    if (ok) {
      for (auto& w : placement::warnings(group, *index)) warnings.push_back(std::move(w));
      return {};
    }
    worst = std::move(ok);
    if (shape.topologies.empty() || topology_of(shape, p) != nullptr) continue;
    const auto& part = shape.partitions[p];
    const auto known = fmt::format("{}", fmt::join(std::views::keys(shape.topologies), ", "));
    worst.error().hint =
        part.topology.empty() && shape.default_topology.empty()
            ? fmt::format("partition {} uses no topology: \"topology\" there or \"default_topology\" in the configuration names it ({})",
                          part.name, known)
            : fmt::format("partition {} names topology {}, which is not in force ({}): ask your administrator", part.name,
                          topology_name(part, shape.default_topology), known);
  }
  return worst;
}

// Any of its partitions is enough; when none is, the last one's reason stands for all.
Verdict could_ever_run(const ClusterShape& shape, const Settings& settings, const JobSpec& spec, Uid uid) {
  Verdict worst = partition_is_gone(spec.partitions.empty() ? "(default)" : spec.partitions.front());
  for (std::size_t p = 0; p < shape.partitions.size(); ++p) {
    const Partition& part = shape.partitions[p];
    if (!asked_for(part, spec)) continue;
    Verdict v = in_partition(shape, p, settings, spec, uid);
    if (v.fits()) return v;
    worst = std::move(v);
  }
  return worst;
}

}  // namespace sy::sched

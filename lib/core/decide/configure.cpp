#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"
#include "core/evolve/configuration.hpp"

namespace sy::core::verbs {

namespace {

Result<void> names_are_good(const State& state, const Configure& c) {
  std::set<std::string> nodes, partitions;
  for (const auto& d : c.nodes)
    if (d.name.empty() || d.name == "ALL" || !nodes.insert(d.name).second)
      return fail(Code::invalid_argument, "node is named twice, or not at all", "nodes", d.name);
  std::size_t defaults = 0;
  for (const auto& d : c.partitions) {
    if (d.settings.name.empty() || !partitions.insert(d.settings.name).second)
      return fail(Code::invalid_argument, "partition is named twice, or not at all", "partitions", d.settings.name);
    if (d.settings.is_default && ++defaults > 1)
      return fail(Code::invalid_argument, "only one partition can be the default", "partitions", d.settings.name);
    for (const auto& name : d.node_names) {
      const Node* enrolled = state.find_node(name);
      if (name == "ALL" || nodes.contains(name) || (enrolled != nullptr && !enrolled->declared)) continue;
      return fail(Code::invalid_argument, fmt::format("partition {} names a node that is not there", d.settings.name), "partitions", name,
                  "declare it under nodes, or write ALL");
    }
  }
  return {};
}

// Running jobs keep what they hold: their nodes may not vanish, shrink below it, or renumber GRES that is in use.
Result<void> running_jobs_are_safe(const State& before, const State& after) {
  for (const auto& node : before.nodes) {
    if (node.removed || node.jobs.empty()) continue;
    const Node& then = after.nodes[node.index.value];
    const std::string hint = fmt::format("drain node {} and wait for its {} jobs", node.name, node.jobs.size());
    if (then.removed) return fail(Code::conflict, fmt::format("jobs run on node {}", node.name), "nodes", node.name, hint);
    if (!node.held.fits_in(then.total) && node.held.fits_in(node.total))
      return fail(Code::conflict, fmt::format("jobs hold more of node {} than it would have", node.name), "nodes", node.name, hint);
    const bool same_gres =
        std::equal(node.shape.gres.begin(), node.shape.gres.end(), then.shape.gres.begin(), then.shape.gres.end(),
                   [](const auto& a, const auto& b) { return a.name == b.name && a.type == b.type && a.index == b.index; });
    if (!node.held.gres.empty() && !same_gres)
      return fail(Code::conflict, fmt::format("the GRES of node {} are in use", node.name), "nodes", node.name, hint);
  }
  return {};
}

}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const Configure& action) {
  if (auto ok = administrators_only(asked.who, "change the configuration"); !ok) return fail(ok.error());
  if (auto ok = names_are_good(state, action); !ok) return fail(ok.error());
  State after;  // all that a configuration can change, without the jobs
  after.nodes = state.nodes;
  after.node_by_name = state.node_by_name;
  put_configuration(after, action.settings, action.nodes, action.partitions);
  if (auto ok = running_jobs_are_safe(state, after); !ok) return fail(ok.error());
  Decision d;
  if (after.nodes == state.nodes && after.partitions == state.partitions && after.settings == state.settings) return d;
  d.facts.push_back(Configured{action.settings, action.nodes, action.partitions});
  for (const auto& p : state.partitions) {
    const bool gone = std::none_of(after.partitions.begin(), after.partitions.end(), [&](const auto& q) { return q.name == p.name; });
    if (gone) d.reply.warnings.push_back(fmt::format("partition {} is gone: jobs that ask for it alone wait", p.name));
  }
  return d;
}

}  // namespace sy::core::verbs

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "base/option_table.hpp"
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

// Partitions whose topology is not in force are placed as if they had none: what jobs wish of it would be lost in silence.
Result<std::vector<std::string>> topologies_are_there(const State& state, const Configure& c) {
  std::vector<std::string> known, warnings;
  for (const auto& name : std::views::keys(state.topologies)) known.push_back(name);
  const auto look = [&](std::string field, const std::string& name, std::string_view who, std::string_view are, bool anew) -> Result<void> {
    if (name.empty() || state.topologies.contains(name)) return {};
    const std::string near = base::nearest(name, known);
    const std::string meant = near.empty() ? std::string{} : fmt::format("did you mean {}? If not, ", near);
    Error e{Code::invalid_argument,
            fmt::format("no topology of this name is in force: {} would be placed as if flat", who),
            std::move(field),
            known.empty() ? "none is in force" : fmt::format("{}", fmt::join(known, ", ")),
            name,
            {}};
    if (c.again && anew) {
      e.hint = meant + "import it first: sy topo import FILE";
      return fail(e);
    }
    e.message = fmt::format("no topology of this name is in force: {} {} placed as if flat until it is imported", who, are);
    e.hint = meant + "import it: sy topo import FILE";
    warnings.push_back(to_text(e));
    return {};
  };
  const std::string& cluster = c.settings.default_topology;
  if (auto ok = look("default_topology", cluster, "partitions that name none", "are", cluster != state.settings.default_topology); !ok)
    return fail(ok.error());
  for (const auto& d : c.partitions) {
    const auto& p = d.settings;
    const bool as_before = std::any_of(state.partitions.begin(), state.partitions.end(),
                                       [&](const auto& q) { return q.name == p.name && q.topology == p.topology; });
    if (auto ok = look(fmt::format("topology of partition {}", p.name), p.topology, "it", "is", !as_before); !ok) return fail(ok.error());
  }
  return warnings;
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
  auto warnings = topologies_are_there(state, action);
  if (!warnings) return fail(warnings.error());
  Decision d;
  d.reply.warnings = std::move(*warnings);
  if (after.nodes == state.nodes && after.partitions == state.partitions && after.settings == state.settings) return d;
  d.facts.push_back(Configured{action.settings, action.nodes, action.partitions});
  for (const auto& p : state.partitions) {
    const bool gone = std::none_of(after.partitions.begin(), after.partitions.end(), [&](const auto& q) { return q.name == p.name; });
    if (gone) d.reply.warnings.push_back(fmt::format("partition {} is gone: jobs that ask for it alone wait", p.name));
  }
  return d;
}

}  // namespace sy::core::verbs

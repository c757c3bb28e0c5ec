#include <fmt/format.h>

#include <set>

#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
Result<void> consistent(const State& state, const Topology& t) {
  const auto wrong = [&](std::string text) { return fail(Code::invalid_argument, std::move(text), "topology", t.name); };
  if (t.name.empty()) return wrong("a topology needs a name");
  for (std::size_t i = 0; i < t.domains.size(); ++i) {
    const Domain& d = t.domains[i];
    if (d.level >= t.levels.size()) return wrong(fmt::format("domain {} is on a level that does not exist", d.name));
    if (d.parent >= static_cast<std::int32_t>(i)) return wrong(fmt::format("domain {} comes before its parent", d.name));
    for (auto child : d.children)
      if (child >= t.domains.size()) return wrong(fmt::format("domain {} has a child that does not exist", d.name));
    for (auto n : d.nodes)
      if (n.value >= state.nodes.size()) return wrong(fmt::format("domain {} has a node that does not exist", d.name));
  }
  return {};
}
}  // namespace

// All or nothing, each as a new version; equal data changes nothing. The formats and their faults are the importers'.
Result<Decision> decide(const State& state, const Asked& asked, const ImportTopologies& action) {
  if (auto ok = administrators_only(asked.who, "import topologies"); !ok) return fail(ok.error());
  Decision d;
  std::set<std::string> names;
  for (const Topology& topology : action.topologies) {
    if (auto ok = consistent(state, topology); !ok) return fail(ok.error());
    if (!names.insert(topology.name).second)
      return fail(Code::invalid_argument, "two topologies have this name", "topology", topology.name);
    Topology next = topology;
    next.version = 1;
    if (auto it = state.topologies.find(next.name); it != state.topologies.end()) {
      next.version = it->second.version;
      if (next == it->second) continue;
      ++next.version;
    }
    d.facts.push_back(TopologyImported{std::move(next)});
  }
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const BeginEpoch& action) {
  if (asked.who.role != Role::system) return fail(Code::forbidden, "only the controller begins an epoch");
  Decision d;
  d.facts.push_back(EpochBegan{std::max(action.epoch, state.epoch + 1), action.min_job_id});
  return d;
}

}  // namespace sy::core::verbs

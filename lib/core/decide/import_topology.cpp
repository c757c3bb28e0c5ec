#include <fmt/format.h>

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

// All or nothing, as a new version; equal data changes nothing. The formats and their faults are the importers'.
Result<Decision> decide(const State& state, const Asked& asked, const ImportTopology& action) {
  if (auto ok = administrators_only(asked.who, "import topologies"); !ok) return fail(ok.error());
  if (auto ok = consistent(state, action.topology); !ok) return fail(ok.error());
  Topology next = action.topology;
  next.version = 1;
  auto it = state.topologies.find(next.name);
  Decision d;
  if (it != state.topologies.end()) {
    next.version = it->second.version;
    if (next == it->second) return d;
    ++next.version;
  }
  d.facts.push_back(TopologyImported{std::move(next)});
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const BeginEpoch& action) {
  if (asked.who.role != Role::system) return fail(Code::forbidden, "only the controller begins an epoch");
  Decision d;
  d.facts.push_back(EpochBegan{std::max(action.epoch, state.epoch + 1), action.min_job_id});
  return d;
}

}  // namespace sy::core::verbs

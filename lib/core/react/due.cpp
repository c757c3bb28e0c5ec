#include "core/react/due.hpp"

#include "core/attempt.hpp"
#include "core/step.hpp"

namespace sy::core {

bool can_hear(const State& state, const NodeGrant& g) {
  return !is_over(g.phase) && g.phase != NodePhase::unknown && state.nodes[g.node.value].contact == Contact::up;
}

// Members first; the lead, which runs the script, when every member has accepted.
void launches_due(const State& state, const Job& job, std::vector<Effect>& out, bool lead_only) {
  if (standing(job) != JobState::starting) return;
  const Attempt& a = *job.attempt;
  for (const auto& g : a.nodes) {
    const bool lead = is_lead(a, g.node);
    if (g.phase != NodePhase::launching || !can_hear(state, g)) continue;
    if (lead ? members_accepted(a) : !lead_only) out.push_back(LaunchOnNode{job.id, a.number, g.node, lead});
  }
}

namespace {

void ends_due(const State& state, const Job& job, std::vector<Effect>& out) {
  if (!is_ending(job)) return;
  const Attempt& a = *job.attempt;
  const bool asked = a.ending_as != Outcome::none;
  for (const auto& g : a.nodes) {
    // A lead whose script ended by itself clears by itself; the members have to be told.
    if (!can_hear(state, g) || (!asked && is_lead(a, g.node))) continue;
    out.push_back(EndOnNode{job.id, a.number, g.node, state.settings.kill_grace});
  }
}

void limits_due(const State& state, const Job& job, std::vector<Effect>& out) {
  const Attempt& a = *job.attempt;
  if (is_ending(job)) return;
  const Partition* p = state.find_partition(a.partition);
  if (p != nullptr && time_limit_for(*job.spec, *p, state.settings) == a.time_limit) return;
  for (const auto& g : a.nodes)
    if (can_hear(state, g) && g.phase != NodePhase::launching)  // a launch carries the limit itself
      out.push_back(SetTimeLimitOnNode{job.id, a.number, g.node, a.time_limit});
}

void fence_due(const State& state, const Node& node, std::vector<Effect>& out) {
  if (node.contact == Contact::silent && !node.jobs.empty() && !state.settings.fence_program.empty())
    out.push_back(RunFenceProgram{node.index});
}

NodeIndex target(const Effect& e) {
  return std::visit([](const auto& x) { return x.node; }, e);
}

}  // namespace

void effects_due(const State& state, const Job& job, std::vector<Effect>& out) {
  if (!is_live(job)) return;
  launches_due(state, job, out);
  ends_due(state, job, out);
  limits_due(state, job, out);
}

void node_effects_due(const State& state, NodeIndex only, std::vector<Effect>& out) {
  if (only.value >= state.nodes.size() || state.nodes[only.value].removed) return;
  const Node& node = state.nodes[only.value];
  std::vector<Effect> all;
  for (auto id : node.jobs) effects_due(state, state.jobs.at(id), all);
  for (const auto& e : all)
    if (target(e) == only) out.push_back(e);
  fence_due(state, node, out);
}

std::vector<Effect> pending_effects(const State& state) {
  std::vector<Effect> out;
  for (auto id : state.live) effects_due(state, state.jobs.at(id), out);
  for (const auto& node : state.nodes) fence_due(state, node, out);
  return out;
}

std::vector<Effect> pending_effects(const State& state, NodeIndex only) {
  std::vector<Effect> out;
  node_effects_due(state, only, out);
  return out;
}

}  // namespace sy::core

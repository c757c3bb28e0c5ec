#include <fmt/format.h>

#include <algorithm>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/node_loss.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {

const AttemptOnNode* listed(const RegisterNode& r, JobId job, AttemptNumber attempt) {
  auto it =
      std::find_if(r.attempts.begin(), r.attempts.end(), [&](const AttemptOnNode& a) { return a.job == job && a.attempt == attempt; });
  return it == r.attempts.end() ? nullptr : &*it;
}

// The same boot: what the agent no longer knows may still run, unless its launch never arrived.
void compare_memories(const State& state, const Node& node, const RegisterNode& r, std::vector<Fact>& facts) {
  const bool new_spool = node.spool_id != r.spool_id;
  for (auto id : node.jobs) {
    const Job& job = state.jobs.at(id);
    const NodeGrant& grant = *find_grant(*job.attempt, node.index);
    if (grant.phase == NodePhase::unknown || listed(r, id, job.attempt->number) != nullptr) continue;
    const bool had_arrived = grant.phase == NodePhase::accepted || grant.phase == NodePhase::running;
    if (!new_spool && !had_arrived) continue;  // the order is sent again
    const std::string why = new_spool ? "node " + node.name + " has lost its spool: what ran there is unknown"
                                      : "node " + node.name + " does not know a job that it had accepted";
    facts.push_back(JobLost{id, job.attempt->number, node.index, true, why});
  }
}

// What the agent did while nobody listened, for attempts whose reports were lost with an older state.
void catch_up(const State& state, const Node& node, const RegisterNode& r, std::vector<Fact>& facts, Time now) {
  for (const auto& a : r.attempts) {
    const NodeGrant* grant = live_grant(state, a.job, a.attempt, node.index);
    if (grant == nullptr || grant->phase != NodePhase::launching) continue;
    if (a.phase != NodePhase::accepted && a.phase != NodePhase::running) continue;
    facts.push_back(NodeAccepted{a.job, a.attempt, node.index});
    const Attempt& attempt = *state.jobs.at(a.job).attempt;
    if (a.phase == NodePhase::running && is_lead(attempt, node.index) && !attempt.started)
      facts.push_back(ScriptStarted{a.job, a.attempt, now});
  }
}

std::string shortfall(const Resources& declared, const Resources& found) {
  std::vector<std::string> parts;
  if (found.cpus < declared.cpus) parts.push_back(fmt::format("{} CPUs of {}", cpu_count(found.cpus), cpu_count(declared.cpus)));
  if (found.memory < declared.memory) parts.push_back(fmt::format("{} MiB of {}", found.memory.value, declared.memory.value));
  for (const auto& g : declared.gres) {
    const auto n = found.gres_count(g.name, g.type);
    if (n < g.count) parts.push_back(fmt::format("{} {}{}{} of {}", n, g.name, g.type.empty() ? "" : ":", g.type, g.count));
  }
  return parts.empty() ? std::string{} : fmt::format("registered less than declared: {}", fmt::join(parts, ", "));
}

void drain_if_less(const Node& node, const RegisterNode& r, bool keeps_jobs, const Asked& asked, std::vector<Fact>& facts) {
  const Resources found = total_of(r.shape);
  std::string why;
  if (node.shape_declared) why = shortfall(node.total, found);
  else if (keeps_jobs && !node.held.fits_in(found)) why = "registered less than its jobs hold";
  if (why.empty() || (node.drained && node.reason == why)) return;
  if (node.drained || node.down) return;  // an earlier reason stands; the next registration after resume looks again
  facts.push_back(NodeDrained{node.index, why, "switchyard", asked.now});
}

}  // namespace

// A new boot id: nothing of before runs. The same one: the agent's list and ours are compared. What it lists and must not
// run is to be killed first; what it lists as done and we have settled may be forgotten.
Result<Decision> decide(const State& state, const Asked& asked, const RegisterNode& action) {
  auto found = node_itself(state, asked.who, action.node);
  if (!found) return fail(found.error());
  const Node& node = **found;
  if (action.boot_id.empty() || action.spool_id.empty())
    return fail(Code::invalid_argument, "a registration needs a boot id and a spool id", action.boot_id.empty() ? "boot_id" : "spool_id");

  Decision d;
  d.reply.node = action.node;
  const bool rebooted = !node.boot_id.empty() && node.boot_id != action.boot_id;
  if (rebooted) fenced_facts(state, node, "node " + node.name + " was restarted", d.facts);
  else compare_memories(state, node, action, d.facts);
  d.facts.push_back(NodeRegistered{action, asked.now});
  if (!rebooted) catch_up(state, node, action, d.facts, asked.now);
  drain_if_less(node, action, !rebooted, asked, d.facts);

  for (const auto& a : action.attempts) {
    const bool ours = !rebooted && live_grant(state, a.job, a.attempt, node.index) != nullptr;
    if (ours) continue;
    if (is_over(a.phase)) d.effects.push_back(ForgetOnNode{a.job, a.attempt, node.index});
    else d.reply.to_kill.push_back(a);
  }
  return d;
}

}  // namespace sy::core::verbs

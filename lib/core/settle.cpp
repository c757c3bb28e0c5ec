#include "core/settle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/attempt.hpp"

namespace sy::core {

namespace {

constexpr Duration longest_backoff = std::chrono::hours{1};

Duration backoff_after(const Settings& settings, std::uint32_t failures_before) {
  Duration pause = settings.launch_backoff;
  for (std::uint32_t i = 0; i < failures_before && pause < longest_backoff; ++i) pause *= 2;
  return std::min(pause, longest_backoff);
}

// Held by whoever asked for it: whoever is not its owner is an administrator.
bool held_by_admin(const Job& job) {
  const Attempt& a = *job.attempt;
  return a.hold_after && a.ended_by && *a.ended_by != job.uid;
}

JobRequeued requeue(const State& state, const Job& job, Time now) {
  const Attempt& a = *job.attempt;
  const bool launch_failed = a.ending_as == Outcome::launch_failed;
  JobRequeued f{job.id, now, a.hold_after && !held_by_admin(job), launch_failed, a.why_ending};
  if (launch_failed) {
    f.eligible = now + backoff_after(state.settings, job.launch_failures);
    f.held = f.held || job.launch_failures + 1 >= state.settings.max_launch_failures;
  }
  return f;
}

bool still_lost(const State& state, const Attempt& a) {
  return std::any_of(a.nodes.begin(), a.nodes.end(), [&](const NodeGrant& g) {
    return !is_over(g.phase) && (g.phase == NodePhase::unknown || state.nodes[g.node.value].contact != Contact::up);
  });
}

}  // namespace

std::vector<Fact> settle(const State& state, JobId id, Time now) {
  const Job* job = state.find_job(id);
  if (job == nullptr || !is_live(*job)) return {};
  const Attempt& a = *job->attempt;
  if (!all_over(a)) {
    if (job->state == JobState::lost && !still_lost(state, a)) return {JobFound{id, a.number}};
    return {};
  }
  if (a.requeue_after) {
    Attempt ended = a;
    ended.ending_as = outcome_of(a);
    std::vector<Fact> facts{AttemptEnded{id, std::move(ended), now}, requeue(state, *job, now)};
    if (held_by_admin(*job)) facts.push_back(JobHeld{id, true, fmt::format("uid {}", a.ended_by->value)});
    return facts;
  }
  // Our own clock may have been set back meanwhile.
  const Time at = std::max(a.script_ended.value_or(now), a.started.value_or(a.planned_at));
  return {JobEnded{id, outcome_of(a), at, end_reason_of(a)}};
}

std::vector<JobId> concerned(const State& state, const Fact& fact) {
  if (const auto* f = std::get_if<NodeCleared>(&fact)) return {f->job};
  if (const auto* f = std::get_if<NodeAccepted>(&fact)) return {f->job};  // it may have been unknown before
  if (const auto* f = std::get_if<NodeRegistered>(&fact)) return state.nodes[f->what.node.value].jobs;
  if (const auto* f = std::get_if<NodeContactChanged>(&fact)) return state.nodes[f->node.value].jobs;
  return {};
}

}  // namespace sy::core

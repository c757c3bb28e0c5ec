#include "core/evolve/job_facts.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "core/attempt.hpp"
#include "core/evolve/allocation.hpp"

namespace sy::core::facts {

namespace {

Job& job_of(State& state, JobId id) {
  auto it = state.jobs.find(id);
  ASSERT(it != state.jobs.end(), "a fact is about a job that is known");
  return it->second;
}

Job& live_job(State& state, JobId id, AttemptNumber number) {
  Job& job = job_of(state, id);
  ASSERT(is_live(job) && job.attempt && job.attempt->number == number, "a fact is about the live attempt");
  return job;
}

NodeGrant& grant_of(Job& job, NodeIndex node) {
  NodeGrant* grant = find_grant(*job.attempt, node);
  ASSERT(grant != nullptr && !is_over(grant->phase), "a fact is about a node that the attempt holds");
  return *grant;
}

// A lost job keeps being lost; what it will be once found changes.
void stand(State& state, Job& job, JobState to) {
  if (job.state == JobState::lost) {
    job.lost_from = to;
    return;
  }
  unindex(state, job);
  job.state = to;
  index(state, job);
}

}  // namespace

void apply(State& state, const JobSubmitted& f, Time) {
  const auto [it, fresh] = state.jobs.emplace(f.job.id, f.job);
  ASSERT(fresh, "job ids are never used twice");
  index(state, it->second);
  state.next_job_id = std::max(state.next_job_id, JobId{f.job.id.value + 1});
}

void apply(State& state, const JobUpdated& f, Time) { job_of(state, f.job).spec = f.spec; }

void apply(State& state, const JobHeld& f, Time) {
  Job& job = job_of(state, f.job);
  (f.by_admin ? job.held_by_admin : job.held_by_user) = true;
}

// From now on it may start: its waits on the rungs of a ladder begin here (design P3).
void apply(State& state, const JobReleased& f, Time at) {
  Job& job = job_of(state, f.job);
  job.eligible = std::max(job.eligible, at);
  job.held_by_user = job.held_by_admin = false;
  job.launch_failures = 0;
  job.end_reason.clear();
}

void apply(State& state, const JobStarted& f, Time) {
  Job& job = job_of(state, f.job);
  ASSERT(job.state == JobState::pending && f.attempt.number > job.last_attempt, "each start has a new number");
  job.attempt = f.attempt;
  job.last_attempt = f.attempt.number;
  job.end_reason.clear();
  stand(state, job, JobState::starting);
  for (const auto& grant : job.attempt->nodes) hold(state, job, grant);
}

void apply(State& state, const NodeAccepted& f, Time) { grant_of(live_job(state, f.job, f.attempt), f.node).phase = NodePhase::accepted; }

void apply(State& state, const ScriptStarted& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  job.attempt->started = f.at;
  job.launch_failures = 0;
  if (is_ending(job)) return;  // the order to end it was under way: only the time is kept
  NodeGrant& lead = job.attempt->nodes.front();
  if (!is_over(lead.phase)) lead.phase = NodePhase::running;
  stand(state, job, JobState::running);
}

void apply(State& state, const TimeLimitChanged& f, Time) {
  Job& job = job_of(state, f.job);
  if (job.attempt) job.attempt->time_limit = f.limit;
}

void apply(State& state, const EndAsked& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  Attempt& a = *job.attempt;
  a.ending_as = f.as;
  a.requeue_after = f.requeue;
  a.hold_after = f.hold;
  a.why_ending = f.why;
  a.ended_by = f.by;
  for (auto& grant : a.nodes)
    if (!is_over(grant.phase) && grant.phase != NodePhase::unknown) grant.phase = NodePhase::ending;
  stand(state, job, JobState::ending);
}

void apply(State& state, const ScriptEnded& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  Attempt& a = *job.attempt;
  a.exit = f.exit;
  a.script_ended = f.at;
  for (auto& grant : a.nodes)
    if (!is_over(grant.phase) && grant.phase != NodePhase::unknown) grant.phase = NodePhase::ending;
  stand(state, job, JobState::ending);
}

void apply(State& state, const NodeCleared& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  NodeGrant& grant = grant_of(job, f.node);
  give_back(state, job, grant);
  grant.phase = f.fenced ? NodePhase::fenced : NodePhase::clear;
}

void apply(State& state, const JobLost& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  if (f.unknown) grant_of(job, f.node).phase = NodePhase::unknown;
  if (job.state == JobState::lost) return;
  job.lost_from = job.state;
  job.state = JobState::lost;  // stays in the set of live jobs
}

void apply(State& state, const JobFound& f, Time) {
  Job& job = live_job(state, f.job, f.attempt);
  if (job.state != JobState::lost) return;
  job.state = job.lost_from;
  job.lost_from = JobState::pending;
}

// The attempt stays until the requeue that follows takes it away.
void apply(State&, const AttemptEnded&, Time) {}

void apply(State& state, const JobRequeued& f, Time) {
  Job& job = job_of(state, f.job);
  ASSERT(!job.attempt || all_over(*job.attempt), "a job waits again only when every node of it is clear or fenced");
  unindex(state, job);
  job.state = JobState::pending;
  job.lost_from = JobState::pending;
  job.attempt.reset();
  job.outcome = Outcome::none;
  job.ended.reset();
  job.eligible = f.eligible;
  job.end_reason = f.why;
  if (f.held) job.held_by_user = true;
  if (f.launch_failed) ++job.launch_failures;
  else ++job.restarts;
  index(state, job);
}

void apply(State& state, const JobEnded& f, Time) {
  Job& job = job_of(state, f.job);
  ASSERT(job.state != JobState::ended && (!job.attempt || all_over(*job.attempt)), "an attempt ends when all is clear");
  unindex(state, job);
  job.state = JobState::ended;
  job.lost_from = JobState::pending;
  job.outcome = f.outcome;
  job.ended = f.at;
  job.end_reason = f.reason;
  index(state, job);
}

void apply(State& state, const JobForgotten& f, Time) {
  Job& job = job_of(state, f.job);
  ASSERT(job.state == JobState::ended, "only ended jobs are forgotten");
  unindex(state, job);
  state.jobs.erase(f.job);
}

void apply(State&, const SignalSent&, Time) {}

}  // namespace sy::core::facts

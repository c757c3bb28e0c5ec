#include "core/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::core {

bool is_live(const Job& job) { return job.state != JobState::pending && job.state != JobState::ended; }

JobState standing(const Job& job) { return job.state == JobState::lost ? job.lost_from : job.state; }

bool is_ending(const Job& job) { return standing(job) == JobState::ending; }

const NodeGrant* find_grant(const Attempt& a, NodeIndex node) {
  auto it = std::find_if(a.nodes.begin(), a.nodes.end(), [&](const NodeGrant& g) { return g.node == node; });
  return it == a.nodes.end() ? nullptr : &*it;
}

NodeGrant* find_grant(Attempt& a, NodeIndex node) { return const_cast<NodeGrant*>(find_grant(static_cast<const Attempt&>(a), node)); }

bool is_lead(const Attempt& a, NodeIndex node) { return !a.nodes.empty() && a.nodes.front().node == node; }

bool all_over(const Attempt& a) {
  return std::all_of(a.nodes.begin(), a.nodes.end(), [](const NodeGrant& g) { return is_over(g.phase); });
}

bool members_accepted(const Attempt& a) {
  return std::none_of(a.nodes.begin() + 1, a.nodes.end(),
                      [](const NodeGrant& g) { return g.phase == NodePhase::launching || g.phase == NodePhase::unknown; });
}

const NodeGrant* live_grant(const State& state, JobId id, AttemptNumber attempt, NodeIndex node) {
  const Job* job = state.find_job(id);
  if (job == nullptr || !is_live(*job) || !job->attempt || job->attempt->number != attempt) return nullptr;
  const NodeGrant* grant = find_grant(*job->attempt, node);
  return grant == nullptr || is_over(grant->phase) ? nullptr : grant;
}

Outcome outcome_of(const Attempt& a) {
  if (a.ending_as != Outcome::none) return a.ending_as;
  if (!a.exit) return Outcome::failed;
  if (a.exit->timed_out) return Outcome::timeout;
  if (a.exit->out_of_memory) return Outcome::out_of_memory;
  if (a.exit->code != 0 || a.exit->signal != 0 || !a.exit->reason.empty()) return Outcome::failed;
  return Outcome::completed;
}

std::string end_reason_of(const Attempt& a) {
  if (!a.why_ending.empty()) return a.why_ending;
  if (!a.exit) return "the node kept no record of how it ended";
  if (!a.exit->reason.empty()) return a.exit->reason;
  if (a.exit->timed_out) return "reached its time limit";
  if (a.exit->out_of_memory) return "a process was killed for memory";
  if (a.exit->signal != 0) return fmt::format("killed by signal {}", a.exit->signal);
  if (a.exit->code != 0) return fmt::format("exit code {}", a.exit->code);
  return {};
}

Duration time_limit_for(const JobSpec& spec, const Partition& partition, const Settings& settings) {
  if (spec.time_limit) return *spec.time_limit;
  if (partition.default_time) return *partition.default_time;
  if (partition.max_time) return std::min(*partition.max_time, settings.default_time);
  return settings.default_time;
}

}  // namespace sy::core

// Facts: what has happened. The only thing that changes State (evolve) and the only thing replayed.
// Not rows (the store derives those from what the events touched) and not messages (effect.hpp).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/command.hpp"

namespace sy::core {

struct JobSubmitted {
  Job job;
};                                   // complete, pending
struct JobUpdated {
  JobId job;
  std::shared_ptr<const JobSpec> spec;
  std::string by;
};
struct JobHeld {
  JobId job;
  bool by_admin{};
  std::string by;
};
struct JobReleased {
  JobId job;
};
struct JobStarted {
  JobId job;
  Attempt attempt;
};                  // allocation held from here on
struct NodeAccepted {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
};
struct ScriptStarted {
  JobId job;
  AttemptNumber attempt;
  Time at;
};
struct TimeLimitChanged {
  JobId job;
  Duration limit;
};
struct EndAsked {                                                   // → ending: every node is told to end it
  JobId job;
  AttemptNumber attempt;
  Outcome as{};
  bool requeue{};
  bool hold{};
  std::string why;
  std::optional<Uid> by;
};
struct ScriptEnded {
  JobId job;
  AttemptNumber attempt;
  ExitRecord exit;
  Time at;
};  // → ending
struct NodeCleared {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  bool fenced{};
};  // resources come back
// `node` went silent, or (unknown) it is there and has no memory of the attempt: its grant becomes NodePhase::unknown.
struct JobLost {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  bool unknown{};
  std::string why;
};
struct JobFound {
  JobId job;
  AttemptNumber attempt;
};              // lost → where it was
struct AttemptEnded {                                               // a requeue follows, the job lives on
  JobId job;
  Attempt
      attempt;  // as it ended (ending_as is its outcome): accounting keeps it, and the requeue in the same step takes it out of the State
  Time at;
};
struct JobRequeued {
  JobId job;
  Time eligible;
  bool held{};
  bool launch_failed{};
  std::string why;
};
struct JobEnded {
  JobId job;
  Outcome outcome{};
  Time at;
  std::string reason;
};
struct JobForgotten {
  JobId job;
};  // leaves the views; accounting keeps it
struct SignalSent {
  JobId job;
  AttemptNumber attempt;
  int signal{};
  bool batch_only{};
  bool whole_job{};
};

struct Configured {
  Settings settings;
  std::vector<NodeDeclaration> nodes;
  std::vector<PartitionDeclaration> partitions;
};
struct TopologyImported {
  Topology topology;
};
struct EpochBegan {
  std::uint64_t epoch{};
  std::uint64_t min_job_id{};
};
struct EnrolTokenIssued {
  EnrolToken token;
};
struct NodeEnrolled {
  std::string node;
  std::string public_key;
  std::string token_digest;
};
struct NodeRegistered {
  RegisterNode what;
  Time at;
};
struct NodeContactChanged {
  NodeIndex node;
  Contact contact{};
};
struct NodeDrained {
  NodeIndex node;
  std::string reason;
  std::string by;
  Time at;
};
struct NodeResumed {
  NodeIndex node;
};
struct NodeDowned {
  NodeIndex node;
  std::string reason;
  std::string by;
  Time at;
};
struct NodeFenced {
  NodeIndex node;
  std::string how;
  std::string by;
  Time at;
};
struct NodeRemoved {
  NodeIndex node;
};
struct PlanApplied {
  Sequence snapshot;
  std::uint64_t policy_version{};
  std::uint32_t starts{};
  std::uint32_t dropped{};
};

using Fact = std::variant<JobSubmitted, JobUpdated, JobHeld, JobReleased, JobStarted, NodeAccepted, ScriptStarted, TimeLimitChanged,
                          EndAsked, ScriptEnded, NodeCleared, JobLost, JobFound, AttemptEnded, JobRequeued, JobEnded, JobForgotten,
                          SignalSent, Configured, TopologyImported, EpochBegan, EnrolTokenIssued, NodeEnrolled, NodeRegistered,
                          NodeContactChanged, NodeDrained, NodeResumed, NodeDowned, NodeFenced, NodeRemoved, PlanApplied>;

struct Event {
  Sequence sequence;
  Time at;
  std::string by;  // "uid 1000 (ann)", "node n3", "switchyard"
  Fact fact;
};

// "job_submitted", … stable names used in the events table and streams.
std::string_view fact_name(const Fact&);

}  // namespace sy::core

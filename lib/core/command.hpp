// Everything that can be asked of the controller's state, as values. Time and identity ride in on the command.
// Not how it was asked (daemon/api) and not what it changes (event.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/principal.hpp"
#include "model/state.hpp"

namespace sy::core {

using namespace sy::base;   // ids and quantities
using namespace sy::model;  // the nouns

struct SubmitJob {
  std::shared_ptr<const JobSpec> spec;
  Digest script_digest;
  Digest env_digest;
  bool dry_run{};                 // --test-only: everything but the event
};
// Only the fields set are changed; only a waiting job may change what decides where it runs.
struct JobChange {
  std::optional<std::string> name, comment;
  std::optional<std::vector<std::string>> partitions;
  std::optional<std::optional<Duration>> time_limit;     // also for a running job (an administrator may raise it)
  std::optional<std::int32_t> nice;
  std::optional<NodeRange> nodes;
  std::optional<std::uint32_t> tasks;
  std::optional<Cpus> cpus_per_task;
  std::optional<std::optional<Mebibytes>> memory_per_node, memory_per_cpu;
  std::optional<std::string> constraint, nodelist, exclude;
  std::optional<std::vector<GresRequest>> gres_per_node;
  std::optional<bool> requeue;
  std::optional<std::string> account, qos;
  std::optional<std::uint32_t> segment_size;             // 0 clears
};
struct UpdateJob {
  JobId job;
  JobChange change;
};
struct CancelJob {
  JobId job;
};
struct SignalJob {
  JobId job;
  int signal{};
  bool batch_only{};
  bool whole_job{};
};
struct HoldJob {
  JobId job;
};
struct ReleaseJob {
  JobId job;
};
struct RequeueJob {
  JobId job;
  bool hold{};
};

struct NodeDeclaration {
  std::string name;
  std::string address;            // empty: the name
  std::uint16_t port{6831};
  std::optional<NodeShape> shape; // absent: whatever registers
  std::vector<std::string> features;
  std::uint32_t weight{1};
  bool operator==(const NodeDeclaration&) const = default;
};
struct PartitionDeclaration {
  Partition settings;             // nodes empty here
  std::vector<std::string> node_names;  // {"ALL"}: every node
  bool operator==(const PartitionDeclaration&) const = default;
};
// The configuration file as a whole. Nodes no longer named become tombstones (refused while jobs run there).
struct Configure {
  Settings settings;
  std::vector<NodeDeclaration> nodes;
  std::vector<PartitionDeclaration> partitions;
  // Of a running controller: a topology that is named anew and not in force is refused. At a start nothing is refused for
  // it: topologies come by import, and the controller must be there for that.
  bool again{};
};
// All of them or none, in one transaction.
struct ImportTopologies {
  std::vector<Topology> topologies;
};
struct BeginEpoch {
  std::uint64_t epoch{};
  std::uint64_t min_job_id{};
};  // once at each start

struct IssueEnrolToken {
  std::string node;
  std::string token_digest;
  Time expires;
};
struct EnrolNode {
  std::string token_digest;
  std::string public_key;
};
struct AttemptOnNode {
  JobId job;
  AttemptNumber attempt;
  NodePhase phase{};
};
struct RegisterNode {
  NodeIndex node;
  NodeShape shape;
  std::string boot_id, spool_id, version, address;
  std::uint16_t port{};
  std::optional<Time> boot_time;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<AttemptOnNode> attempts;   // all that the agent's spool still knows
};
struct NodeSilent {
  NodeIndex node;
};                 // no heartbeat for the configured time
struct NodeHeard {
  NodeIndex node;
};                  // and back, same boot and spool
struct DrainNode {
  NodeIndex node;
  std::string reason;
};
struct ResumeNode {
  NodeIndex node;
};
struct DownNode {
  NodeIndex node;
  std::string reason;
};
struct FenceNode {
  NodeIndex node;
  std::string how;
};  // `sy fence`, "fence program", "lease", "assume_dead"
struct RemoveNode {
  NodeIndex node;
};

struct ReportAttempt {
  NodeIndex node;
  JobId job;
  AttemptNumber attempt;
  enum class What : std::uint8_t { accepted, refused, started, script_ended, cleared } what{};
  enum class Blame : std::uint8_t { nobody, node, job } blame{Blame::nobody};  // for refused
  std::string reason;
  std::optional<ExitRecord> exit;        // for script_ended, and cleared where the script never ran
  Time at;                               // the node's clock
};

struct PlannedStart {
  JobId job;
  std::string partition;
  std::vector<NodeGrant> nodes;          // rank order, phase launching; gres_instances may be empty: chosen by decide
  PlacementHandle placement;             // what is told about it
};
struct ApplyPlan {
  Sequence snapshot;
  std::uint64_t policy_version{};
  std::vector<PlannedStart> starts;      // highest priority first
};
struct AdvanceTime {};                   // purge, overdue, back-off: whatever `now` makes due

using Action = std::variant<SubmitJob, UpdateJob, CancelJob, SignalJob, HoldJob, ReleaseJob, RequeueJob, Configure, ImportTopologies,
                            BeginEpoch, IssueEnrolToken, EnrolNode, RegisterNode, NodeSilent, NodeHeard, DrainNode, ResumeNode, DownNode,
                            FenceNode, RemoveNode, ReportAttempt, ApplyPlan, AdvanceTime>;

struct Command {
  Time now;
  Principal who;
  Action action;
};

}  // namespace sy::core

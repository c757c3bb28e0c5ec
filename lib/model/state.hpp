// Everything the controller knows, as one value. Changed only by core::step; loaded by the store; checked by
// check_invariants. Not the past: ended jobs stay for a configured time, accounting is the store's.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.hpp"
#include "model/cluster_shape.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/topology.hpp"

namespace sy::model {

// What the configuration decides and the core needs. Changing it is a command like any other.
struct Settings {
  std::string cluster_name{"cluster"};
  enum class OnLost : std::uint8_t { wait, assume_dead } on_lost{OnLost::wait};
  std::optional<Duration> lease;               // agents end their jobs after so long without a controller; absent: off
  Duration kill_grace{std::chrono::seconds{30}};       // between SIGTERM and SIGKILL
  Duration keep_ended{std::chrono::seconds{300}};      // how long ended jobs answer in the queue views
  Duration launch_backoff{std::chrono::seconds{30}};   // first pause after a failed launch; doubles
  std::uint32_t max_launch_failures{3};                // then held: LaunchFailedRequeuedHeld
  Duration overtime{std::chrono::seconds{0}};
  bool allow_root_jobs{};
  std::string fence_program;                           // empty: none
  std::uint64_t max_jobs{2'000'000};
  std::string default_topology;
  bool literal_switch_wait{};                          // --switches=n@t waits its whole time, as in Slurm
  Duration default_time{std::chrono::hours{24}};       // where partition and job say nothing
  std::optional<base::Mebibytes> default_memory_per_cpu;
  bool operator==(const Settings&) const = default;
};

struct EnrolToken {
  std::string node;
  std::string token_digest;   // sha256 hex; the token itself is never stored
  Time expires;
  bool operator==(const EnrolToken&) const = default;
};

struct State {
  Settings settings;
  std::vector<Node> nodes;                        // by NodeIndex; never shrinks
  std::map<std::string, NodeIndex> node_by_name;  // derived; not the removed ones
  std::vector<Partition> partitions;              // in configuration order
  std::map<JobId, Job> jobs;                      // waiting, live, and recently ended
  std::map<std::string, Topology> topologies;
  std::vector<EnrolToken> enrol_tokens;

  base::Sequence sequence;                        // of the last event applied
  JobId next_job_id{1};
  std::uint64_t epoch{};                          // this controller's term: rises at each start
  std::uint64_t policy_version{1};                // rises when settings or partitions change

  // Derived, rebuilt at load, checked by check_invariants.
  std::set<JobId> waiting;                        // pending
  std::set<JobId> live;                           // starting, running, suspended, ending, lost
  std::set<std::pair<Time, JobId>> ended_order;   // ended, oldest first

  // The image of nodes, partitions and topologies that questions about placement read. Null after a change of any of them;
  // step makes it again when it is needed (make_shape). Never compared, stored or replayed.
  std::shared_ptr<const ClusterShape> shape;

  const Job* find_job(JobId) const;
  const Node* find_node(std::string_view name) const;
  const Partition* find_partition(std::string_view name) const;
};

// The image above, from scratch. O(nodes).
std::shared_ptr<const ClusterShape> make_shape(const State&);

// Rebuilds everything marked "derived" (also Node.held, jobs, gres_holder) from the rest.
void rebuild_derived(State&);

// The faults found, in words; empty when all hold. Used by tests, at load, and by `switchyardd --check`.
std::vector<std::string> check_invariants(const State&);

// Equality of everything, derived parts included. On a difference says the first one in *why (may be null).
bool equal(const State&, const State&, std::string* why = nullptr);

}  // namespace sy::model

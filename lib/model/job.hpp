// A job as the controller knows it: who, what was asked, where it stands, and its live attempt.
// Not its script (store), not why it waits (that is computed: sched's Forecast), not its history (store's accounting).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.hpp"
#include "base/digest.hpp"
#include "base/id.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"
#include "model/job_spec.hpp"
#include "model/job_state.hpp"
#include "model/placement_record.hpp"

namespace sy::model {

using base::AttemptNumber;
using base::Duration;
using base::Gid;
using base::JobId;
using base::NodeIndex;
using base::Time;
using base::Uid;

// A GRES instance granted: position in Node.gres, so that the agent can name the device.
using GresInstanceIndex = std::uint16_t;

struct NodeGrant {
  NodeIndex node;
  std::uint32_t tasks{};
  base::Resources held;                          // what nobody else may use
  base::Resources used;                          // what the job may use (≤ held; whole-node jobs hold more)
  std::vector<GresInstanceIndex> gres_instances; // ascending
  NodePhase phase{NodePhase::launching};
  bool operator==(const NodeGrant&) const = default;
};

// How the batch script ended, as the lead's supervisor recorded it.
struct ExitRecord {
  int code{};              // exit status 0–255; 0 when killed by a signal
  int signal{};            // 0: none
  bool out_of_memory{};    // any process of the job was killed for memory
  bool timed_out{};
  bool core_dumped{};
  Duration cpu_time{};                 // user + system, all processes
  base::Mebibytes peak_memory;         // highest resident on one node, without page cache
  std::string reason;                  // why it could not run or end well, for people: "output folder /x is missing"
  bool operator==(const ExitRecord&) const = default;
};

struct Attempt {
  AttemptNumber number;
  std::string partition;
  std::vector<NodeGrant> nodes;        // rank order; nodes[0] is the lead
  Duration time_limit{};               // Duration::max(): none
  Time planned_at;                     // when the start was committed
  std::optional<Time> started;         // when the script began
  std::optional<Time> script_ended;
  std::vector<std::pair<Time, std::optional<Time>>> suspensions;
  std::optional<ExitRecord> exit;
  Outcome ending_as{Outcome::none};    // what it will end as, once decided (cancelled, timeout, …)
  bool requeue_after{};                // goes back to pending once clear
  bool hold_after{};
  std::string why_ending;              // "cancelled by uid 1000", "node n3 refused: …"
  std::optional<Uid> ended_by;
  PlacementHandle placement;           // absent where topology played no part
  bool operator==(const Attempt&) const = default;
};

struct Job {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  Uid uid;
  Gid gid;
  std::string user;                    // resolved on the server at submission
  std::string group;
  Time submitted;
  Time eligible;                       // may not start before
  base::Digest script_digest;          // key of the blob in the store
  base::Digest env_digest;
  bool held_by_user{};
  bool held_by_admin{};
  std::uint32_t launch_failures{};     // in a row
  std::uint32_t restarts{};
  JobState state{JobState::pending};
  JobState lost_from{JobState::pending};  // meaningful while lost
  AttemptNumber last_attempt;          // highest number ever used
  base::Boxed<Attempt> attempt;        // the live one; kept after the end for the views
  Outcome outcome{Outcome::none};
  std::optional<Time> ended;
  std::string end_reason;              // for people; empty when there is nothing to say
};
bool operator==(const Job&, const Job&);  // compares what spec points to

}  // namespace sy::model

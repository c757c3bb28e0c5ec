// The answer of every rule: it fits, not now, or never — with the reason and its numbers as data. The queue's reason
// column, `sy why`, the API, the log and the tests print this same value. Not an Error: that refuses a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace sy::model {

// Names as Slurm's squeue prints them (reason_name); the comment says where ours differ in meaning.
enum class Reason : std::uint8_t {
  none,                  // nothing in the way
  priority,              // jobs before it hold the nodes
  resources,             // the cluster is too full now
  dependency,
  begin_time,
  job_held_user,
  job_held_admin,
  requeued_held,         // "job requeued in held state"
  launch_failed_requeued_held,
  partition_down,
  partition_inactive,
  partition_node_limit,
  partition_time_limit,
  account_not_allowed,   // the partition's access rules
  req_node_not_avail,    // nodes asked for by name are down or drained
  node_down,             // not enough nodes are up, though enough exist
  bad_constraints,       // never: no nodes have these features / this size
  reservation,
  licenses,
  lost_node,             // the last attempt runs on a node that nobody has heard of; see `sy fence`
  launch_backoff,        // a launch failed; not tried again before a time
  search_limit,          // the search budget ended first (design P12)
  system_paused          // the controller does not start jobs at the moment (disk full, draining)
};
std::string_view reason_name(Reason);                    // "Resources"
std::optional<Reason> reason_from_name(std::string_view);

// How many nodes fell to which cause: "busy 12, drained 3, feature 4".
struct Cause {
  enum class Kind : std::uint8_t {
    busy,
    drained,
    down,
    reserved,
    feature,
    cpus,
    memory,
    gres,
    excluded,
    not_in_partition,
    no_domain,
    kept,                // idle, in a domain that another job has for itself
    affinity,            // too far from, or too near to, other jobs
    other
  };
  Kind kind{Kind::other};
  std::uint32_t nodes{};
  bool operator==(const Cause&) const = default;
};
std::string_view cause_name(Cause::Kind);

// One domain looked at: "rack3: 5 of 8".
struct DomainCount {
  std::string domain;
  std::uint32_t offered{};
  std::uint32_t asked{};
  bool operator==(const DomainCount&) const = default;
};

struct RungVerdict {
  std::string level;                  // "rack"; "any" for the root
  std::vector<DomainCount> best;      // at most five, best first
  std::vector<Cause> causes;
  std::optional<base::Time> opens;    // when a waiting rung may be used
  bool operator==(const RungVerdict&) const = default;
};

struct Verdict {
  enum class Kind : std::uint8_t { fits, not_now, never };
  Kind kind{Kind::fits};
  Reason reason{Reason::none};
  std::uint32_t offered{};                 // e.g. nodes free
  std::uint32_t asked{};                   // e.g. nodes asked
  std::uint32_t ahead{};                   // jobs before this one
  std::vector<Cause> causes;
  std::vector<RungVerdict> rungs;          // empty where topology plays no part
  std::string detail;                      // names and numbers for people: "partition short allows 2:00:00, asked 4:00:00"
  std::optional<base::Time> until;         // when the cause is expected to end

  bool fits() const { return kind == Kind::fits; }
  bool operator==(const Verdict&) const = default;
};

// One sentence for people: "16 of 36 nodes free: 20 busy". Never empty.
std::string to_text(const Verdict&);

}  // namespace sy::model

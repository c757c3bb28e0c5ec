// What a user asked for at submission, after parsing: the immutable part of a job, shared between equal jobs.
// Not the script or the environment (content-addressed blobs in the store) and not what happened since (job.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rare.hpp"
#include "base/time.hpp"
#include "model/placement_request.hpp"

namespace sy::model {

// Stored, shown and filterable, not enforced yet: submission answers one warning that names those that were given.
struct Annotations {
  std::string account, qos, comment, wckey, hint, distribution, cpu_bind, mem_bind, mail_type, mail_user;
  bool operator==(const Annotations&) const = default;
};

struct WarningSignal {
  int number{};
  base::Duration before_end{std::chrono::seconds{60}};
  bool batch_shell{};      // "B:": to the batch shell only
  bool operator==(const WarningSignal&) const = default;
};

struct JobSpec {
  std::string name;
  std::vector<std::string> partitions;          // empty: the default partition
  std::vector<Group> groups{Group{}};           // exactly one until heterogeneous jobs arrive
  std::optional<base::Duration> time_limit;     // absent: the partition's default
  std::optional<base::Duration> time_min;
  std::int32_t nice{};
  bool requeue{true};                           // may be started again after a node failure
  bool hold{};                                  // submitted held (-H)
  std::string work_dir;                         // absolute
  std::string std_in{"/dev/null"};
  std::string std_out;                          // pattern; empty: slurm-%j.out
  std::string std_err;                          // pattern; empty: joined to std_out
  bool append_output{};                         // --open-mode=append
  std::optional<WarningSignal> warning_signal;
  std::string script_name;                      // path on the submitting host, for people; empty: standard input or --wrap
  std::vector<std::string> script_args;
  std::string submit_host;
  bool kill_on_bad_exit{};
  bool no_kill{};                               // keep the allocation when a node fails
  bool wait_all_nodes{};
  base::Rare<Annotations> annotations;
  bool operator==(const JobSpec&) const = default;
};

}  // namespace sy::model

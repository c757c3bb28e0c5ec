// What controller and agents say to each other (docs/api-v1.md "Agents"), as values and as JSON.
// Not the signature around it (daemon/runtime/signing.hpp) and not what either does about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/command.hpp"

namespace sy::wire {

// Bound to one attempt on one node, expiring, usable once. Covered by the request's signature.
struct Capability {
  base::JobId job;
  base::AttemptNumber attempt;
  std::uint64_t epoch{};            // the controller's term: an agent refuses an older one than it has seen
  std::string node;                 // the agent's own name
  base::Time expires;
  std::string nonce;
  bool operator==(const Capability&) const = default;
};

struct LaunchMessage : Capability {
  enum class Role : std::uint8_t { lead, member } role{Role::lead};
  std::string user;
  base::Uid uid;
  base::Gid gid;
  std::vector<base::Gid> groups;
  std::string job_name, partition, cluster;
  std::string account, qos;                  // as asked; empty: none
  std::vector<std::string> nodes;            // rank order
  std::string nodes_text;                    // the same as a host list
  std::vector<std::uint32_t> tasks;          // per node, rank order
  std::uint32_t rank{};                      // of this node
  base::Cpus cpus;                           // of this node
  std::vector<base::Cpus> cpus_of_nodes;     // rank order
  base::Cpus cpus_per_task;
  base::Mebibytes memory;                    // of this node; 0: all of it
  std::vector<model::GresInstance> gres;     // those granted on this node
  bool whole_node{};
  std::string work_dir, std_in, std_out, std_err;  // patterns not yet expanded
  bool append_output{};
  std::string script_base64;                 // lead only
  std::vector<std::string> environment;      // "A=b", as submitted
  std::vector<std::string> script_args;
  std::optional<base::Duration> time_limit;  // absent: none
  std::optional<model::WarningSignal> warning_signal;
  base::Duration kill_grace{};
  std::uint32_t restarts{};
  std::string submit_dir, submit_host;
  std::string prolog, epilog;                // the site's; an agent's own settings go before them
  // How the job was asked for, for the SLURM_* variables.
  std::uint32_t tasks_total{1};
  std::uint32_t tasks_per_node{};            // 0: not asked
  std::optional<base::Mebibytes> memory_per_node, memory_per_cpu;
  model::PlacementHandle placement;          // its parts count nodes by their position in `nodes`; absent without a topology
  std::uint32_t segment_size{};              // 0: none
  bool operator==(const LaunchMessage&) const = default;
};

struct EndMessage : Capability {
  base::Duration grace{};
  std::string why;
};
struct SignalMessage : Capability {
  int signal{};
  bool batch_only{}, whole_job{};
};
struct TimeLimitMessage : Capability {
  std::optional<base::Duration> time_limit;  // absent: none
};
struct ForgetMessage : Capability {};

struct EnrolMessage {
  std::string token, public_key;
};
struct EnrolAnswer {
  std::string node, cluster, controller_key;
};

struct AttemptSeen {
  base::JobId job;
  base::AttemptNumber attempt;
  model::NodePhase phase{};
};
struct RegisterMessage {
  model::NodeShape shape;
  std::string boot_id, spool_id, version, address;
  std::uint16_t port{};
  std::optional<base::Time> boot_time;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<AttemptSeen> attempts;
};
struct AttemptName {
  base::JobId job;
  base::AttemptNumber attempt;
  bool operator==(const AttemptName&) const = default;
};
struct RegisterAnswer {
  std::uint64_t epoch{};
  base::Duration heartbeat{};
  std::optional<base::Duration> lease;
  std::vector<AttemptName> fenced;           // declared ended here: kill these before anything else
};
struct HeartbeatMessage {
  std::string boot_id, spool_id;
};
struct HeartbeatAnswer {
  std::uint64_t epoch{};
  bool register_again{};
};  // "register" in JSON

struct AttemptReport {
  base::JobId job;
  base::AttemptNumber attempt;
  core::ReportAttempt::What what{};
  core::ReportAttempt::Blame blame{};
  std::string reason;
  std::optional<model::ExitRecord> exit;
  base::Time at;
};
struct ReportsMessage {
  std::vector<AttemptReport> reports;
};   // at most 1000
struct ReportName {
  base::JobId job;
  base::AttemptNumber attempt;
  core::ReportAttempt::What what{};
  bool operator==(const ReportName&) const = default;
};
struct ReportsAnswer {
  std::vector<ReportName> acknowledged;
};

// Each message to one line of JSON, and strictly back: unknown members, types, ranges; what must be there is there.
template <class Message>
std::string message_text(const Message&);
template <class Message>
base::Result<Message> message_from_text(std::string_view);

}  // namespace sy::wire

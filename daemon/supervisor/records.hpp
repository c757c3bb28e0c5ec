// What agent and supervisor tell each other through files of the attempt's folder: the launch, and how it went.
// Not what travels over the network (wire/agent_messages.hpp); the agent translates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sy::supervisor {

// Names of the files in an attempt's folder.
namespace file {
inline constexpr const char* launch = "launch";        // LaunchRecord, by the agent, durable
inline constexpr const char* script = "script";        // by the agent, readable through an open descriptor only
inline constexpr const char* lock = "lock";            // held (flock) by the living supervisor
inline constexpr const char* started = "started";      // exclusive, durable: this attempt has had its supervisor
inline constexpr const char* accepted = "accepted";    // prolog done, the node takes part
inline constexpr const char* running = "running";      // RunningRecord: the first user instruction was about to run
inline constexpr const char* exit = "exit";            // ExitInfo, durable
inline constexpr const char* refused = "refused";      // RefusedRecord
inline constexpr const char* cleared = "cleared";      // ClearedRecord: nothing of the attempt is left
inline constexpr const char* end = "end";              // EndRequest, by the agent
inline constexpr const char* limit = "limit";          // new time limit in microseconds, by the agent
inline constexpr const char* control = "control";      // datagram socket of the supervisor
inline constexpr const char* log = "log";              // what the supervisor has to say to an administrator
}  // namespace file

enum class CgroupMode : std::uint8_t { none, v1, v2 };

struct CgroupPlace {
  CgroupMode mode{CgroupMode::none};
  std::string root;    // "/sys/fs/cgroup"
  std::string parent;  // below root (v2) or below each controller (v1): "switchyard/n1"
};

struct Warning {
  int signal{};
  std::int64_t before_end_us{};
  bool batch_shell{};
};

struct LaunchRecord {
  std::uint64_t job{};
  std::uint32_t attempt{};
  std::uint64_t epoch{};
  std::string node;
  std::int64_t expires_us{};       // of the capability that started it; a record is kept at least so long
  std::string boot_id;             // of the node when it was launched
  bool lead{};
  std::uint32_t rank{};
  std::uint32_t restarts{};

  std::string user;
  std::uint32_t uid{}, gid{};
  std::vector<std::uint32_t> groups;
  std::string job_name;
  std::string work_dir;
  std::string std_in, std_out, std_err;  // patterns
  bool append_output{};
  std::vector<std::string> environment;  // complete but for what is known only at the start
  std::vector<std::string> script_args;

  std::optional<std::int64_t> time_limit_us;
  std::optional<Warning> warning;
  std::int64_t kill_grace_us{};

  std::int64_t memory_mib{};       // 0: no limit
  std::int64_t cpus_milli{};       // weight of the job among others
  std::vector<int> bind_cpus;      // empty: not bound
  CgroupPlace cgroup;

  std::string prolog, epilog;      // programs run as root; empty: none
  std::vector<std::string> hook_environment;
};

struct RunningRecord {
  std::int64_t at_us{};
};
struct ExitInfo {
  bool ran{};                      // the script was started
  int code{};
  int signal{};
  bool out_of_memory{};
  bool timed_out{};
  bool core_dumped{};
  bool lease_over{};       // ended because the node had no controller for too long
  std::int64_t cpu_us{};
  std::int64_t peak_memory_mib{};
  std::string reason;
  std::int64_t at_us{};
};
struct RefusedRecord {
  std::string blame;               // "node" or "job"
  std::string reason;
  std::int64_t at_us{};
};
struct ClearedRecord {
  std::string node_fault;          // "epilog failed: exit code 3"; empty: all is well
  std::int64_t at_us{};
};
struct EndRequest {
  std::int64_t grace_us{};
  std::string why;
};

// Each has a text and is read back from it; nullopt when the text is damaged.
std::string to_text(const LaunchRecord&);
std::string to_text(const RunningRecord&);
std::string to_text(const ExitInfo&);
std::string to_text(const RefusedRecord&);
std::string to_text(const ClearedRecord&);
std::string to_text(const EndRequest&);
std::optional<LaunchRecord> parse_launch(std::string_view);
std::optional<RunningRecord> parse_running(std::string_view);
std::optional<ExitInfo> parse_exit(std::string_view);
std::optional<RefusedRecord> parse_refused(std::string_view);
std::optional<ClearedRecord> parse_cleared(std::string_view);
std::optional<EndRequest> parse_end(std::string_view);

}  // namespace sy::supervisor

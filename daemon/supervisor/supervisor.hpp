// The life of one attempt on one node, from the `started` mark to `cleared`: one small process that outlives the agent.
// Not the decision to start it, and no network: it reads and writes files of the attempt's folder and nudges the agent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/supervisor/cgroup.hpp"
#include "daemon/supervisor/child.hpp"
#include "daemon/supervisor/folder.hpp"
#include "daemon/supervisor/records.hpp"

namespace sy::supervisor {

class Supervisor {
 public:
  explicit Supervisor(const std::string& folder);
  // Returns the exit code of the process. Finding another supervisor of the attempt, or its mark, is 0 and does nothing.
  int run();
  // After a supervisor died without a word: ends what it left, runs the epilog, writes what can still be said.
  int clean();

 private:
  struct Hook {
    bool ok{};
    std::string why;
  };
  bool take_place(bool cleaning);
  std::string prepare();
  Hook run_hook(const std::string& program, const char* what);
  bool start();             // the script; false: it could not be (exit or refused is written)
  void watch();             // until script and process tree are gone
  void turn_of_the_clock(std::int64_t now);
  void begin_ending(std::int64_t now, std::int64_t grace_us);
  void kill_rest(std::int64_t now);
  bool nothing_left();
  void pump(std::int64_t until, int errors_fd = -1);
  void reap();
  void read_requests();
  void read_limit();
  void take_message(const std::string&);
  void deliver(int signal, bool batch_only, bool whole_job);
  void signal_all(int signal, bool with_shell);
  void sample(std::int64_t now);
  std::int64_t next_wake(std::int64_t now) const;
  void write_exit();
  void finish(bool with_epilog);
  void refuse(const std::string& blame, const std::string& why);
  void nudge() const;
  void log(const std::string&) const;

  Folder folder_;
  Folder spool_;
  Descriptor lock_, signals_, control_;
  LaunchRecord launch_;
  Cgroup cgroup_;
  ExitInfo exit_;

  pid_t script_{}, hook_{};
  bool script_done_{}, no_children_{true};
  std::optional<int> hook_status_;
  std::optional<EndRequest> end_;
  bool ending_{}, warned_{};
  int kills_{};
  std::optional<std::int64_t> limit_us_;
  std::int64_t began_{}, kill_at_{}, sample_at_{}, sample_every_{};
  std::int64_t sampled_mib_{}, largest_process_mib_{}, reaped_cpu_us_{};
};

}  // namespace sy::supervisor

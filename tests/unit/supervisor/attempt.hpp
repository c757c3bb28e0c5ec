// An attempt with a real supervisor in a temporary spool, for tests: fill in `launch`, call start(), look at what is left.
// Not the agent: nothing here talks to a controller.
#pragma once

#include <string>
#include <vector>

#include "daemon/supervisor/folder.hpp"
#include "daemon/supervisor/records.hpp"

struct Attempt {
  static constexpr unsigned user = 65534;  // nobody

  explicit Attempt(const std::string& script_text, bool with_cgroup = true);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  pid_t start(const std::vector<std::string>& options = {});  // writes the records, spawns the supervisor
  int wait(pid_t);                                           // its exit code
  sy::supervisor::ExitInfo run();                            // start, wait, read how it ended
  void wait_for_file(const std::string& path) const;         // fails the test after a minute
  void tell(const std::string& message) const;               // a datagram to the living supervisor
  void end(std::int64_t grace_us, const std::string& why = "cancelled") const;
  void set_limit(std::int64_t us) const;
  std::string output(const std::string& name = "out.txt") const;
  std::string work(const std::string& name) const { return work_dir + "/" + name; }
  std::vector<pid_t> left() const;                           // processes of this attempt that still live

  std::string root;       // everything is below it
  std::string work_dir;   // the user's
  std::string folder;     // of the attempt
  std::string script;
  sy::supervisor::LaunchRecord launch;
};

bool can_use_cgroups();
std::string read_file(const std::string& path);

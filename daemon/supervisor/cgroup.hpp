// The control group of one attempt: limits, what it used, who is in it, and its end. Versions 2, 1, or none.
// Not the process tree (process_tree.hpp), which is what is left where there are no control groups.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/supervisor/records.hpp"

namespace sy::supervisor {

struct CgroupLimits {
  std::int64_t memory_mib{};   // 0: none
  std::int64_t cpus_milli{};   // relative weight; 0: the system's default
  std::vector<int> bind_cpus;  // empty: all
};

class Cgroup {
 public:
  Cgroup() = default;  // mode none: everything answers "nothing"
  // What this machine offers below `root`, and whether we may use it. Prepares the parent. `why` says why not a better one.
  static CgroupMode prepare(const std::string& root, const std::string& parent, std::string& why);

  Cgroup(CgroupPlace place, std::string name);
  // Makes the groups and sets the limits; "" or what failed, for people.
  std::string create(const CgroupLimits&);
  // Takes the place of an existing one, after a supervisor died.
  bool exists() const;
  // Called by the process that joins, single-threaded, before it drops privileges. "" or what failed.
  std::string join_self() const;

  std::vector<pid_t> processes() const;
  void kill_all(bool freeze) const;  // SIGKILL to all; the caller repeats until processes() is empty
  std::int64_t cpu_us() const;       // 0: unknown
  std::int64_t memory_now_mib() const;   // without page cache
  std::int64_t memory_peak_mib() const;  // with page cache: an upper bound; 0: unknown
  bool killed_for_memory() const;
  void remove() const;
  bool active() const { return place_.mode != CgroupMode::none; }

 private:
  std::string path(const char* controller) const;
  std::vector<const char*> controllers() const;
  CgroupPlace place_;
  std::string name_;
};

}  // namespace sy::supervisor

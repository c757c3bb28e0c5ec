// Starts one program in a new process: the user's batch script with all rights dropped, or a prolog or epilog as root.
// Not the waiting for it: the supervisor's loop reaps children and watches the clock.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "daemon/supervisor/cgroup.hpp"
#include "daemon/supervisor/folder.hpp"
#include "daemon/supervisor/records.hpp"

namespace sy::supervisor {

struct Started {
  pid_t pid{};
  Descriptor errors;  // reads what went wrong before the program ran: "N…" the node's fault, "J…" the job's; empty: it runs
};

// In the child, in this order: session, control group, limits, priority; groups, gid, uid (checked); working directory and
// output files as the user; the script through an open descriptor, since its folder is closed to users. Throws on fork.
Started start_script(const LaunchRecord&, const Folder&, const Cgroup&, std::int64_t now_us);

// As the supervisor's own user, with the environment given and nothing else; output goes to the attempt's log.
Started start_hook(const std::string& program, const std::vector<std::string>& environment, const Folder&);

// The environment of the batch script with what is known only now: start and end time, the pid of the task.
std::vector<std::string> complete_environment(const LaunchRecord&, std::int64_t now_us, pid_t self);

}  // namespace sy::supervisor

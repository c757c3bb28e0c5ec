// The processes below this one, as the kernel's process table tells. With PR_SET_CHILD_SUBREAPER set that is everything the
// job ever started, also what called setsid() or forked twice. Not control groups.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sy::supervisor {

std::vector<pid_t> descendants_of(pid_t root);  // children, their children, …; without root
// Processes whose environment holds `entry` ("NAME=value"): what is left when a supervisor died and took the tree's root along.
std::vector<pid_t> processes_with_environment(const std::string& entry);

}  // namespace sy::supervisor

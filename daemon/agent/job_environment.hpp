// The environment of a batch script: what the user gave, the SLURM_* names that scripts and frameworks read, and the basics.
// Pure. Start time and process id come later, from the supervisor; per-task variables belong to srun.
#pragma once

#include <string>
#include <vector>

#include "wire/agent_messages.hpp"

namespace sy::daemon {

struct Account {
  std::string name, home, shell;
};

// Ours replace what the user's environment says under the same name; names of an enclosing job are taken out.
std::vector<std::string> job_environment(const wire::LaunchMessage&, const Account&, bool node_has_gpus);
// For prolog and epilog, which run as root: only what the controller vouches for, nothing a user chose.
std::vector<std::string> hook_environment(const wire::LaunchMessage&);

// {2,2,2,1} → "2(x3),1".
std::string counts_text(const std::vector<std::uint32_t>&);

}  // namespace sy::daemon

// What this node is: CPUs, memory and GRES as the settings say or hwloc finds them, and which boot of the machine this is.
// Not what jobs hold of it (cpu_binding.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/node.hpp"
#include "wire/agent_config.hpp"

namespace sy::daemon {

struct Machine {
  model::NodeShape shape;        // what the node offers
  std::vector<int> cpus;         // the system's numbers, neighbours next to each other; empty: jobs are not bound
  std::string warning;           // why not bound, for the log
  std::string boot_id;
  std::optional<base::Time> boot_time;
};

base::Result<Machine> look_at_machine(const wire::AgentSettings&);

}  // namespace sy::daemon

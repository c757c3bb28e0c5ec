#include "model/node.hpp"

namespace sy::model {

// In Slurm's order: drained hides down, and what runs there decides between draining and drained.
std::string_view node_state_name(const Node& n) {
  if (n.contact == Contact::fenced) return "fenced";
  if (n.drained) return n.jobs.empty() ? "drained" : "draining";
  if (n.down || n.contact == Contact::silent) return "down";
  if (n.contact == Contact::never) return "unknown";
  if (n.jobs.empty()) return "idle";
  return n.held.cpus >= n.total.cpus ? "allocated" : "mixed";
}

}  // namespace sy::model

// What losing a node means for the jobs on it: silence makes them lost, fencing ends their part there for certain.
// Shared by the verbs that come to that: silence, fencing, a new boot id, a lost spool, `down`.
#pragma once

#include "core/event.hpp"

namespace sy::core {

// Nothing of these jobs can run on the node any more: their grants there come back, and they end (or wait again).
void fenced_facts(const State&, const Node&, const std::string& why, std::vector<Fact>&);
// Nobody knows what the node does: the jobs keep what they hold until it is heard or fenced.
void lost_facts(const State&, const Node&, const std::string& why, std::vector<Fact>&);
// The order to end one job because of a node, unless it is ending or asked to go on without it (--no-kill).
void end_for_node(const Job&, const Node&, const std::string& why, std::vector<Fact>&);

}  // namespace sy::core

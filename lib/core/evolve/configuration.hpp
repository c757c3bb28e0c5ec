// Puts a configuration into State: settings, declared nodes, partitions. Also used by decide on a copy without jobs, to see
// what would change. Not validation: decide/configure does that first.
#pragma once

#include "core/event.hpp"

namespace sy::core {

void put_configuration(State&, const Settings&, const std::vector<NodeDeclaration>&, const std::vector<PartitionDeclaration>&);

// The node of this name, its tombstone revived, or a new one at the end.
Node& node_named(State&, const std::string& name);
// Takes a node out: tombstone, out of every partition.
void bury(State&, Node&);
// A new shape in force: total and the table of GRES holders follow.
void reshape(Node&, const NodeShape&);
// Partitions declared as ALL take in a node that came later.
void join_open_partitions(State&, NodeIndex);

}  // namespace sy::core

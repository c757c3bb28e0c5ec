// Which nodes a request may look at because of others: domains that somebody is in, affinity to members that have their place
// already, dearer nodes. By position; a gang's own groups keep near and apart in gang_neighbours.hpp.
#pragma once

#include <string>
#include <vector>

#include "sched/placement/board.hpp"

namespace sy::sched::placement {

// Of the affinities that are not required, in the order in which they were written: which are minded. Empty: none.
using Wishes = std::vector<bool>;
std::size_t wishes_in(const model::Group&);

// Domains that others use: closed to a job that wants one for itself.
void close_used(const Board&, std::int32_t level, std::vector<bool>& open);
// What the affinities to Options::members leave out.
void close_by_affinity(const model::TopologyIndex&, const model::Group&, const Options&, const Wishes&, std::vector<bool>& open);
void close_dearer(const Board&, std::uint32_t weight, std::vector<bool>& open);

// Nodes of every domain of that level which the placement touches; at level "node" those it is on.
std::vector<NodeIndex> closed_nodes(const model::TopologyIndex&, const std::vector<PlacedNode>&, std::int32_t level);
// Who must be near a job that does not run waits for it to start: said before the rest.
void tell_who_is_missing(const model::Group&, const Options&, std::string& detail);

}  // namespace sy::sched::placement

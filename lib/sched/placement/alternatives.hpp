// "[a|b]", also as "x&[a|b]": all nodes of a group have one of these features, and all the same. A request with such a choice is as many
// requests as there are ways to choose. Not "a|b", of which each node takes what it has (part.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "model/placement_request.hpp"

namespace sy::sched::placement {

inline constexpr std::size_t most_alternatives = 64;  // more ways to ask for one thing are not tried

// Of the first group with a choice, depth-first: the request with each of its alternatives. Empty: there is nothing to choose.
std::vector<model::Group> ways_to_choose(const model::Group&);
// Of all groups together.
std::uint64_t count_ways_to_choose(const model::Group&);

}  // namespace sy::sched::placement

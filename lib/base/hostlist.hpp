// Slurm's hostlist language: "n[1-3,07-09:2],gpu[0-1]x[0-3]" to names and back.
// Not a set of nodes (node_set.hpp): these are words that the cluster may or may not know.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::base {

inline constexpr std::size_t max_hostlist_names = 262'144;

// Names in the order written, duplicates kept. Several brackets per word, ranges, steps ("0-8:2"), zero padding kept.
// Errors name the position. Refuses to produce more than `limit` names before it allocates them.
Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit = max_hostlist_names);

// The shortest usual text: names sorted naturally (n2 before n10), duplicates dropped, the last number folded into ranges,
// as Slurm prints it. fold_hostlist({"n1","n2","n4"}) == "n[1-2,4]"; empty list: "".
std::string fold_hostlist(std::vector<std::string> names);

// Same, but keeps the order given (rank order) and duplicates.
std::string fold_hostlist_in_order(const std::vector<std::string>& names);

// Natural order: digits compare as numbers ("n2" < "n10"), ties by text. The order of nodes everywhere.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace sy::base

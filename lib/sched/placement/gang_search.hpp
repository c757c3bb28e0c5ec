// One walk through the places of a gang with fixed numbers of copies and nodes. Which numbers, and on which rungs of the outermost
// container, is gang.hpp's.
#pragma once

#include "sched/placement/gang.hpp"

namespace sy::sched::placement {

inline constexpr std::uint64_t most_copies = 1000;  // the search is that deep

struct Walk {
  bool exhaustive{};                     // where the usual choices fail, also every other way to divide a group over nodes
  std::size_t rung{};                    // of the outermost container alone, so that a wider one is used only where no narrower serves
  std::uint64_t budget{};                // steps
};
GangResult search_gang(const Piece&, const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes, const Options&,
                       const std::vector<bool>* open, Walk);
// Each copy goes to the first place that serves; for gangs of more copies than a search can hold.
GangResult search_gang_greedily(const Piece&, const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes,
                                const Options&, const std::vector<bool>* open);

std::int64_t cpus_of_one(const Part&);   // thousandths that one copy takes at least
std::uint64_t count_copies(const Piece&);  // of groups in all: each is one step deeper in the search

}  // namespace sy::sched::placement

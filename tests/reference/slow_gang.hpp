// Gangs by trying everything: every way to divide every group over nodes (design P1, P2, P7). For at most six nodes and four copies.
#pragma once

#include <optional>
#include <vector>

#include "slow_placement.hpp"

namespace reference {

struct Near {
  int level{}, group{};                    // another group of the gang
  bool together{};
};
struct Beside {
  int level{};
  Set of{};                                // nodes of another job
  bool together{};
};
struct Apart {
  int level{};
  int max_per_domain{}, max_share{}, min_domains{}, max_skew{};  // 0: not asked
};

struct GangGroup {
  int units{1}, cpus{1};                   // tasks of so many CPUs, or nodes
  int fewest{};                            // of a range of nodes: this many will do; 0: all units
  bool whole{}, one_each{};                // units are nodes: alone on them, or not
  int nodes{};                             // tasks are on exactly so many nodes; 0: on as many as it takes
  int segment{}, segment_level{};          // so many units each in one domain; 0: none
  bool contiguous{};                       // nodes side by side in the walk
  int own_level{}, own_most{}, own_least{};  // of the units of a copy: at most so many in a domain; on so many domains
  int replicas{1};
  int required{-1};                        // level one copy must stay in
  Set named{};                             // nodes that each copy must be on
  std::vector<Near> near;
  std::vector<Beside> beside;
  std::vector<Apart> apart;                // between its copies
};

struct Gang {
  std::vector<int> rungs;                  // of the gang, narrow to wide
  std::vector<GangGroup> groups;
  std::size_t inner{};                     // so many of the first groups are in a group of their own; its copies follow it in `groups`
  std::size_t inner_copies{1};
  int inner_required{-1};                  // level in one domain of which each copy of it stays
};

// Free CPUs by node; a node that is not idle can not be taken whole.
std::optional<int> first_rung(const Cluster&, const Gang&, const std::vector<int>& free);
// Is this a placement of the gang inside one domain of that level? takes[group][copy] = units by node.
bool holds(const Cluster&, const Gang&, const std::vector<int>& free, const std::vector<std::vector<Take>>& takes, int level);

}  // namespace reference

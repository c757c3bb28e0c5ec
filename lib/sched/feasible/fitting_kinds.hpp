// Which kinds of nodes of a partition could hold part of a request were they idle and up: features and size. The cost does not
// grow with the number of nodes. Not names, not topology (placement/), and not what is free now.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"
#include "sched/feasible/needs.hpp"

namespace sy::sched {

struct FittingKinds {
  Needs needs;
  std::vector<std::uint32_t> idle_slots;     // by kind of node (ClusterShape.kinds); 0 where one can hold nothing
  std::vector<bool> featured;                // by kind: has what --constraint asks
  std::vector<Cause> causes;                 // why nodes of the partition are out, were all idle and up
  std::uint32_t partition_nodes{};
  bool decide{};                             // nodes of a kind are interchangeable: no names, no bracket, no counts
};

// Errors name the option: a feature expression that can not be read.
Result<FittingKinds> fitting_kinds(const ClusterShape&, std::size_t partition, const Settings&, const Group&, Uid);

// Were everything idle and up, are there nodes enough, and do they hold the tasks? Otherwise the numbers and words that say what would.
Verdict fits_when_idle(const ClusterShape&, std::size_t partition, const FittingKinds&, const Group&);
// Does one of the nodes that --nodelist names lack something? Otherwise fits.
Verdict named_nodes_suit(const ClusterShape&, const FittingKinds&, const Group&);
// "--nodelist n[1-3]": which of the options that name nodes or count them can not be satisfied together.
std::string not_together(const Group&);

}  // namespace sy::sched

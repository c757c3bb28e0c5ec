// Which nodes of a partition could hold part of a request were they idle and up: features, names, and size. Computed once
// for all equal requests of a pass. Not what is free now.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"
#include "sched/feasible/needs.hpp"

namespace sy::sched {

struct FittingNodes {
  Needs needs;
  std::vector<NodeSet> alternatives;         // one or more; "[a|b]": all nodes of the job come from one of them
  struct Counted {
    NodeSet nodes;
    std::uint32_t count{};
  };
  std::vector<Counted> counted;              // "a*2&b*4"
  NodeSet required;                          // -w, where all named nodes are in
  std::vector<std::uint32_t> idle_slots;     // by kind of node (ClusterShape.kinds); 0 where one can hold nothing
  std::vector<Cause> causes;                 // why nodes of the partition are out, were all idle and up
  std::uint32_t partition_nodes{};
  bool by_kind{};                            // nodes of a kind are interchangeable: no names, no bracket, no counts
};

// Errors name the option: an unknown node after -w, a feature expression that can not be read. With `by_kind_only` the sets of
// nodes stay empty where kinds alone decide: the cost of a submission must not grow with the number of nodes.
Result<FittingNodes> fitting_nodes(const ClusterShape&, std::size_t partition, const Settings&, const Group&, Uid,
                                   bool by_kind_only = false);

// Were everything idle and up, would it fit? Otherwise the numbers and words that say what would.
Verdict fits_when_idle(const ClusterShape&, std::size_t partition, const FittingNodes&, const Group&);

}  // namespace sy::sched

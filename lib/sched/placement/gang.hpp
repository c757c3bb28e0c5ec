// Groups that come together or not at all (P1): a depth-first search over where each group, copy and container of groups goes,
// cut off by a counted budget (P12). Not for a plain or segmented job: that is choose.hpp.
#pragma once

#include <memory>
#include <vector>

#include "sched/placement/alternatives.hpp"
#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

// A group of the tree, resolved. A container only bounds its children.
struct Piece {
  std::string name;
  Part part;                            // containers use its rungs and filter only
  bool container{};
  bool wish{};                          // of the outermost: any group in it asks to be near (P11)
  bool part_of_group{};                 // of counted features: its nodes are others than those of the other parts
  std::uint32_t replicas{1}, min_replicas{1};
  std::vector<model::Spread> spread;    // of its copies
  std::vector<model::Affinity> affinity, anti_affinity;
  std::vector<Piece> children;
};

// Does the request need a search: groups inside groups, copies, counted features?
bool needs_search(const model::Group&);
// `alternative`: of the ways to give required nodes to counted features, of which there are `alternatives`, at most most_alternatives.
Result<Piece> make_piece(const model::Group&, const ClusterShape&, const model::TopologyIndex&, const Options&, std::size_t alternative = 0,
                         std::size_t* alternatives = nullptr);

struct GangResult {
  bool placed{};
  bool budget_ended{};                  // not placed, and not every way was tried
  bool steps_ended{};                   // for want of steps
  bool too_few_cpus{};                  // for all of it, wherever they are
  bool nowhere{};                       // the outermost container found no domain with room enough
  std::vector<PlacedNode> nodes;        // by group, replica, path
  std::int32_t level{model::TopologyIndex::any_level};
  std::uint32_t domain{};
  std::uint64_t steps{};
  std::string hopeless;                 // the group that would have no place even if it were alone
  std::string blocked_by;               // the group that found no place most often
};

// `open`: the positions that may be used; null: all.
GangResult place_gang(const Piece&, const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes, const Options&,
                      const std::vector<bool>* open);

}  // namespace sy::sched::placement

// What is free, counted per domain, and kept so while single nodes change: the sums that a choice is made from. One board
// per topology and instant. Not the choice (choose.hpp); it does not own the nodes, it is told which have changed.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sched/placement/part.hpp"

namespace sy::sched::placement {

// One shape of request on one board.
struct Offer {
  std::vector<std::uint32_t> units;      // by position: how many units the node holds now
  std::vector<std::uint32_t> raw;        // the same before rounding to Demand::multiple; empty when that is 1
  std::vector<std::uint32_t> sum;        // by domain
  std::vector<std::uint32_t> raw_sum;    // the same of raw; empty when that is
  std::vector<std::uint64_t> weight;     // by domain: Σ weight of nodes that hold any; empty when all weights are equal
  std::vector<std::uint32_t> holders;    // by domain: nodes that hold any; only with weight
  // Of a leaf whose nodes that hold any are all alike (so many units, all idle or none, one weight), the first; no_node otherwise.
  // Both are empty where no single nodes are looked at (Part::single_nodes), or leaves are too large for it to pay.
  std::vector<std::uint32_t> example;    // by domain; only leaves
  std::vector<std::uint32_t> most;       // by domain: the most units of one node
  std::size_t seen{};                    // how much of the board's list of changes is in here
  static constexpr std::uint32_t no_node = ~0U;
};

class Board {
 public:
  // All three must outlive the board. `nodes` by NodeIndex.
  Board(const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes);

  // The node's entry in `nodes` is different now.
  void changed(NodeIndex);

  // Up to date for the present nodes. The reference holds until the next call with another key (the oldest shapes are forgotten).
  const Offer& offer(const Part&);
  // The same, of nodes in one domain and outside `closed` only; not cached.
  Offer narrowed(const Offer&, std::uint32_t scope, const std::vector<bool>* open_positions) const;
  // One node of such an offer holds `raw` units, rounded down to the multiple.
  void set_units(Offer&, std::uint32_t position, std::uint32_t raw, std::uint32_t multiple) const;

  const ClusterShape& shape() const { return shape_; }
  const model::TopologyIndex& topology() const { return topology_; }
  const NodeNow& now(std::uint32_t position) const { return nodes_[topology_.node_at(position)]; }
  std::span<const NodeNow> nodes() const { return nodes_; }
  std::uint32_t weight(std::uint32_t position) const { return shape_.nodes[topology_.node_at(position)].weight; }
  bool equal_weights() const { return equal_weights_; }
  // Equal numbers: nodes that no request can tell apart but by name, place, weight and what they have in all.
  std::uint32_t look(std::uint32_t position) const { return look_at_[position]; }
  // Wholly free nodes: usable and without any job.
  bool idle(std::uint32_t position) const { return idle_[position]; }
  std::uint32_t idle_in(std::uint32_t domain) const { return idle_count_[domain]; }
  std::span<const std::uint32_t> idle_counts() const { return idle_count_; }
  bool wholly_free(std::uint32_t domain) const { return idle_count_[domain] == topology_.domain(domain).size(); }
  std::uint64_t nodes_looked_at{};

 private:
  void fill(Offer&, const Part&);
  void renew(Offer&, const Part&);
  // Nodes that no request can tell apart but by its name, its place and its weight look alike: a new shape is counted once per look.
  struct Look {
    NodeNow now;
    const ClusterShape::NodeInfo* info{};
    std::uint32_t nodes{};               // that look so; 0: free to be used again
  };
  static std::size_t hash_of(const ClusterShape::NodeInfo&, const NodeNow&);
  static bool alike(const Look&, const ClusterShape::NodeInfo&, const NodeNow&);
  std::uint32_t look_of(std::uint32_t position);
  void forget_look(std::uint32_t look);
  std::uint32_t count(const Part&, std::uint32_t position) const;
  void add_up(Offer&, const Part&) const;
  void compare_nodes(Offer&, std::uint32_t leaf) const;
  void set_most(Offer&, std::uint32_t leaf, std::uint32_t before) const;

  const ClusterShape& shape_;
  const model::TopologyIndex& topology_;
  std::span<const NodeNow> nodes_;
  std::vector<Look> looks_;
  std::vector<std::uint32_t> unused_looks_;
  std::unordered_multimap<std::size_t, std::uint32_t> look_by_hash_;
  std::vector<std::uint32_t> look_at_;   // by position
  std::uint32_t largest_leaf_{};
  std::vector<bool> idle_;
  std::vector<std::uint32_t> idle_count_;
  std::vector<std::uint32_t> changes_;   // positions, oldest first
  bool equal_weights_{true};
  std::list<std::pair<std::string, Offer>> recent_;
  std::unordered_map<std::string, std::list<std::pair<std::string, Offer>>::iterator> by_key_;
};

// Units of this demand that the node holds now; 0 with the first cause that says so.
std::uint32_t units_on(const Demand&, const Filter&, NodeIndex, const ClusterShape::NodeInfo&, const NodeNow&,
                       model::Cause::Kind* cause = nullptr);
// The same for any node like this one, whatever its name: the filter's sets of nodes are not looked at.
std::uint32_t units_on_such(const Demand&, const Filter&, const ClusterShape::NodeInfo&, const NodeNow&,
                            model::Cause::Kind* cause = nullptr);
// Do the filter's sets of nodes let it in?
bool let_in(const Filter&, NodeIndex);
// What `units` of this demand take of that node (GRES without a type: of the types that are free, by name).
Resources taken(const Demand&, std::uint32_t units, const ClusterShape::NodeInfo&, const NodeNow&);

}  // namespace sy::sched::placement

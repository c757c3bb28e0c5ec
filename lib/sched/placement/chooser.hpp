// The one door between a pass and placement: for a class of equal requests in one partition, the nodes it gets now, or why
// none. Remembers slots per node and looks again only at nodes that changed. Which engine chooses is decided in here.
#pragma once

#include <tl/expected.hpp>
#include <vector>

#include "sched/feasible/fitting_nodes.hpp"

namespace sy::sched {

// The cluster as it stands during a pass: free resources shrink as starts are chosen.
class ClusterNow {
 public:
  explicit ClusterNow(const View& view) : shape_(view.shape), nodes_(view.nodes) {}

  const ClusterShape& shape() const { return *shape_; }
  const NodeNow& node(NodeIndex n) const { return nodes_[n.value]; }
  const std::vector<NodeNow>& nodes() const { return nodes_; }
  void take(const std::vector<NodeGrant>&, const Needs&, Uid);
  // Nodes that changed, in order; a chooser remembers how far it has read.
  const std::vector<NodeIndex>& changes() const { return changes_; }

  void count_looked_at(std::uint64_t n) { looked_at_ += n; }
  std::uint64_t nodes_looked_at() const { return looked_at_; }

 private:
  std::shared_ptr<const ClusterShape> shape_;
  std::vector<NodeNow> nodes_;
  std::vector<NodeIndex> changes_;
  std::uint64_t looked_at_{};
};

class Chooser {
 public:
  // A verdict instead where it fits on no idle cluster (never).
  static tl::expected<Chooser, Verdict> make(ClusterNow&, std::uint32_t partition, const Settings&, const JobSpec&, Uid);

  // Grants in rank order, or why not now.
  tl::expected<std::vector<NodeGrant>, Verdict> choose(ClusterNow&);
  const Needs& needs() const { return fitting_.needs; }

 private:
  void refresh(ClusterNow&);
  Verdict why_not(const ClusterNow&) const;

  FittingNodes fitting_;
  std::uint32_t partition_{};
  std::vector<NodeIndex> nodes_;          // of any alternative, ascending
  std::vector<std::uint32_t> slots_;      // beside nodes_
  std::size_t read_{};                    // changes looked at
  bool fresh_{true};
};

}  // namespace sy::sched

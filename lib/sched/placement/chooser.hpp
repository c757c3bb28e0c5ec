// The one door between a pass and placement: for a class of equal requests in one partition, the nodes it gets now, or why
// none. The engine behind it looks again only at nodes that changed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <tl/expected.hpp>
#include <vector>

#include "sched/feasible/needs.hpp"
#include "sched/placement/placement.hpp"

namespace sy::sched {

// The cluster as it stands during a pass: free resources shrink as starts are chosen.
class ClusterNow {
 public:
  explicit ClusterNow(const View& view)
      : shape_(view.shape),
        nodes_(view.nodes),
        running_(view.running),
        waiting_(view.waiting),
        running_of_(view.running_of),
        thorough_(view.thorough) {}
  ClusterNow(const ClusterNow&) = delete;
  ClusterNow& operator=(const ClusterNow&) = delete;

  const ClusterShape& shape() const { return *shape_; }
  const NodeNow& node(NodeIndex n) const { return nodes_[n.value]; }
  const std::vector<NodeNow>& nodes() const { return nodes_; }
  void take(const std::vector<NodeGrant>&, const Needs&, Uid);
  // Nodes of an exclusive domain that was given away: nobody else comes to them.
  void close(const std::vector<NodeIndex>&);
  // Jobs of users whose waiting jobs name others, before this pass; and started in it.
  const std::vector<RunningJob>& running() const { return running_; }
  const std::vector<RunningJob>& started() const { return started_; }
  void started(const WaitingJob&, const std::vector<NodeGrant>&);
  bool waits(JobId) const;
  // The engine for that partition's topology (a flat one where none is configured), told of every change so far.
  placement::Engine& engine(std::uint32_t partition);
  const model::TopologyIndex& topology(std::uint32_t partition);
  void count_looked_at(std::uint64_t n) { looked_at_ += n; }
  // Steps for the next request's search. A pass has a budget for all of them, so that a few hard ones do not hold up the rest.
  std::uint64_t search_budget() const;
  void spend_search(std::uint64_t steps) { searched_ += steps; }
  std::uint64_t searched() const { return searched_; }
  std::uint64_t nodes_looked_at() const { return looked_at_; }

 private:
  std::shared_ptr<const ClusterShape> shape_;
  std::vector<NodeNow> nodes_;
  std::vector<NodeIndex> changes_;        // in order; an engine remembers how far it has been told
  std::vector<RunningJob> running_, started_;
  const std::vector<WaitingJob>& waiting_;  // the view's, by id
  std::set<Uid> running_of_;
  bool thorough_{};
  std::uint64_t looked_at_{}, searched_{};
  struct Placer {
    Placer(std::shared_ptr<const model::TopologyIndex> t, const ClusterShape& shape, const std::vector<NodeNow>& nodes)
        : index(std::move(t)), engine(shape, *index, nodes) {}
    std::shared_ptr<const model::TopologyIndex> index;
    placement::Engine engine;
    std::size_t read{};
  };
  Placer& placer(std::uint32_t partition);
  std::map<std::string, std::unique_ptr<Placer>> placers_;  // by name of topology
};

// What a partition's topology is called: its own setting, else the cluster's, else the name that imports get which nobody named.
std::string topology_name(const Partition&, const std::string& default_topology);
// The topology of a partition; null: none is in force under that name.
const model::Topology* topology_of(const ClusterShape&, std::size_t partition);
std::shared_ptr<const model::TopologyIndex> index_of(const ClusterShape&, std::size_t partition);
// Is there anything to tell of a placement: a topology, or wishes about the place?
bool place_matters(const ClusterShape&, std::size_t partition, const Group&);
// Nodes in domains that live jobs have for themselves (--exclusive=topo): nobody else comes to them.
NodeSet nodes_of_exclusive_domains(const State&);
// What partition and settings add to the request before placement: its default memory, its most nodes; and the options.
Group with_partition(const ClusterShape&, std::size_t partition, const Settings&, Group);
placement::Options options_for(const ClusterShape&, std::size_t partition, const Settings&, Uid);

// The nodes that a request gets, and what is told about why these.
struct Chosen {
  std::vector<NodeGrant> nodes;        // rank order
  PlacementHandle placement;           // absent unless place_matters
};

class Chooser {
 public:
  Chooser(const ClusterShape&, std::uint32_t partition, const Settings&, std::shared_ptr<const JobSpec>, Uid);

  // Or why not now, or never. `waited`: since the job became eligible, for ladders that open with time.
  tl::expected<Chosen, Verdict> choose(ClusterNow&, Duration waited, Time eligible);
  // Do the answers for equal requests depend on how long each has waited?
  bool depends_on_wait() const { return depends_on_wait_; }
  const Needs& needs() const { return needs_; }

 private:
  std::vector<placement::Member> members(const ClusterNow&) const;
  void tell_who_has_ended(const ClusterNow&, std::string& detail) const;

  Needs needs_;
  std::uint32_t partition_{};
  bool depends_on_wait_{}, place_matters_{};
  std::shared_ptr<const JobSpec> spec_;
  Uid uid_;
  std::vector<std::string> targets_, avoided_;  // jobs that the request names; those that it wants to be away from
  Group group_;                           // with what the partition adds
  placement::Options options_;
  std::vector<Needs> group_needs_;        // by number of the group, depth-first
};

}  // namespace sy::sched

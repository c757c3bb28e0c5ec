// Placement: which nodes a request gets out of what is free at one instant, or exactly why none (design §6). Pure, and blind
// to time: the caller says what is free then. Not eligibility, not order, not backfill; nothing is taken by asking.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/topology_index.hpp"
#include "model/verdict.hpp"
#include "sched/view.hpp"

namespace sy::sched::placement {

// What a partition does with jobs that wish nothing: pack them (Slurm's way) or not (TopoOptional).
enum class Packing : std::uint8_t { narrowest, none };

// A member of this job, or of a job that an affinity names, which has its place already.
struct Member {
  std::string group;                    // as Affinity.target; empty: of this same request (a replacement or a grown job joins it)
  NodeIndex node;
  std::uint32_t tasks{1};
};

// Everything about the question that is not in the request.
struct Options {
  const NodeSet* allowed{};             // the partition's nodes; null: all
  Packing packing{Packing::narrowest};
  bool whole_nodes{};                   // the partition gives whole nodes only
  std::uint32_t max_nodes{};            // the partition's limit, where nodes were not asked for by number; 0: none
  Uid uid;
  std::optional<base::Duration> waited; // how long the job has been eligible; absent: every rung is open (`sy topo try`)
  std::optional<Time> eligible;         // to tell when a rung opens
  bool literal_switch_wait{};           // --switches=n@t as a blind timer, as in Slurm
  bool weight_first{};                  // cheaper nodes before better topology
  bool explain{true};                   // fill Verdict.rungs and causes when it does not fit
  std::uint64_t budget{200'000};        // search steps for gangs, unequal sizes, spread and affinity (P12)
  std::vector<Member> members;
  bool members_anywhere{};              // the future's question: whoever an affinity names outside this job may be where it suits
  bool least_will_do{};                 // only whether it fits is asked: of copies and nodes no more than the least is looked for
  bool shortcuts{true};                 // false: every domain that ties is filled on trial, alike or not (the answer is the same)
  bool parts_of_a_gang{};               // set by the engine for the groups of a gang
};

struct PlacedNode {
  NodeIndex node;
  std::uint32_t tasks{1};
  std::uint32_t group{};                // number of the group, depth-first; 0 for a plain job
  std::uint32_t replica{};
  std::uint32_t segment{};              // of the widest layer, numbered in rank order
  bool operator==(const PlacedNode&) const = default;
};

// "0 of 1 segments of 6 on rack": how far one layer of segments came.
struct LayerCount {
  std::string level;
  std::uint32_t size{}, offered{}, asked{};
  bool operator==(const LayerCount&) const = default;
};

struct Work {
  std::uint64_t nodes_looked_at{}, domains_looked_at{}, search_steps{};
};

struct Answer {
  Verdict verdict;                      // fits; not_now with reason and rungs; never; reason search_limit
  std::vector<PlacedNode> nodes;        // rank order (P8); a node appears once per group
  std::string level;                    // the rung it was placed on: "rack", "any"
  std::vector<std::string> domains;     // the domains of that rung that hold it
  std::uint32_t leaves_used{}, leaves_least{};  // used, and the fewest that could hold it were everything idle
  std::int64_t fragmentation_growth{};  // of F (P9)
  std::vector<DomainCount> beaten;      // at most five other domains of that rung that would have done
  std::vector<NodeIndex> closed;        // exclusive domains: nodes that nobody else may use while the job runs
  std::vector<LayerCount> layers;       // when segments did not fit
  Work work;
  bool placed() const { return verdict.kind == Verdict::Kind::fits; }
};

// Refuses at submission what can not be understood on this topology: unknown levels, sizes that do not divide, a child wider
// than its parent, contradictions (P2). Error.field names the option as the user wrote it.
Result<void> check_request(const model::Group&, const model::TopologyIndex&);
// What is accepted but has no effect here, one sentence each ("--switches is ignored on a block topology").
std::vector<std::string> warnings(const model::Group&, const model::TopologyIndex&);

// Asks many questions of one cluster: keeps what was counted for one while single nodes change.
class Engine {
 public:
  // All three must outlive the engine; `nodes` by NodeIndex: what is free at the instant asked about.
  Engine(const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // When it does not fit, also finds out whether it ever could (verdict never).
  Answer place(const model::Group&, const Options&);
  // The node's entry in `nodes` is different now.
  void changed(NodeIndex);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The whole question in one call. `nodes` by NodeIndex: what is free at the instant asked about. When it does not fit, also
// finds out whether it ever could (verdict never).
Answer place(const model::Group&, const ClusterShape&, const model::TopologyIndex&, std::span<const NodeNow> nodes, const Options& = {});
// The same with everything idle and up: submission's question. Fits or never (or search_limit).
Answer place_on_idle(const model::Group&, const ClusterShape&, const model::TopologyIndex&, const Options& = {});
// All nodes idle and up.
std::vector<NodeNow> idle_nodes(const ClusterShape&);
// Nodes' names, by NodeIndex, as TopologyIndex::build wants them.
std::vector<std::string> node_names(const ClusterShape&);

// P9: Σ over levels of nodes in domains that are not wholly free, plus busy nodes.
std::int64_t fragmentation(const model::TopologyIndex&, std::span<const NodeNow> nodes);
// The first `tasks` ranks stay (elastic shrink).
std::vector<PlacedNode> shrink(std::vector<PlacedNode>, std::uint32_t tasks);

}  // namespace sy::sched::placement

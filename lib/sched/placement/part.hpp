// A group of a request, resolved against one topology: what one unit takes of a node, how many units, the ladder as level
// numbers, the layers of segments. Not the request as written (model/placement_request.hpp), not an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/features.hpp"
#include "model/topology_index.hpp"
#include "sched/placement/placement.hpp"

namespace sy::sched::placement {

inline constexpr std::int32_t no_level = -2;

// What one unit (a node's worth, or one task) takes of a node.
struct Demand {
  bool whole{};                         // nobody else on the node
  bool exclusive_user{};
  Uid uid;
  Cpus cpus{};                          // per unit
  Mebibytes memory{};                   // per unit
  Mebibytes memory_node{};              // once per node
  bool all_memory{};                    // all of the node's memory
  std::vector<model::GresRequest> gres; // per unit
  std::vector<model::GresRequest> gres_node;  // once per node
  std::uint32_t most{};                 // units per node; 0: as many as fit
  std::uint32_t multiple{1};            // units per node come in multiples (a segment at level "node")
};

// Which nodes may be looked at.
struct Filter {
  const NodeSet* allowed{};
  std::optional<FeatureExpression> constraint;
  std::optional<NodeSet> among;         // -w naming at least as many nodes as are asked
  NodeSet excluded;                     // -x
};

struct Layer {
  std::int32_t level{};
  std::uint32_t size{};                 // units
  bool distinct{};
};

struct PartRung {
  std::int32_t level{};
  std::uint32_t max_domains{1};
  Duration wait{};
};

// Nodes or tasks kept apart on one level (P7). 0: not asked.
struct Apart {
  std::int32_t level{};
  std::uint32_t most{}, share{}, domains{}, skew{};  // at most so many in one, or per cent; at least so many; so far from each other
  bool wish{};
  bool no_rule() const { return most == 0 && share == 0 && domains == 0 && skew == 0; }  // as even as there is room
};

// Loosest: pack nothing, take what growth of F is least.
enum class Fill : std::uint8_t { best_fit, pack_parents, least_free, balanced, loosest };

struct Part {
  std::string name;
  std::uint32_t group{};                // number, depth-first
  bool by_tasks{};                      // units are tasks; otherwise nodes
  std::uint32_t min{1}, max{1};         // units
  std::vector<std::uint32_t> choices;   // exactly one of these
  std::uint32_t tasks_each{1};          // tasks a node must hold where units are nodes
  std::uint32_t total_tasks{};          // to share out over the nodes; 0: tasks_each on every node
  Demand demand;
  // What the nodes hold together (sums.hpp): total_tasks, where nodes need not all hold tasks_each; GRES of the job.
  bool sum_tasks{};
  std::vector<model::GresRequest> gres_job;
  bool evenly{};                        // GRES of the job is shared out evenly, though another way might do
  bool fewest{};                        // nodes were not asked for: as few as hold it
  bool even_tasks{};                    // total_tasks are shared out evenly, because of segments, though another way might do
  Demand one_task;                      // with sum_tasks and even_tasks
  std::string one_task_key;
  Filter filter;
  std::int32_t exclusive_level{no_level};
  std::vector<NodeIndex> required;      // -w naming fewer nodes than asked: all are in
  std::vector<PartRung> rungs;
  std::int32_t within{no_level};        // required: a branch without this level serves on no rung
  bool wish{};                          // the job itself asks for locality (P11)
  model::PackOrder order{model::PackOrder::own_first};
  Fill fill{Fill::best_fit};
  std::vector<Layer> layers;            // widest first; not the one at level "node" (Demand::multiple)
  bool shorter{}, elastic{};            // what becomes of a remainder
  std::vector<Apart> apart;             // as written
  std::vector<std::uint32_t> sizes;     // exact parts, in the order asked; layers has their level and `distinct`
  bool contiguous{};
  bool single_nodes{};                  // it counts tasks, or has a rung of single nodes
  bool shortcuts{true};                 // Options::shortcuts
  std::string key;                      // equal keys: equal units on equal nodes
};

// Does it keep its own nodes or tasks apart? With replicas a spread is about these.
bool spreads_itself(const model::Group&);
bool counts_features(const model::Group&);  // "a*2&b*2": so many nodes of each
bool asks_to_be_near(const model::Group&, const model::TopologyIndex&);  // it, or a group in it: the wish of P11
bool has_rule(const model::Spread&);      // without: as even as there is room
// The part that a group without children asks for, one copy of it. Errors as check_request; unknown node names are refused.
Result<Part> make_part(const model::Group&, const ClusterShape&, const model::TopologyIndex&, const Options&);

}  // namespace sy::sched::placement

// Verdicts, nodes, partitions and topologies as the API shows them (docs/api-v1.md), as JSON text.
// Also what placement answers to a question on trial. Not the stored form (state_json.hpp) and not jobs (job_fields.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/state.hpp"
#include "model/verdict.hpp"

namespace sy::model {
struct ClusterShape;
class TopologyIndex;
}  // namespace sy::model
namespace sy::sched::placement {
struct Answer;
}  // namespace sy::sched::placement

namespace sy::wire {

// Which members of a node are written; at first all. From "name,state" (blanks are not names); the error names the first that
// is unknown, and all that are known.
class NodeMembers {
 public:
  static base::Result<NodeMembers> parse(std::string_view list);
  static const std::vector<std::string>& known();
  bool has(std::string_view name) const;

 private:
  std::vector<std::string> only_;  // sorted; empty: all
};

// Each appends one object.
void append_verdict(std::string& out, const model::Verdict&);
// How an attempt was placed: {"topology","version","level","domains","leaves_used","leaves_least","fragmentation_growth",
// "beaten":[…],"ranks":[{"first","count","node","path","segment","group","replica"}]}
void append_placement(std::string& out, const model::PlacementRecord&, const model::State&);
// Where a request on trial would go: {"verdict"}, and when placed {"nodes","nodes_in_rank_order","level","domains","leaves_used",
// "leaves_least","fragmentation" (as given: with it placed),"fragmentation_growth","ranks":[{"rank","node","tasks","path","segment",
// "group","replica"}],"beaten":[…]}; {"work":{"nodes","domains","search_steps"}} always.
void append_answer(std::string& out, const sched::placement::Answer&, const model::ClusterShape&, const model::TopologyIndex&,
                   std::int64_t fragmentation);
void append_node(std::string& out, const model::Node&, const model::State&, const NodeMembers& = {});
// `closed`: to the user who asks.
void append_partition(std::string& out, const model::Partition&, const model::State&, bool closed);
// {"name","kind","levels":[…],"joined","block_sizes","version","domains":[{"name","level","parent":name,"nodes":hostlist}]}
void append_topology(std::string& out, const model::Topology&, const model::State&);

// "n[1-2,4]": the names of nodes as one hostlist, sorted; and in the order given (ranks).
std::string hostlist_of(const std::vector<base::NodeIndex>&, const model::State&);
std::string hostlist_in_order(const std::vector<model::NodeGrant>&, const model::State&);
// "gpu:a100:4,nic:2", by name and type.
std::string gres_text(const std::vector<base::GresCount>&);

}  // namespace sy::wire

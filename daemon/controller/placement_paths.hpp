// Where the nodes of an attempt sit in the topology they were placed with: what a job is told about its ranks.
// Not the placement itself (sched/placement).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/state.hpp"
#include "model/topology_index.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

class PlacementPaths {
 public:
  // Sets topology, topology_levels and domain_paths; leaves them empty where the partition has no topology. A branch without a
  // domain at some level has an empty name there.
  void add(const model::State&, const model::Attempt&, wire::LaunchMessage&);

 private:
  struct Entry {
    std::uint64_t version{};
    std::size_t nodes{};
    std::shared_ptr<const model::TopologyIndex> index;
  };
  const model::TopologyIndex& index_of(const model::State&, const model::Topology&);
  std::map<std::string, Entry> indexes_;   // by topology; made again when it, or the set of nodes, has changed
};

}  // namespace sy::daemon

// An immutable image of what changes seldom: nodes with their totals and features, partitions, topologies. Shared between
// scheduling passes and submissions. Not what is free (sched/view.hpp) and not who is up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/resources.hpp"
#include "model/partition.hpp"
#include "model/topology_index.hpp"

namespace sy::model {

struct ClusterShape {
  struct NodeInfo {
    std::string name;
    std::vector<std::string> features;   // sorted
    std::uint32_t weight{1};
    base::Resources total;
    bool removed{};
    std::uint32_t name_rank{};           // position when all names are put in natural order
    std::uint32_t kind{};                // nodes that no request can tell apart but by name share one: index into kinds
  };
  struct Kind {
    base::NodeIndex example;             // any node of it
    std::vector<std::uint32_t> in_partition;  // how many nodes of this kind each partition has
  };
  std::vector<NodeInfo> nodes;           // by NodeIndex
  std::vector<Kind> kinds;               // of nodes not removed; equal in total, features and weight
  std::vector<Partition> partitions;
  std::map<std::string, Topology> topologies;
  std::map<std::string, std::shared_ptr<const TopologyIndex>> indexes;  // of each, "" where none is; of a shape made from a State
  std::string default_topology;
};

}  // namespace sy::model

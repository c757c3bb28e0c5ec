// A cluster on the table: a topology file and, if given, a cluster file, made into what the placement engine looks at.
// No daemon, no clock: nothing is running but what the caller says is busy.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/topo/topology_input.hpp"
#include "model/topology_index.hpp"
#include "sched/placement/placement.hpp"

namespace sy::cli {

struct TrialCluster {
  sched::ClusterShape shape;
  std::vector<sched::NodeNow> nodes;  // by NodeIndex
  model::TopologyIndex topology;
};

// Nodes without a cluster file have one CPU. Error: a topology that contradicts itself, or a flat one without nodes.
base::Result<TrialCluster> make_trial_cluster(const TopologyInput&, const model::Topology&);
// Takes all of these nodes, or declares them down. Error: `option` names a node that is not there.
base::Result<void> take_nodes(TrialCluster&, const std::string& hostlist, const std::string& option, bool down);

}  // namespace sy::cli

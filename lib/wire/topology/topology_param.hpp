// slurm.conf's TopologyParam: which of its words mean something here.
// Not the rest of slurm.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sy::wire {

struct TopologyParam {
  bool topo_optional{};              // TopoOptional: only jobs that ask are packed (a partition's default packing "none")
  std::vector<std::string> ignored;  // known to Slurm, of no effect here: RouteTree, SwitchAsNodeRank, …
  std::vector<std::string> unknown;
};

// The value ("TopoOptional,RouteTree"), or a whole slurm.conf, of which the last TopologyParam line counts.
TopologyParam read_topology_param(std::string_view text);

}  // namespace sy::wire

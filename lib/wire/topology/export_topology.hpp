// Writes a topology in a format that others or we read: reading it again gives the same topology (what the format has no
// words for is kept in a remark, topology_remark.hpp). Not a view for people: cli/topo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/topology.hpp"

namespace sy::wire {

const std::vector<std::string>& export_formats();  // slurm-tree, slurm-block, slurm-yaml, topograph, yaml

// `names` by NodeIndex. Error: an unknown format (hint: the known ones), or a kind that the format can not hold.
base::Result<std::string> export_topology(const model::Topology&, const std::vector<std::string>& names, std::string_view format);

}  // namespace sy::wire

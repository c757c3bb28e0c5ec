// A cluster described in a file, for trials without a daemon: nodes with what they have and what is used of it.
//   nodes: [{names: "n[1-8]", cpus: 64, mem: 256G, gres: gpu:4, features: [a100], weight: 1, used: {cpus: 8, mem: 4G, gres:
//   gpu:1}}]
// Not the controller's configuration (config.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/resources.hpp"
#include "model/node.hpp"
#include "wire/fault.hpp"

namespace sy::wire {

struct ClusterFileNode {
  std::string name;
  model::NodeShape shape;
  std::vector<std::string> features;  // sorted
  std::uint32_t weight{1};
  base::Resources used;
  std::vector<std::pair<std::string, std::string>> labels;
};

// In the file's order. A node named twice, or more used than there is, is a fault.
std::vector<ClusterFileNode> read_cluster_file(std::string_view text, Faults&);

}  // namespace sy::wire

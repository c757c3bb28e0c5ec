#include "daemon/controller/placement_paths.hpp"

namespace sy::daemon {

const model::TopologyIndex& PlacementPaths::index_of(const model::State& state, const model::Topology& topology) {
  Entry& entry = indexes_[topology.name];
  if (!entry.index || entry.version != topology.version || entry.nodes != state.nodes.size()) {
    std::vector<std::string> names;
    names.reserve(state.nodes.size());
    for (const model::Node& node : state.nodes) names.push_back(node.name);
    entry = {topology.version, names.size(), std::make_shared<const model::TopologyIndex>(model::TopologyIndex::build(topology, names))};
  }
  return *entry.index;
}

void PlacementPaths::add(const model::State& state, const model::Attempt& attempt, wire::LaunchMessage& message) {
  const model::Partition* partition = state.find_partition(attempt.partition);
  const std::string& name = partition != nullptr && !partition->topology.empty() ? partition->topology : state.settings.default_topology;
  const auto found = state.topologies.find(name);
  if (found == state.topologies.end()) return;
  const model::TopologyIndex& index = index_of(state, found->second);
  std::vector<std::int32_t> levels;
  for (std::int32_t level = 0; level < index.node_level(); ++level) {
    if (index.levels()[static_cast<std::size_t>(level)].is_virtual) continue;
    levels.push_back(level);
    message.topology_levels.push_back(index.level_name(level));
  }
  message.topology_levels.emplace_back("node");
  message.topology = name;
  for (const model::NodeGrant& grant : attempt.nodes) {
    const std::int32_t position = index.position_of(grant.node.value);
    std::string path;
    for (const std::int32_t level : levels) {
      const std::int32_t domain = position < 0 ? -1 : index.ancestor(index.leaf_at(static_cast<std::uint32_t>(position)), level);
      if (domain >= 0) path += index.domain(static_cast<std::uint32_t>(domain)).name;
      path += '.';
    }
    message.domain_paths.push_back(path + state.nodes.at(grant.node.value).name);
  }
}

}  // namespace sy::daemon

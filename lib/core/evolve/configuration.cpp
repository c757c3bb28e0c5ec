#include "core/evolve/configuration.hpp"

#include <algorithm>
#include <set>

namespace sy::core {

void reshape(Node& node, const NodeShape& shape) {
  node.shape = shape;
  node.total = total_of(shape);
  node.gres_holder.resize(shape.gres.size(), JobId{});
}

Node& node_named(State& state, const std::string& name) {
  auto known = state.node_by_name.find(name);
  if (known != state.node_by_name.end()) return state.nodes[known->second.value];
  auto it = std::find_if(state.nodes.begin(), state.nodes.end(), [&](const Node& n) { return n.name == name; });
  const auto index = NodeIndex{static_cast<std::uint32_t>(it - state.nodes.begin())};
  if (it == state.nodes.end()) it = state.nodes.insert(it, Node{});
  *it = Node{};
  it->index = index;
  it->name = name;
  it->address = name;
  reshape(*it, it->shape);
  state.node_by_name[name] = index;
  return *it;
}

void bury(State& state, Node& node) {
  state.node_by_name.erase(node.name);
  for (auto& p : state.partitions) p.nodes.erase(node.index);
  Node tombstone;
  tombstone.index = node.index;
  tombstone.name = node.name;
  tombstone.removed = true;
  reshape(tombstone, tombstone.shape);
  node = std::move(tombstone);
}

void join_open_partitions(State& state, NodeIndex node) {
  for (auto& p : state.partitions)
    if (p.all_nodes) p.nodes.insert(node);
}

namespace {

void declare(Node& node, const NodeDeclaration& d) {
  node.declared = true;
  node.features = d.features;
  std::sort(node.features.begin(), node.features.end());
  node.weight = d.weight;
  if (!node.registered_at) {  // afterwards the agent knows best where it listens
    node.address = d.address.empty() ? d.name : d.address;
    node.port = d.port;
  }
  node.shape_declared = d.shape.has_value();
  if (d.shape) {
    NodeShape shape = *d.shape;
    for (auto& g : shape.gres)  // the device files are the agent's to say
      if (g.device.empty() && node.registered)
        for (const auto& r : node.registered->gres)
          if (r.name == g.name && r.index == g.index) g.device = r.device;
    reshape(node, shape);
  } else {
    reshape(node, node.registered.value_or(NodeShape{}));
  }
}

Partition resolve(const State& state, const PartitionDeclaration& d) {
  Partition p = d.settings;
  p.nodes.clear();
  p.all_nodes = false;
  for (const auto& name : d.node_names) {
    if (name == "ALL") {
      p.all_nodes = true;
      for (const auto& node : state.nodes)
        if (!node.removed) p.nodes.insert(node.index);
    } else if (const Node* node = state.find_node(name)) {
      p.nodes.insert(node->index);
    }
  }
  return p;
}

}  // namespace

void put_configuration(State& state, const Settings& settings, const std::vector<NodeDeclaration>& nodes,
                       const std::vector<PartitionDeclaration>& partitions) {
  state.settings = settings;
  std::set<std::string> named;
  for (const auto& d : nodes) {
    declare(node_named(state, d.name), d);
    named.insert(d.name);
  }
  for (auto& node : state.nodes)
    if (!node.removed && node.declared && !named.contains(node.name)) bury(state, node);
  state.partitions.clear();
  for (const auto& d : partitions) state.partitions.push_back(resolve(state, d));
}

}  // namespace sy::core

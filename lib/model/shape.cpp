#include <algorithm>
#include <numeric>

#include "base/hostlist.hpp"
#include "model/node.hpp"
#include "model/state.hpp"

namespace sy::model {

base::Resources total_of(const NodeShape& shape) {
  base::Resources r;
  r.cpus = base::whole_cpus(shape.cpus);
  r.memory = shape.memory;
  for (const auto& g : shape.gres) r.add_gres(g.name, g.type, 1);
  return r;
}

std::shared_ptr<const ClusterShape> make_shape(const State& state) {
  auto shape = std::make_shared<ClusterShape>();
  shape->partitions = state.partitions;
  shape->topologies = state.topologies;
  shape->default_topology = state.settings.default_topology;
  shape->nodes.reserve(state.nodes.size());

  const auto same_kind = [](const ClusterShape::NodeInfo& a, const ClusterShape::NodeInfo& b) {
    return a.weight == b.weight && a.total == b.total && a.features == b.features;
  };
  std::multimap<std::int64_t, std::uint32_t> kinds_by_size;  // a first sieve, so that few kinds are compared in full
  for (const auto& node : state.nodes) {
    ClusterShape::NodeInfo info{node.name, node.features, node.weight, node.total, node.removed, 0, 0};
    if (!node.removed) {
      const std::int64_t size = node.total.cpus.value * 1'000'003 + node.total.memory.value;
      auto [it, end] = kinds_by_size.equal_range(size);
      while (it != end && !same_kind(shape->nodes[shape->kinds[it->second].example.value], info)) ++it;
      if (it == end) {
        info.kind = static_cast<std::uint32_t>(shape->kinds.size());
        shape->kinds.push_back({node.index, std::vector<std::uint32_t>(state.partitions.size())});
        kinds_by_size.emplace(size, info.kind);
      } else {
        info.kind = it->second;
      }
    }
    shape->nodes.push_back(std::move(info));
  }

  for (std::size_t p = 0; p < state.partitions.size(); ++p)
    state.partitions[p].nodes.for_each([&](NodeIndex n) {
      if (n.value < shape->nodes.size() && !shape->nodes[n.value].removed) ++shape->kinds[shape->nodes[n.value].kind].in_partition[p];
    });

  std::vector<std::uint32_t> by_name(shape->nodes.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::stable_sort(by_name.begin(), by_name.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return base::natural_less(shape->nodes[a].name, shape->nodes[b].name); });
  for (std::uint32_t rank = 0; rank < by_name.size(); ++rank) shape->nodes[by_name[rank]].name_rank = rank;
  std::vector<std::string> names;
  names.reserve(shape->nodes.size());
  for (const auto& node : shape->nodes) names.push_back(node.name);
  shape->indexes.emplace(std::string(), std::make_shared<const TopologyIndex>(TopologyIndex::flat(names)));
  for (const auto& [name, topology] : shape->topologies)
    shape->indexes.emplace(name, std::make_shared<const TopologyIndex>(TopologyIndex::build(topology, names)));
  return shape;
}

}  // namespace sy::model

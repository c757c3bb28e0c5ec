#include <algorithm>

#include "sched/placement/placement.hpp"

namespace sy::sched::placement {

std::int64_t fragmentation(const model::TopologyIndex& t, std::span<const NodeNow> nodes) {
  std::vector<std::uint32_t> idle(t.domains().size(), 0);
  std::int64_t value = 0;
  for (std::uint32_t p = 0; p < t.size(); ++p) {
    const auto& n = nodes[t.node_at(p)];
    if (n.usable && n.jobs == 0 && !n.exclusive) ++idle[t.leaf_at(p)];
    else ++value;
  }
  for (auto d = t.domains().size(); d-- > 1;) idle[static_cast<std::size_t>(t.domain(static_cast<std::uint32_t>(d)).parent)] += idle[d];
  for (std::uint32_t d = 0; d < t.domains().size(); ++d)
    if (const auto& domain = t.domain(d); domain.counts && idle[d] < domain.size()) value += domain.size();
  return value;
}

std::vector<PlacedNode> shrink(std::vector<PlacedNode> nodes, std::uint32_t tasks) {
  std::uint32_t kept = 0;
  std::size_t n = 0;
  for (; n < nodes.size() && kept < tasks; ++n) {
    nodes[n].tasks = std::min(nodes[n].tasks, tasks - kept);
    kept += nodes[n].tasks;
  }
  nodes.resize(n);
  return nodes;
}

std::vector<NodeNow> idle_nodes(const ClusterShape& shape) {
  std::vector<NodeNow> out(shape.nodes.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].free = shape.nodes[i].total;
    out[i].usable = !shape.nodes[i].removed;
  }
  return out;
}

std::vector<std::string> node_names(const ClusterShape& shape) {
  std::vector<std::string> out;
  out.reserve(shape.nodes.size());
  for (const auto& n : shape.nodes) out.push_back(n.removed ? std::string() : n.name);
  return out;
}

}  // namespace sy::sched::placement

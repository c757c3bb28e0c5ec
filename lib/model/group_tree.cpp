#include "model/group_tree.hpp"

#include <algorithm>

namespace sy::model {

namespace {
void walk(const Group& g, std::int64_t around, std::vector<GroupLeaf>& out) {
  const std::int64_t copies = around * std::max<std::int64_t>(1, g.replicas);
  if (g.children.empty()) out.push_back({&g, copies});
  for (const auto& child : g.children) walk(child, copies, out);
}
}  // namespace

std::vector<GroupLeaf> leaves_of(const Group& g) {
  std::vector<GroupLeaf> out;
  walk(g, 1, out);
  return out;
}

void join_groups(JobSpec& spec) {
  if (spec.groups.size() < 2) return;
  Group all;
  all.children = std::move(spec.groups);
  spec.groups.clear();
  spec.groups.push_back(std::move(all));
}

std::int64_t nodes_of(const Group& g) {
  if (g.nodes_given) return g.nodes.min;
  if (g.tasks_given && g.tasks_per_node > 0) return (static_cast<std::int64_t>(g.tasks) + g.tasks_per_node - 1) / g.tasks_per_node;
  return std::max<std::int64_t>(1, g.nodes.min);
}

std::int64_t tasks_of(const Group& g) {
  if (g.tasks_given) return g.tasks;
  return nodes_of(g) * std::max<std::int64_t>(1, g.tasks_per_node);
}

}  // namespace sy::model

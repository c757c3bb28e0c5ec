#include "sched/placement/record.hpp"

#include <algorithm>
#include <unordered_map>

namespace sy::sched::placement {
namespace {

// By number, depth-first, as PlacedNode counts groups.
void add_groups(std::vector<const model::Group*>& out, const model::Group& g) {
  if (g.children.empty()) out.push_back(&g);
  for (const auto& child : g.children) add_groups(out, child);
}

// One name a level that has domains of its own; a branch without one has an empty name there.
std::vector<std::string> names_of(const model::TopologyIndex& t, std::uint32_t leaf, const std::vector<std::int32_t>& levels) {
  std::vector<std::string> out;
  for (const auto level : levels) {
    const auto d = t.ancestor(leaf, level);
    out.push_back(d < 0 ? std::string{} : t.domain(static_cast<std::uint32_t>(d)).name);
  }
  return out;
}

}  // namespace

PlacementHandle make_record(const Answer& a, const model::Group& g, const model::TopologyIndex& t, std::uint64_t version,
                            const std::vector<NodeIndex>& order) {
  auto r = std::make_shared<model::PlacementRecord>();
  r->topology = t.name();
  r->version = version;
  std::vector<std::int32_t> levels;
  for (std::int32_t level = 0; level < t.node_level(); ++level) {
    if (t.levels()[static_cast<std::size_t>(level)].is_virtual) continue;
    levels.push_back(level);
    r->levels.push_back(t.level_name(level));
  }
  r->level = a.level;
  r->domains = a.domains;
  r->leaves_used = a.leaves_used;
  r->leaves_least = a.leaves_least;
  r->fragmentation_growth = a.fragmentation_growth;
  r->beaten = a.beaten;
  r->closed = a.closed;
  std::vector<const model::Group*> groups;
  add_groups(groups, g);
  if (!g.children.empty() || !g.name.empty())
    for (const auto* each : groups) r->groups.push_back(each->name);
  const auto has_segments = [](const model::Group* each) { return !each->segments.empty(); };
  r->segmented = std::any_of(groups.begin(), groups.end(), has_segments);

  std::unordered_map<std::uint32_t, std::uint32_t> place, path;  // of a node in `order`; of a leaf in `paths`
  for (std::uint32_t i = 0; i < order.size(); ++i) place.emplace(order[i].value, i);
  for (const auto& n : a.nodes) {
    const auto leaf = t.leaf_at(static_cast<std::uint32_t>(t.position_of(n.node.value)));
    const auto [at, fresh] = path.emplace(leaf, static_cast<std::uint32_t>(r->paths.size()));
    if (fresh) r->paths.push_back(names_of(t, leaf, levels));
    const bool in_segment = n.group < groups.size() && has_segments(groups[n.group]);
    r->parts.push_back({n.node, n.tasks, at->second, n.group, n.replica, in_segment ? std::optional(n.segment) : std::nullopt});
  }
  std::stable_sort(r->parts.begin(), r->parts.end(),
                   [&](const auto& x, const auto& y) { return place[x.node.value] < place[y.node.value]; });
  return PlacementHandle{std::move(r)};
}

}  // namespace sy::sched::placement

#include "sched/placement/open_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/job_target.hpp"

namespace sy::sched::placement {

std::vector<NodeIndex> closed_nodes(const model::TopologyIndex& t, const std::vector<PlacedNode>& nodes, std::int32_t level) {
  std::set<std::uint32_t> domains;
  if (level == t.node_level()) {
    std::set<NodeIndex> own;
    for (const auto& n : nodes) own.insert(n.node);
    return {own.begin(), own.end()};
  }
  for (const auto& n : nodes)
    if (const auto d = t.ancestor(t.leaf_at(static_cast<std::uint32_t>(t.position_of(n.node.value))), level); d >= 0)
      domains.insert(static_cast<std::uint32_t>(d));
  std::vector<NodeIndex> out;
  for (const auto d : domains)
    for (auto p = t.domain(d).begin; p < t.domain(d).end; ++p) out.push_back(NodeIndex{t.node_at(p)});
  return out;
}

void close_used(const Board& b, std::int32_t level, std::vector<bool>& open) {
  const auto& t = b.topology();
  std::vector<bool> used(t.domains().size());
  const auto at = [&](std::uint32_t p) { return t.ancestor(t.leaf_at(p), level); };
  for (std::uint32_t p = 0; p < t.size(); ++p)
    if (const auto d = at(p); d >= 0 && b.now(p).jobs > 0) used[static_cast<std::size_t>(d)] = true;
  for (std::uint32_t p = 0; p < t.size(); ++p) {
    const auto d = at(p);
    if (d >= 0 ? used[static_cast<std::size_t>(d)] : level != t.node_level() || b.now(p).jobs > 0) open[p] = false;
  }
}

void close_by_affinity(const model::TopologyIndex& t, const model::Group& g, const Options& o, const Wishes& wishes,
                       std::vector<bool>& open) {
  if (o.members_anywhere) return;
  std::size_t wish = 0;
  const auto apply = [&](const model::Affinity& a, bool together) {
    if (!a.require && (wishes.empty() || !wishes[wish++])) return;
    const auto level = *t.find_level(a.level);
    const auto key = [&](std::uint32_t p) -> std::int64_t {
      const auto d = t.ancestor(t.leaf_at(p), level);
      return d >= 0 ? d : level == t.node_level() ? static_cast<std::int64_t>(t.domains().size() + p) : -1;
    };
    const bool there = std::any_of(o.members.begin(), o.members.end(), [&](const Member& m) { return m.group == a.target; });
    if (!there && together && model::means_own_name(a.target)) return;
    std::set<std::int64_t> domains;
    for (const auto& m : o.members)
      if (const auto p = t.position_of(m.node.value); m.group == a.target && p >= 0) domains.insert(key(static_cast<std::uint32_t>(p)));
    domains.erase(-1);  // outside every domain of the level is no place to be together in
    if (domains.empty() && !a.require) return;
    for (std::uint32_t p = 0; p < t.size(); ++p)
      if (domains.contains(key(p)) != together) open[p] = false;
  };
  for (const auto& a : g.affinity) apply(a, true);
  for (const auto& a : g.anti_affinity) apply(a, false);
}

std::size_t wishes_in(const model::Group& g) {
  const auto wish = [](const model::Affinity& a) { return !a.require; };
  return static_cast<std::size_t>(std::count_if(g.affinity.begin(), g.affinity.end(), wish) +
                                  std::count_if(g.anti_affinity.begin(), g.anti_affinity.end(), wish));
}

void tell_who_is_missing(const model::Group& g, const Options& o, std::string& detail) {
  for (const auto& a : g.affinity) {
    const bool runs = std::any_of(o.members.begin(), o.members.end(), [&](const Member& m) { return m.group == a.target; });
    if (a.require && !runs && model::job_target(a.target) && !model::means_own_name(a.target))
      detail = fmt::format("{} does not run{}{}", a.target, detail.empty() ? "" : "; ", detail);
  }
  for (const auto& child : g.children) tell_who_is_missing(child, o, detail);
}

void close_dearer(const Board& board, std::uint32_t weight, std::vector<bool>& open) {
  for (std::uint32_t p = 0; p < open.size(); ++p) open[p] = open[p] && board.weight(p) <= weight;
}

}  // namespace sy::sched::placement

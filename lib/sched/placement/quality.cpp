#include "sched/placement/quality.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace sy::sched::placement {

using model::TopologyIndex;

namespace {
std::uint32_t least_leaves(const TopologyIndex& t, std::size_t n) {
  std::vector<std::size_t> sizes;
  for (const auto& d : t.domains())
    if (d.leaf()) sizes.push_back(d.size());
  std::sort(sizes.rbegin(), sizes.rend());
  std::uint32_t count = 0;
  for (const auto size : sizes) {
    if (n == 0) break;
    n -= std::min(n, size);
    ++count;
  }
  return count;
}
}  // namespace

JobQuality quality_of(const TopologyIndex& t, const std::vector<NodeIndex>& nodes) {
  std::set<std::uint32_t> leaves;
  for (const auto n : nodes)
    if (const auto at = t.position_of(n.value); at != TopologyIndex::nowhere) leaves.insert(t.leaf_at(static_cast<std::uint32_t>(at)));
  JobQuality q;
  q.nodes = static_cast<std::uint32_t>(nodes.size());
  q.used = static_cast<std::uint32_t>(leaves.size());
  q.least = std::min(least_leaves(t, nodes.size()), q.used);
  q.level = t.level_name(TopologyIndex::any_level);
  for (std::int32_t level = t.narrowest_level(); level >= 0; --level) {
    std::set<std::int32_t> holders;
    for (const auto leaf : leaves) holders.insert(t.ancestor(leaf, level));
    if (holders.size() == 1 && *holders.begin() >= 0) {
      q.level = t.level_name(level);
      break;
    }
  }
  return q;
}

std::vector<LevelFree> largest_free(const TopologyIndex& t, std::span<const NodeNow> nodes) {
  const auto uses = domain_uses(t, nodes);
  std::vector<LevelFree> out;
  for (std::int32_t level = TopologyIndex::any_level; level <= t.narrowest_level(); ++level) {
    LevelFree best{t.level_name(level), {}, 0};
    for (const auto d : t.at_level(level))
      if (uses[d].free > best.free || best.domain.empty()) best = {best.level, t.domain(d).name, uses[d].free};
    out.push_back(std::move(best));
  }
  return out;
}

std::vector<DomainUse> domain_uses(const TopologyIndex& t, std::span<const NodeNow> nodes) {
  std::vector<DomainUse> out(t.domains().size());
  for (std::uint32_t d = 0; d < out.size(); ++d)
    for (auto p = t.domain(d).begin; p < t.domain(d).end; ++p) {
      const NodeNow& n = nodes[t.node_at(p)];
      ++out[d].nodes;
      if (n.drained) ++out[d].drained;
      else if (!n.usable) ++out[d].down;
      else if (n.jobs > 0 || n.exclusive) ++out[d].busy;  // exclusive without a job: kept for the one that has the domain
      else ++out[d].free;
    }
  return out;
}

}  // namespace sy::sched::placement

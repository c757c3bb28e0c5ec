#include "sched/placement/board.hpp"

#include "base/assert.hpp"

namespace sy::sched::placement {
namespace {

constexpr std::size_t shapes_kept = 256;

bool is_idle(const NodeNow& n) { return n.usable && n.jobs == 0 && !n.exclusive; }

}  // namespace

Board::Board(const ClusterShape& shape, const model::TopologyIndex& topology, std::span<const NodeNow> nodes)
    : shape_(shape), topology_(topology), nodes_(nodes), idle_(topology.size()), idle_count_(topology.domains().size()) {
  for (std::uint32_t p = 0; p < topology_.size(); ++p) {
    idle_[p] = is_idle(now(p));
    idle_count_[topology_.leaf_at(p)] += idle_[p] ? 1 : 0;
    equal_weights_ &= weight(p) == weight(0);
  }
  for (std::size_t d = idle_count_.size(); d-- > 1;)
    idle_count_[static_cast<std::size_t>(topology_.domain(static_cast<std::uint32_t>(d)).parent)] += idle_count_[d];
}

void Board::changed(NodeIndex node) {
  const auto at = topology_.position_of(node.value);
  if (at == model::TopologyIndex::nowhere) return;
  const auto p = static_cast<std::uint32_t>(at);
  const bool idle = is_idle(now(p));
  if (idle != idle_[p]) {
    for (auto d = static_cast<std::int32_t>(topology_.leaf_at(p)); d >= 0; d = topology_.domain(static_cast<std::uint32_t>(d)).parent)
      idle_count_[static_cast<std::size_t>(d)] += idle ? 1 : ~0U;
    idle_[p] = idle;
  }
  changes_.push_back(p);
}

// The units of one node, rounded; notes the unrounded ones.
std::uint32_t Board::count(Offer& o, const Part& part, std::uint32_t p) const {
  const auto node = NodeIndex{topology_.node_at(p)};
  const auto n = units_on(part.demand, part.filter, node, shape_.nodes[node.value], nodes_[node.value]);
  const auto m = part.demand.multiple;
  if (m <= 1) return n;
  o.raw[p] = n;
  return n / m * m;
}

void Board::fill(Offer& o, const Part& part) {
  const auto& domains = topology_.domains();
  o.units.assign(topology_.size(), 0);
  o.sum.assign(domains.size(), 0);
  if (part.demand.multiple > 1) o.raw.assign(topology_.size(), 0);
  if (!equal_weights_) {
    o.weight.assign(domains.size(), 0);
    o.holders.assign(domains.size(), 0);
  }
  for (std::uint32_t p = 0; p < topology_.size(); ++p) {
    ++nodes_looked_at;
    const auto n = count(o, part, p);
    o.units[p] = n;
    const auto leaf = topology_.leaf_at(p);
    o.sum[leaf] += n;
    if (!equal_weights_ && n > 0) {
      o.weight[leaf] += weight(p);
      ++o.holders[leaf];
    }
  }
  for (std::size_t d = domains.size(); d-- > 1;) {
    const auto parent = static_cast<std::size_t>(domains[d].parent);
    o.sum[parent] += o.sum[d];
    if (!equal_weights_) {
      o.weight[parent] += o.weight[d];
      o.holders[parent] += o.holders[d];
    }
  }
  o.seen = changes_.size();
}

void Board::set_units(Offer& o, std::uint32_t p, std::uint32_t n) {
  const auto old = o.units[p];
  if (old == n) return;
  o.units[p] = n;
  const std::int64_t w = (n > 0 ? weight(p) : 0) - static_cast<std::int64_t>(old > 0 ? weight(p) : 0);
  for (auto at = static_cast<std::int32_t>(topology_.leaf_at(p)); at >= 0; at = topology_.domain(static_cast<std::uint32_t>(at)).parent) {
    const auto d = static_cast<std::size_t>(at);
    o.sum[d] += n - old;  // unsigned wrap-around is exact
    if (equal_weights_) continue;
    o.weight[d] += static_cast<std::uint64_t>(w);
    o.holders[d] += static_cast<std::uint32_t>(n > 0) - static_cast<std::uint32_t>(old > 0);
  }
}

void Board::renew(Offer& o, const Part& part) {
  if (changes_.size() - o.seen > topology_.size()) return fill(o, part);  // cheaper than one by one
  for (; o.seen < changes_.size(); ++o.seen) {
    ++nodes_looked_at;
    const auto p = changes_[o.seen];
    set_units(o, p, count(o, part, p));
  }
}

const Offer& Board::offer(const Part& part) {
  if (const auto found = by_key_.find(part.key); found != by_key_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    renew(found->second->second, part);
    return found->second->second;
  }
  if (recent_.size() >= shapes_kept) {
    by_key_.erase(recent_.back().first);
    recent_.pop_back();
  }
  recent_.emplace_front(part.key, Offer{});
  by_key_.emplace(part.key, recent_.begin());
  fill(recent_.front().second, part);
  return recent_.front().second;
}

Offer Board::narrowed(const Offer& from, std::uint32_t scope, const std::vector<bool>* open) const {
  Offer o;
  o.raw = from.raw;
  o.units.assign(topology_.size(), 0);
  o.sum.assign(from.sum.size(), 0);
  const bool weights = !from.weight.empty();
  if (weights) {
    o.weight.assign(from.sum.size(), 0);
    o.holders.assign(from.sum.size(), 0);
  }
  const auto& domain = topology_.domain(scope);
  for (auto p = domain.begin; p < domain.end; ++p) {
    if (from.units[p] == 0 || (open != nullptr && !(*open)[p])) continue;
    o.units[p] = from.units[p];
    const auto leaf = topology_.leaf_at(p);
    o.sum[leaf] += from.units[p];
    if (weights) {
      o.weight[leaf] += weight(p);
      ++o.holders[leaf];
    }
  }
  for (std::size_t d = domain.next; d-- > std::max(scope, 1U);) {
    const auto parent = static_cast<std::size_t>(topology_.domain(static_cast<std::uint32_t>(d)).parent);
    o.sum[parent] += o.sum[d];
    if (weights) {
      o.weight[parent] += o.weight[d];
      o.holders[parent] += o.holders[d];
    }
  }
  return o;
}

}  // namespace sy::sched::placement

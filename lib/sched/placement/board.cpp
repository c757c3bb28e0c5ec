#include "sched/placement/board.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace sy::sched::placement {
namespace {

constexpr std::size_t shapes_kept = 256;
constexpr std::uint32_t small_leaf = 512;

bool is_idle(const NodeNow& n) { return n.usable && n.jobs == 0 && !n.exclusive; }

}  // namespace

Board::Board(const ClusterShape& shape, const model::TopologyIndex& topology, std::span<const NodeNow> nodes)
    : shape_(shape), topology_(topology), nodes_(nodes), idle_(topology.size()), idle_count_(topology.domains().size()) {
  look_at_.reserve(topology_.size());
  for (const auto& d : topology_.domains())
    if (d.leaf()) largest_leaf_ = std::max(largest_leaf_, d.size());
  for (std::uint32_t p = 0; p < topology_.size(); ++p) {
    look_at_.push_back(look_of(p));
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
  forget_look(look_at_[p]);
  look_at_[p] = look_of(p);
  const bool idle = is_idle(now(p));
  if (idle != idle_[p]) {
    for (auto d = static_cast<std::int32_t>(topology_.leaf_at(p)); d >= 0; d = topology_.domain(static_cast<std::uint32_t>(d)).parent)
      idle_count_[static_cast<std::size_t>(d)] += idle ? 1 : ~0U;
    idle_[p] = idle;
  }
  changes_.push_back(p);
}

std::size_t Board::hash_of(const ClusterShape::NodeInfo& info, const NodeNow& n) {
  std::size_t h = n.sole_user.value;
  const auto add = [&](std::uint64_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15ULL, h ^= h >> 29U; };
  add(static_cast<std::uint64_t>(n.free.cpus.value));
  add(static_cast<std::uint64_t>(n.free.memory.value));
  for (const auto& g : n.free.gres) add(static_cast<std::uint64_t>(g.count));
  add((n.usable && !info.removed ? 1U : 0U) + (n.jobs > 0 ? 2U : 0U) + (n.exclusive ? 4U : 0U) + (n.exclusive_user ? 8U : 0U));
  return h;
}

bool Board::alike(const Look& a, const ClusterShape::NodeInfo& info, const NodeNow& n) {
  const auto& x = a.now;
  return (x.jobs > 0) == (n.jobs > 0) && x.usable == n.usable && x.exclusive == n.exclusive && x.exclusive_user == n.exclusive_user &&
         x.sole_user == n.sole_user && x.free == n.free && a.info->removed == info.removed && a.info->total.memory == info.total.memory &&
         a.info->features == info.features;
}

std::uint32_t Board::look_of(std::uint32_t p) {
  const auto& info = shape_.nodes[topology_.node_at(p)];
  const auto& n = now(p);
  const auto take = [&](std::uint32_t look) {
    ++looks_[look].nodes;
    return look;
  };
  if (p > 0 && look_at_.size() >= p && alike(looks_[look_at_[p - 1]], info, n)) return take(look_at_[p - 1]);  // neighbours often are
  const auto hash = hash_of(info, n);
  const auto [from, to] = look_by_hash_.equal_range(hash);
  for (auto i = from; i != to; ++i)
    if (alike(looks_[i->second], info, n)) return take(i->second);
  std::uint32_t at = static_cast<std::uint32_t>(looks_.size());
  if (unused_looks_.empty()) looks_.emplace_back();
  else at = unused_looks_.back(), unused_looks_.pop_back();
  looks_[at] = Look{n, &info, 0};
  look_by_hash_.emplace(hash, at);
  return take(at);
}

void Board::forget_look(std::uint32_t look) {
  if (--looks_[look].nodes > 0) return;
  const auto [from, to] = look_by_hash_.equal_range(hash_of(*looks_[look].info, looks_[look].now));
  look_by_hash_.erase(std::find_if(from, to, [&](const auto& entry) { return entry.second == look; }));
  unused_looks_.push_back(look);
}

// The units of one node, before they are rounded to whole segments.
std::uint32_t Board::count(const Part& part, std::uint32_t p) const {
  const auto node = NodeIndex{topology_.node_at(p)};
  return units_on(part.demand, part.filter, node, shape_.nodes[node.value], nodes_[node.value]);
}

void Board::compare_nodes(Offer& o, std::uint32_t leaf) const {
  const auto& d = topology_.domain(leaf);
  std::uint32_t first = Offer::no_node, most = 0;
  bool alike = true;
  for (auto p = d.begin; p < d.end; ++p) {
    if (o.units[p] == 0) continue;
    most = std::max(most, o.units[p]);
    if (first == Offer::no_node) first = p;
    else
      alike &= o.units[p] == o.units[first] && (o.raw.empty() || o.raw[p] == o.raw[first]) && idle_[p] == idle_[first] &&
               (equal_weights_ || weight(p) == weight(first));
  }
  o.example[leaf] = alike ? first : Offer::no_node;
  o.most[leaf] = most;
}

// The leaf's most is another one than it was: so may be those of the domains around it.
void Board::set_most(Offer& o, std::uint32_t leaf, std::uint32_t before) const {
  for (auto d = leaf; o.most[d] != before && d != model::TopologyIndex::root;) {
    d = static_cast<std::uint32_t>(topology_.domain(d).parent);
    const auto old = o.most[d];
    o.most[d] = 0;
    topology_.for_children(d, [&](std::uint32_t c) { o.most[d] = std::max(o.most[d], o.most[c]); });
    before = old;
  }
}

// Sums by domain, from units and raw of the leaves.
void Board::add_up(Offer& o, const Part& part) const {
  const auto& domains = topology_.domains();
  const bool rounded = part.demand.multiple > 1;
  if (!equal_weights_) {
    o.weight.assign(domains.size(), 0);
    o.holders.assign(domains.size(), 0);
    for (std::uint32_t p = 0; p < topology_.size(); ++p) {
      if (o.units[p] == 0) continue;
      o.weight[topology_.leaf_at(p)] += weight(p);
      ++o.holders[topology_.leaf_at(p)];
    }
  }
  for (std::size_t d = domains.size(); d-- > 1;) {
    const auto parent = static_cast<std::size_t>(domains[d].parent);
    o.sum[parent] += o.sum[d];
    if (rounded) o.raw_sum[parent] += o.raw_sum[d];
    if (!o.most.empty()) o.most[parent] = std::max(o.most[parent], o.most[d]);
    if (!equal_weights_) {
      o.weight[parent] += o.weight[d];
      o.holders[parent] += o.holders[d];
    }
  }
}

void Board::fill(Offer& o, const Part& part) {
  const auto& domains = topology_.domains();
  const auto multiple = std::max(part.demand.multiple, 1U);
  o.units.resize(topology_.size());
  o.sum.assign(domains.size(), 0);
  o.raw.clear();
  o.raw_sum.clear();
  if (multiple > 1) o.raw.resize(topology_.size()), o.raw_sum.assign(domains.size(), 0);
  std::vector<std::uint32_t> units(looks_.size(), 0), raw(looks_.size(), 0);
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    if (looks_[i].nodes == 0) continue;
    raw[i] = units_on_such(part.demand, part.filter, *looks_[i].info, looks_[i].now);
    units[i] = raw[i] / multiple * multiple;
  }
  nodes_looked_at += topology_.size();
  const auto& f = part.filter;
  const bool open = f.allowed == nullptr && !f.among && f.excluded.empty();
  const bool examples = part.single_nodes && largest_leaf_ <= small_leaf;
  o.example.clear();
  o.most.clear();
  if (examples) o.example.assign(domains.size(), Offer::no_node), o.most.assign(domains.size(), 0);
  for (std::uint32_t d = 0; d < domains.size(); ++d) {
    const auto begin = domains[d].begin, end = domains[d].end, size = end - begin;
    if (!domains[d].leaf() || size == 0) continue;
    const auto* look = look_at_.data() + begin;
    if (open && multiple == 1 && (size == 1 || std::memcmp(look, look + 1, (size - 1) * sizeof *look) == 0)) {  // all look the same
      const auto n = units[*look];
      std::fill_n(o.units.begin() + begin, size, n);
      o.sum[d] = n * size;
      if (examples && equal_weights_) {
        o.most[d] = n;
        if (n > 0) o.example[d] = begin;
        continue;
      }
    } else {
      std::uint32_t sum = 0, raw_sum = 0;
      for (auto p = begin; p < end; ++p) {
        const bool in = open || let_in(f, NodeIndex{topology_.node_at(p)});
        sum += o.units[p] = in ? units[look_at_[p]] : 0;
        if (multiple > 1) raw_sum += o.raw[p] = in ? raw[look_at_[p]] : 0;
      }
      o.sum[d] = sum;
      if (multiple > 1) o.raw_sum[d] = raw_sum;
    }
    if (examples) compare_nodes(o, d);
  }
  add_up(o, part);
  o.seen = changes_.size();
}

void Board::set_units(Offer& o, std::uint32_t p, std::uint32_t raw, std::uint32_t multiple) const {
  const auto n = multiple > 1 ? raw / multiple * multiple : raw, old = o.units[p];
  const auto more_raw = o.raw.empty() ? 0 : raw - o.raw[p];
  if (old == n && more_raw == 0) return;
  o.units[p] = n;
  if (!o.raw.empty()) o.raw[p] = raw;
  const std::int64_t w = (n > 0 ? weight(p) : 0) - static_cast<std::int64_t>(old > 0 ? weight(p) : 0);
  for (auto at = static_cast<std::int32_t>(topology_.leaf_at(p)); at >= 0; at = topology_.domain(static_cast<std::uint32_t>(at)).parent) {
    const auto d = static_cast<std::size_t>(at);
    o.sum[d] += n - old;  // unsigned wrap-around is exact
    if (!o.raw.empty()) o.raw_sum[d] += more_raw;
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
    set_units(o, p, count(part, p), part.demand.multiple);
    if (o.example.empty()) continue;
    const auto leaf = topology_.leaf_at(p), before = o.most[leaf];
    compare_nodes(o, leaf);
    set_most(o, leaf, before);
  }
}

const Offer& Board::offer(const Part& part) {
  if (const auto found = by_key_.find(part.key); found != by_key_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    renew(found->second->second, part);
    return found->second->second;
  }
  if (recent_.size() >= shapes_kept) {  // the oldest gives its memory
    by_key_.erase(recent_.back().first);
    recent_.splice(recent_.begin(), recent_, std::prev(recent_.end()));
    recent_.front().first = part.key;
  } else {
    recent_.emplace_front(part.key, Offer{});
  }
  by_key_.emplace(part.key, recent_.begin());
  fill(recent_.front().second, part);
  return recent_.front().second;
}

Offer Board::narrowed(const Offer& from, std::uint32_t scope, const std::vector<bool>* open) const {
  Offer o;
  o.raw = from.raw;
  o.units.assign(topology_.size(), 0);
  o.sum.assign(from.sum.size(), 0);
  if (!o.raw.empty()) o.raw_sum.assign(from.sum.size(), 0);
  const bool weights = !from.weight.empty();
  if (weights) {
    o.weight.assign(from.sum.size(), 0);
    o.holders.assign(from.sum.size(), 0);
  }
  const auto& domain = topology_.domain(scope);
  for (auto p = domain.begin; p < domain.end; ++p) {
    if (!o.raw.empty() && (open == nullptr || (*open)[p])) o.raw_sum[topology_.leaf_at(p)] += o.raw[p];
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
    if (!o.raw.empty()) o.raw_sum[parent] += o.raw_sum[d];
    if (weights) {
      o.weight[parent] += o.weight[d];
      o.holders[parent] += o.holders[d];
    }
  }
  return o;
}

}  // namespace sy::sched::placement

#include "sched/placement/board.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace sy::sched::placement {
namespace {

constexpr std::size_t shapes_kept = 256;
constexpr std::uint32_t small_leaf = 512;
constexpr std::uint32_t most_units = 65'536;  // as units_on

std::int32_t gres_on(const Resources& free, const std::string& name, const std::string& type) {
  std::int64_t n = 0;
  for (const auto& g : free.gres)
    if (g.name == name && (type.empty() || g.type == type)) n += g.count;
  return static_cast<std::int32_t>(std::min<std::int64_t>(n, std::numeric_limits<std::int32_t>::max()));
}

bool is_idle(const NodeNow& n) { return n.usable && n.jobs == 0 && !n.exclusive; }

}  // namespace

Board::Board(const ClusterShape& shape, const model::TopologyIndex& topology, std::span<const NodeNow> nodes)
    : shape_(shape), topology_(topology), nodes_(nodes), idle_(topology.size()), idle_count_(topology.domains().size()) {
  slim_.reserve(topology_.size());
  for (const auto& d : topology_.domains())
    if (d.leaf()) largest_leaf_ = std::max(largest_leaf_, d.size());
  for (std::uint32_t p = 0; p < topology_.size(); ++p) {
    slim_.push_back(slim_of(p));
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
  slim_[p] = slim_of(p);
  for (auto& [gres, column] : columns_) column[p] = gres_on(now(p).free, gres.first, gres.second);
  const bool idle = is_idle(now(p));
  if (idle != idle_[p]) {
    for (auto d = static_cast<std::int32_t>(topology_.leaf_at(p)); d >= 0; d = topology_.domain(static_cast<std::uint32_t>(d)).parent)
      idle_count_[static_cast<std::size_t>(d)] += idle ? 1 : ~0U;
    idle_[p] = idle;
  }
  changes_.push_back(p);
}

Board::Slim Board::slim_of(std::uint32_t p) const {
  const auto node = topology_.node_at(p);
  const auto& n = nodes_[node];
  return Slim{n.free.cpus.value, n.free.memory.value, node, n.sole_user.value, n.usable && !shape_.nodes[node].removed, n.jobs > 0,
              n.exclusive,       n.exclusive_user};
}

const Board::Column& Board::column(const model::GresRequest& r) {
  auto& column = columns_[{r.name, r.type}];
  if (!column.empty() || topology_.size() == 0) return column;
  column.resize(topology_.size());
  for (std::uint32_t p = 0; p < topology_.size(); ++p) column[p] = gres_on(now(p).free, r.name, r.type);
  return column;
}

// How to count this shape by what is slim; none: it reads more of a node than that.
std::optional<Board::Glance> Board::glance(const Part& part) {
  if (part.filter.constraint || part.demand.all_memory) return std::nullopt;
  Glance g;
  for (const auto& r : part.demand.gres)
    if (r.count > 0) g.per_unit.emplace_back(&column(r), r.count);
  for (const auto& r : part.demand.gres_node) g.per_node.emplace_back(&column(r), r.count);
  return g;
}

// As units_on, without a cause.
std::uint32_t Board::quick(Glance& g, const Part& part, std::uint32_t p) const {
  const Slim& n = slim_[p];
  const Demand& d = part.demand;
  const Filter& f = part.filter;
  const NodeIndex node{n.node};
  if (f.allowed != nullptr && !f.allowed->contains(node)) return 0;
  if (f.excluded.contains(node) || (f.among && !f.among->contains(node))) return 0;
  if (!n.usable || n.exclusive || (d.whole && n.busy)) return 0;
  if (n.busy && (n.exclusive_user || d.exclusive_user) && n.sole_user != d.uid.value) return 0;
  if (n.cpus != g.cpus || n.memory != g.memory) {  // neighbours are often alike, and divisions are slow
    std::int64_t units = d.most == 0 ? most_units : d.most;
    if (d.cpus.value > 0) units = std::min(units, n.cpus / d.cpus.value);
    if (n.memory < d.memory_node.value) units = 0;
    else if (d.memory.value > 0) units = std::min(units, (n.memory - d.memory_node.value) / d.memory.value);
    g.cpus = n.cpus;
    g.memory = n.memory;
    g.units = static_cast<std::uint32_t>(std::max<std::int64_t>(units, 0));
  }
  std::uint32_t units = g.units;
  for (const auto& [column, count] : g.per_node)
    if ((*column)[p] < count) return 0;
  for (const auto& [column, count] : g.per_unit) {
    const auto have = (*column)[p];
    if (have >= count * units) continue;
    units = have <= 0 ? 0 : static_cast<std::uint32_t>(have / count);
  }
  return units;
}

// The units of one node, rounded to whole segments.
std::uint32_t Board::count(const Part& part, std::uint32_t p, std::uint32_t& raw, std::optional<Glance>& glance) const {
  const auto node = NodeIndex{topology_.node_at(p)};
  raw = glance ? quick(*glance, part, p) : units_on(part.demand, part.filter, node, shape_.nodes[node.value], nodes_[node.value]);
  const auto m = part.demand.multiple;
  return m <= 1 ? raw : raw / m * m;
}

void Board::compare_nodes(Offer& o, std::uint32_t leaf) const {
  const auto& d = topology_.domain(leaf);
  std::uint32_t first = Offer::no_node, most = 0;
  bool alike = true;
  for (auto p = d.begin; p < d.end; ++p) {
    if (o.units[p] == 0) continue;
    most = std::max(most, o.units[p]);
    if (first == Offer::no_node) first = p;
    else alike &= o.units[p] == o.units[first] && idle_[p] == idle_[first] && (equal_weights_ || weight(p) == weight(first));
  }
  o.example[leaf] = alike ? first : Offer::no_node;
  o.most[leaf] = most;
}

void Board::fill(Offer& o, const Part& part) {
  const auto& domains = topology_.domains();
  o.units.assign(topology_.size(), 0);
  o.sum.assign(domains.size(), 0);
  const bool rounded = part.demand.multiple > 1;
  if (rounded) o.raw.assign(topology_.size(), 0), o.raw_sum.assign(domains.size(), 0);
  if (!equal_weights_) {
    o.weight.assign(domains.size(), 0);
    o.holders.assign(domains.size(), 0);
  }
  auto look = glance(part);
  nodes_looked_at += topology_.size();
  for (std::uint32_t p = 0; p < topology_.size(); ++p) {
    std::uint32_t raw = 0;
    const auto n = count(part, p, raw, look);
    o.units[p] = n;
    const auto leaf = topology_.leaf_at(p);
    o.sum[leaf] += n;
    if (rounded) o.raw[p] = raw, o.raw_sum[leaf] += raw;
    if (!equal_weights_ && n > 0) {
      o.weight[leaf] += weight(p);
      ++o.holders[leaf];
    }
  }
  for (std::size_t d = domains.size(); d-- > 1;) {
    const auto parent = static_cast<std::size_t>(domains[d].parent);
    o.sum[parent] += o.sum[d];
    if (rounded) o.raw_sum[parent] += o.raw_sum[d];
    if (!equal_weights_) {
      o.weight[parent] += o.weight[d];
      o.holders[parent] += o.holders[d];
    }
  }
  if (largest_leaf_ <= small_leaf) {
    o.example.assign(domains.size(), Offer::no_node);
    o.most.assign(domains.size(), 0);
    for (std::uint32_t d = 0; d < domains.size(); ++d)
      if (domains[d].leaf()) compare_nodes(o, d);
  }
  o.seen = changes_.size();
}

void Board::set_units(Offer& o, std::uint32_t p, std::uint32_t n, std::uint32_t raw) {
  const auto old = o.units[p];
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
  if (o.seen == changes_.size()) return;
  auto look = glance(part);
  for (; o.seen < changes_.size(); ++o.seen) {
    ++nodes_looked_at;
    const auto p = changes_[o.seen];
    std::uint32_t raw = 0;
    const auto n = count(part, p, raw, look);
    set_units(o, p, n, raw);
    if (!o.example.empty()) compare_nodes(o, topology_.leaf_at(p));
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

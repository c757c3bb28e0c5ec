// Which of two domains is the better one (P4), and what filling them would come to: on trial, or without one where that is known.
#include <algorithm>
#include <limits>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

using model::PackOrder;

int Chooser::compare_own_first(const Candidate& a, const Candidate& b) const {
  auto x = static_cast<std::int32_t>(a.domain), y = static_cast<std::int32_t>(b.domain);
  const auto raw_in = [&](std::int32_t d) { return Chooser::raw_in(static_cast<std::uint32_t>(d)); };
  while (x >= 0 && y >= 0 && x != y) {
    const auto i = static_cast<std::size_t>(x), j = static_cast<std::size_t>(y);
    if (cap_[i] != cap_[j]) return cap_[i] < cap_[j] ? -1 : 1;
    if (raw_in(x) != raw_in(y)) return raw_in(x) < raw_in(y) ? -1 : 1;
    x = t_.domain(static_cast<std::uint32_t>(x)).parent;
    y = t_.domain(static_cast<std::uint32_t>(y)).parent;
  }
  return x == y ? 0 : x < 0 ? -1 : y < 0 ? 1 : 0;  // below fewer domains first: an order, whatever the depths
}

int Chooser::compare_parent_first(const Candidate& a, const Candidate& b, std::uint32_t node_a, std::uint32_t node_b) const {
  constexpr std::uint32_t no_node = ~0U;
  std::vector<std::uint32_t> x, y;
  const auto climb = [&](std::uint32_t domain, std::uint32_t node, std::vector<std::uint32_t>& out) {
    if (node != no_node) out.push_back(units_[node]);
    for (auto d = static_cast<std::int32_t>(domain); d >= 0; d = t_.domain(static_cast<std::uint32_t>(d)).parent)
      out.push_back(cap_[static_cast<std::size_t>(d)]);
  };
  climb(a.domain, node_a, x);
  climb(b.domain, node_b, y);
  for (auto i = x.rbegin(), j = y.rbegin(); i != x.rend() && j != y.rend(); ++i, ++j)
    if (*i != *j) return *i < *j ? -1 : 1;
  return x.size() == y.size() ? 0 : x.size() < y.size() ? -1 : 1;
}

// How full nodes side by side would be in what the part asks for, with so many units of it, in millionths: (used + asked) / allocatable.
std::uint64_t Chooser::fullness(std::uint32_t begin, std::uint32_t end, std::uint32_t units) const {
  if (counts_.board == nullptr) return 0;
  const auto& demand = part_.demand;
  std::int64_t free_cpus = 0, cpus = 0, free_memory = 0, memory = 0, free_gres = 0, gres = 0, nodes = 0;
  const auto count = [](const Resources& r, const std::vector<model::GresRequest>& asked) {
    std::int64_t n = 0;
    for (const auto& g : r.gres)
      for (const auto& a : asked)
        if (g.name == a.name && (a.type.empty() || a.type == g.type)) n += g.count;
    return n;
  };
  for (auto p = begin; p < end; ++p) {
    const auto& now = counts_.board->now(p);
    if (!now.usable) continue;
    ++nodes;
    const auto& total = counts_.board->shape().nodes[t_.node_at(p)].total;
    cpus += total.cpus.value;
    memory += total.memory.value;
    free_cpus += now.free.cpus.value;
    free_memory += now.free.memory.value;
    for (const auto* asked : {&demand.gres, &demand.gres_node}) {
      gres += count(total, *asked);
      free_gres += count(now.free, *asked);
    }
  }
  std::int64_t gres_each = 0;
  for (const auto* asked : {&demand.gres, &demand.gres_node})
    for (const auto& g : *asked) gres_each += g.count;
  const auto used = [&](std::int64_t free, std::int64_t total, std::int64_t each) {
    if (total <= 0) return std::uint64_t{0};
    const auto asked = demand.whole && !part_.by_tasks && nodes > 0 ? total / nodes * units : each * units;  // a whole node takes all of it
    return static_cast<std::uint64_t>((total - free + asked) * 1'000'000 / total);
  };
  std::uint64_t sum = used(free_cpus, cpus, demand.cpus.value), kinds = 1;
  if (demand.memory.value > 0 || demand.memory_node.value > 0)
    sum += used(free_memory, memory, demand.memory.value + (part_.by_tasks ? 0 : demand.memory_node.value)), ++kinds;
  if (gres > 0) sum += used(free_gres, gres, gres_each), ++kinds;
  return sum / kinds;
}

std::uint64_t Chooser::fullness_of(const Candidate& c) const {
  const auto [at, fresh] = fullness_.try_emplace(std::pair{c.domain, c.units}, 0);
  if (fresh) at->second = fullness(t_.domain(c.domain).begin, t_.domain(c.domain).end, c.units);
  return at->second;
}

// What F grows by outside the domain when anything inside it is taken: ancestors that are wholly free now.
std::int64_t Chooser::free_ancestors(std::uint32_t domain) const {
  std::int64_t out = 0;
  for (auto a = t_.domain(domain).parent; a >= 0; a = t_.domain(static_cast<std::uint32_t>(a)).parent) {
    const auto& d = t_.domain(static_cast<std::uint32_t>(a));
    if (counts_.idle[static_cast<std::size_t>(a)] != d.size()) break;
    if (d.counts) out += d.size();
  }
  return out;
}

// Growth of F by so many nodes of one leaf: nodes already in use come first and add nothing.
std::int64_t Chooser::leaf_growth(std::uint32_t leaf, std::uint32_t nodes) const {
  const auto& d = t_.domain(leaf);
  const auto in_use = sum_[leaf] > counts_.idle[leaf] && !part_.demand.whole ? sum_[leaf] - counts_.idle[leaf] : 0;
  const std::int64_t fresh = nodes > in_use ? nodes - in_use : 0;
  if (fresh == 0 || counts_.idle[leaf] != d.size()) return fresh;
  return fresh + (d.counts ? d.size() : 0) + free_ancestors(leaf);
}

// The domain is wholly free, and all its nodes hold equally many units.
bool Chooser::all_alike(std::uint32_t domain) const {
  const auto& d = t_.domain(domain);
  if (!part_.shortcuts || d.form == 0 || counts_.idle[domain] != d.size() || !forced_.empty() || !counts_.raw.empty()) return false;
  if (counts_.board == nullptr || !counts_.board->equal_weights()) return false;
  const auto most = part_.demand.most == 1 ? 1U : counts_.most.empty() ? 0U : counts_.most[domain];
  return most > 0 && counts_.sum[domain] == most * d.size();
}

// The widest domain around it in which every domain of its level differs from it in name only, and comes after it by name.
std::uint32_t Chooser::widest_alike(std::uint32_t domain, std::uint32_t scope) const {
  auto out = domain;
  if (!all_alike(domain)) return out;
  for (auto d = t_.domain(domain).parent; d >= static_cast<std::int32_t>(scope); d = t_.domain(out).parent) {
    const auto around = static_cast<std::uint32_t>(d);
    if (!t_.domain(around).even || !all_alike(around)) break;
    out = around;
  }
  return out;
}

// Without filling it on trial: leaves whose nodes are all alike.
bool Chooser::judge_at_a_glance(Judged& j) const {
  const auto leaf = j.candidate.domain;
  const auto& d = t_.domain(leaf);
  if (!j.candidate.domains.empty() || !d.leaf() || t_.kind() == model::Topology::Kind::flat) return false;
  if (!part_.by_tasks) {
    j.growth = leaf_growth(leaf, j.candidate.units);
    j.children = j.candidate.units;
    return true;
  }
  const bool plain = forced_.empty() && part_.layers.empty() && counts_.raw.empty() && !part_.contiguous && part_.fill != Fill::balanced;
  if (!plain || !part_.shortcuts || counts_.example.empty() || counts_.example[leaf] == Offer::no_node) return false;
  const auto example = counts_.example[leaf];
  const auto nodes = (j.candidate.units + units_[example] - 1) / units_[example];
  j.children = nodes;
  if (!counts_.board->idle(example)) return true;
  j.growth = nodes;
  if (counts_.idle[leaf] == d.size()) j.growth += (d.counts ? d.size() : 0) + free_ancestors(leaf);
  return true;
}

void Chooser::judge(std::size_t rung, Judged& j) {
  if (j.judged) return;
  j.judged = true;
  if (judge_at_a_glance(j)) return;
  const auto d = j.candidate.domain, form = t_.domain(d).form, units = j.candidate.units;
  // Wholly free domains of one form are filled on trial once.
  const bool once = j.candidate.domains.empty() && part_.sizes.empty() && !part_.shorter && all_alike(d);
  const auto most = once && !counts_.most.empty() ? counts_.most[d] : 1U;
  if (once) {
    const auto known =
        std::find_if(seen_.begin(), seen_.end(), [&](const Seen& s) { return s.form == form && s.most == most && s.units == units; });
    if (known != seen_.end()) {
      j.growth = known->growth + free_ancestors(d);
      j.children = known->children;
      j.difference = known->difference;
      return;
    }
  }
  Chooser probe(*this, Borrow{});
  Choice choice;
  const bool fits = probe.fill_into(choice, rung, j.candidate);
  j.growth = fits ? probe.growth_of(choice.shares) : std::numeric_limits<std::int64_t>::max();
  j.children = fits ? choice.children_used : 0;
  j.difference = fits ? choice.difference : 0;
  domains_looked_at += probe.domains_looked_at + t_.domain(d).next - d;
  if (once && fits) seen_.push_back(Seen{form, most, units, j.growth - free_ancestors(d), j.children, j.difference});
}

int Chooser::compare_order(const Candidate& a, const Candidate& b) const {
  switch (part_.order) {
    case PackOrder::parent_first: return compare_parent_first(a, b);
    case PackOrder::fullest: {
      const auto x = fullness_of(a), y = fullness_of(b);
      return x == y ? 0 : x > y ? -1 : 1;
    }
    case PackOrder::automatic:
    case PackOrder::own_first:
    case PackOrder::least_growth: return compare_own_first(a, b);
  }
  return 0;
}

int Chooser::compare_weight(std::uint32_t a, std::uint32_t b) const {
  if (counts_.weight.empty() || counts_.holders[a] == 0 || counts_.holders[b] == 0) return 0;
  const auto x = counts_.weight[a] * counts_.holders[b], y = counts_.weight[b] * counts_.holders[a];
  return x == y ? 0 : x < y ? -1 : 1;
}

// In this order: most units; affinity is a filter before; order; fewest child domains; smallest growth; weight; name.
bool Chooser::better(std::size_t rung, Judged& a, Judged& b) {
  if (a.candidate.units != b.candidate.units) return a.candidate.units > b.candidate.units;
  if (!a.candidate.domains.empty()) {  // several: the fewest under the narrowest common ancestor
    const auto x = t_.domain(a.candidate.domain).level, y = t_.domain(b.candidate.domain).level;
    if (x != y) return x > y;
    if (a.candidate.domains.size() != b.candidate.domains.size()) return a.candidate.domains.size() < b.candidate.domains.size();
  }
  if (part_.order == PackOrder::least_growth) {
    judge(rung, a);
    judge(rung, b);
    if (a.growth != b.growth) return a.growth < b.growth;
  }
  if (const auto c = compare_order(a.candidate, b.candidate); c != 0) return c < 0;
  judge(rung, a);
  judge(rung, b);
  if (part_.fill == Fill::balanced && a.children == b.children && a.difference != b.difference) return a.difference < b.difference;
  if (a.children != b.children) return a.children < b.children;
  if (a.growth != b.growth) return a.growth < b.growth;
  if (const auto c = compare_weight(a.candidate.domain, b.candidate.domain); c != 0) return c < 0;
  const auto &x = t_.domain(a.candidate.domain), &y = t_.domain(b.candidate.domain);
  return x.name_rank != y.name_rank ? x.name_rank < y.name_rank : a.candidate.domain < b.candidate.domain;
}

}  // namespace sy::sched::placement

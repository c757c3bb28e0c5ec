#include "sched/placement/choose.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace sy::sched::placement {

using model::PackOrder;
using model::TopologyIndex;

Counts counts_of(const Board& b, const Offer& o) {
  return Counts{&b.topology(), o.sum, b.idle_counts(), o.units, o.raw, o.raw_sum, o.example, o.most, o.weight, o.holders, &b};
}

Chooser::Chooser(const Counts& counts, const Part& part)
    : counts_(counts),
      part_(part),
      t_(*counts.topology),
      min_(part.min),
      max_(part.max),
      sum_(counts.sum),
      units_(counts.units),
      cap_(counts.sum) {
  for (const auto n : part.required) {  // out of reach: a position that no domain has
    const auto p = t_.position_of(n.value);
    forced_.push_back(p == TopologyIndex::nowhere ? static_cast<std::uint32_t>(t_.size()) : static_cast<std::uint32_t>(p));
  }
  std::sort(forced_.begin(), forced_.end());
  if (!part.layers.empty() && part.sizes.empty()) count_segments();
}

// Segments round capacity down from the bottom up, at every layer (P6).
void Chooser::count_segments_of(std::uint32_t domain) {
  const auto& domains = t_.domains();
  const auto skips = [&](std::int32_t above, std::int32_t below) {  // a layer's level that this branch does not have
    return std::any_of(part_.layers.begin(), part_.layers.end(), [&](const Layer& l) { return above < l.level && l.level < below; });
  };
  std::fill(cap_store_.begin() + domain, cap_store_.begin() + domains[domain].next, 0U);
  if (part_.shorter) std::fill(extra_.begin() + domain, extra_.begin() + domains[domain].next, 0U);
  for (auto d = domains[domain].next; d-- > domain;) {
    const auto& at = domains[d];
    auto& cap = cap_store_[d];
    if (at.leaf()) cap = skips(at.level, t_.node_level()) ? 0 : sum_[d];
    for (const auto& l : part_.layers)
      if (l.level == at.level) {
        const auto whole = l.distinct ? std::min(cap / l.size, 1U) : cap / l.size;
        if (part_.shorter) extra_[d] = !l.distinct ? cap % l.size : whole == 0 ? cap : 0;
        cap = whole * l.size;
      }
    if (d == domain) break;
    const auto parent = static_cast<std::size_t>(at.parent);
    if (skips(domains[parent].level, at.level)) {  // never part of a segment
      cap = 0;
      if (part_.shorter) extra_[d] = 0;
      continue;
    }
    cap_store_[parent] += cap;
    if (part_.shorter) extra_[parent] = std::max(extra_[parent], extra_[d]);
  }
}

// Where every domain's parent is one level above it and every leaf on the narrowest level, the levels are counted one after the
// other, and those below the innermost layer not at all.
bool Chooser::count_segments_by_level() {
  if (!t_.regular() || part_.shorter) return false;
  cap_store_.assign(sum_.begin(), sum_.end());
  for (auto i = part_.layers.size(); i-- > 0;) {
    const auto& layer = part_.layers[i];
    const auto size = layer.size, most = layer.distinct ? 1U : ~0U;
    for (const auto d : t_.at_level(layer.level)) cap_store_[d] = std::min(cap_store_[d] / size, most) * size;
    const auto next = i == 0 ? TopologyIndex::any_level : part_.layers[i - 1].level;
    for (auto level = layer.level - 1; level >= next; --level) {
      if (level == TopologyIndex::any_level) cap_store_[TopologyIndex::root] = 0;  // in a forest that level is its trees
      else
        for (const auto d : t_.at_level(level)) cap_store_[d] = 0;
      for (const auto d : t_.at_level(level + 1)) cap_store_[static_cast<std::size_t>(t_.domain(d).parent)] += cap_store_[d];
      domains_looked_at += t_.at_level(level + 1).size();
    }
  }
  cap_ = cap_store_;
  return true;
}

void Chooser::count_segments() {
  if (count_segments_by_level()) return;
  cap_store_.assign(t_.domains().size(), 0);
  if (part_.shorter) extra_.assign(t_.domains().size(), 0);
  count_segments_of(TopologyIndex::root);
  cap_ = cap_store_;
  domains_looked_at += cap_.size();
}

Chooser::Chooser(const Chooser& from, Borrow)
    : budget(from.budget),
      counts_(from.counts_),
      part_(from.part_),
      t_(from.t_),
      min_(from.min_),
      max_(from.max_),
      sum_(from.sum_),
      units_(from.units_),
      cap_(from.cap_),
      forced_(from.forced_) {}

void Chooser::own_counts() {
  if (!sum_store_.empty()) return;
  if (cap_store_.empty() && cap_.data() != sum_.data()) {
    cap_store_.assign(cap_.begin(), cap_.end());
    cap_ = cap_store_;
    if (part_.shorter) extra_.assign(cap_.size(), 0);
  }
  sum_store_.assign(sum_.begin(), sum_.end());
  units_store_.assign(units_.begin(), units_.end());
  sum_ = sum_store_;
  units_ = units_store_;
  if (cap_store_.empty()) cap_ = sum_;
}

std::uint32_t Chooser::forced_in(std::uint32_t begin, std::uint32_t end) const {
  if (forced_.empty()) return 0;
  const auto from = std::lower_bound(forced_.begin(), forced_.end(), begin), to = std::lower_bound(from, forced_.end(), end);
  return static_cast<std::uint32_t>(to - from);
}

// The units that required nodes cost this domain, in whole segments; `never` when it can not give them.
std::uint32_t Chooser::needed(std::uint32_t domain) const { return needed(domain, !part_.shorter && part_.sizes.empty()); }
std::uint32_t Chooser::needed_whole(std::uint32_t domain) const { return needed(domain, true); }

std::uint32_t Chooser::needed(std::uint32_t domain, bool in_segments) const {
  const auto& d = t_.domain(domain);
  if (forced_in(d.begin, d.end) == 0) return 0;
  std::uint64_t need = 0;
  if (d.leaf()) {
    const auto end = std::lower_bound(forced_.begin(), forced_.end(), d.end);
    for (auto i = std::lower_bound(forced_.begin(), forced_.end(), d.begin); i != end; ++i) {
      if (units_[*i] == 0) return never;
      need += std::max(part_.demand.multiple, 1U);
    }
  } else {
    bool out = false;
    t_.for_children(domain, [&](std::uint32_t c) {
      const auto n = needed(c, in_segments);
      out |= n == never;
      need += n;
    });
    if (out) return never;
  }
  if (!in_segments) return need <= sum_[domain] ? static_cast<std::uint32_t>(need) : never;
  for (const auto& l : part_.layers)
    if (l.level == d.level) need = (need + l.size - 1) / l.size * l.size;
  return need <= cap_[domain] ? static_cast<std::uint32_t>(need) : never;
}

// How many units the domain would give to this part; 0: too few, or not what must be in.
std::uint32_t Chooser::count_for(std::uint32_t domain) const {
  const auto n = allowed_count(available(domain));
  return n == 0 || forced_.empty() || needed(domain) <= n ? n : 0;
}

std::uint32_t Chooser::allowed_count(std::uint32_t available) const {
  if (!part_.choices.empty()) {
    std::uint32_t best = 0;
    for (const auto c : part_.choices)
      if (c <= available && c <= max_ && c >= min_) best = std::max(best, c);
    return best;
  }
  std::uint32_t n = std::min(available, max_);
  if (!part_.layers.empty() && part_.sizes.empty() && !part_.shorter) n = n / part_.layers.front().size * part_.layers.front().size;
  else if (part_.demand.multiple > 1) n = n / part_.demand.multiple * part_.demand.multiple;
  return n >= min_ ? n : 0;
}

// The longest run of adjacent positions (or the tightest that holds `units`), in units.
std::uint32_t Chooser::contiguous_run(std::uint32_t domain, std::uint32_t wanted, std::uint32_t* begin, std::uint32_t* end) const {
  const auto& d = t_.domain(domain);
  std::uint32_t best = 0, run = 0, from = d.begin;
  for (auto p = d.begin; p <= d.end; ++p) {
    if (p < d.end && units_[p] > 0) {
      if (run == 0) from = p;
      run += units_[p];
      continue;
    }
    if (run > 0 && forced_in(from, p) == forced_.size()) {
      const bool take = wanted == 0 ? run > best : run >= wanted && (best == 0 || run < best);
      if (take) {
        best = run;
        if (begin != nullptr) *begin = from;
        if (end != nullptr) *end = p;
      }
    }
    run = 0;
  }
  return best;
}

// What a domain offers to this part; 0 when it lacks a node that must be in.
std::uint32_t Chooser::available(std::uint32_t domain) const {
  const auto& d = t_.domain(domain);
  if (forced_in(d.begin, d.end) != forced_.size()) return 0;
  return part_.contiguous ? contiguous_run(domain, 0, nullptr, nullptr) : capacity(domain);
}

std::uint32_t Chooser::count_without_wish(std::uint32_t scope) {
  if (scope != TopologyIndex::root) return count_for(scope);
  std::uint32_t most = 0;
  for (const auto d : t_.at_level(TopologyIndex::any_level)) most = std::max(most, count_for(d));
  return most;
}

// ---- which domain (P4) ----

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
  return 0;
}

int Chooser::compare_parent_first(const Candidate& a, const Candidate& b) const {
  std::vector<std::uint32_t> x, y;
  for (auto d = static_cast<std::int32_t>(a.domain); d >= 0; d = t_.domain(static_cast<std::uint32_t>(d)).parent)
    x.push_back(static_cast<std::uint32_t>(d));
  for (auto d = static_cast<std::int32_t>(b.domain); d >= 0; d = t_.domain(static_cast<std::uint32_t>(d)).parent)
    y.push_back(static_cast<std::uint32_t>(d));
  for (auto i = x.rbegin(), j = y.rbegin(); i != x.rend() && j != y.rend(); ++i, ++j)
    if (*i != *j && cap_[*i] != cap_[*j]) return cap_[*i] < cap_[*j] ? -1 : 1;
  return 0;
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

std::span<const std::uint32_t> Chooser::domains_on(const PartRung& r, const std::uint32_t& scope) const {
  const auto& inside = t_.domain(scope);
  if (scope != TopologyIndex::root && (r.level == TopologyIndex::any_level || inside.level >= r.level)) return {&scope, 1};
  const auto& level = t_.at_level(r.level);
  const auto from = std::lower_bound(level.begin(), level.end(), scope), to = std::lower_bound(from, level.end(), inside.next);
  return {from, to};
}

void Chooser::list(std::size_t rung, std::uint32_t scope, std::vector<Judged>& out) {
  const auto& r = part_.rungs[rung];
  if (r.max_domains > 1 && r.level != TopologyIndex::any_level) return list_several(r, scope, out);
  for (const auto d : domains_on(r, scope)) {
    ++domains_looked_at;
    if (capacity(d) < min_ || outside(d)) continue;
    if (const auto n = count_for(d); n > 0) out.push_back(Judged{Candidate{d, n, {}}});
  }
}

// The first of list(), were it put in order.
std::optional<Candidate> Chooser::best_on(std::size_t rung, std::uint32_t scope) {
  const auto& r = part_.rungs[rung];
  std::optional<Judged> best;
  if (r.max_domains > 1 && r.level != TopologyIndex::any_level) {
    std::vector<Judged> all;
    list_several(r, scope, all);
    for (auto& j : all)
      if (!best || better(rung, j, *best)) best = std::move(j);
    return best ? std::optional{std::move(best->candidate)} : std::nullopt;
  }
  const auto all = domains_on(r, scope);
  const bool tightest = own_order() && extra_.empty(), leap = part_.order != PackOrder::fullest && !part_.contiguous;
  std::uint32_t enough = ~0U;  // what has more room is worse than the best, which gives all that may be given
  for (auto i = all.begin(); i != all.end();) {
    const auto d = *i++;
    ++domains_looked_at;
    const auto room = capacity(d);
    if (room < min_ || room > enough || outside(d)) continue;
    const auto n = count_for(d);
    if (n == 0) continue;
    Judged j{Candidate{d, n, {}}};
    if (!best || better(rung, j, *best)) {
      best = std::move(j);
      if (tightest && n >= max_) enough = room;
    }
    if (!leap) continue;
    if (const auto around = widest_alike(d, scope); around != d) i = std::lower_bound(i, all.end(), t_.domain(around).next);
  }
  return best ? std::optional{std::move(best->candidate)} : std::nullopt;
}

// At most max_domains of that level, together below each common ancestor; the order among these is better()'s.
void Chooser::list_several(const PartRung& r, std::uint32_t scope, std::vector<Judged>& out) {
  const auto& members = t_.at_level(r.level);
  for (auto level = r.level; level >= TopologyIndex::any_level; --level) {
    for (const auto above : t_.at_level(level)) {
      if (above < scope || above >= t_.domain(scope).next) continue;
      std::vector<Entry> entries;
      std::uint32_t forced = 0;
      for (auto i = std::lower_bound(members.begin(), members.end(), above); i != members.end() && *i < t_.domain(above).next; ++i) {
        ++domains_looked_at;
        if (cap_[*i] == 0) continue;
        entries.push_back(entry_of(*i, 0));
        forced += forced_in(entries.back().begin, entries.back().end);
      }
      if (forced != forced_.size() || std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.forced > e.cap; }))
        continue;
      std::sort(entries.begin(), entries.end(),
                [&](const Entry& a, const Entry& b) { return (a.forced > 0) != (b.forced > 0) ? a.forced > 0 : larger(a, b); });
      std::uint64_t sum = 0, need = 0;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i < r.max_domains) sum += cap_[entries[i].id];
        need += std::uint64_t{entries[i].forced} * counting_unit(0);
      }
      const auto n = allowed_count(static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, max_)));
      if (n == 0 || n < need) continue;
      divide(entries, (n + counting_unit(0) - 1) / counting_unit(0), Fill::best_fit);
      Candidate c{above, n, {}};
      for (const auto& e : entries)
        if (e.take > 0) c.domains.push_back(e.id);
      if (c.domains.size() <= r.max_domains) out.push_back(Judged{std::move(c)});
    }
  }
}

// Tasks on one node: the rung below all domains.
std::vector<Candidate> Chooser::single_nodes(std::uint32_t scope, bool only_best) {
  const auto& inside = t_.domain(scope);
  if (!counts_.most.empty() && counts_.most[scope] < min_) return {};
  struct Seat {
    std::int64_t growth;
    std::uint64_t full;
    std::uint32_t units, spare, weight, position;
  };
  std::vector<Seat> seats;
  const bool growth_first = part_.order == PackOrder::automatic || part_.order == PackOrder::least_growth;
  std::uint32_t leaf = ~0U;
  std::int64_t fresh = 0;
  const auto ordered = [&](const Seat& a, const Seat& b) {
    if (part_.order == PackOrder::fullest) return a.full == b.full ? 0 : a.full > b.full ? -1 : 1;
    const auto around = [&](std::uint32_t p) {  // a node beside child domains is a leaf of its own
      const auto d = t_.leaf_at(p);
      return t_.domain(d).level == t_.node_level() ? static_cast<std::uint32_t>(t_.domain(d).parent) : d;
    };
    const Candidate x{around(a.position), a.units, {}}, y{around(b.position), b.units, {}};
    const auto spare = a.spare == b.spare ? 0 : a.spare < b.spare ? -1 : 1;
    if (part_.order == PackOrder::parent_first) {
      const auto c = x.domain == y.domain ? 0 : compare_parent_first(x, y);
      return c != 0 ? c : spare;
    }
    if (spare != 0 || x.domain == y.domain) return spare;
    return compare_own_first(x, y);
  };
  const auto before = [&](const Seat& a, const Seat& b) {
    if (a.units != b.units) return a.units > b.units;
    if (growth_first && a.growth != b.growth) return a.growth < b.growth;
    if (const auto c = ordered(a, b); c != 0) return c < 0;
    if (a.growth != b.growth) return a.growth < b.growth;
    return a.weight != b.weight ? a.weight < b.weight : a.position < b.position;
  };
  const auto judge_seat = [&](std::uint32_t p) {
    if (units_[p] < min_ || (!forced_.empty() && (forced_.size() != 1 || forced_[0] != p))) return;
    if (part_.within >= 0 && part_.within < t_.node_level() && !t_.regular() && t_.ancestor(t_.leaf_at(p), part_.within) < 0) return;
    const auto n = allowed_count(units_[p]);
    if (n == 0) return;
    if (t_.leaf_at(p) != leaf) {
      leaf = t_.leaf_at(p);
      const auto& d = t_.domain(leaf);
      fresh = 1 + (counts_.idle[leaf] == d.size() ? (d.counts ? d.size() : 0) + free_ancestors(leaf) : 0);
    }
    const bool idle = counts_.board == nullptr || counts_.board->idle(p);
    const Seat seat{idle ? fresh : 0, part_.order == PackOrder::fullest ? fullness(p, p + 1, n) : 0, n,
                    units_[p] - n,    counts_.board == nullptr ? 1 : counts_.board->weight(p),       p};
    if (!only_best || seats.empty()) seats.push_back(seat);
    else if (before(seat, seats[0])) seats[0] = seat;
  };
  if (only_best && !counts_.example.empty() && part_.order != PackOrder::fullest) {
    for (auto p = inside.begin; p < inside.end;) {
      const auto at = t_.leaf_at(p);
      p = t_.domain(widest_alike(at, scope)).end;
      if (counts_.most[at] < min_) continue;
      // A leaf whose nodes are alike is judged by its first: the others of it differ in name only.
      if (forced_.empty() && counts_.example[at] != Offer::no_node) judge_seat(counts_.example[at]);
      else
        for (auto q = t_.domain(at).begin; q < t_.domain(at).end; ++q) judge_seat(q);
    }
  } else {
    for (auto p = inside.begin; p < inside.end; ++p) judge_seat(p);
  }
  std::sort(seats.begin(), seats.end(), before);
  std::vector<Candidate> out;
  for (const auto& s : seats) out.push_back(Candidate{s.position, s.units, {}});
  return out;
}

std::vector<Candidate> Chooser::candidates(std::size_t rung, std::uint32_t scope) {
  if (part_.rungs[rung].level == t_.node_level()) return single_nodes(scope, false);
  std::vector<Judged> all;
  list(rung, scope, all);
  std::vector<Candidate> out;
  if (all.size() > 1) std::sort(all.begin(), all.end(), [&](Judged& a, Judged& b) { return better(rung, a, b); });
  for (auto& j : all) out.push_back(std::move(j.candidate));
  return out;
}

std::optional<Choice> Chooser::choose(std::uint32_t scope, std::size_t open) {
  const auto saved_min = min_, saved_max = max_;
  if (!part_.wish && (min_ != max_ || !part_.choices.empty())) {
    const auto n = count_without_wish(scope);
    if (n == 0) return std::nullopt;
    min_ = max_ = n;
  }
  std::optional<Choice> out;
  for (std::size_t rung = 0; rung < part_.rungs.size() && rung < open && !out; ++rung) {
    if (part_.rungs[rung].level == t_.node_level()) {
      if (const auto best = single_nodes(scope, true); !best.empty()) out = fill(rung, best.front());
      continue;
    }
    if (part_.sizes.empty()) {
      const auto best = best_on(rung, scope);
      if (!best) continue;
      out = fill(rung, *best);
      if (out || forced_.empty()) continue;
    }
    std::vector<Judged> all;
    list(rung, scope, all);
    std::sort(all.begin(), all.end(), [&](Judged& a, Judged& b) { return better(rung, a, b); });
    for (std::size_t i = 0; i < all.size() && !out; ++i) out = fill(rung, all[i].candidate);
  }
  min_ = saved_min;
  max_ = saved_max;
  return out;
}

}  // namespace sy::sched::placement

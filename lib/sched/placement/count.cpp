// How many units each domain gives: in whole segments (P6), with the nodes that must be in, in adjacent nodes only.
#include <algorithm>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

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
    std::uint32_t last = 0, rounded = 0;  // neighbours are often alike, and divisions are slow
    for (const auto d : t_.at_level(layer.level)) {
      auto& cap = cap_store_[d];
      if (cap != last) last = cap, rounded = std::min(cap / size, most) * size;
      cap = rounded;
    }
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
  auto n = allowed_count(available(domain));
  if (n == 0 || forced_.empty()) return n;
  if (std::any_of(forced_.begin(), forced_.end(), [&](std::uint32_t p) { return units_[p] == 0; })) return 0;
  if (part_.contiguous) return forced_.back() - forced_.front() < n ? n : 0;  // and all that lie between them
  if (!part_.shorter || part_.layers.empty()) return needed(domain) <= n ? n : 0;
  // Whether a short segment and whole ones cover the required nodes is told by no count: it is tried.
  for (; n > 0; n = allowed_count(n - 1)) {
    const auto size = part_.layers.front().size;
    if (n % size == 0 && needed_whole(domain) <= n && cap_[domain] >= n) return n;
    Choice choice;
    if (n % size != 0 && Chooser(*this, Borrow{}).fill_shorter_first(domain, n / size, n % size, choice)) return n;
  }
  return 0;
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

// The longest run of adjacent positions in [begin, end), or the tightest that holds `wanted` units.
Chooser::Run Chooser::contiguous_run(std::uint32_t begin, std::uint32_t end, std::uint32_t wanted) const {
  Run best;
  std::uint32_t run = 0, from = begin;
  for (auto p = begin; p <= end; ++p) {
    if (p < end && units_[p] > 0) {
      if (run == 0) from = p;
      run += units_[p];
      continue;
    }
    if (run > 0 && forced_in(from, p) == forced_.size()) {
      const bool take = wanted == 0 ? run > best.units : run >= wanted && (best.units == 0 || run < best.units);
      if (take) best = Run{from, p, run};
    }
    run = 0;
  }
  return best;
}

// What a domain offers to this part; 0 when it lacks a node that must be in.
std::uint32_t Chooser::available(std::uint32_t domain) const {
  const auto& d = t_.domain(domain);
  if (forced_in(d.begin, d.end) != forced_.size()) return 0;
  return part_.contiguous ? contiguous_run(d.begin, d.end, 0).units : capacity(domain);
}

std::uint32_t Chooser::count_without_wish(std::uint32_t scope) {
  if (scope != TopologyIndex::root) return count_for(scope);
  std::uint32_t most = 0;
  for (const auto d : t_.at_level(TopologyIndex::any_level)) most = std::max(most, count_for(d));
  return most;
}

}  // namespace sy::sched::placement

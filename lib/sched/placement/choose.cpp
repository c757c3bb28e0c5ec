// The domains of a rung, the best of them, and the first rung that has one (P3, P4).
#include "sched/placement/choose.hpp"

#include <algorithm>

namespace sy::sched::placement {

using model::PackOrder;
using model::TopologyIndex;

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
  if (part_.contiguous) return list_neighbours(r, scope, out);
  const auto& members = t_.at_level(r.level);
  for (auto level = r.level; level >= TopologyIndex::any_level; --level) {
    for (const auto above : t_.at_level(level)) {
      if (above < scope || above >= t_.domain(scope).next || !within(above)) continue;
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

// The same where nodes must be neighbours: so are the domains.
void Chooser::list_neighbours(const PartRung& r, std::uint32_t scope, std::vector<Judged>& out) {
  const auto& members = t_.at_level(r.level);
  const auto end = t_.domain(scope).next;
  for (auto first = std::lower_bound(members.begin(), members.end(), scope); first != members.end() && *first < end; ++first) {
    Candidate c;
    for (auto last = first; last != members.end() && *last < end && c.domains.size() < r.max_domains; ++last) {
      if (t_.domain(*last).size() == 0) continue;
      if (!c.domains.empty() && t_.domain(*last).begin != t_.domain(c.domains.back()).end) break;
      ++domains_looked_at;
      c.domains.push_back(*last);
      c.domain = c.domains.front();
      while (t_.domain(c.domain).next <= *last) c.domain = static_cast<std::uint32_t>(t_.domain(c.domain).parent);
      if (c.domain == TopologyIndex::root && !t_.joined() && c.domains.size() > 1) break;
      if (!within(c.domain)) break;
      c.units = allowed_count(contiguous_run(t_.domain(c.domains.front()).begin, t_.domain(*last).end, 0).units);
      if (c.units > 0 && (forced_.empty() || forced_.back() - forced_.front() < c.units)) out.push_back(Judged{c});
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
    std::uint32_t units, spare, raw, weight, position;
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
    if (part_.order == PackOrder::parent_first) return x.domain == y.domain ? spare : compare_parent_first(x, y, a.position, b.position);
    if (spare != 0) return spare;
    if (a.raw != b.raw) return a.raw < b.raw ? -1 : 1;
    return x.domain == y.domain ? 0 : compare_own_first(x, y);
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
    const Seat seat{idle ? fresh : 0,
                    part_.order == PackOrder::fullest ? fullness(p, p + 1, n) : 0,
                    n,
                    units_[p] - n,
                    counts_.raw.empty() ? units_[p] : counts_.raw[p],
                    counts_.board == nullptr ? 1 : counts_.board->weight(p),
                    p};
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

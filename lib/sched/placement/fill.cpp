// Inside the chosen domain, level by level (P5), in whole segments above a segment's level (P6).
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/assert.hpp"
#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

std::uint32_t Chooser::counting_unit(std::size_t layer) const {
  if (part_.sizes.empty() && layer < part_.layers.size()) return part_.layers[layer].size;
  return std::max(part_.demand.multiple, 1U);
}

Chooser::Entry Chooser::entry_of(std::uint32_t domain, std::size_t layer) const {
  const auto& d = t_.domain(domain);
  const auto unit = counting_unit(layer);
  const auto forced = forced_.empty() ? 0 : needed(domain, part_.sizes.empty() && layer < part_.layers.size());
  return Entry{domain, d.begin, d.end, domain, cap_[domain] / unit, raw_in(domain), forced == never ? never : (forced + unit - 1) / unit,
               0,      false,   false};
}

// Nothing to divide any further: whole nodes of a leaf, one node, or a domain of the next layer of segments.
bool Chooser::terminal(const Entry& e, std::size_t layer) const {
  if (e.node) return true;
  if (part_.sizes.empty() && layer < part_.layers.size() && t_.domain(e.id).level == part_.layers[layer].level) return true;
  if (e.run) return !part_.by_tasks;
  return t_.domain(e.id).leaf() && !part_.by_tasks && t_.kind() != model::Topology::Kind::flat;
}

// In a flat topology maximal runs of adjacent free nodes count as domains of one level below the root.
void Chooser::expand_runs(const Entry& e, std::vector<Entry>& out) const {
  const auto unit = counting_unit(part_.layers.size());
  std::uint32_t from = e.begin, sum = 0;
  for (auto p = e.begin; p <= e.end; ++p) {
    if (p < e.end && units_[p] > 0) {
      if (sum == 0) from = p;
      sum += units_[p];
    } else if (sum > 0) {
      out.push_back(Entry{e.id, from, p, e.leaf, sum / unit, sum, (forced_in(from, p) + unit - 1) / unit, 0, false, true});
      sum = 0;
    }
  }
}

void Chooser::expand(const Entry& e, std::size_t layer, std::vector<Entry>& out) const {
  if (!e.run && !t_.domain(e.id).leaf()) {
    t_.for_children(e.id, [&](std::uint32_t c) {
      if (cap_[c] > 0) out.push_back(entry_of(c, layer));
    });
    return;
  }
  if (!e.run && t_.kind() == model::Topology::Kind::flat) return expand_runs(e, out);
  const auto unit = counting_unit(layer);
  for (auto p = e.begin; p < e.end; ++p)
    if (units_[p] > 0)
      out.push_back(Entry{p, p, p + 1, e.leaf, units_[p] / unit, counts_.raw.empty() ? units_[p] : counts_.raw[p], forced_in(p, p + 1), 0,
                          true, false});
}

// Cheaper, then single nodes by their place, then domains by name, narrow ones first: the end of every tie. One order for all
// kinds of entries, since branches of uneven depth put them beside each other.
bool Chooser::before(const Entry& a, const Entry& b) const {
  const auto single = [&](const Entry& e) { return e.node || e.run || t_.domain(e.id).level == t_.node_level(); };
  if (counts_.board != nullptr && !counts_.board->equal_weights() && !a.run && !b.run) {
    const auto cost = [&](const Entry& e) {
      return e.node ? std::pair{std::uint64_t{counts_.board->weight(e.id)}, std::uint64_t{1}}
                    : std::pair{counts_.weight[e.id], std::uint64_t{counts_.holders[e.id]}};
    };
    const auto [x, nodes_x] = cost(a);
    const auto [y, nodes_y] = cost(b);
    if (x * nodes_y != y * nodes_x) return x * nodes_y < y * nodes_x;
  }
  if (single(a) != single(b)) return single(a);
  if (single(a)) return a.begin < b.begin;
  const auto &x = t_.domain(a.id), &y = t_.domain(b.id);
  return x.level != y.level ? x.level > y.level : x.name_rank < y.name_rank;
}

bool Chooser::smaller(const Entry& a, const Entry& b) const {
  if (a.cap != b.cap) return a.cap < b.cap;
  return a.raw != b.raw ? a.raw < b.raw : before(a, b);
}

bool Chooser::larger(const Entry& a, const Entry& b) const {
  if (a.cap != b.cap) return a.cap > b.cap;
  return a.raw != b.raw ? a.raw < b.raw : before(a, b);
}

// Entries that hold a required node are used anyway: they take theirs, and then as much of the rest as they can.
void Chooser::best_fit_forced(std::vector<Entry>& entries, std::uint32_t& rest) const {
  for (auto& e : entries) {
    e.take = std::min({e.forced, e.cap, rest});
    rest -= e.take;
  }
  while (rest > 0) {
    Entry* best = nullptr;
    for (auto& e : entries) {
      if (e.forced == 0 || e.cap == e.take) continue;
      const auto spare = e.cap - e.take, least = best == nullptr ? 0 : best->cap - best->take;
      if (best == nullptr || (spare >= rest ? least < rest || spare < least : least < rest && spare > least)) best = &e;
    }
    if (best == nullptr) return;
    const auto more = std::min(rest, best->cap - best->take);
    best->take += more;
    rest -= more;
  }
}

// Most slots first; the last one chosen is the tightest that holds the rest.
void Chooser::best_fit(std::vector<Entry>& entries, std::uint32_t n) const {
  std::uint32_t rest = n;
  auto end = entries.end();  // of those that are free to be used or not
  if (!forced_.empty()) {
    best_fit_forced(entries, rest);
    if (rest == 0) return;
    end = std::stable_partition(entries.begin(), end, [](const Entry& e) { return e.forced == 0; });
  }
  const auto tightest = [&] {
    Entry* best = nullptr;
    for (auto i = entries.begin(); i != end; ++i)
      if (i->cap >= rest && (best == nullptr || smaller(*i, *best))) best = &*i;
    return best;
  };
  // Only as many as are taken need to be in order.
  const auto less = [&](const Entry& a, const Entry& b) { return larger(b, a); };
  if (auto* one = tightest(); one != nullptr) {
    one->take = rest;
    return;
  }
  std::make_heap(entries.begin(), end, less);
  while (rest > 0 && end != entries.begin()) {
    if (entries.front().cap >= rest) {
      tightest()->take = rest;
      return;
    }
    std::pop_heap(entries.begin(), end, less);
    --end;
    end->take = end->cap;
    rest -= end->cap;
  }
}

// The fewest entries, and shares as equal as their room allows.
void Chooser::balance(std::vector<Entry>& entries, std::uint32_t n) const {
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return (a.forced > 0) != (b.forced > 0) ? a.forced > 0 : larger(a, b); });
  std::size_t used = 0;
  for (std::uint64_t room = 0; used < entries.size() && (room < n || entries[used].forced > 0); ++used) room += entries[used].cap;
  std::vector<Entry*> order;
  for (std::size_t i = 0; i < used; ++i) order.push_back(&entries[i]);
  std::sort(order.begin(), order.end(),
            [&](const Entry* a, const Entry* b) { return a->cap != b->cap ? a->cap < b->cap : before(*b, *a); });
  std::uint32_t rest = n;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto share = std::max(rest / static_cast<std::uint32_t>(order.size() - i), order[i]->forced);
    order[i]->take = std::min({order[i]->cap, share, rest});
    rest -= order[i]->take;
  }
}

void Chooser::divide(std::vector<Entry>& entries, std::uint32_t n, Fill fill) const {
  if (fill == Fill::best_fit || fill == Fill::loosest) return best_fit(entries, n);
  if (fill == Fill::balanced) return balance(entries, n);
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return fill == Fill::pack_parents ? larger(a, b) : smaller(a, b); });
  std::uint32_t rest = n;
  for (auto& e : entries) {
    e.take = std::min({e.forced, e.cap, rest});
    rest -= e.take;
  }
  for (auto& e : entries) {
    const auto more = std::min(rest, e.cap - e.take);
    e.take += more;
    rest -= more;
  }
}

void Chooser::note_first(const std::vector<Entry>& entries, Choice& choice) const {
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), most = 0;
  for (const auto& e : entries) {
    if (e.take == 0) continue;
    ++choice.children_used;
    least = std::min(least, e.take);
    most = std::max(most, e.take);
  }
  choice.difference = choice.children_used == 0 ? 0 : most - least;
}

// best_fit, for all chosen domains together.
void Chooser::fill_level_by_level(std::vector<Entry> frontier, std::uint32_t n, std::size_t layer, Choice& choice, bool first) {
  const auto open = [&](const Entry& e) { return !terminal(e, layer); };
  while (std::any_of(frontier.begin(), frontier.end(), open)) {
    std::vector<Entry> next;
    for (auto& e : frontier) {
      e.take = 0;
      if (open(e)) expand(e, layer, next);
      else next.push_back(e);
    }
    domains_looked_at += next.size();
    best_fit(next, n);
    if (first) note_first(next, choice);
    first = false;
    std::erase_if(next, [](const Entry& e) { return e.take == 0; });
    frontier = std::move(next);
  }
  if (first) choice.children_used = n;
  for (const auto& e : frontier) settle(e, layer, choice);
}

// The other ways, for each chosen domain by itself.
void Chooser::fill_each(const Entry& e, std::uint32_t n, std::size_t layer, Choice& choice, bool first) {
  if (terminal(e, layer)) {
    Entry copy = e;
    copy.take = n;
    if (first) choice.children_used = n;
    return settle(copy, layer, choice);
  }
  std::vector<Entry> inside;
  expand(e, layer, inside);
  domains_looked_at += inside.size();
  divide(inside, n, part_.fill);
  if (first) note_first(inside, choice);
  for (const auto& c : inside)
    if (c.take > 0) fill_each(c, c.take, layer, choice, false);
}

// n counting units inside one domain.
void Chooser::fill_domain(std::uint32_t domain, std::uint32_t n, std::size_t layer, Choice& choice, bool first) {
  Entry e = entry_of(domain, layer);
  e.take = n;
  if (part_.fill == Fill::best_fit || part_.fill == Fill::loosest) fill_level_by_level({e}, n, layer, choice, first);
  else fill_each(e, n, layer, choice, first);
}

void Chooser::settle(const Entry& e, std::size_t layer, Choice& choice) {
  if (part_.sizes.empty() && layer < part_.layers.size()) fill_segments(e, layer, choice);
  else emit(e, e.take * counting_unit(layer), choice);
}

void Chooser::emit(const Entry& e, std::uint32_t units, Choice& choice) {
  choice.shares.push_back(Share{e.leaf, e.begin, e.end, units, segment_});
}

// What the shares take is not there for the next segment; each share counts once, however many layers enclose it.
void Chooser::consume(const Choice& choice) {
  own_counts();
  for (; consumed_ < choice.shares.size(); ++consumed_) {
    const auto& s = choice.shares[consumed_];
    // Required nodes are named first, so the share covers as many of them as it can.
    const auto first = std::lower_bound(forced_.begin(), forced_.end(), s.begin), last = std::lower_bound(first, forced_.end(), s.end);
    forced_.erase(first, first + std::min<std::ptrdiff_t>(last - first, part_.by_tasks ? last - first : s.units));
    for (auto d = static_cast<std::int32_t>(s.leaf); d >= 0; d = t_.domain(static_cast<std::uint32_t>(d)).parent)
      sum_store_[static_cast<std::size_t>(d)] -= s.units;
    if (part_.by_tasks) units_store_[s.begin] -= s.units;
    else if (t_.kind() == model::Topology::Kind::flat) {
      auto rest = s.units;
      for (auto p = s.begin; p < s.end && rest > 0; ++p)
        if (units_store_[p] > 0) units_store_[p] = 0, --rest;
    }
  }
}

// Below a segment's level each segment is filled by itself.
void Chooser::fill_segments(const Entry& e, std::size_t layer, Choice& choice) {
  const auto size = part_.layers[layer].size;
  const bool simple =
      !part_.by_tasks && layer + 1 == part_.layers.size() && t_.domain(e.id).leaf() && t_.kind() != model::Topology::Kind::flat;
  for (std::uint32_t k = 0; k < e.take; ++k) {
    if (simple) emit(e, size, choice);
    else fill_domain(e.id, size / counting_unit(layer + 1), layer + 1, choice, false);
    if (layer == 0) ++segment_;
    if (simple || k + 1 == e.take) continue;
    consume(choice);
    count_segments_of(e.id);
  }
}

// Nothing is packed: domains already broken first, the least free of them first.
void Chooser::fill_loosest(std::uint32_t domain, std::uint32_t n, Choice& choice) {
  std::vector<Entry> leaves;
  const auto end = t_.domain(domain).next;
  for (auto d = domain; d < end; ++d)
    if (t_.domain(d).leaf() && cap_[d] > 0) leaves.push_back(entry_of(d, 0));
  domains_looked_at += end - domain;
  const auto whole = [&](const Entry& e) { return counts_.idle[e.id] == e.end - e.begin; };
  std::sort(leaves.begin(), leaves.end(), [&](const Entry& a, const Entry& b) {
    if ((a.forced > 0) != (b.forced > 0)) return a.forced > 0;
    if (whole(a) != whole(b)) return whole(b);
    if (whole(a) && free_ancestors(a.id) != free_ancestors(b.id)) return free_ancestors(a.id) < free_ancestors(b.id);
    return smaller(a, b);
  });
  std::uint32_t rest = n;
  for (auto& e : leaves) {
    e.take = std::min({e.forced, e.cap, rest});
    rest -= e.take;
  }
  for (auto& e : leaves) {
    const auto more = std::min(rest, e.cap - e.take);
    e.take += more;
    rest -= more;
  }
  std::erase_if(leaves, [](const Entry& e) { return e.take == 0; });
  note_first(leaves, choice);
  for (const auto& e : leaves) {
    if (terminal(e, 0)) emit(e, e.take, choice);
    else fill_level_by_level({e}, e.take, 0, choice, false);
  }
}

// Adjacent nodes only: the tightest run that holds them.
void Chooser::fill_window(std::uint32_t from, std::uint32_t to, std::uint32_t n, Choice& choice) {
  auto [begin, end, units] = contiguous_run(from, to, n);
  if (units < n) return;
  // Every node gets one unit at least: those that must be in and what lies between them, then neighbours to the left, then to the right.
  std::vector<std::uint32_t> order;
  if (!forced_.empty()) {
    for (auto p = forced_.front(); p <= forced_.back(); ++p) order.push_back(p);
    for (auto p = forced_.front(); p-- > begin;) order.push_back(p);
    begin = forced_.back() + 1;
  }
  const auto between = forced_.empty() ? std::size_t{0} : std::size_t{forced_.back() - forced_.front() + 1};
  for (auto p = begin; p < end; ++p) order.push_back(p);
  if (between > n) return;
  std::uint32_t rest = n - static_cast<std::uint32_t>(between);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t first = i < between ? 1 : 0, more = std::min(rest, units_[order[i]] - first);
    if (first + more > 0) choice.shares.push_back(Share{t_.leaf_at(order[i]), order[i], order[i] + 1, first + more, 0});
    rest -= more;
  }
  std::sort(choice.shares.begin(), choice.shares.end(), [](const Share& x, const Share& y) { return x.begin < y.begin; });
  choice.children_used = static_cast<std::uint32_t>(choice.shares.size());
}

std::optional<Choice> Chooser::fill(std::size_t rung, const Candidate& c) {
  Choice choice;
  Chooser fresh(*this, Borrow{});  // consumes counts of its own
  const bool ok = fresh.fill_into(choice, rung, c);
  domains_looked_at += fresh.domains_looked_at;
  budget_ended |= fresh.budget_ended;
  if (!ok) return std::nullopt;
  choice.growth = fresh.growth_of(choice.shares);
  return choice;
}

bool Chooser::fill_into(Choice& choice, std::size_t rung, const Candidate& c) {
  choice.rung = rung;
  choice.units = c.units;
  choice.domains = c.domains.empty() ? std::vector<std::uint32_t>{c.domain} : c.domains;
  if (part_.rungs[rung].level == t_.node_level()) {
    choice.domains = {t_.leaf_at(c.domain)};
    choice.children_used = 1;
    choice.shares.push_back(Share{t_.leaf_at(c.domain), c.domain, c.domain + 1, c.units, 0});
    return true;
  }
  if (part_.contiguous) fill_window(t_.domain(choice.domains.front()).begin, t_.domain(choice.domains.back()).end, c.units, choice);
  else if (!part_.sizes.empty()) return fill_sizes(c.domain, choice);
  else if (part_.shorter && !part_.layers.empty() && c.units % part_.layers.front().size != 0)
    return fill_shorter(c.domain, c.units, choice);
  else if (part_.fill == Fill::loosest) fill_loosest(c.domain, c.units, choice);
  else if (c.domains.empty()) fill_domain(c.domain, c.units / counting_unit(0), 0, choice, true);
  else {
    std::vector<Entry> frontier;
    for (const auto d : c.domains) frontier.push_back(entry_of(d, 0));
    const auto n = c.units / counting_unit(0);
    divide(frontier, n, part_.fill);
    note_first(frontier, choice);
    if (part_.fill == Fill::best_fit) fill_level_by_level(frontier, n, 0, choice, false);
    else
      for (const auto& e : frontier)
        if (e.take > 0) fill_each(e, e.take, 0, choice, false);
  }
  if (choice.domains.size() == 1) choice.children_used = children_used(choice.domains.front(), choice.shares);
  std::uint64_t given = 0;
  for (const auto& s : choice.shares) given += s.units;
  return given == choice.units;
}

// Child domains of a domain that the shares touch; nodes where it has none.
std::uint32_t Chooser::children_used(std::uint32_t domain, const std::vector<Share>& shares) const {
  std::vector<std::uint32_t> seen;
  std::uint32_t nodes = 0;
  for (const auto& s : shares) {
    auto at = s.leaf;
    if (at == domain) {
      if (part_.by_tasks) seen.push_back(s.begin);
      else nodes += s.units;
      continue;
    }
    while (t_.domain(at).parent != static_cast<std::int32_t>(domain)) at = static_cast<std::uint32_t>(t_.domain(at).parent);
    if (seen.empty() || seen.back() != at) seen.push_back(at);
  }
  std::sort(seen.begin(), seen.end());
  return nodes + static_cast<std::uint32_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

std::int64_t Chooser::growth_of(const std::vector<Share>& shares) const {
  struct Taken {
    std::uint32_t leaf, position, units;
  };
  std::vector<Taken> taken;
  taken.reserve(shares.size());
  for (const auto& s : shares)
    if (!part_.by_tasks) taken.push_back({s.leaf, 0, s.units});  // nodes are interchangeable
    else if (counts_.board == nullptr || counts_.board->idle(s.begin)) taken.push_back({s.leaf, s.begin, 1});
  const auto before = [](const Taken& a, const Taken& b) { return a.leaf != b.leaf ? a.leaf < b.leaf : a.position < b.position; };
  if (!std::is_sorted(taken.begin(), taken.end(), before)) std::sort(taken.begin(), taken.end(), before);
  std::int64_t out = 0, last = -1;  // the leaf touched last: what holds it as well is counted
  for (auto i = taken.begin(); i != taken.end();) {
    const auto leaf = i->leaf;
    std::uint32_t n = 0;
    for (auto position = ~0U; i != taken.end() && i->leaf == leaf; ++i) {
      if (!part_.by_tasks) n += i->units;
      else if (i->position != position) ++n, position = i->position;  // segments may come back to a node
    }
    const auto in_use =
        !part_.by_tasks && counts_.sum[leaf] > counts_.idle[leaf] && !part_.demand.whole ? counts_.sum[leaf] - counts_.idle[leaf] : 0;
    if (n <= in_use) continue;
    out += n - in_use;
    for (auto d = static_cast<std::int32_t>(leaf); d > last; d = t_.domain(static_cast<std::uint32_t>(d)).parent) {
      const auto& domain = t_.domain(static_cast<std::uint32_t>(d));
      if (counts_.idle[static_cast<std::size_t>(d)] != domain.size()) break;
      if (domain.counts) out += domain.size();
    }
    last = leaf;
  }
  return out;
}

}  // namespace sy::sched::placement

// Nodes and tasks of one job kept apart, against a reference that tries every way to take units and every order in which they
// could come (design P7): placed exactly when some way is allowed, on the first rung that has one, with as many as there are to
// be had, on the fewest domains of the rule; where a level is said and no rule, as evenly as can be.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

struct Rule {
  int level{};
  int most{}, share{}, domains{}, skew{};  // 0: not asked
  bool wish{};
  bool even() const { return most == 0 && share == 0 && domains == 0 && skew == 0; }
};
using Numbers = std::map<int, int>;        // units by domain

int domain_of(const Cluster& c, std::size_t n, int level) {
  return level >= c.levels ? static_cast<int>(n) : c.nodes[n].path[static_cast<std::size_t>(level)];
}

// Units outside every domain of the level are under −1.
Numbers numbers_of(const Cluster& c, const Take& t, int level) {
  Numbers out;
  for (std::size_t n = 0; n < t.size(); ++n)
    if (t[n] > 0) out[domain_of(c, n, level)] += t[n];
  return out;
}

// P7 word by word: one comes after the other, and none to a domain that has more than its share of those there.
bool some_order(const Numbers& asked, int share, Numbers& now, int placed, std::set<Numbers>& seen) {
  if (now == asked) return true;
  if (!seen.insert(now).second) return false;
  for (const auto& [d, n] : asked) {
    const int here = now.contains(d) ? now[d] : 0;
    if (here == n || (placed > 0 && 100 * here > share * placed)) continue;
    now[d] = here + 1;
    const bool ok = some_order(asked, share, now, placed + 1, seen);
    if (here == 0) now.erase(d);
    else now[d] = here;
    if (ok) return true;
  }
  return false;
}

bool keeps(const Cluster& c, const Rule& r, const Take& t, Set compared) {
  const auto numbers = numbers_of(c, t, r.level);
  if (numbers.contains(-1)) return false;
  for (const auto& [d, n] : numbers)
    if (r.most > 0 && n > r.most) return false;
  if (r.domains > 0 && static_cast<int>(numbers.size()) < r.domains) return false;
  if (r.skew > 0) {
    int least = 1 << 20, most = 0;
    for (const auto& d : domains_at(c, r.level)) {
      if ((d.nodes & compared) == 0) continue;
      const int n = numbers.contains(d.id) ? numbers.at(d.id) : 0;
      least = std::min(least, n);
      most = std::max(most, n);
    }
    if (most > least + r.skew) return false;
  }
  Numbers now;
  std::set<Numbers> seen;
  return r.share == 0 || some_order(numbers, r.share, now, 0, seen);
}

struct Answer {
  std::size_t rung{};
  int units{};
};

struct Reference {
  const Cluster& c;
  const Request& r;
  std::vector<Rule> rules;

  bool counts(int n) const {
    if (!r.choices.empty()) return std::find(r.choices.begin(), r.choices.end(), n) != r.choices.end();
    return n >= r.least && n <= r.most;
  }
  // Where the widest rung could put what is in this domain.
  Set around(Set inside) const {
    for (const auto& d : domains_at(c, r.rungs.back().level))
      if ((inside & ~d.nodes) == 0) return d.nodes;
    return inside;
  }
  template <class F>
  void each(Take& t, std::size_t n, int left, Set inside, const F& f) const {
    if (n == t.size()) return f(t);
    const auto& node = c.nodes[n];
    const int most = (inside >> n & 1U) != 0 ? std::min(node.units, left) : 0;
    for (int k = node.required ? 1 : 0; k <= most; ++k) {
      t[n] = k;
      each(t, n + 1, left - k, inside, f);
    }
    t[n] = 0;
  }
  bool good(const Take& t, Set inside) const {
    return std::all_of(rules.begin(), rules.end(), [&](const Rule& x) { return keeps(c, x, t, around(inside)); });
  }
  // The most units, of those asked, that the nodes give with every rule kept; 0: none.
  int most(Set inside) const {
    int best = 0;
    Take t(c.nodes.size(), 0);
    const int limit = r.choices.empty() ? r.most : r.choices.back();
    each(t, 0, limit, inside, [&](const Take& x) {
      if (const int n = total(x); n > best && counts(n) && good(x, inside)) best = n;
    });
    return best;
  }
  std::vector<Domain> on(std::size_t rung) const {
    auto out = domains_at(c, r.rungs[rung].level);
    const auto required = domains_at(c, r.within);
    std::erase_if(out, [&](const Domain& d) {
      return std::none_of(required.begin(), required.end(), [&](const Domain& x) { return (d.nodes & ~x.nodes) == 0; });
    });
    return out;
  }
  std::optional<Answer> solve() {
    Request fixed = r;
    if (!r.wish && (r.least != r.most || !r.choices.empty())) {
      int n = 0;
      for (const auto& d : domains_at(c, -1)) n = std::max(n, most(d.nodes));
      if (n == 0) return std::nullopt;
      fixed.least = fixed.most = n;
      fixed.choices.clear();
    }
    Reference at{c, fixed, rules};
    for (std::size_t rung = 0; rung < r.rungs.size(); ++rung) {
      int best = 0;
      for (const auto& d : on(rung)) best = std::max(best, at.most(d.nodes));
      if (best > 0) return Answer{rung, best};
    }
    return std::nullopt;
  }
};

Rule make_rule(const Case& c, model::Spread& s, int level, bool only_most) {
  Rule r;
  r.level = level;
  s.level = level_name(c, level);
  const int kinds = only_most ? 1 : between(0, 15);
  if ((kinds & 1) != 0) s.max_per_domain = static_cast<std::uint32_t>(r.most = between(1, 4));
  if ((kinds & 2) != 0) {
    const int shares[] = {20, 34, 50, 67, 90};
    s.max_share = static_cast<std::uint32_t>(r.share = shares[between(0, 4)]);
  }
  if ((kinds & 12) == 4) s.min_domains = static_cast<std::uint32_t>(r.domains = between(1, 3));
  if ((kinds & 12) == 8 && c.group.nodelist.empty() && c.group.exclude.empty() && !c.partition)
    s.max_skew = static_cast<std::uint32_t>(r.skew = between(1, 2));
  if (one_in(5)) r.wish = true, s.mode = model::Spread::Mode::prefer;
  return r;
}

}  // namespace

TEST_CASE("a spread of nodes or tasks is placed exactly when some division is allowed, on the fewest domains or as even as can be") {
  std::uint64_t placed = 0, waits = 0, refused = 0, forced = 0, wished = 0, even = 0, layered = 0;
  check_property("engine against reference, spread", [&] {
    Plain p;
    p.tasks = one_in(3);
    p.gpus = p.segments = p.several_domains = false;
    p.most_nodes = 9;
    Case c = make_case(p);
    c.group.contiguous = c.request.contiguous = false;
    c.options.weight_first = c.request.weight_first = false;
    std::vector<Rule> rules;
    const int level = between(0, c.cluster.levels);
    for (int l = level; l <= c.cluster.levels && (l == level || one_in(3)); ++l) {
      model::Spread s;
      rules.push_back(make_rule(c, s, l, l > level));
      c.group.spread.push_back(s);
    }
    auto& r = c.request;
    const bool everywhere = std::any_of(rules.begin(), rules.end(), [](const Rule& x) { return x.even(); });
    const auto& pack = c.group.pack;
    r.wish = !pack.prefer.empty();
    if (!r.wish) {  // no level is asked for: all of them, or the widest at once
      r.rungs.clear();
      const int first = c.options.packing == placement::Packing::none || everywhere ? -1 : c.cluster.levels - 1;
      for (int l = first; l >= -1; --l) r.rungs.push_back({l, 1});
    }
    RC_LOG() << story(c);
    for (const auto& x : rules)
      RC_LOG() << fmt::format("; apart at {}: most {} share {} domains {} skew {}{}", x.level, x.most, x.share, x.domains, x.skew,
                              x.wish ? " if it can be" : "");
    RC_LOG() << "\n";
    const auto t = c.index();
    if (const auto ok = placement::check_request(c.group, t); !ok) {
      RC_LOG() << base::to_text(ok.error()) << "\n";
      ++refused;
      return;
    }
    const auto a = placement::place(c.group, c.shape, t, c.nodes, c.options);
    Reference reference{c.cluster, c.request, {}};
    for (const auto& x : rules)
      if (!x.wish) reference.rules.push_back(x);
    auto expected = reference.solve();
    if (expected)
      for (const auto& x : rules) {
        if (!x.wish) continue;
        reference.rules.push_back(x);
        if (const auto more = reference.solve(); more && more->units >= expected->units) expected = more;
        else reference.rules.pop_back();
      }
    RC_LOG() << "engine: " << (a.placed() ? "placed on " + a.level : to_text(a.verdict));
    RC_LOG() << (expected ? fmt::format("; reference: rung {}, {} units\n", expected->rung, expected->units) : "; reference: none\n");
    RC_ASSERT(a.placed() == expected.has_value());
    if (!expected) {
      RC_ASSERT(a.verdict.reason != model::Reason::search_limit);
      ++waits;
      return;
    }
    ++placed;
    wished += reference.rules.size() > 0 && std::any_of(rules.begin(), rules.end(), [](const Rule& x) { return x.wish; }) ? 1 : 0;
    even += everywhere ? 1 : 0;
    layered += rules.size() > 1 ? 1 : 0;
    RC_ASSERT(a.level == t.level_name(r.rungs[expected->rung].level));
    Take take(c.nodes.size(), 0);
    for (const auto& n : a.nodes) take[n.node.value] += c.group.tasks_given ? static_cast<int>(n.tasks) : 1;
    RC_LOG() << fmt::format("[{}]\n", fmt::join(take, ","));
    RC_ASSERT(total(take) == expected->units);
    Set inside = 0;
    for (const auto& d : reference.on(expected->rung))
      if ((nodes_of(take) & ~d.nodes) == 0) inside = d.nodes;
    RC_ASSERT(inside != 0U);
    for (std::size_t n = 0; n < take.size(); ++n) {
      RC_ASSERT(take[n] <= c.cluster.nodes[n].units);
      RC_ASSERT((take[n] > 0 || !c.cluster.nodes[n].required));
      forced += c.cluster.nodes[n].required ? 1 : 0;
    }
    RC_ASSERT(reference.good(take, inside));
    if (reference.rules.empty()) return;
    // Of all ways in that domain: the fewest domains of the widest rule, or the least sum of squares where there is no rule.
    const auto widest =
        *std::min_element(reference.rules.begin(), reference.rules.end(), [](const Rule& x, const Rule& y) { return x.level < y.level; });
    const bool fewest =
        std::any_of(reference.rules.begin(), reference.rules.end(), [&](const Rule& x) { return x.level == widest.level && !x.even(); });
    const auto value = [&](const Take& x) {
      int sum = 0;
      for (const auto& [d, n] : numbers_of(c.cluster, x, widest.level)) sum += fewest ? 1 : n * n;
      return sum;
    };
    int best = 1 << 20;
    Take x(c.nodes.size(), 0);
    reference.each(x, 0, expected->units, inside, [&](const Take& other) {
      if (total(other) == expected->units && value(other) < best && reference.good(other, inside)) best = value(other);
    });
    RC_ASSERT(value(take) == best);
  });
  fmt::print("oracle, spread: {} placed ({} required nodes, {} with wishes, {} without a rule, {} on several levels), {} not, {} refused\n",
             placed, forced, wished, even, layered, waits, refused);
  CHECK(4 * placed > placed + waits);
  for (const auto n : {waits, forced, wished, even, layered}) CHECK(n > 0);
}

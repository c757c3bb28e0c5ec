#include "slow_placement.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

namespace reference {
namespace {

bool in(Set s, std::size_t n) { return (s >> n & 1U) != 0; }
int size(Set s) { return std::popcount(s); }

// The next domain of that node below a level: {level, id}; the node itself where there is none.
std::pair<int, int> next_below(const Cluster& c, std::size_t n, int level) {
  for (int l = level + 1; l < c.levels; ++l)
    if (const int id = c.nodes[n].path[static_cast<std::size_t>(l)]; id >= 0) return {l, id};
  return {c.levels, static_cast<int>(n)};
}

// The domain of a node at a level; −1: none.
int domain_of(const Cluster& c, std::size_t n, int level) {
  if (level >= c.levels) return static_cast<int>(n);
  return level < 0 ? 0 : c.nodes[n].path[static_cast<std::size_t>(level)];
}

Set reachable(const Cluster& c) {
  Set out = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (c.nodes[n].reachable) out |= 1U << n;
  return out;
}

std::map<int, int> units_by_domain(const Cluster& c, int level, const Take& t) {
  std::map<int, int> out;
  for (std::size_t n = 0; n < t.size(); ++n)
    if (t[n] > 0) out[domain_of(c, n, level)] += t[n];
  return out;
}

// Can the domains' counts be made up of the sizes, each size in one domain?
bool made_of(std::vector<int> counts, std::vector<int> sizes, bool distinct) {
  if (sizes.empty()) return std::all_of(counts.begin(), counts.end(), [](int n) { return n == 0; });
  const int s = sizes.back();
  sizes.pop_back();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < s || (distinct && counts[i] != s)) continue;
    counts[i] -= s;
    if (made_of(counts, sizes, distinct)) return true;
    counts[i] += s;
  }
  return false;
}

bool whole_segments(const Cluster& c, const Request& r, const Take& t, std::size_t from) {
  for (std::size_t i = from; i < r.layers.size(); ++i)
    for (const auto& [domain, units] : units_by_domain(c, r.layers[i].level, t))
      if (domain < 0 || units % r.layers[i].size != 0 || (i == 0 && r.distinct && units > r.layers[i].size)) return false;
  return true;
}

// Whole segments, and one shorter at most.
bool with_a_shorter(const Cluster& c, const Request& r, const Take& t) {
  const int s = r.layers[0].size;
  int shorter = 0;
  for (const auto& [domain, units] : units_by_domain(c, r.layers[0].level, t)) {
    if (domain < 0 || (r.distinct && units > s)) return false;
    shorter += units % s != 0 ? 1 : 0;
  }
  return shorter <= 1;
}

void each_take(const Take& left, Set inside, Take& t, std::size_t n, const std::function<void(const Take&)>& f) {
  if (n == left.size()) return f(t);
  const int most = in(inside, n) ? left[n] : 0;
  for (t[n] = 0; t[n] <= most; ++t[n]) each_take(left, inside, t, n + 1, f);
  t[n] = 0;
}

void each_take(const Take& left, Set inside, const std::function<void(const Take&)>& f) {
  Take t(left.size(), 0);
  each_take(left, inside, t, 0, f);
}

bool count_allowed(const Request& r, int n) {
  if (!r.choices.empty()) return std::find(r.choices.begin(), r.choices.end(), n) != r.choices.end();
  return n >= r.least && n <= r.most;
}

}  // namespace

namespace {
// Neighbours in the walk, without a gap.
bool adjacent(const Cluster& c, const Take& t) {
  const auto place = walk(c);
  int least = 1 << 20, most = -1, count = 0;
  for (std::size_t n = 0; n < t.size(); ++n)
    if (t[n] > 0) ++count, least = std::min(least, place[n]), most = std::max(most, place[n]);
  return count == 0 || most - least + 1 == count;
}
}  // namespace

int total(const Take& t) { return std::accumulate(t.begin(), t.end(), 0); }

Set nodes_of(const Take& t) {
  Set out = 0;
  for (std::size_t n = 0; n < t.size(); ++n)
    if (t[n] > 0) out |= 1U << n;
  return out;
}

Take everything_left(const Cluster& c) {
  Take out;
  for (const auto& n : c.nodes) out.push_back(n.units);
  return out;
}

bool allowed(const Cluster& c, const Request& r, const Take& t) {
  for (std::size_t n = 0; n < t.size(); ++n)
    if (c.nodes[n].required && t[n] == 0) return false;
  if (r.contiguous && !adjacent(c, t)) return false;
  if (!r.sizes.empty()) {
    std::vector<int> counts;
    for (const auto& [domain, units] : units_by_domain(c, r.layers[0].level, t)) {
      if (domain < 0) return false;
      counts.push_back(units);
    }
    return made_of(counts, r.sizes, r.distinct);
  }
  if (r.remainder == Remainder::shorter && !r.layers.empty()) return with_a_shorter(c, r, t);
  return whole_segments(c, r, t, 0);
}

int offers(const Cluster& c, const Request& r, Set inside) {
  int best = 0;
  each_take(everything_left(c), inside, [&](const Take& t) {
    const int n = total(t);
    if (n > best && count_allowed(r, n) && allowed(c, r, t)) best = n;
  });
  return best;
}

int slots(const Cluster& c, const Request& r, const Take& left, Set inside, std::size_t layer) {
  int best = 0;
  if (layer >= r.layers.size() || !r.sizes.empty()) {
    for (std::size_t n = 0; n < left.size(); ++n) best += in(inside, n) ? left[n] : 0;
    return best;
  }
  each_take(left, inside, [&](const Take& t) {
    if (const int n = total(t); n > best && whole_segments(c, r, t, layer)) best = n;
  });
  return best;
}

std::vector<Domain> domains_at(const Cluster& c, int level) {
  std::map<std::pair<int, int>, Set> found;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    if (!c.nodes[n].reachable) continue;
    if (level < 0 && c.joined) found[{-1, 0}] |= 1U << n;
    else if (level < 0) found[next_below(c, n, -1)] |= 1U << n;
    else if (const int id = domain_of(c, n, level); id >= 0) found[{level, id}] |= 1U << n;
  }
  std::vector<Domain> out;
  for (const auto& [name, nodes] : found) out.push_back(Domain{name.first, name.second, nodes});
  return out;
}

std::vector<Domain> children_of(const Cluster& c, const Domain& d) {
  std::map<std::pair<int, int>, Set> found;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (in(d.nodes, n)) found[next_below(c, n, d.level)] |= 1U << n;
  std::vector<Domain> out;
  for (const bool nodes : {true, false})  // nodes come before domains
    for (const auto& [name, set] : found)
      if ((name.first == c.levels) == nodes) out.push_back(Domain{name.first, name.second, set});
  return out;
}

namespace {
void walk_from(const Cluster& c, const Domain& d, int& next, std::vector<int>& out) {
  if (d.level >= c.levels) {
    out[static_cast<std::size_t>(d.id)] = next++;
    return;
  }
  for (const auto& child : children_of(c, d)) walk_from(c, child, next, out);
}
}  // namespace

std::vector<int> walk(const Cluster& c) {
  std::vector<int> out(c.nodes.size(), -1);
  int next = 0;
  // What the root holds beside its domains is one node each, and comes last.
  Cluster joined = c;
  joined.joined = true;
  const Domain root{-1, 0, reachable(c)};
  for (const auto& child : children_of(c, root))
    if (child.level < c.levels) walk_from(c, child, next, out);
  for (const auto& child : children_of(c, root))
    if (child.level >= c.levels) walk_from(c, child, next, out);
  return out;
}

namespace {

// Of the nodes that hold any: in whole numbers, exact for up to twelve nodes.
std::int64_t average_weight(const Cluster& c, const Request& r, Set nodes) {
  std::int64_t sum = 0, holders = 0;
  const int least = !r.layers.empty() && r.layers.back().level == c.levels ? r.layers.back().size : 1;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (in(nodes, n) && c.nodes[n].units >= least) sum += c.nodes[n].weight, ++holders;
  return holders == 0 ? 0 : sum * 27720 / holders;
}

// ---- inside a domain (P5) ----

struct Part {
  Domain domain;
  int slots{}, raw{};                      // in units
  std::int64_t weight{};
  std::tuple<bool, int, int> order;        // nodes by their place in the walk, then domains by name, narrow ones first
  int take{};
};

bool smaller(const Part& a, const Part& b) {
  return std::tie(a.slots, a.raw, a.weight, a.order) < std::tie(b.slots, b.raw, b.weight, b.order);
}
bool larger(const Part& a, const Part& b) {
  return std::tie(b.slots, a.raw, a.weight, a.order) < std::tie(a.slots, b.raw, b.weight, b.order);
}

class Filler {
 public:
  Filler(const Cluster& c, const Request& r) : c_(c), r_(r), order_(walk(c)), left_(everything_left(c)), taken_(c.nodes.size(), 0) {}

  Take run(const Domain& d, int n) {
    if (r_.contiguous) return tightest_run(d, n);
    fill({part(d, 0, n)}, n, 0);
    return taken_;
  }

 private:
  bool terminal(const Domain& d, std::size_t layer) const {
    return d.level >= c_.levels || (layer < r_.layers.size() && d.level == r_.layers[layer].level) || (r_.whole && leaf(d));
  }

  bool leaf(const Domain& d) const {
    const auto inside = children_of(c_, d);
    return std::all_of(inside.begin(), inside.end(), [&](const Domain& x) { return x.level >= c_.levels; });
  }

  Part part(const Domain& d, std::size_t layer, int take) const {
    const bool node = d.level >= c_.levels;
    const std::tuple order{!node, -d.level, node ? order_[static_cast<std::size_t>(d.id)] : d.id};
    return Part{
        d,   slots(c_, r_, left_, d.nodes, layer), slots(c_, r_, left_, d.nodes, r_.layers.size()), average_weight(c_, r_, d.nodes), order,
        take};
  }

  std::vector<Part> parts(const Domain& d, std::size_t layer) const {
    std::vector<Part> out;
    for (const auto& child : children_of(c_, d)) out.push_back(part(child, layer, 0));
    return out;
  }

  void fill(std::vector<Part> frontier, int n, std::size_t layer) {
    if (r_.fill != Fill::best_fit) {
      for (const auto& p : frontier) fill_by_itself(p, layer);
      return;
    }
    // For all chosen domains together, level by level.
    while (std::any_of(frontier.begin(), frontier.end(), [&](const Part& p) { return !terminal(p.domain, layer); })) {
      std::vector<Part> next;
      for (auto& p : frontier) {
        if (terminal(p.domain, layer)) next.push_back(part(p.domain, layer, 0));
        else
          for (auto& child : parts(p.domain, layer)) next.push_back(child);
      }
      best_fit(next, n);
      std::erase_if(next, [](const Part& p) { return p.take == 0; });
      frontier = std::move(next);
    }
    for (const auto& p : frontier) settle(p, layer);
  }

  // Most slots first, the last one chosen again as the tightest that holds the rest.
  static void best_fit(std::vector<Part>& all, int n) {
    std::sort(all.begin(), all.end(), larger);
    for (std::size_t i = 0; i < all.size() && n > 0; ++i) {
      if (all[i].slots < n) {
        n -= all[i].take = all[i].slots;
        continue;
      }
      Part* last = &all[i];
      for (std::size_t j = i; j < all.size(); ++j)
        if (all[j].slots >= n && smaller(all[j], *last)) last = &all[j];
      last->take = n;
      return;
    }
  }

  void fill_by_itself(const Part& p, std::size_t layer) {
    if (terminal(p.domain, layer)) return settle(p, layer);
    auto inside = parts(p.domain, layer);
    std::sort(inside.begin(), inside.end(), r_.fill == Fill::least_free ? smaller : larger);
    int rest = p.take;
    for (auto& child : inside) rest -= child.take = std::min(rest, child.slots);
    for (const auto& child : inside)
      if (child.take > 0) fill_by_itself(child, layer);
  }

  // The first of the tightest runs of neighbours, from its beginning.
  Take tightest_run(const Domain& d, int n) {
    std::vector<std::size_t> place(c_.nodes.size(), c_.nodes.size()), best, run;
    for (std::size_t i = 0; i < c_.nodes.size(); ++i)
      if (order_[i] >= 0) place[static_cast<std::size_t>(order_[i])] = i;
    const auto sum = [&](const std::vector<std::size_t>& nodes) {
      int units = 0;
      for (const auto i : nodes) units += left_[i];
      return units;
    };
    for (const auto i : place) {
      if (i < c_.nodes.size() && in(d.nodes, i) && left_[i] > 0) {
        run.push_back(i);
        continue;
      }
      if (sum(run) >= n && (best.empty() || sum(run) < sum(best))) best = run;
      run.clear();
    }
    if (sum(run) >= n && (best.empty() || sum(run) < sum(best))) best = run;
    for (const auto i : best) n -= taken_[i] = std::min(n, left_[i]);
    return taken_;
  }

  // Below a segment's level each segment is filled by itself.
  void settle(const Part& p, std::size_t layer) {
    if (layer >= r_.layers.size() && p.domain.level < c_.levels) {  // whole nodes of a leaf, the cheapest first, by name
      int rest = p.take;
      auto nodes = children_of(c_, p.domain);
      std::stable_sort(nodes.begin(), nodes.end(), [&](const Domain& a, const Domain& b) {
        return c_.nodes[static_cast<std::size_t>(a.id)].weight < c_.nodes[static_cast<std::size_t>(b.id)].weight;
      });
      for (const auto& node : nodes) {
        const auto n = static_cast<std::size_t>(node.id);
        if (rest == 0 || left_[n] == 0) continue;
        --rest, --left_[n], ++taken_[n];
      }
      return;
    }
    if (layer >= r_.layers.size()) {
      left_[static_cast<std::size_t>(p.domain.id)] -= p.take;
      taken_[static_cast<std::size_t>(p.domain.id)] += p.take;
      return;
    }
    const int size = r_.layers[layer].size;
    for (int k = 0; k < p.take / size; ++k) fill({part(p.domain, layer + 1, size)}, size, layer + 1);
  }

  const Cluster& c_;
  const Request& r_;
  std::vector<int> order_;
  Take left_, taken_;
};

// ---- which domain (P4) ----

std::vector<Domain> ancestors(const Cluster& c, const Domain& d) {
  std::vector<Domain> out;
  for (int level = d.level - 1; level >= 0; --level)
    for (const auto& above : domains_at(c, level))
      if ((d.nodes & ~above.nodes) == 0 && level < d.level) out.push_back(above);
  if (d.level >= 0) out.push_back(Domain{-1, 0, reachable(c)});
  return out;
}

// Slots of the domain, then of its ancestors; raw slots beside each.
void own_first(const Cluster& c, const Request& r, const Domain& d, std::vector<std::int64_t>& key) {
  const Take left = everything_left(c);
  auto chain = ancestors(c, d);
  chain.insert(chain.begin(), d);
  for (const auto& x : chain) {
    key.push_back(slots(c, r, left, x.nodes, 0));
    key.push_back(slots(c, r, left, x.nodes, r.layers.size()));
  }
  for (auto i = chain.size(); i < static_cast<std::size_t>(c.levels) + 2; ++i) key.insert(key.end(), {0, 0});
}

void parent_first(const Cluster& c, const Request& r, const Domain& d, std::vector<std::int64_t>& key) {
  const Take left = everything_left(c);
  auto chain = ancestors(c, d);
  std::reverse(chain.begin(), chain.end());
  chain.push_back(d);
  for (const auto& x : chain) key.push_back(slots(c, r, left, x.nodes, 0));
  for (auto i = chain.size(); i < static_cast<std::size_t>(c.levels) + 2; ++i) key.push_back(0);
}

std::int64_t fullness(const Cluster& c, const Request& r, const Domain& d, int units) {
  std::int64_t used = std::int64_t{units} * r.cpus_each, cpus = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (in(d.nodes, n)) used += c.nodes[n].used, cpus += c.nodes[n].cpus;
  return used * 1'000'000'000 / std::max<std::int64_t>(cpus, 1);
}

void judge(const Cluster& c, const Request& r, Option& o) {
  o.key.push_back(-o.units);
  if (r.unpacked) return;  // F alone, by least_growth()
  const bool one_thing = o.domains == 1 && r.fill != Fill::balanced && r.sizes.empty() &&
                         (r.remainder != Remainder::shorter || r.layers.empty() || o.units % r.layers[0].size == 0) &&
                         std::none_of(c.nodes.begin(), c.nodes.end(), [](const Node& n) { return n.required; });
  if (one_thing) o.take = Filler(c, r).run(o.domain, o.units);
  const std::int64_t growth = o.take ? fragmentation(c, nodes_of(*o.take)) - fragmentation(c, 0) : 0;
  if (r.rungs[o.rung].max_domains > 1) o.key.insert(o.key.end(), {-o.domain.level, o.domains});
  const bool least = r.order == Order::least_growth || (r.growth_on_one_node && o.domain.level >= c.levels);
  if (least && !one_thing) return;  // what F grows by is not known: no order beyond this
  if (least) o.key.push_back(growth);
  if (r.order == Order::parent_first) parent_first(c, r, o.domain, o.key);
  else if (r.order == Order::fullest) o.key.push_back(-fullness(c, r, o.domain, o.units));
  else own_first(c, r, o.domain, o.key);
  if (!one_thing && r.fill != Fill::balanced) return;
  const auto children = children_of(c, o.domain);
  if (r.fill == Fill::balanced) {
    if (!r.layers.empty() && o.domain.level >= r.layers[0].level) return;  // one segment's nodes: nothing is shared out
    o.key.push_back(fewest(c, r, children, o.units));
    o.key.push_back(least_difference(c, r, children, o.units));
    return;
  }
  std::int64_t used = 0;
  for (const auto& child : children) used += (child.nodes & nodes_of(*o.take)) != 0 ? 1 : 0;
  o.key.push_back(used);
  o.key.push_back(growth);
  o.key.push_back(average_weight(c, r, o.domain.nodes));
  const bool node = o.domain.level >= c.levels;  // nodes by their place in the walk, domains by name
  o.key.push_back(node ? walk(c)[static_cast<std::size_t>(o.domain.id)] : o.domain.id);
}

void list(const Cluster& c, const Request& r, std::size_t rung, std::vector<Option>& out) {
  auto domains = domains_at(c, r.rungs[rung].level);
  const auto required = domains_at(c, r.within);
  std::erase_if(domains, [&](const Domain& d) {
    return std::none_of(required.begin(), required.end(), [&](const Domain& x) { return (d.nodes & ~x.nodes) == 0; });
  });
  const int most = r.rungs[rung].level < 0 ? 1 : r.rungs[rung].max_domains;
  std::map<std::pair<int, int>, Option> best;                      // by common ancestor: the most units, the fewest domains
  for (std::uint32_t some = 1; some < 1U << domains.size(); ++some) {
    if (std::popcount(some) > most) continue;
    Set nodes = 0;
    for (std::size_t i = 0; i < domains.size(); ++i)
      if (some >> i & 1U) nodes |= domains[i].nodes;
    Option o{rung, {}, offers(c, r, nodes), std::popcount(some), {}, {}};
    if (o.units == 0) continue;
    bool common = false;
    for (int level = r.rungs[rung].level; level >= -1 && !common; --level)
      for (const auto& d : domains_at(c, level))
        if (!common && (nodes & ~d.nodes) == 0) o.domain = d, common = true;
    if (!common) continue;                                         // in two trees that nothing joins
    if (std::none_of(required.begin(), required.end(), [&](const Domain& x) { return (nodes & ~x.nodes) == 0; })) continue;
    auto [at, fresh] = best.try_emplace({o.domain.level, o.domain.id}, o);
    if (!fresh && (o.units > at->second.units || (o.units == at->second.units && o.domains < at->second.domains))) at->second = o;
  }
  for (auto& [name, o] : best) out.push_back(std::move(o));
}

}  // namespace

Cluster cheapest(const Cluster& c, const Request& asked) {
  if (!asked.weight_first) return c;
  Request r = asked;
  r.weight_first = false;
  int dearest = 0;
  for (const auto& n : c.nodes) dearest = std::max(dearest, n.weight);
  for (int weight = 0; weight <= dearest; ++weight) {
    Cluster some = c;
    for (auto& n : some.nodes)
      if (n.weight > weight) n.units = 0;
    if (!options(some, r).empty()) return some;
  }
  return c;
}

Cluster near_others(const Cluster& c, const Request& r) {
  const auto domain = [&](std::size_t n, int level) {
    return level >= c.levels ? static_cast<int>(n) : c.nodes[n].path[static_cast<std::size_t>(level)];
  };
  const auto without = [&](Cluster some, const Request::Near& near) {
    for (std::size_t n = 0; n < some.nodes.size(); ++n) {
      bool there = false;
      for (std::size_t other = 0; other < some.nodes.size(); ++other)
        there |= (near.of >> other & 1U) != 0 && domain(n, near.level) >= 0 && domain(n, near.level) == domain(other, near.level);
      if (there != near.together) some.nodes[n].units = 0;
    }
    return some;
  };
  Cluster out = c;
  for (const auto& near : r.near)
    if (near.required) out = without(out, near);
  out = cheapest(out, r);
  const auto all = options(out, r);
  for (const auto& near : r.near) {
    if (near.required || all.empty()) continue;
    const Cluster some = without(out, near);
    const auto kept = options(some, r);
    if (!kept.empty() && kept[0].rung == all[0].rung && kept[0].units >= all[0].units) out = some;
  }
  return out;
}

std::vector<Option> options(const Cluster& c, const Request& asked, Request* fixed) {
  Request r = asked;
  if (!r.wish && (r.least != r.most || !r.choices.empty())) {  // P11: without a wish as many as are free
    int n = 0;
    for (const auto& d : domains_at(c, -1)) n = std::max(n, offers(c, r, d.nodes));
    if (n == 0) return {};
    r.choices.clear();
    r.least = r.most = n;
  }
  if (fixed != nullptr) *fixed = r;
  std::vector<Option> out;
  for (std::size_t rung = 0; rung < r.rungs.size() && out.empty(); ++rung) list(c, r, rung, out);
  for (auto& o : out) judge(c, r, o);
  std::stable_sort(out.begin(), out.end(), [](const Option& a, const Option& b) { return a.key < b.key; });
  return out;
}

int fewest(const Cluster& c, const Request& r, const std::vector<Domain>& domains, int n) {
  const Take left = everything_left(c);
  Set required = 0;
  for (std::size_t i = 0; i < c.nodes.size(); ++i)
    if (c.nodes[i].required) required |= 1U << i;
  std::vector<int> room;
  for (const auto& d : domains) room.push_back(slots(c, r, left, d.nodes, 0));
  Set all = 0;
  for (const auto& d : domains) all |= d.nodes;
  required &= all;
  int best = static_cast<int>(domains.size()) + 1;
  for (std::uint32_t some = 0; some < 1U << domains.size(); ++some) {
    int sum = 0;
    Set nodes = 0;
    for (std::size_t i = 0; i < domains.size(); ++i)
      if (some >> i & 1U) sum += room[i], nodes |= domains[i].nodes;
    if (sum >= n && (required & ~nodes) == 0) best = std::min(best, std::popcount(some));
  }
  return best;
}

int least_difference(const Cluster& c, const Request& r, const std::vector<Domain>& domains, int n) {
  const int used = fewest(c, r, domains, n), unit = r.layers.empty() ? 1 : r.layers[0].size;
  const Take left = everything_left(c);
  int best = n;
  std::vector<int> room;
  for (const auto& d : domains) room.push_back(slots(c, r, left, d.nodes, 0));
  const std::function<void(std::size_t, int, int, int, int)> share = [&](std::size_t at, int rest, int shares, int low, int high) {
    if (at == room.size()) {
      if (rest == 0 && shares == used) best = std::min(best, high - low);
      return;
    }
    share(at + 1, rest, shares, low, high);
    for (int take = unit; take <= std::min(room[at], rest); take += unit)
      share(at + 1, rest - take, shares + 1, std::min(low, take), std::max(high, take));
  };
  share(0, n, 0, n, 0);
  return best / unit;
}

int fragmentation(const Cluster& c, Set taken) {
  Set free = 0;
  int value = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    if (c.nodes[n].idle && !in(taken, n)) free |= 1U << n;
    else if (c.nodes[n].reachable) ++value;
  }
  for (int level = 0; level < c.levels; ++level)
    for (const auto& d : domains_at(c, level))
      if (c.counts[static_cast<std::size_t>(level)][static_cast<std::size_t>(d.id)] && (d.nodes & ~free) != 0) value += size(d.nodes);
  return value;
}

int fewest_domains(const Cluster& c, const Request& r, Set inside, int n, int level) {
  int best = 1 << 20;
  each_take(everything_left(c), inside, [&](const Take& t) {
    if (total(t) == n && allowed(c, r, t)) best = std::min(best, static_cast<int>(units_by_domain(c, level, t).size()));
  });
  return best;
}

int least_growth(const Cluster& c, const Request& r, Set inside, int n) {
  int best = 1 << 20;
  each_take(everything_left(c), inside, [&](const Take& t) {
    if (total(t) == n && allowed(c, r, t)) best = std::min(best, fragmentation(c, nodes_of(t)) - fragmentation(c, 0));
  });
  return best;
}

}  // namespace reference

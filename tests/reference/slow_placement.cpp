#include "slow_placement.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace reference {
namespace {

int size(Set s) { return std::popcount(s); }

Set everything(const Cluster& c) { return static_cast<Set>((1ULL << c.path.size()) - 1); }

Set free_nodes(const Cluster& c) {
  Set out = 0;
  for (std::size_t n = 0; n < c.free.size(); ++n)
    if (c.free[n]) out |= 1U << n;
  return out;
}

// Nodes of the set by domain of a level; nodes without one under −1.
std::map<int, Set> by_domain(const Cluster& c, int level, Set s) {
  std::map<int, Set> out;
  for (std::size_t n = 0; n < c.path.size(); ++n)
    if (s >> n & 1U) out[level < 0 ? 0 : c.path[n][static_cast<std::size_t>(level)]] |= 1U << n;
  return out;
}

// Can these nodes be divided into segments of that size, each in one domain of the level?
bool divides(const Cluster& c, int level, int segment, bool distinct, Set s) {
  for (const auto& [domain, nodes] : by_domain(c, level, s))
    if (domain < 0 || size(nodes) % segment != 0 || (distinct && size(nodes) > segment)) return false;
  return true;
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

}  // namespace

bool allowed(const Cluster& c, const Request& r, Set s) {
  if (!r.sizes.empty()) {
    std::vector<int> counts;
    for (const auto& [domain, nodes] : by_domain(c, r.segment_level, s)) {
      if (domain < 0) return false;
      counts.push_back(size(nodes));
    }
    return made_of(counts, r.sizes, r.distinct);
  }
  if (r.segment > 0 && !divides(c, r.segment_level, r.segment, r.distinct, s)) return false;
  return r.inner == 0 || divides(c, r.inner_level, r.inner, false, s);
}

namespace {

int most_allowed(const Cluster& c, const Request& r, Set inside, int least, int most) {
  const Set pool = inside & free_nodes(c);
  int best = 0;
  for (Set s = pool;; s = (s - 1) & pool) {
    const int n = size(s);
    if (n > best && n >= least && n <= most && allowed(c, r, s)) best = n;
    if (s == 0) return best;
  }
}

}  // namespace

int offers(const Cluster& c, const Request& r, Set inside) { return most_allowed(c, r, inside, r.least, r.most); }

int slots(const Cluster& c, const Request& r, Set inside) {
  if (!r.sizes.empty()) return size(inside & free_nodes(c));
  return most_allowed(c, r, inside, 0, static_cast<int>(c.path.size()));
}

std::vector<Domain> domains_at(const Cluster& c, int level) {
  std::vector<Domain> out;
  if (level < 0) return {Domain{-1, 0, everything(c)}};
  for (const auto& [id, nodes] : by_domain(c, level, everything(c)))
    if (id >= 0) out.push_back(Domain{level, id, nodes});
  return out;
}

// The next narrower domains, whatever their level; nodes that hang here count as one each.
std::vector<Domain> children_of(const Cluster& c, const Domain& d) {
  std::vector<Domain> out;
  for (std::size_t n = 0; n < c.path.size(); ++n) {
    if (!(d.nodes >> n & 1U)) continue;
    Domain child{c.levels, static_cast<int>(n), 1U << n};
    for (int l = d.level + 1; l < c.levels; ++l)
      if (const int id = c.path[n][static_cast<std::size_t>(l)]; id >= 0) {
        child = Domain{l, id, 0};
        break;
      }
    auto same = std::find_if(out.begin(), out.end(), [&](const Domain& x) { return x.level == child.level && x.id == child.id; });
    if (same == out.end()) same = out.insert(out.end(), child);
    same->nodes |= 1U << n;
  }
  return out;
}

std::optional<Rung> first_rung(const Cluster& c, const Request& asked) {
  Request r = asked;
  if (!r.wish && r.least != r.most) {  // without a wish as many as are free
    const int n = offers(c, r, everything(c));
    if (n == 0) return std::nullopt;
    r.least = r.most = n;
  }
  for (const int level : r.rungs) {
    Rung rung{level, {}, 0};
    std::vector<std::pair<int, Domain>> fitting;
    for (const auto& d : domains_at(c, level))
      if (const int n = offers(c, r, d.nodes); n > 0) fitting.emplace_back(n, d);
    for (const auto& [n, d] : fitting) rung.nodes = std::max(rung.nodes, n);
    for (const auto& [n, d] : fitting)
      if (n == rung.nodes) rung.fitting.push_back(d);
    if (!rung.fitting.empty()) return rung;
  }
  return std::nullopt;
}

std::vector<int> own_first(const Cluster& c, const Request& r, const Domain& d) {
  std::vector<int> out;
  std::size_t example = 0;
  while (!(d.nodes >> example & 1U)) ++example;
  for (int level = d.level; level >= -1; --level) {
    Set nodes = everything(c);
    if (level >= 0) {
      const int id = c.path[example][static_cast<std::size_t>(level)];
      if (id < 0) continue;
      nodes = by_domain(c, level, everything(c))[id];
    }
    out.push_back(slots(c, r, nodes));
    out.push_back(size(nodes & free_nodes(c)));
  }
  return out;
}

int fewest(const Cluster& c, const Request& r, const std::vector<Domain>& domains, int n) {
  std::vector<int> room;
  for (const auto& d : domains) room.push_back(slots(c, r, d.nodes));
  std::sort(room.rbegin(), room.rend());
  int used = 0;
  for (int sum = 0; sum < n && used < static_cast<int>(room.size()); ++used) sum += room[static_cast<std::size_t>(used)];
  return used;
}

int fragmentation(const Cluster& c, Set taken) {
  const Set free = free_nodes(c) & ~taken;
  int value = static_cast<int>(c.path.size()) - size(free);
  for (int level = 0; level < c.levels; ++level)
    for (const auto& d : domains_at(c, level))
      if (c.counts[static_cast<std::size_t>(level)][static_cast<std::size_t>(d.id)] && (d.nodes & ~free) != 0) value += size(d.nodes);
  return value;
}

}  // namespace reference

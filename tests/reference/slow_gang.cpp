#include "slow_gang.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace reference {
namespace {

using Takes = std::vector<std::vector<Take>>;

int domain_of(const Cluster& c, std::size_t n, int level) {
  if (level >= c.levels) return static_cast<int>(n);
  return level < 0 ? (c.nodes[n].reachable ? 0 : -1) : c.nodes[n].path[static_cast<std::size_t>(level)];
}

std::set<int> domains_of(const Cluster& c, const Take& t, int level) {
  std::set<int> out;
  for (std::size_t n = 0; n < t.size(); ++n)
    if (t[n] > 0) out.insert(domain_of(c, n, level));
  return out;
}

bool inside_one(const Cluster& c, Set nodes, int level) {
  for (const auto& d : domains_at(c, level))
    if ((nodes & ~d.nodes) == 0) return true;
  return false;
}

bool inside_one(const Cluster& c, const Take& t, int level) { return inside_one(c, nodes_of(t), level); }

// Copies of a group by domain of a level.
std::map<int, int> copies_in(const Cluster& c, const std::vector<Take>& copies, int level) {
  std::map<int, int> out;
  for (const auto& t : copies)
    for (const int d : domains_of(c, t, level)) ++out[d];
  return out;
}

// May this copy come to those that are there (P7)?
bool may_follow(const Cluster& c, const Apart& a, const std::vector<Take>& placed, const Take& next) {
  const auto count = copies_in(c, placed, a.level);
  for (const int d : domains_of(c, next, a.level)) {
    if (d < 0) return false;
    const int here = count.contains(d) ? count.at(d) : 0, n = static_cast<int>(placed.size());
    if (a.max_per_domain > 0 && here >= a.max_per_domain) return false;
    if (a.max_share > 0 && n > 0 && 100 * here > a.max_share * n) return false;
  }
  return true;
}

bool spread_out(const Cluster& c, const Apart& a, const std::vector<Take>& copies) {
  const auto count = copies_in(c, copies, a.level);
  if (a.min_domains > 0 && static_cast<int>(count.size()) < a.min_domains) return false;
  if (a.max_skew > 0) {
    int least = 1 << 20, most = 0;
    for (const auto& d : domains_at(c, a.level)) {
      const int n = count.contains(d.id) ? count.at(d.id) : 0;
      least = std::min(least, n);
      most = std::max(most, n);
    }
    if (most - least > a.max_skew) return false;
  }
  return true;
}

bool near_enough(const Cluster& c, const Gang& g, const Takes& takes) {
  for (std::size_t i = 0; i < g.groups.size(); ++i)
    for (const auto& beside : g.groups[i].beside) {
      std::set<int> theirs;
      for (std::size_t n = 0; n < c.nodes.size(); ++n)
        if ((beside.of >> n & 1U) != 0) theirs.insert(domain_of(c, n, beside.level));
      theirs.erase(-1);
      for (const auto& t : takes[i])
        for (const int d : domains_of(c, t, beside.level))
          if (theirs.contains(d) != beside.together) return false;
    }
  for (std::size_t i = 0; i < g.groups.size(); ++i)
    for (const auto& near : g.groups[i].near) {
      std::set<int> theirs;
      for (const auto& t : takes[static_cast<std::size_t>(near.group)])
        for (const int d : domains_of(c, t, near.level)) theirs.insert(d);
      theirs.erase(-1);
      for (const auto& t : takes[i])
        for (const int d : domains_of(c, t, near.level))
          if (theirs.contains(d) != near.together) return false;
    }
  return true;
}

bool inner_inside(const Cluster& c, const Gang& g, const Takes& takes, std::size_t copy) {
  Set nodes = 0;
  for (std::size_t i = copy * g.inner; i < (copy + 1) * g.inner; ++i)
    for (const auto& t : takes[i]) nodes |= nodes_of(t);
  return inside_one(c, nodes, g.inner_required);
}

// What one copy asks of its own units, their number apart.
bool suits(const Cluster& c, const GangGroup& asked, const Take& t) {
  if (!inside_one(c, t, asked.required) || (asked.named & ~nodes_of(t)) != 0) return false;
  int nodes = 0, first = 1 << 20, last = -1;
  const auto place = walk(c);
  std::map<int, int> in_segments, own;
  for (std::size_t n = 0; n < t.size(); ++n) {
    if (t[n] == 0) continue;
    if (asked.one_each && t[n] > 1) return false;
    ++nodes;
    first = std::min(first, place[n]);
    last = std::max(last, place[n]);
    if (asked.segment > 0) in_segments[domain_of(c, n, asked.segment_level)] += t[n];
    if (asked.own_most > 0 || asked.own_least > 0) own[domain_of(c, n, asked.own_level)] += t[n];
  }
  if (asked.nodes > 0 && nodes != asked.nodes) return false;
  if (asked.contiguous && last - first + 1 != nodes) return false;
  if (in_segments.contains(-1) || own.contains(-1) || static_cast<int>(own.size()) < asked.own_least) return false;
  return std::all_of(in_segments.begin(), in_segments.end(), [&](const auto& d) { return d.second % asked.segment == 0; }) &&
         std::all_of(own.begin(), own.end(), [&](const auto& d) { return asked.own_most == 0 || d.second <= asked.own_most; });
}

struct Search {
  const Cluster& c;
  const Gang& g;
  Set inside;
  Takes takes{};

  bool run(std::vector<int> free, std::vector<bool> used, std::size_t group) {
    if (g.inner > 0 && group > 0 && group <= g.inner * g.inner_copies && group % g.inner == 0 &&
        !inner_inside(c, g, takes, group / g.inner - 1))
      return false;
    if (group == g.groups.size()) return near_enough(c, g, takes);
    if (takes.size() == group) takes.emplace_back();
    const auto& asked = g.groups[group];
    if (static_cast<int>(takes[group].size()) == asked.replicas) {
      for (const auto& a : asked.apart)
        if (!spread_out(c, a, takes[group])) return false;
      const bool ok = run(free, used, group + 1);
      if (!ok) takes.resize(group + 1);
      return ok;
    }
    const bool first = takes[group].empty();  // all copies have the number of the first
    for (int n = !first ? total(takes[group][0]) : asked.fewest > 0 ? asked.fewest : asked.units;; ++n) {
      Take t(free.size(), 0);
      if (divide(free, used, group, t, 0, n)) return true;
      if (!first || n == asked.units) return false;
    }
  }

  bool divide(const std::vector<int>& free, const std::vector<bool>& used, std::size_t group, Take& t, std::size_t n, int rest) {
    const auto& asked = g.groups[group];
    if (rest == 0) {
      if (!suits(c, asked, t)) return false;
      for (const auto& a : asked.apart)
        if (!may_follow(c, a, takes[group], t)) return false;
      auto left = free;
      auto taken = used;
      for (std::size_t i = 0; i < t.size(); ++i)
        if (t[i] > 0) left[i] = asked.whole ? 0 : left[i] - t[i] * asked.cpus, taken[i] = true;
      takes[group].push_back(t);
      if (run(left, taken, group)) return true;
      takes.resize(group + 1);
      takes[group].pop_back();
      return false;
    }
    if (n == t.size()) return false;
    const bool open = (inside >> n & 1U) != 0;
    const int most = !open ? 0 : asked.whole ? (c.nodes[n].idle && !used[n] && free[n] >= asked.cpus ? 1 : 0) : free[n] / asked.cpus;
    for (int k = std::min(most, rest); k >= 0; --k) {
      t[n] = k;
      if (divide(free, used, group, t, n + 1, rest - k)) return true;
    }
    t[n] = 0;
    return false;
  }
};

}  // namespace

std::optional<int> first_rung(const Cluster& c, const Gang& g, const std::vector<int>& free) {
  for (const int level : g.rungs)
    for (const auto& d : domains_at(c, level))
      if (inside_one(c, d.nodes, g.rungs.back()) && Search{c, g, d.nodes, {}}.run(free, std::vector<bool>(free.size()), 0)) return level;
  return std::nullopt;
}

bool holds(const Cluster& c, const Gang& g, const std::vector<int>& free, const Takes& takes, int level) {
  auto left = free;
  Take all(free.size(), 0);
  std::vector<bool> used(free.size()), whole(free.size());
  for (std::size_t i = 0; i < g.groups.size(); ++i) {
    const auto& asked = g.groups[i];
    if (static_cast<int>(takes[i].size()) != asked.replicas) return false;
    std::vector<Take> before;
    for (const auto& t : takes[i]) {
      const int least = asked.fewest > 0 ? asked.fewest : asked.units;
      if (total(t) < least || total(t) > asked.units || total(t) != total(takes[i][0]) || !suits(c, asked, t)) return false;
      for (std::size_t n = 0; n < t.size(); ++n) {
        if (t[n] == 0) continue;
        if (whole[n] || (asked.whole && (used[n] || !c.nodes[n].idle || t[n] > 1))) return false;
        used[n] = true;
        whole[n] = asked.whole;
        left[n] -= asked.cpus * t[n];
        all[n] += t[n];
        if (left[n] < 0) return false;
      }
      before.push_back(t);
    }
    for (const auto& a : asked.apart)
      if (!spread_out(c, a, before) || a.max_per_domain > 0) {
        for (const auto& [d, n] : copies_in(c, before, a.level))
          if (d < 0 || (a.max_per_domain > 0 && n > a.max_per_domain)) return false;
        if (!spread_out(c, a, before)) return false;
      }
  }
  for (std::size_t copy = 0; g.inner > 0 && copy < g.inner_copies; ++copy)
    if (!inner_inside(c, g, takes, copy)) return false;
  return near_enough(c, g, takes) && inside_one(c, all, level);
}

}  // namespace reference

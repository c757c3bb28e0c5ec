// N nodes with T tasks, and GRES of the job as a whole: nodes that only together hold what is asked. The reference tries every
// set of nodes.
#include <fmt/format.h>

#include <bit>
#include <set>

#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

struct Asked {
  int least{}, most{};                     // nodes
  std::vector<int> value;                  // what each node gives towards the sum
  int sum{};
  bool fewest{};
};

bool good(const Case& c, const Asked& a, Set s) {
  int sum = 0;
  if (c.request.contiguous) {
    const auto place = walk(c.cluster);
    int least = 1 << 20, most = -1;
    for (std::size_t n = 0; n < place.size(); ++n)
      if (s >> n & 1U) least = std::min(least, place[n]), most = std::max(most, place[n]);
    if (most - least + 1 > std::popcount(s)) return false;
  }
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    const bool in = (s >> n & 1U) != 0;
    if (!in && c.cluster.nodes[n].required) return false;
    if (!in) continue;
    if (c.cluster.nodes[n].units == 0) return false;
    sum += a.value[n];
  }
  return sum >= a.sum && std::popcount(s) >= a.least && std::popcount(s) <= a.most;
}

// The best number of nodes inside a part of the cluster; 0: none does.
int best_count(const Case& c, const Asked& a, Set inside) {
  int best = 0;
  for (Set s = inside;; s = (s - 1) & inside) {
    if (good(c, a, s)) {
      const int n = std::popcount(s);
      if (best == 0 || (a.fewest ? n < best : n > best)) best = n;
    }
    if (s == 0) return best;
  }
}

struct Found {
  int rung{-1}, nodes{};
};

Found first_rung(const Case& c, Asked a) {
  Found out;
  if (!c.request.wish && !a.fewest && a.least != a.most) {
    int n = 0;
    for (const auto& d : domains_at(c.cluster, -1)) n = std::max(n, best_count(c, a, d.nodes));
    if (n == 0) return out;
    a.least = a.most = n;
  }
  // As few nodes as hold it, on whatever rung: then the rung.
  if (a.fewest) {
    int n = 0;
    for (const auto& r : c.request.rungs)
      for (const auto& d : domains_at(c.cluster, r.level))
        if (const int here = best_count(c, a, d.nodes); here > 0 && (n == 0 || here < n)) n = here;
    if (n == 0) return out;
    a.least = a.most = n;
  }
  for (std::size_t rung = 0; rung < c.request.rungs.size() && out.nodes == 0; ++rung) {
    auto domains = domains_at(c.cluster, c.request.rungs[rung].level);
    const auto required = domains_at(c.cluster, c.request.within);
    std::erase_if(domains, [&](const Domain& d) {
      return std::none_of(required.begin(), required.end(), [&](const Domain& x) { return (d.nodes & ~x.nodes) == 0; });
    });
    const int most = c.request.rungs[rung].level < 0 ? 1 : c.request.rungs[rung].max_domains;
    for (std::uint32_t some = 1; some < 1U << domains.size(); ++some) {
      if (std::popcount(some) > most) continue;
      Set nodes = 0;
      for (std::size_t i = 0; i < domains.size(); ++i)
        if (some >> i & 1U) nodes |= domains[i].nodes;
      bool common = c.cluster.joined || std::popcount(some) == 1;
      for (const auto& root : domains_at(c.cluster, -1)) common |= (nodes & ~root.nodes) == 0;
      if (!common || std::none_of(required.begin(), required.end(), [&](const Domain& x) { return (nodes & ~x.nodes) == 0; })) continue;
      if (const int n = best_count(c, a, nodes); n > out.nodes) out = Found{static_cast<int>(rung), n};
    }
  }
  return out;
}

int leaves_of(const Case& c, Set s) {
  std::set<std::pair<int, int>> out;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    if (!(s >> n & 1U)) continue;
    std::pair<int, int> leaf{-1, static_cast<int>(n)};
    for (int l = 0; l < c.cluster.levels; ++l)
      if (c.cluster.nodes[n].path[static_cast<std::size_t>(l)] >= 0) leaf = {l, c.cluster.nodes[n].path[static_cast<std::size_t>(l)]};
    // A node beside narrower domains is a leaf of its own.
    const auto narrower = [&](const Node& other) {
      if (leaf.first < 0 || other.path[static_cast<std::size_t>(leaf.first)] != leaf.second) return false;
      return std::any_of(other.path.begin() + leaf.first + 1, other.path.end(), [](int id) { return id >= 0; });
    };
    if (std::any_of(c.cluster.nodes.begin(), c.cluster.nodes.end(), narrower)) leaf = {-1, static_cast<int>(n)};
    out.insert(leaf);
  }
  return static_cast<int>(out.size());
}

int fewest_leaves(const Case& c, const Asked& a, const std::vector<Domain>& domains, int n) {
  int best = 1 << 10;
  for (const auto& d : domains)
    for (Set s = d.nodes;; s = (s - 1) & d.nodes) {
      if (std::popcount(s) == n && good(c, a, s)) best = std::min(best, leaves_of(c, s));
      if (s == 0) break;
    }
  return best;
}

struct Counted {
  std::uint64_t placed{}, waits{}, limits{}, refused{}, counted{};
};

// Without the nodes that are dearer than what is needed, where weight goes before topology.
Case cheapest_that_holds(const Case& c, const Asked& asked) {
  if (!c.request.weight_first) return c;
  for (int weight = 1; weight <= 3; ++weight) {
    Case some = c;
    for (auto& n : some.cluster.nodes)
      if (n.weight > weight) n.units = 0;
    if (first_rung(some, asked).nodes > 0) return some;
  }
  return c;
}

bool only_together(const Case& c, const Asked& a) {
  const int least = std::min(c.request.least, a.sum), share = (a.sum + least - 1) / std::max(least, 1);
  return a.fewest || !c.group.gres_per_job.empty() ||
         std::any_of(c.cluster.nodes.begin(), c.cluster.nodes.end(), [&](const Node& n) { return n.units > 0 && n.units < share; });
}

void compare(const Case& given, const Asked& asked, Counted& count) {
  const Case c = cheapest_that_holds(given, asked);
  const auto t = c.index();
  RC_LOG() << story(c)
           << fmt::format(" {}-{} nodes, sum {} of [{}], at most {} each\n", c.group.nodes.min, c.group.nodes.max, asked.sum,
                          fmt::join(asked.value, ","), c.group.tasks_per_node);
  if (!placement::check_request(c.group, t)) {
    ++count.refused;
    return;
  }
  const auto a = placement::place(c.group, c.shape, t, c.nodes, c.options);
  const auto expected = first_rung(c, asked);
  RC_LOG() << "engine: " << (a.placed() ? "placed on " + a.level : a.verdict.detail);
  for (const auto& n : a.nodes) RC_LOG() << " " << n.node.value << "x" << n.tasks;
  RC_LOG() << "\nreference: rung " << expected.rung << " nodes " << expected.nodes << "\n";
  if (a.verdict.reason == model::Reason::search_limit) {
    ++count.limits;
    return;
  }
  RC_ASSERT(a.placed() == (expected.nodes > 0));
  if (!a.placed()) {
    ++count.waits;
    return;
  }
  ++count.placed;
  Set s = 0;
  std::uint32_t tasks = 0;
  for (const auto& n : a.nodes) {
    RC_ASSERT(!(s >> n.node.value & 1U));
    s |= 1U << n.node.value;
    tasks += n.tasks;
    RC_ASSERT(n.tasks >= 1U);
    if (c.group.tasks_given) RC_ASSERT(static_cast<int>(n.tasks) <= c.cluster.nodes[n.node.value].units);
  }
  if (c.group.tasks_given) RC_ASSERT(tasks == c.group.tasks);
  RC_ASSERT(good(c, asked, s));
  RC_ASSERT(static_cast<int>(a.nodes.size()) == expected.nodes);
  RC_ASSERT(a.level == t.level_name(c.request.rungs[static_cast<std::size_t>(expected.rung)].level));
  if (c.request.rungs[static_cast<std::size_t>(expected.rung)].max_domains == 1) {
    std::vector<Domain> home;
    for (const auto& d : domains_at(c.cluster, c.request.rungs[static_cast<std::size_t>(expected.rung)].level))
      if ((s & ~d.nodes) == 0) home.push_back(d);
    RC_ASSERT(!home.empty());
    // Neighbours, or F least, on whatever leaves; where every node holds an even share P5 says which, level by level.
    if (c.request.contiguous || c.request.unpacked || !only_together(c, asked)) return;
    ++count.counted;
    RC_LOG() << "leaves " << leaves_of(c, s) << ", fewest " << fewest_leaves(c, asked, home, expected.nodes) << "\n";
    RC_ASSERT(leaves_of(c, s) == fewest_leaves(c, asked, home, expected.nodes));
  }
}

void tell(const char* what, const Counted& n) {
  fmt::print("oracle, {}: {} placed, {} not, {} ended by the search budget, {} refused; {} compared with the fewest leaves\n", what,
             n.placed, n.waits, n.limits, n.refused, n.counted);
}

}  // namespace

TEST_CASE("a number of nodes with a number of tasks: placed exactly when some set of nodes holds them") {
  Counted count;
  check_property("nodes and tasks", [&] {
    Case c = make_case({.sums = true, .segments = false, .orders = false});
    // At most so many on a node. With blocks more nodes would mean other rungs.
    const int most = between(1, 3), tasks = static_cast<int>(c.group.tasks);
    if (one_in(3) && (c.topology.kind != model::Topology::Kind::block || tasks <= most * c.request.least)) {
      c.group.tasks_per_node = static_cast<std::uint32_t>(most);
      for (auto& n : c.cluster.nodes) n.units = std::min(n.units, most);
      c.request.least = std::min(std::max(c.request.least, (tasks + most - 1) / most), c.request.most);
    }
    Asked a{c.request.least, c.request.most, {}, static_cast<int>(c.group.tasks), false};
    for (const auto& n : c.cluster.nodes) a.value.push_back(n.units);
    compare(c, a, count);
  });
  tell("nodes and tasks", count);
  CHECK(count.placed > 0);
  CHECK(count.waits > 0);
}

TEST_CASE("GRES of a job: placed exactly when some set of nodes has it, on as few nodes as that needs") {
  Counted count;
  check_property("GRES of the job", [&] {
    Case c = make_case({.sums = true, .gpus = false, .segments = false, .orders = false});
    auto& g = c.group;
    g.tasks_given = false;
    g.gres_per_job.push_back({"gpu", one_in(2) ? "x" : "", between(1, 6)});
    Asked a{c.request.least, c.request.most, {}, static_cast<int>(g.gres_per_job[0].count), false};
    for (std::size_t n = 0; n < c.nodes.size(); ++n) {
      const auto& gres = g.sharing == model::Sharing::shared ? c.nodes[n].free.gres : c.shape.nodes[n].total.gres;
      a.value.push_back(gres.empty() ? 0 : static_cast<int>(gres[0].count));
    }
    compare(c, a, count);
  });
  tell("GRES of the job", count);
  CHECK(count.placed > 0);
  CHECK(count.waits > 0);
}

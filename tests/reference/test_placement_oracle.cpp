// The engine against the slow reference on generated clusters of at most 12 nodes: it finds a placement exactly when there is
// one on that rung, in the domain P4 names, on the nodes P5 names, in as few domains as P12 promises. SWITCHYARD_CASES sets how
// many cases.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>

#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

struct Counted {
  std::uint64_t placed{}, waits{}, limits{}, refused{}, exact{};
  std::uint64_t unequal{}, elsewhere{};    // parts of unequal size: P6 fixes that they fit; and not in the domain P4 would name
  std::uint64_t gap{}, in_gap{};           // of these: domains more than the fewest, and in how many cases
  std::uint64_t unpacked{}, grows_more{};  // default packing none: cases, and those in which F grows more than it must
  std::uint64_t weighed{}, weighed_first{}, neighbours{}, alone{}, near{};  // placed with each of these
};

void tell(const char* what, const Counted& n) {
  fmt::print(
      "oracle, {}: {} placed ({} on exactly the reference's nodes), {} not, {} ended by the search budget, {} refused; of {} with unequal "
      "parts {} elsewhere than P4 says, gap {} domains in {} cases\n",
      what, n.placed, n.exact, n.waits, n.limits, n.refused, n.unequal, n.elsewhere, n.gap, n.in_gap);
  fmt::print(
      "oracle, {}: of the placed {} with unequal weights, {} weight first, {} neighbours only, {} alone in their domains, {} near to or "
      "away "
      "from others, {} not packed ({} of these grow F more than they must)\n",
      what, n.weighed, n.weighed_first, n.neighbours, n.alone, n.near, n.unpacked, n.grows_more);
}

// Level by level: no more domains than the fewest that hold it, inside those of the level above.
void check_domains_used(const Case& c, const Request& r, const Domain& top, const Take& take) {
  std::vector<Domain> level{top};
  const int stop = r.layers.empty() ? c.cluster.levels : r.layers[0].level;
  while (std::any_of(level.begin(), level.end(), [&](const Domain& d) { return d.level < stop; })) {
    std::vector<Domain> next, used;
    for (const auto& d : level) {
      if (d.level >= stop) next.push_back(d);
      else
        for (const auto& child : children_of(c.cluster, d)) next.push_back(child);
    }
    for (const auto& d : next)
      if ((d.nodes & nodes_of(take)) != 0) used.push_back(d);
    const int least = fewest(c.cluster, r, next, total(take));
    RC_LOG() << "domains used " << used.size() << ", fewest " << least << "\n";
    RC_ASSERT(static_cast<int>(used.size()) == least);
    level = used;
  }
}

// Fewest domains at each level inside each domain chosen, and the most equal shares.
void check_balance(const Case& c, const Request& r, const Domain& d, const Take& take) {
  const int stop = r.layers.empty() ? c.cluster.levels : r.layers[0].level;
  if (d.level >= stop) return;
  const auto children = children_of(c.cluster, d);
  int used = 0, least = 1 << 20, most = 0, all = 0;
  const auto share = [&](const Domain& child) {
    int n = 0;
    for (std::size_t i = 0; i < take.size(); ++i) n += child.nodes >> i & 1U ? take[i] : 0;
    return n;
  };
  for (const auto& child : children)
    if (const int n = share(child); n > 0) ++used, least = std::min(least, n), most = std::max(most, n), all += n;
  RC_ASSERT(used == fewest(c.cluster, r, children, all));
  const bool required = std::any_of(c.cluster.nodes.begin(), c.cluster.nodes.end(), [](const Node& n) { return n.required; });
  if (!required) RC_ASSERT((most - least) / (r.layers.empty() ? 1 : r.layers[0].size) == least_difference(c.cluster, r, children, all));
  for (const auto& child : children)
    if (share(child) > 0) check_balance(c, r, child, take);
}

void check_segments(const Case& c, const Request& r, const placement::Answer& a) {
  if (r.layers.empty()) return;
  std::map<std::uint32_t, std::map<int, int>> by_segment;  // → domain → units
  const int level = r.layers[0].level;
  for (const auto& n : a.nodes)
    by_segment[n.segment][level >= c.cluster.levels ? static_cast<int>(n.node.value)
                                                    : c.cluster.nodes[n.node.value].path[static_cast<std::size_t>(level)]] +=
        c.group.tasks_given ? static_cast<int>(n.tasks) : 1;
  int shorter = 0;
  std::set<int> seen;
  for (const auto& [segment, domains] : by_segment) {
    RC_ASSERT(domains.size() == 1U);
    const auto [domain, units] = *domains.begin();
    RC_ASSERT(domain >= 0);
    if (!r.sizes.empty()) RC_ASSERT(units == r.sizes.at(segment));
    else if (units != r.layers[0].size) ++shorter;
    if (r.distinct) RC_ASSERT(seen.insert(domain).second);
  }
  RC_ASSERT(shorter <= (r.remainder == Remainder::shorter ? 1 : 0));
}

Take take_of(const Case& c, const placement::Answer& a) {
  Take take(c.nodes.size(), 0);
  for (const auto& n : a.nodes) take[n.node.value] += c.group.tasks_given ? static_cast<int>(n.tasks) : 1;
  return take;
}

// Ranks follow the paths.
void check_ranks(const Case& c, const Request& r, const placement::Answer& a) {
  if (!r.sizes.empty()) return;
  const auto order = walk(c.cluster);
  int last = -1;
  for (const auto& n : a.nodes) {
    const int at = order[n.node.value];
    RC_ASSERT((r.layers.empty() ? at > last : at >= last));
    last = at;
  }
}

// All nodes of the domains that it is in, and no others, are closed to the rest.
void check_closed(const Case& c, const placement::Answer& a) {
  std::set<std::uint32_t> closed, expected;
  for (const auto n : a.closed) closed.insert(n.value);
  const auto domain = [&](std::size_t n) {
    if (c.exclusive == c.cluster.levels) return static_cast<int>(n);
    return c.exclusive < 0 ? -1 : c.cluster.nodes[n].path[static_cast<std::size_t>(c.exclusive)];
  };
  for (const auto& taken : a.nodes)
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if (domain(n) >= 0 && domain(n) == domain(taken.node.value)) expected.insert(static_cast<std::uint32_t>(n));
  RC_ASSERT(closed == expected);
}

// Without packing: nothing is promised but that F grows least.
void check_unpacked(const Case& c, const Request& r, const placement::Answer& a, const Take& take, Counted& count) {
  ++count.unpacked;
  int least = 1 << 20;
  for (const auto& d : domains_at(c.cluster, -1)) least = std::min(least, least_growth(c.cluster, r, d.nodes, total(take)));
  RC_LOG() << "F grows by " << a.fragmentation_growth << ", least " << least << "\n";
  RC_ASSERT(a.fragmentation_growth >= least);
  count.grows_more += a.fragmentation_growth > least ? 1 : 0;
}

void compare(const Case& given, Counted& count) {
  Case c = given;
  c.cluster = near_others(given.cluster, given.request);
  const auto t = c.index();
  if (const auto ok = placement::check_request(c.group, t); !ok) {
    RC_LOG() << to_text(ok.error());
    ++count.refused;
    return;
  }
  const auto a = placement::place(c.group, c.shape, t, c.nodes, c.options);
  Request r;
  const auto expected = options(c.cluster, c.request, &r);
  RC_LOG() << "engine: " << (a.placed() ? "placed on " + a.level : a.verdict.detail) << " units";
  for (const auto& n : a.nodes) RC_LOG() << " " << n.node.value << "x" << n.tasks << "s" << n.segment;
  RC_LOG() << "\n";
  for (const auto& o : expected) {
    RC_LOG() << "possible: rung " << o.rung << " domain " << o.domain.level << "/" << o.domain.id << " units " << o.units << " key";
    for (const auto k : o.key) RC_LOG() << " " << k;
    if (o.take) {
      RC_LOG() << " take";
      for (const auto k : *o.take) RC_LOG() << " " << k;
    }
    RC_LOG() << "\n";
  }
  if (a.verdict.reason == model::Reason::search_limit) {
    ++count.limits;
    return;
  }
  RC_ASSERT(a.placed() == !expected.empty());
  if (expected.empty()) {
    ++count.waits;
    return;
  }
  ++count.placed;
  const Take take = take_of(c, a);
  for (std::size_t n = 0; n < take.size(); ++n) RC_ASSERT(take[n] <= c.cluster.nodes[n].units);
  RC_ASSERT(total(take) == expected[0].units);
  RC_ASSERT(allowed(c.cluster, r, take));
  check_ranks(c, r, a);
  check_segments(c, r, a);
  RC_ASSERT(a.level == t.level_name(r.rungs[expected[0].rung].level));
  check_closed(c, a);
  count.weighed += std::any_of(c.cluster.nodes.begin(), c.cluster.nodes.end(), [](const Node& n) { return n.weight != 1; }) ? 1 : 0;
  count.weighed_first += r.weight_first ? 1 : 0;
  count.neighbours += r.contiguous ? 1 : 0;
  count.near += r.near.empty() ? 0 : 1;
  count.alone += c.exclusive >= 0 ? 1 : 0;
  // In one of the domains that P4 puts first.
  const auto home = std::find_if(expected.begin(), expected.end(),
                                 [&](const Option& o) { return o.key == expected[0].key && (nodes_of(take) & ~o.domain.nodes) == 0; });
  const bool unequal = !r.sizes.empty() || (r.remainder == Remainder::shorter && !r.layers.empty());
  if (unequal) {  // existence, and segments, are all that P6 fixes: the rest is counted
    ++count.unequal;
    count.elsewhere += home == expected.end() ? 1 : 0;
    const int level = r.layers[0].level;
    std::set<int> used;
    for (std::size_t n = 0; n < take.size(); ++n)
      if (take[n] > 0)
        used.insert(level >= c.cluster.levels ? static_cast<int>(n) : c.cluster.nodes[n].path[static_cast<std::size_t>(level)]);
    int least = 1 << 20;
    for (const auto& o : expected)
      if (o.units == total(take)) least = std::min(least, fewest_domains(c.cluster, r, o.domain.nodes, o.units, level));
    const int more = static_cast<int>(used.size()) - least;
    RC_ASSERT(more >= 0);
    count.gap += static_cast<std::uint64_t>(more);
    count.in_gap += more > 0 ? 1 : 0;
    return;
  }
  RC_ASSERT(home != expected.end());
  RC_ASSERT(a.fragmentation_growth == fragmentation(c.cluster, nodes_of(take)) - fragmentation(c.cluster, 0));
  if (r.unpacked) return check_unpacked(c, r, a, take, count);
  if (r.contiguous) {  // the tightest run, not the fewest domains
    if (home->take) ++count.exact;
    if (home->take) RC_ASSERT(take == *home->take);
    return;
  }
  if (r.fill == Fill::best_fit && home->domains == 1) check_domains_used(c, r, home->domain, take);
  if (r.fill == Fill::balanced && home->domains == 1) check_balance(c, r, home->domain, take);
  if (home->take) {
    ++count.exact;
    RC_ASSERT(take == *home->take);
  }
}

}  // namespace

TEST_CASE("whole nodes: placed exactly when the slow reference can, where P4 and P5 say") {
  Counted count;
  check_property("engine against reference, whole nodes", [&] {
    const Case c = make_case({.near = true});
    RC_LOG() << story(c) << "\n";
    compare(c, count);
  });
  tell("whole nodes", count);
  CHECK(count.placed > 0);
  CHECK(count.waits > 0);
  CHECK(count.exact > 0);
  CHECK(count.near > 0);
}

TEST_CASE("tasks: placed exactly when the slow reference can, where P4 and P5 say") {
  Counted count;
  check_property("engine against reference, tasks", [&] {
    const Case c = make_case({.tasks = true, .near = true});
    RC_LOG() << story(c) << "\n";
    compare(c, count);
  });
  tell("tasks", count);
  CHECK(count.placed > 0);
  CHECK(count.waits > 0);
  CHECK(count.exact > 0);
  CHECK(count.near > 0);
}

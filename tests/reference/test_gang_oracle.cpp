// Gangs against a reference that tries every division of every group: groups of unequal size, copies kept apart, groups near to or
// away from each other. Placed exactly when there is a way, on the narrowest rung that has one, or the budget ended and it says so.
#include <fmt/format.h>

#include "cases.hpp"
#include "slow_gang.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

void add_group(Case& c, Gang& gang, int copies_left) {
  GangGroup asked;
  model::Group g;
  const auto number = static_cast<int>(gang.groups.size());
  g.name = fmt::format("g{}", number);
  asked.whole = one_in(5);
  asked.units = one_in(5) ? between(2, 3) : 1;
  asked.cpus = asked.whole ? 1 : between(1, 2);
  g.cpus_per_task = base::whole_cpus(asked.cpus);
  if (asked.whole) {
    g.sharing = model::Sharing::exclusive_node;
    g.nodes_given = true;
    g.nodes = {static_cast<std::uint32_t>(asked.units), static_cast<std::uint32_t>(asked.units), {}};
  } else {
    g.tasks_given = true;
    g.tasks = static_cast<std::uint32_t>(asked.units);
  }
  asked.replicas = one_in(3) ? between(1, copies_left) : 1;
  g.replicas = static_cast<std::uint32_t>(asked.replicas);
  const int widest = gang.rungs.back();    // narrower than what the gang requires, or the same
  if (one_in(4)) {
    asked.required = between(widest, c.cluster.levels - 1);
    if (asked.required >= 0) g.pack.require = level_name(c, asked.required);
  }
  // BlockSizes are a wish of the site: the smallest size that holds a number of nodes is required (P10).
  if (asked.whole && g.pack.require.empty() && c.topology.kind == model::Topology::Kind::block)
    for (int l = 0; l < c.cluster.levels; ++l)
      if (static_cast<int>(c.topology.block_sizes[static_cast<std::size_t>(c.cluster.levels - 1 - l)]) >= asked.units) asked.required = l;
  if (asked.replicas > 1 && one_in(2)) {
    Apart a;
    model::Spread s;
    a.level = between(0, c.cluster.levels);
    s.level = level_name(c, a.level);
    switch (between(0, 3)) {
      case 0: s.max_per_domain = static_cast<std::uint32_t>(a.max_per_domain = between(1, 2)); break;
      case 1: s.max_share = static_cast<std::uint32_t>(a.max_share = 50); break;
      case 2: s.min_domains = static_cast<std::uint32_t>(a.min_domains = between(1, asked.replicas)); break;
      default: s.max_skew = static_cast<std::uint32_t>(a.max_skew = 1); break;
    }
    asked.apart.push_back(a);
    g.spread.push_back(s);
  }
  // Near to or away from a group before it or, at times, behind it: then in a circle too.
  if (one_in(3) && (number > 0 || copies_left > asked.replicas)) {
    const bool ahead = number == 0 || (one_in(4) && copies_left > asked.replicas);
    const Near near{between(0, c.cluster.levels), ahead ? number + 1 : between(0, number - 1), one_in(2)};
    asked.near.push_back(near);
    (near.together ? g.affinity : g.anti_affinity).push_back({level_name(c, near.level), fmt::format("g{}", near.group), true});
  }
  if (one_in(10)) {
    Beside b{between(0, c.cluster.levels), 0, one_in(2)};
    const auto target = fmt::format("job:{}", number + 1);
    for (int k = between(1, 2); k > 0; --k) {
      const auto n = static_cast<std::uint32_t>(between(0, static_cast<int>(c.nodes.size()) - 1));
      if (!c.cluster.nodes[n].reachable) continue;
      b.of |= 1U << n;
      c.options.members.push_back({target, base::NodeIndex{n}, 1});
    }
    asked.beside.push_back(b);
    (b.together ? g.affinity : g.anti_affinity).push_back({level_name(c, b.level), target, true});
  }
  for (int k = one_in(8) ? between(1, asked.units) : 0; k > 0; --k) asked.named |= 1U << between(0, static_cast<int>(c.nodes.size()) - 1);
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if ((asked.named >> n & 1U) != 0) g.nodelist += (g.nodelist.empty() ? "" : ",") + c.shape.nodes[n].name;
  gang.groups.push_back(asked);
  c.group.children.push_back(g);
}

Case make_gang(Gang& gang) {
  Case c;
  // Where there is no room nothing is decided: most clusters have some, and most gangs may climb.
  const bool roomy = !one_in(10);
  add_nodes(c, between(roomy ? 4 : 1, 5), 3, roomy ? 15 : 3);
  make_topology(c);
  const int first = between(-1, c.cluster.levels - 1), last = roomy && !one_in(5) ? -1 : between(-1, first);
  for (int l = first; l >= last; --l) gang.rungs.push_back(l);
  c.group.pack.prefer = level_name(c, first);
  if (last >= 0) c.group.pack.require = level_name(c, last);
  for (int left = between(2, 4); left > 0; left -= gang.groups.back().replicas) add_group(c, gang, left);
  if (one_in(3)) {
    gang.inner = static_cast<std::size_t>(between(1, static_cast<int>(gang.groups.size())));
    gang.inner_required = between(gang.rungs.back(), c.cluster.levels - 1);
    model::Group inner;
    inner.name = "inner";
    if (gang.inner_required >= 0) inner.pack.require = level_name(c, gang.inner_required);
    auto& all = c.group.children;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(gang.inner);
    const auto minds = [](const GangGroup& g) { return !g.near.empty() || !g.beside.empty(); };
    if (one_in(3) && std::none_of(gang.groups.begin(), gang.groups.end(), minds)) {  // who is near to which copy is not told here
      inner.replicas = 2;
      gang.inner_copies = 2;
      const std::vector<GangGroup> copy(gang.groups.begin(), gang.groups.begin() + static_cast<std::ptrdiff_t>(gang.inner));
      gang.groups.insert(gang.groups.begin(), copy.begin(), copy.end());
    }
    inner.children.assign(all.begin(), end);
    all.erase(all.begin(), end);
    all.insert(all.begin(), inner);
  }
  if (one_in(3)) {
    c.options.weight_first = true;
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      c.shape.nodes[n].weight = static_cast<std::uint32_t>(c.cluster.nodes[n].weight = between(1, 3));
  }
  return c;
}

// Where weights come first: what is free on the cheapest nodes that hold the gang. Otherwise, or where nothing does, on all.
std::vector<int> cheapest_free(const Case& c, const Gang& gang, const std::vector<int>& free) {
  for (int weight = c.options.weight_first ? 1 : 4; weight <= 3; ++weight) {
    auto some = free;
    for (std::size_t n = 0; n < some.size(); ++n)
      if (c.cluster.nodes[n].weight > weight) some[n] = 0;
    if (first_rung(c.cluster, gang, some)) return some;
  }
  return free;
}

// Ranks: groups as they were written, the copies of one along the path of their first nodes, the nodes of each along the path.
void check_ranks(const Case& c, const placement::Answer& a) {
  const auto order = walk(c.cluster);
  const placement::PlacedNode* last = nullptr;
  int first = -1, at = -1;             // places in the walk: of this copy's first node, of its node before
  for (const auto& n : a.nodes) {
    const int here = order[n.node.value];
    if (last != nullptr && n.group == last->group && n.replica == last->replica) {
      RC_ASSERT(here > at);
    } else if (last != nullptr && n.group == last->group) {
      RC_ASSERT(n.replica == last->replica + 1);
      RC_ASSERT(here >= first);
      first = here;
    } else {
      RC_ASSERT(n.group == (last == nullptr ? 0 : last->group + 1));
      RC_ASSERT(n.replica == 0U);
      first = here;
    }
    at = here;
    last = &n;
  }
}

}  // namespace

TEST_CASE("gangs: placed exactly when some division of all groups fits, on the narrowest rung that has one") {
  std::uint64_t placed = 0, waits = 0, limits = 0, refused = 0, weighed = 0, beside = 0, named = 0, inner = 0, copied = 0;
  check_property("engine against reference, gangs", [&] {
    Gang gang;
    const Case c = make_gang(gang);
    RC_LOG() << story(c) << "; rungs";
    for (const int r : gang.rungs) RC_LOG() << " " << r;
    std::vector<int> free;
    for (const auto& n : c.nodes) free.push_back(n.usable && !n.exclusive ? static_cast<int>(n.free.cpus.value / 1000) : 0);
    if (gang.inner > 0) RC_LOG() << fmt::format("; {} copies of {} together in {}", gang.inner_copies, gang.inner, gang.inner_required);
    for (const auto& g : gang.groups) {
      RC_LOG() << fmt::format("; {}{}x{} CPUs, {} copies, in {}", g.whole ? "whole " : "", g.units, g.cpus, g.replicas, g.required);
      if (g.named != 0) RC_LOG() << fmt::format(" on nodes {:b}", g.named);
      for (const auto& n : g.near) RC_LOG() << fmt::format(" {} g{} at {}", n.together ? "near" : "away from", n.group, n.level);
      for (const auto& b : g.beside) RC_LOG() << fmt::format(" {} nodes {:b} at {}", b.together ? "near" : "away from", b.of, b.level);
      for (const auto& a : g.apart)
        RC_LOG() << fmt::format(" apart at {}: per domain {} share {} domains {} skew {}", a.level, a.max_per_domain, a.max_share,
                                a.min_domains, a.max_skew);
    }
    RC_LOG() << fmt::format("; free {}\n", fmt::join(free, ","));
    const auto t = c.index();
    if (const auto ok = placement::check_request(c.group, t); !ok) {
      ++refused;
      return;
    }
    const auto a = placement::place(c.group, c.shape, t, c.nodes, c.options);
    free = cheapest_free(c, gang, free);
    const auto expected = first_rung(c.cluster, gang, free);
    RC_LOG() << "engine: " << (a.placed() ? "placed on " + a.level : a.verdict.detail) << "; reference: " << expected.value_or(-9) << "\n";
    // A search that ended on the cheapest nodes goes on with dearer ones: the answer stands, and is not the reference's.
    if (a.verdict.reason == model::Reason::search_limit || (c.options.weight_first && a.work.search_steps >= c.options.budget)) {
      ++limits;
      return;
    }
    RC_ASSERT(a.placed() == expected.has_value());
    if (!expected) {
      ++waits;
      return;
    }
    ++placed;
    weighed += c.options.weight_first ? 1 : 0;
    beside += c.options.members.empty() ? 0 : 1;
    inner += gang.inner > 0 ? 1 : 0;
    named += std::any_of(gang.groups.begin(), gang.groups.end(), [](const auto& g) { return g.named != 0; }) ? 1 : 0;
    std::vector<std::vector<Take>> takes;
    for (const auto& g : gang.groups) takes.emplace_back(static_cast<std::size_t>(g.replicas), Take(c.nodes.size(), 0));
    for (const auto& n : a.nodes) {
      const auto each = static_cast<std::size_t>(gang.groups.at(n.group).replicas);
      const bool in_copy = n.group < gang.inner;
      const auto at = in_copy ? n.replica / each * gang.inner + n.group : n.group + (gang.inner_copies - 1) * gang.inner;
      takes.at(at).at(in_copy ? n.replica % each : n.replica)[n.node.value] += gang.groups[at].whole ? 1 : static_cast<int>(n.tasks);
    }
    for (std::size_t g = 0; g < takes.size(); ++g)
      for (const auto& take : takes[g]) RC_LOG() << fmt::format("g{} [{}] ", g, fmt::join(take, ","));
    RC_ASSERT(a.level == t.level_name(*expected));
    RC_ASSERT(holds(c.cluster, gang, free, takes, *expected));
    if (gang.inner_copies == 1) check_ranks(c, a);
    copied += gang.inner_copies > 1 ? 1 : 0;
  });
  fmt::print(
      "oracle, gangs: {} placed ({} weight first, {} near to or away from other jobs, {} with named nodes, {} with groups inside groups, "
      "{} of "
      "these in copies), {} not, {} ended by the search budget, {} refused\n",
      placed, weighed, beside, named, inner, copied, waits, limits, refused);
  CHECK(weighed > 0);
  CHECK(beside > 0);
  CHECK(named > 0);
  CHECK(inner > 0);
  CHECK(copied > 0);
  CHECK(3 * placed > placed + waits);  // fewer would test little
  CHECK(waits > 0);
}

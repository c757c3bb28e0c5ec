// Gangs against a reference that tries every division of every group: groups of unequal size, copies kept apart, groups near to or
// away from each other. Placed exactly when there is a way, on the narrowest rung that has one, or the budget ended and it says so.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

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
  asked.one_each = !asked.whole && one_in(5);
  asked.units = one_in(3) ? between(2, one_in(3) ? 4 : 2) : 1;
  asked.cpus = asked.whole ? 1 : between(1, 2);
  g.cpus_per_task = base::whole_cpus(asked.cpus);
  const auto count = [](int n) { return static_cast<std::uint32_t>(n); };
  if (asked.whole || asked.one_each) {
    if (asked.whole) g.sharing = model::Sharing::exclusive_node;
    if (asked.units > 1 && one_in(3)) asked.fewest = between(1, asked.units - 1);
    g.nodes_given = true;
    g.nodes = {count(asked.fewest > 0 ? asked.fewest : asked.units), count(asked.units), {}};
  } else {
    g.tasks_given = true;
    g.tasks = count(asked.units);
    if (asked.units > 1 && one_in(3)) {
      asked.nodes = between(1, asked.units);
      g.nodes_given = true;
      g.nodes = {count(asked.nodes), count(asked.nodes), {}};
    }
  }
  if (asked.units > 1 && asked.fewest == 0 && asked.nodes == 0 && c.cluster.levels > 0 && one_in(3)) {
    asked.segment = asked.units % 2 == 0 && one_in(2) ? 2 : asked.units;
    asked.segment_level = between(0, c.cluster.levels - 1);
    model::Segment s;
    s.size = count(asked.segment);
    s.level = level_name(c, asked.segment_level);
    g.segments.push_back(s);
  }
  asked.contiguous = asked.segment == 0 && asked.units > 1 && one_in(5);
  g.contiguous = asked.contiguous;
  asked.replicas = one_in(3) ? between(1, copies_left) : 1;
  g.replicas = static_cast<std::uint32_t>(asked.replicas);
  const int widest = gang.rungs.back();    // narrower than what the gang requires, or the same
  if (one_in(4)) {
    asked.required = between(widest, c.cluster.levels - 1);
    if (asked.required >= 0) g.pack.require = level_name(c, asked.required);
  }
  // BlockSizes are a wish of the site: the smallest size that holds a number of nodes is required (P10).
  const int nodes_at_most = asked.nodes > 0 ? asked.nodes : asked.whole || asked.one_each ? asked.units : 0;
  const bool own = asked.replicas == 1 && asked.units > 1 && asked.segment == 0 && asked.nodes == 0 && !asked.contiguous && one_in(3);
  if (nodes_at_most > 0 && asked.segment == 0 && !own && g.pack.require.empty() && c.topology.kind == model::Topology::Kind::block)
    for (int l = 0; l < c.cluster.levels; ++l)
      if (static_cast<int>(c.topology.block_sizes[static_cast<std::size_t>(c.cluster.levels - 1 - l)]) >= nodes_at_most) asked.required = l;
  if (own) {
    asked.own_level = between(0, c.cluster.levels);
    model::Spread s;
    s.level = level_name(c, asked.own_level);
    if (one_in(2)) s.max_per_domain = count(asked.own_most = between(1, 2));
    else s.min_domains = count(asked.own_least = between(1, asked.units));
    g.spread.push_back(s);
  }
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
  for (int k = one_in(8) ? between(1, asked.nodes > 0 ? asked.nodes : asked.units) : 0; k > 0; --k)
    asked.named |= 1U << between(0, static_cast<int>(c.nodes.size()) - 1);
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if ((asked.named >> n & 1U) != 0) g.nodelist += (g.nodelist.empty() ? "" : ",") + c.shape.nodes[n].name;
  gang.groups.push_back(asked);
  c.group.children.push_back(g);
}

Case make_gang(Gang& gang) {
  Case c;
  // Where there is no room nothing is decided: most clusters have some, and most gangs may climb.
  const bool roomy = !one_in(10);
  add_nodes(c, between(roomy ? 4 : 1, 5), 4, roomy ? 20 : 3);
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
void check_ranks(const Case& c, const Gang& gang, const placement::Answer& a) {
  const auto order = walk(c.cluster);
  const placement::PlacedNode* last = nullptr;
  int first = -1, at = -1;             // places in the walk: of this copy's first node, of its node before
  for (const auto& n : a.nodes) {
    const int here = order[n.node.value];
    if (last != nullptr && n.group == last->group && n.replica == last->replica) {
      RC_ASSERT((here > at || gang.groups.at(n.group).segment > 0));  // these come segment by segment
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

// Each segment, as it is numbered, is whole and in one domain.
void check_segments(const Case& c, const Gang& gang, const placement::Answer& a) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Take> segments;
  for (const auto& n : a.nodes)
    if (gang.groups.at(n.group).segment > 0)
      segments.try_emplace({n.group, n.replica, n.segment}, Take(c.nodes.size(), 0)).first->second[n.node.value] +=
          gang.groups[n.group].whole || gang.groups[n.group].one_each ? 1 : static_cast<int>(n.tasks);
  for (const auto& [key, take] : segments) {
    const auto& asked = gang.groups[std::get<0>(key)];
    RC_ASSERT(total(take) == asked.segment);
    const auto domains = domains_at(c.cluster, asked.segment_level);
    RC_ASSERT(std::any_of(domains.begin(), domains.end(), [&](const Domain& d) { return (nodes_of(take) & ~d.nodes) == 0; }));
  }
}

}  // namespace

TEST_CASE("gangs: placed exactly when some division of all groups fits, on the narrowest rung that has one") {
  std::uint64_t placed = 0, waits = 0, limits = 0, refused = 0, weighed = 0, beside = 0, named = 0, inner = 0, copied = 0;
  std::uint64_t segments = 0, contiguous = 0, own = 0, on_nodes = 0, ranges = 0;
  check_property("engine against reference, gangs", [&] {
    Gang gang;
    const Case c = make_gang(gang);
    RC_LOG() << story(c) << "; rungs";
    for (const int r : gang.rungs) RC_LOG() << " " << r;
    std::vector<int> free;
    for (const auto& n : c.nodes) free.push_back(n.usable && !n.exclusive ? static_cast<int>(n.free.cpus.value / 1000) : 0);
    if (gang.inner > 0) RC_LOG() << fmt::format("; {} copies of {} together in {}", gang.inner_copies, gang.inner, gang.inner_required);
    for (const auto& g : gang.groups) {
      RC_LOG() << fmt::format("; {}{}{}x{} CPUs, {} copies, in {}", g.whole ? "whole " : "", g.one_each ? "nodes " : "", g.units, g.cpus,
                              g.replicas, g.required);
      RC_LOG() << fmt::format(" fewest {} nodes {} segments {}@{}{} own at {}: most {} least {}", g.fewest, g.nodes, g.segment,
                              g.segment_level, g.contiguous ? " contiguous" : "", g.own_level, g.own_most, g.own_least);
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
    const auto any = [&](const auto& of) { return std::any_of(gang.groups.begin(), gang.groups.end(), of) ? 1 : 0; };
    named += any([](const GangGroup& g) { return g.named != 0; });
    segments += any([](const GangGroup& g) { return g.segment > 0; });
    contiguous += any([](const GangGroup& g) { return g.contiguous; });
    own += any([](const GangGroup& g) { return g.own_most + g.own_least > 0; });
    on_nodes += any([](const GangGroup& g) { return g.nodes > 0; });
    ranges += any([](const GangGroup& g) { return g.fewest > 0; });
    std::vector<std::vector<Take>> takes;
    for (const auto& g : gang.groups) takes.emplace_back(static_cast<std::size_t>(g.replicas), Take(c.nodes.size(), 0));
    for (const auto& n : a.nodes) {
      const auto each = static_cast<std::size_t>(gang.groups.at(n.group).replicas);
      const bool in_copy = n.group < gang.inner;
      const auto at = in_copy ? n.replica / each * gang.inner + n.group : n.group + (gang.inner_copies - 1) * gang.inner;
      takes.at(at).at(in_copy ? n.replica % each : n.replica)[n.node.value] +=
          gang.groups[at].whole || gang.groups[at].one_each ? 1 : static_cast<int>(n.tasks);
    }
    for (std::size_t g = 0; g < takes.size(); ++g)
      for (const auto& take : takes[g]) RC_LOG() << fmt::format("g{} [{}] ", g, fmt::join(take, ","));
    RC_ASSERT(a.level == t.level_name(*expected));
    RC_ASSERT(holds(c.cluster, gang, free, takes, *expected));
    if (gang.inner_copies == 1) check_segments(c, gang, a);
    if (gang.inner_copies == 1) check_ranks(c, gang, a);
    copied += gang.inner_copies > 1 ? 1 : 0;
  });
  fmt::print(
      "oracle, gangs: {} placed ({} weight first, {} near to or away from other jobs, {} with named nodes, {} with groups inside groups, "
      "{} of these in copies, {} with segments, {} contiguous, {} spread in themselves, {} of tasks on a number of nodes, {} of ranges), "
      "{} not, {} ended by the search budget, {} refused\n",
      placed, weighed, beside, named, inner, copied, segments, contiguous, own, on_nodes, ranges, waits, limits, refused);
  CHECK(weighed > 0);
  CHECK(beside > 0);
  CHECK(named > 0);
  CHECK(inner > 0);
  CHECK(copied > 0);
  CHECK(segments > 0);
  CHECK(contiguous > 0);
  CHECK(own > 0);
  CHECK(on_nodes > 0);
  CHECK(ranges > 0);
  CHECK(4 * placed > placed + waits);  // fewer would test little
  CHECK(waits > 0);
}

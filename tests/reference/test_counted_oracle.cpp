// Counted features ("a*2&b*1") and alternatives for all nodes ("[a|b]") against every choice of nodes there is: a node serves one count
// only, what is not counted holds for all, required nodes are in. Placed exactly when some choice fits, on the narrowest rung that has
// one; where weights come first, on the cheapest nodes that do.
#include <fmt/format.h>

#include <bit>

#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

struct Counts {
  int nodes{}, most{};
  std::vector<std::pair<char, int>> counted;   // feature, at least so many nodes
  char of_all{};                               // 0: none
  bool whole{};                                // otherwise a CPU on each of so many nodes
  bool either{};                               // nothing counted: all have a, or all have b
  Set listed{};                                // -w: required or, where it names more than are asked, to choose from
  std::vector<int> rungs;                      // narrow to wide
  bool wish{};
};

bool has(const Case& c, std::size_t n, char feature) {
  const auto& own = c.shape.nodes[n].features;
  return std::find(own.begin(), own.end(), std::string(1, feature)) != own.end();
}

// Can the chosen nodes be dealt out to the counts, each to one of them?
bool dealt(const Case& c, const Counts& asked, Set chosen, std::size_t count, int missing) {
  if (count == asked.counted.size()) return true;
  if (missing == 0) return dealt(c, asked, chosen, count + 1, count + 1 < asked.counted.size() ? asked.counted[count + 1].second : 0);
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if ((chosen >> n & 1U) != 0 && has(c, n, asked.counted[count].first) && dealt(c, asked, chosen & ~(1U << n), count, missing - 1))
      return true;
  return false;
}

bool free(const Case& c, const Counts& asked, std::size_t n) {
  const auto& now = c.nodes[n];
  return asked.whole ? c.cluster.nodes[n].idle : now.usable && !now.exclusive && now.free.cpus >= base::whole_cpus(1);
}

bool fits(const Case& c, const Counts& asked, Set chosen) {
  if (std::popcount(chosen) < asked.nodes || std::popcount(chosen) > asked.most) return false;
  const bool to_choose_from = std::popcount(asked.listed) > asked.most;
  if (asked.listed != 0 && ((to_choose_from ? chosen & ~asked.listed : asked.listed & ~chosen) != 0)) return false;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if ((chosen >> n & 1U) != 0 && (!free(c, asked, n) || (asked.of_all != 0 && !has(c, n, asked.of_all)))) return false;
  const auto all_have = [&](char feature) {
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if ((chosen >> n & 1U) != 0 && !has(c, n, feature)) return false;
    return true;
  };
  return asked.either ? all_have('a') || all_have('b') : dealt(c, asked, chosen, 0, asked.counted[0].second);
}

// P11: with a wish the narrowest rung that holds the least, and on it the most nodes; without, the most nodes on the narrowest rung.
std::optional<std::pair<int, int>> rung_and_nodes(const Case& c, const Counts& asked, int weight) {
  Set dear = 0;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (c.cluster.nodes[n].weight > weight) dear |= 1U << n;
  const auto widest = domains_at(c.cluster, asked.rungs.back());  // required: a branch without that level serves on no rung
  std::pair<int, int> best{};
  for (const int level : asked.rungs) {
    for (const auto& d : domains_at(c.cluster, level))
      for (Set chosen = 1; chosen < 1U << c.nodes.size(); ++chosen)
        if ((chosen & (~d.nodes | dear)) == 0 && std::popcount(chosen) > best.second && fits(c, asked, chosen) &&
            std::any_of(widest.begin(), widest.end(), [&](const Domain& w) { return (d.nodes & ~w.nodes) == 0; }))
          best = {level, std::popcount(chosen)};
    if (asked.wish && best.second > 0) break;
  }
  return best.second > 0 ? std::optional(best) : std::nullopt;
}

std::optional<std::pair<int, int>> rung_and_nodes(const Case& c, const Counts& asked) {
  for (int weight = c.options.weight_first ? 1 : 2; weight <= 2; ++weight)
    if (const auto best = rung_and_nodes(c, asked, weight)) return best;
  return std::nullopt;
}

Case make(Counts& asked) {
  Case c;
  asked.whole = one_in(2);
  add_nodes(c, between(3, 9), asked.whole ? 1 : 3, 8);
  make_topology(c);
  for (auto& n : c.shape.nodes)
    for (const char* feature : {"a", "b", "c"})
      if (one_in(2)) n.features.emplace_back(feature);
  if (one_in(3)) {
    c.options.weight_first = true;
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      c.shape.nodes[n].weight = static_cast<std::uint32_t>(c.cluster.nodes[n].weight = between(1, 2));
  }
  int counted = (asked.either = one_in(4)) ? between(1, 3) : 0;
  if (asked.either) c.group.constraint = "[a|b]";
  for (const char feature : {'a', 'b'}) {
    if (asked.either) break;
    if (feature == 'b' && one_in(4)) continue;
    asked.counted.emplace_back(feature, between(1, 3));
    counted += asked.counted.back().second;
    c.group.constraint += fmt::format("{}{}*{}", c.group.constraint.empty() ? "" : "&", feature, asked.counted.back().second);
  }
  if (!asked.either && one_in(4)) c.group.constraint += "&c", asked.of_all = 'c';
  asked.nodes = counted + (one_in(3) ? between(1, 2) : 0);
  asked.most = asked.nodes + (one_in(3) ? between(1, 2) : 0);
  c.group.nodes_given = true;
  c.group.nodes = {static_cast<std::uint32_t>(asked.nodes), static_cast<std::uint32_t>(asked.most), {}};
  if (asked.whole) c.group.sharing = model::Sharing::exclusive_node;
  for (int k = one_in(3) ? between(1, 2) : 0; k > 0; --k) asked.listed |= 1U << between(0, static_cast<int>(c.nodes.size()) - 1);
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if ((asked.listed >> n & 1U) != 0) c.group.nodelist += (c.group.nodelist.empty() ? "" : ",") + c.shape.nodes[n].name;
  // Blocks have rungs of their own where no level is named.
  const bool near = asked.wish = c.topology.kind == model::Topology::Kind::block || !one_in(3);
  const int first = near ? between(-1, c.cluster.levels - 1) : c.cluster.levels - 1, last = near && one_in(3) ? between(-1, first) : -1;
  for (int l = first; l >= last; --l) asked.rungs.push_back(l);
  if (near) c.group.pack.prefer = level_name(c, first);
  if (last >= 0) c.group.pack.require = level_name(c, last);
  return c;
}

}  // namespace

TEST_CASE("counted features: placed exactly when some choice of nodes has all counts, on the narrowest rung that has one") {
  std::uint64_t placed = 0, waits = 0, limits = 0, refused = 0, named = 0, weighed = 0, either = 0;
  check_property("engine against reference, counted features", [&] {
    Counts asked;
    const Case c = make(asked);
    RC_LOG() << story(c) << "; " << asked.nodes << "-" << asked.most << " nodes, " << c.group.constraint << " -w " << c.group.nodelist
             << "; rungs";
    for (const int r : asked.rungs) RC_LOG() << " " << r;
    for (const auto& n : c.shape.nodes) RC_LOG() << fmt::format(" {}:{}${}", n.name, fmt::join(n.features, ""), n.weight);
    const auto t = c.index();
    if (const auto ok = placement::check_request(c.group, t); !ok) {
      RC_LOG() << to_text(ok.error());
      ++refused;
      return;
    }
    const auto a = placement::place(c.group, c.shape, t, c.nodes, c.options);
    const auto expected = rung_and_nodes(c, asked);
    RC_LOG() << "\nengine: " << (a.placed() ? "placed on " + a.level : a.verdict.detail)
             << "; reference: " << (expected ? expected->first : -9) << " with " << (expected ? expected->second : 0) << "\n";
    if (a.verdict.reason == model::Reason::search_limit) {
      ++limits;
      return;
    }
    RC_ASSERT(a.placed() == expected.has_value());
    if (!expected) {
      ++waits;
      return;
    }
    ++placed;
    named += asked.listed != 0 ? 1 : 0;
    weighed += c.options.weight_first ? 1 : 0;
    either += asked.either ? 1 : 0;
    Set chosen = 0;
    for (const auto& n : a.nodes) {
      RC_ASSERT((chosen >> n.node.value & 1U) == 0U);
      chosen |= 1U << n.node.value;
      RC_LOG() << " n0" << n.node.value;
    }
    RC_ASSERT(fits(c, asked, chosen));
    RC_ASSERT(a.level == t.level_name(expected->first));
    RC_ASSERT(static_cast<int>(a.nodes.size()) == expected->second);
  });
  fmt::print(
      "oracle, counted features: {} placed ({} with named nodes, {} weight first, {} of them [a|b]), {} not, {} ended by the search "
      "budget, {} refused\n",
      placed, named, weighed, either, waits, limits, refused);
  CHECK(named > 0);
  CHECK(weighed > 0);
  CHECK(either > 0);
  CHECK(4 * placed > placed + waits);
  CHECK(waits > 0);
}

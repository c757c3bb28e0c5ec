// How good placements are, told afterwards: domains against the least possible, free pieces, what each domain's nodes do.
#include "lab.hpp"
#include "sched/placement/quality.hpp"

using namespace lab;
namespace placement = sy::sched::placement;

namespace {
// Two racks of four nodes below one spine: n1…n8.
Lab fabric() {
  auto l = Lab::tree({"spine", "rack"});
  l.domain("s").domain("r1", "s").domain("r2", "s");
  return l.wholes("r1", "n", 1, 4).wholes("r2", "n", 5, 4);
}
std::vector<base::NodeIndex> at(std::initializer_list<std::uint32_t> list) {
  std::vector<base::NodeIndex> out;
  for (const auto n : list) out.push_back(base::NodeIndex{n});
  return out;
}
}  // namespace

TEST_CASE("a job's quality is the leaves it uses against the fewest that could hold it, and the level that holds it whole") {
  const auto t = fabric().dense();
  auto q = placement::quality_of(t, at({0, 4}));
  CHECK(q.used == 2);
  CHECK(q.least == 1);
  CHECK(q.level == "spine");
  q = placement::quality_of(t, at({0, 1, 2}));
  CHECK(q.used == 1);
  CHECK(q.least == 1);
  CHECK(q.level == "rack");
  CHECK(placement::quality_of(t, at({0, 1, 2, 3, 4})).least == 2);
}

TEST_CASE("the largest free piece of each level, and what the nodes of each domain do") {
  auto l = fabric().busy("n[1,5-6]");
  l.nodes[6].usable = false;
  l.nodes[6].drained = true;
  l.nodes[1].usable = false;
  const auto t = l.dense();
  const auto free = placement::largest_free(t, l.nodes);
  REQUIRE(free.size() == 3);
  CHECK(free[2].level == "rack");
  CHECK(free[2].domain == "r1");
  CHECK(free[2].free == 2);
  CHECK(free[1].free == 3);
  const auto uses = placement::domain_uses(t, l.nodes);
  const auto r2 = uses[*t.find_domain("r2")];
  CHECK(r2.nodes == 4);
  CHECK(r2.busy == 2);
  CHECK(r2.drained == 1);
  CHECK(r2.free == 1);
  CHECK(uses[*t.find_domain("r1")].down == 1);
}

TEST_CASE("the units of a spread group are ranked along the path, not in the order in which they found a place") {
  auto l = fabric();
  Group g = whole(4);
  g.spread = {{"rack", model::Spread::Mode::require, {}, 50, {}, {}}};
  const auto a = l.ask(g);
  REQUIRE(a.placed());
  for (std::size_t i = 1; i < a.nodes.size(); ++i) CHECK(a.nodes[i - 1].node.value < a.nodes[i].node.value);
}

TEST_CASE("a spread group that asks for nodes gets as many, also where one node could hold several of its units") {
  auto l = Lab::tree({"rack"});
  l.domain("r1").slots("r1", {4, 4}).domain("r2").slots("r2", {4, 4});
  Group g;
  g.nodes = {4, 4, {}};
  g.nodes_given = true;
  g.spread = {{"rack", model::Spread::Mode::require, 2, {}, {}, {}}};
  CHECK(l.where(g) == "r1-1:1 r1-2:1 r2-1:1 r2-2:1");
}

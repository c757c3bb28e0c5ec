// What the oracle (tests/reference) found wrong, one small case each.
#include "lab.hpp"

using namespace sy;
using namespace lab;
namespace placement = sy::sched::placement;

TEST_CASE("found by the oracle: a required node outside the segments' level is not dropped where a shorter segment is allowed") {
  auto l = Lab::tree({"rack", "chassis"}).domain("A").domain("a", "A").slots("a", {1, 3}).domain("B").slots("B", {1});
  auto g = with_segment(tasks(2), 1, "chassis");
  g.segments[0].remainder = model::Segment::Remainder::shorter;
  g.nodelist = "a-1";
  CHECK(l.where(g) == "a-1:1 a-2:1");
  g.nodelist = "B-1";
  CHECK(l.where(g) == "never");
}

TEST_CASE("found by the oracle: with a shorter segment, fewer nodes are taken where the most would leave out a required one") {
  // Four would be two whole segments of two; b1 has no neighbour for one, but a segment of one of three fits.
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 4).domain("B").wholes("B", "b", 1, 1);
  auto g = with_segment(whole(3), 2, "rack");
  g.nodes.max = 4;
  g.segments[0].remainder = model::Segment::Remainder::shorter;
  g.nodelist = "b1";
  CHECK(l.hosts(g) == "a[1-2],b1");
}

TEST_CASE("found by the oracle: of nodes with as many whole segments the one with the least left over is taken") {
  const auto l = Lab::tree({"rack"}).domain("A").slots("A", {3, 2});
  auto g = with_segment(tasks(2), 2, "node");
  g.pack.order = model::PackOrder::own_first;
  CHECK(l.where(g) == "A-2:2");
}

TEST_CASE("found by the oracle: one domain on a rung of two is rated by the child domains it uses") {
  auto l = Lab::tree({"spine", "rack"}).domain("S").rack("a", "S", {1}).rack("b", "S", {1}).domain("T").rack("c", "T", {1, 1});
  auto g = whole(2);
  g.sharing = model::Sharing::shared;
  g.pack.ladder = {{"spine", 2, {}}};
  g.pack.order = model::PackOrder::parent_first;
  CHECK(l.hosts(g) == "c-[1-2]");
}

TEST_CASE("found by the oracle: GRES of a job on several domains does not drop a required node out of the topology's reach") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 2).domain("B").wholes("B", "b", 1, 1).wholes("", "x", 1, 1);
  l.topology.joined = false;
  for (auto& n : l.shape.nodes) n.total.add_gres("gpu", "", 2);
  for (auto& n : l.nodes) n.free.add_gres("gpu", "", 2);
  Group g;
  g.nodes = {1, 2, {}};
  g.nodes_given = true;
  g.gres_per_job = {{"gpu", "", 2}};
  g.pack.ladder = {{"rack", 2, {}}};
  g.nodelist = "a1";
  CHECK(l.ask(g).placed());
  g.nodelist = "x1";
  CHECK(l.hosts(g) == "never");
}

TEST_CASE("found by the oracle: of branches of unequal depth the shallow one comes first, before names") {
  auto l = Lab::tree({"spine", "rack"}).domain("S").domain("a", "S").slots("a", {2}).domain("x").slots("x", {2});
  l.topology.domains[l.domain_at.at("x")].level = 1;
  auto g = prefer(tasks(1), "rack");
  g.pack.order = model::PackOrder::parent_first;
  CHECK(l.where(g) == "x-1:1");
}

TEST_CASE("found by the oracle: a job that wants its nodes for itself closes them") {
  const auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 2);
  auto g = whole(1);
  g.sharing = model::Sharing::shared;
  g.exclusive_level = "node";
  CHECK(l.ask(g).closed == std::vector{base::NodeIndex{0}});
}

TEST_CASE("found by the oracle: cheaper nodes come first for a job with an exclusive domain too") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 2).domain("B").wholes("B", "b", 1, 3);
  for (auto& n : l.shape.nodes) n.weight = n.name[0] == 'b' ? 1 : 10;
  auto g = whole(2);
  g.exclusive_level = "rack";
  placement::Options o;
  o.weight_first = true;
  CHECK(l.hosts(g, o) == "b[1-2]");
}

TEST_CASE("found by the oracle: neighbours on a rung of two racks stay inside two racks") {
  auto l = Lab::tree({"rack"});
  for (const char* rack : {"A", "B", "C"}) l.domain(rack).slots(rack, {1});
  l.domain("D").slots("D", {0, 1, 1}).domain("E").slots("E", {1, 1});
  auto g = whole(3);  // A-1, B-1 and C-1 would be the tightest run, over three racks
  g.sharing = model::Sharing::shared;
  g.contiguous = true;
  g.pack.ladder = {{"rack", 2, {}}};
  CHECK(l.hosts(g) == "D-[2-3],E-1");
}

TEST_CASE("found by the oracle: tasks on neighbours reach every required node") {
  const auto l = Lab::tree({"rack"}).domain("A").slots("A", {4, 4, 4, 4});
  auto g = tasks(4);
  g.contiguous = true;
  g.nodelist = "A-[2,4]";
  CHECK(l.where(g) == "A-2:2 A-3:1 A-4:1");
  g.tasks = 2;
  CHECK(l.where(g) == "never");
}

TEST_CASE("found by the oracle: a short run of neighbours is taken where a longer one lacks the GRES") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 6).busy("a4");
  for (const char* name : {"a5", "a6"}) {
    l.shape.nodes[l.index(name)].total.add_gres("gpu", "", 2);
    l.nodes[l.index(name)].free.add_gres("gpu", "", 2);
  }
  Group g = require(whole(2), "rack");
  g.nodes = {2, 3, {}};
  g.contiguous = true;
  g.gres_per_job = {{"gpu", "", 4}};
  CHECK(l.hosts(g) == "a[5-6]");
}

TEST_CASE("found by the oracle: nodes that only together hold the tasks are on the fewest leaves, not the fullest") {
  // A has the most nodes and is no help; the largest nodes of all lie on three leaves.
  const auto l = Lab::tree({"rack"}).rack("A", "", {1, 1, 1, 1}).rack("B", "", {2}).rack("C", "", {2}).rack("D", "", {3, 2});
  auto g = whole(3);
  g.sharing = model::Sharing::shared;
  g.tasks = 7;
  g.tasks_given = true;
  CHECK(l.ask(g).leaves_used == 2);
  CHECK(l.where(g) == "B-1:2 D-1:3 D-2:2");
}

TEST_CASE("found by the oracle: a required node that is busy is not covered by a shorter segment beside it") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 4).busy("a2");
  auto g = with_segment(whole(3), 2, "rack");
  g.segments[0].remainder = model::Segment::Remainder::shorter;
  g.nodelist = "a[2,4]";
  CHECK(l.hosts(g) == "not now");
}

TEST_CASE("found by the oracle: an empty block between neighbours is none of the domains they are in") {
  auto l = Lab::blocks({1});
  for (const char* block : {"A", "B", "C"}) l.domain(block);
  l.wholes("A", "a", 1, 1).wholes("C", "c", 1, 1);
  auto g = whole(2);
  g.contiguous = true;
  g.pack.ladder = {{"block", 2, {}}};
  CHECK(l.hosts(g) == "a1,c1");
}

TEST_CASE("found by the oracle: of trees that nothing joins, the one with fewer nodes is taken where it has the GRES") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 2).domain("B").wholes("B", "b", 1, 1);
  l.topology.joined = false;
  l.shape.nodes[l.index("b1")].total.add_gres("gpu", "", 2);
  l.nodes[l.index("b1")].free.add_gres("gpu", "", 2);
  auto g = whole(1);
  g.nodes = {1, 2, {}};
  g.gres_per_job = {{"gpu", "", 1}};
  CHECK(l.hosts(g) == "b1");
}

TEST_CASE("found by the oracle: nodes that another group can tell apart are not alike to a gang's search") {
  // Only A-1 may hold "far", and all of it: the pair must leave it alone, though to the pair the three are alike.
  const auto l = Lab::tree({"rack"}).rack("A", "", {2, 2, 2});
  Group far = tasks(1, 2), pair = tasks(2, 2), gang;
  far.name = "far";
  pair.name = "pair";
  gang.children = {pair, far};
  sched::placement::Options o;
  o.members = {{"job:x", base::NodeIndex{l.index("A-2")}}, {"job:x", base::NodeIndex{l.index("A-3")}}};
  gang.children[1].anti_affinity = {{"node", "job:x", true}};
  CHECK(l.where(gang, o) == "A-2:1 A-3:1 A-1:1");
  gang.children[1].anti_affinity.clear();
  gang.children[1].exclude = "A-[2-3]";
  CHECK(l.where(gang) == "A-2:1 A-3:1 A-1:1");
}

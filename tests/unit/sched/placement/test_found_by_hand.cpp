// What a tester found wrong by trying requests, one small case each.
#include "lab.hpp"

using namespace sy;
using namespace lab;

namespace {

Group of(std::vector<Group> children) {
  Group g;
  for (std::size_t i = 0; i < children.size(); ++i)
    if (children[i].name.empty()) children[i].name = "g" + std::to_string(i);
  g.children = std::move(children);
  return g;
}
Group nodes(std::uint32_t n) {
  auto g = whole(n);
  g.sharing = model::Sharing::shared;
  return g;
}
Group copies(Group g, std::uint32_t n, std::uint32_t least = 0) {
  g.replicas = n;
  g.min_replicas = least;
  return g;
}
Group spread(Group g, const std::string& level, std::optional<std::uint32_t> min = {}) {
  model::Spread s;
  s.level = level;
  s.min_domains = min;
  g.spread = {s};
  return g;
}
// Four racks of four nodes below two spines: n1 to n16.
Lab four_racks(std::int64_t cpus = 4) {
  auto l = Lab::tree({"spine", "rack"}).domain("S").domain("T");
  for (int rack = 0; rack < 4; ++rack) {
    const std::string name = "r" + std::to_string(rack);
    l.domain(name, rack < 2 ? "S" : "T");
    for (int i = 1; i <= 4; ++i) l.node_cpu(name, "n" + std::to_string(4 * rack + i), 1000 * cpus, 1000 * cpus);
  }
  return l;
}
void features(Lab& l, const std::string& hostlist, const std::string& feature) {
  const auto names = base::expand_hostlist(hostlist);
  REQUIRE(names);
  for (const auto& name : *names) {
    auto& own = l.shape.nodes[l.index(name)].features;
    own.push_back(feature);
    std::sort(own.begin(), own.end());
  }
}

}  // namespace

TEST_CASE("found by hand: beside a number of tasks, tasks per node are the most, and none is lost") {
  auto l = Lab::tree({"rack"}).domain("A").node_cpu("A", "a1", 4000, 4000).node_cpu("A", "a2", 1000, 1000);
  auto g = tasks(5);
  g.nodes_given = true;
  g.nodes = {2, 2, {}};
  g.tasks_per_node = 4;
  CHECK(l.where(g) == "a1:4 a2:1");
  g.tasks = 4;
  g.tasks_per_node = 2;
  CHECK(l.where(g) == "never");        // a1 takes two of four, a2 one
  g.tasks = 40;
  g.tasks_per_node = 1;
  CHECK(l.ask(g).verdict.detail.find("40 tasks are more than 1 on each of 2 nodes") != std::string::npos);
  CHECK(four_racks(40).where(with_segment(g, 2, "rack")) == "never");
  g.nodes = {1, 3, {}};
  g.tasks = 6;
  g.tasks_per_node = 2;
  CHECK(four_racks().where(g) == "n1:2 n2:2 n3:2");
}

TEST_CASE("found by hand: where another division of tasks might fit, it is not said that the job can never start") {
  auto l = Lab::tree({"rack"}).domain("A").node_cpu("A", "a1", 4000, 4000).node_cpu("A", "a2", 1000, 1000);
  auto g = with_segment(tasks(5), 2, "rack");
  g.nodes_given = true;
  g.nodes = {2, 2, {}};
  CHECK(l.ask(g).verdict.reason == model::Reason::search_limit);
  // Three on each of two nodes would leave no room for w: v takes 4+1.
  auto shared = Lab::tree({"rack"}).domain("A").node_cpu("A", "a1", 4000, 4000).node_cpu("A", "a2", 4000, 4000);
  auto v = tasks(5);
  v.nodes_given = true;
  v.nodes = {2, 2, {}};
  CHECK(shared.where(of({v, tasks(1, 3)})) == "a1:4 a2:2");
  CHECK(shared.where(of({v, tasks(4, 1)})) == "never");  // nine CPUs of eight
}

TEST_CASE("found by hand: all nodes of a group have the same of [a|b], in a gang and behind & too") {
  auto l = four_racks();
  features(l, "n[1-8]", "x");
  features(l, "n[1-4]", "a");
  features(l, "n[5-8]", "b");
  auto g = nodes(6);
  g.constraint = "x&[a|b]";
  CHECK(l.hosts(g) == "never");
  g.nodes = {4, 4, {}};
  CHECK(l.hosts(g) == "n[1-4]");
  g.constraint = "[a|b]";
  l.busy("n1");
  CHECK(l.hosts(of({g, tasks(1)})) == "n[5-8]");
  l.busy("n5");
  CHECK(l.hosts(of({g, tasks(1)})) == "not now");
}

TEST_CASE("found by hand: counted features take as many nodes as are asked, on nodes with room for several") {
  auto l = four_racks();
  features(l, "n[1-8]", "a");
  auto g = nodes(4);
  g.constraint = "a*2";
  CHECK(l.hosts(g) == "n[1-4]");
  features(l, "n[9-10]", "b");
  g.constraint = "[a*2&b*2]";
  CHECK(l.ask(g).nodes.size() == 4);
}

TEST_CASE("found by hand: a wish to be spread means something inside a gang") {
  const auto l = four_racks();
  CHECK(l.hosts(of({
            copies(nodes(1), 4),
        })) == "n1");
  CHECK(l.hosts(of({spread(copies(nodes(1), 4), "rack")})) == "n[1,5,9,13]");
  CHECK(l.hosts(of({spread(nodes(4), "rack")})) == "n[1,5,9,13]");
  auto wish = spread(copies(nodes(2), 2), "spine");
  wish.spread[0].max_per_domain = 1;
  wish.spread[0].mode = model::Spread::Mode::prefer;
  CHECK(l.ask(of({wish})).level == "any");
}

TEST_CASE("found by hand: fewer copies, or units, than asked still stand in as many domains as the spread asks") {
  auto l = four_racks().busy("n[2-4,6-16]");
  const auto g = of({spread(copies(nodes(1), 4, 2), "rack", 3)});
  CHECK(l.hosts(g) == "not now");
  l = four_racks().busy("n[2-4,6-8,10-16]");
  CHECK(l.ask(g).placed());
  auto v = spread(nodes(4), "rack", 3);
  v.nodes.min = 2;
  CHECK(l.ask(of({v, tasks(1)})).placed());
}

TEST_CASE("found by hand: of more copies than a search goes through, the least are placed, and too many for the CPUs are never") {
  const auto l = four_racks(1);
  CHECK(l.ask(of({copies(nodes(1), 2000, 3)})).nodes.size() == 16);
  CHECK(l.where(of({copies(nodes(1), 2000)})) == "never");
}

TEST_CASE("found by hand: domains with too few CPUs for all copies inside are not searched") {
  const auto l = four_racks(1);
  auto c = of({copies(nodes(1), 8)});
  c.replicas = 2;
  const auto a = l.ask(of({c}));
  CHECK(a.nodes.size() == 16);
  CHECK(a.work.search_steps < 1000);
}

TEST_CASE("found by hand: wishes wider than the level that holds all of a gang are refused, naming the group") {
  const auto l = four_racks();
  auto g = of({prefer(nodes(2), "spine"), nodes(1)});
  g.pack.require = "rack";
  const auto v = l.ask(g).verdict;
  CHECK(v.kind == model::Verdict::Kind::never);
  CHECK(v.detail.find("--near: group g0") != std::string::npos);
  g.children[0].pack.prefer = "rack";
  CHECK(l.ask(g).placed());
}

TEST_CASE("found by hand: a range with a wish takes less before a wider rung in a gang too, and counted features take the most") {
  const auto l = four_racks(1);
  auto g = prefer(nodes(6), "rack");
  g.nodes.min = 2;
  CHECK(l.hosts(g) == "n[1-4]");
  CHECK(l.ask(of({g})).level == "rack");
  CHECK(l.ask(of({g})).nodes.size() == 4);
  auto some = four_racks(1);
  features(some, "n[1-2]", "a");
  auto counted = nodes(6);
  counted.nodes.min = 2;
  counted.constraint = "a*2";
  CHECK(some.ask(counted).nodes.size() == 6);
}

TEST_CASE("found by hand: segments, contiguous nodes and tasks on N nodes find the place that the other groups leave them") {
  auto l = four_racks(1).busy("n[1,7-8,11-16]");  // free: three in the first rack, two in the next, two in the third
  CHECK(l.hosts(of({with_segment(nodes(4), 2, "rack"), require(nodes(3), "rack")})) == "n[2-6,9-10]");
  auto run = four_racks(1).busy("n[5-16]");
  auto in_a_row = nodes(3), one = nodes(1);
  in_a_row.contiguous = true;
  in_a_row.nodelist = "n[2-3]";
  one.nodelist = "n1";
  CHECK(run.hosts(of({in_a_row, one})) == "n[1-4]");
  // Ten tasks on four nodes of four CPUs as 4+4+1+1 leave six together on none: 3+3+2+2 do.
  auto shared = four_racks().busy("n[5-16]");
  auto v = tasks(10);
  v.nodes_given = true;
  v.nodes = {4, 4, {}};
  const auto a = shared.ask(of({v, tasks(6)}));
  REQUIRE(a.placed());
  std::uint32_t sum = 0;
  for (const auto& n : a.nodes) sum += n.tasks;
  CHECK(sum == 16);
}

TEST_CASE("found by hand: a verdict names what is in the way") {
  const auto told = [](const Lab& l, const Group& g) { return to_text(l.ask(g).verdict); };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  auto g = whole(3);
  g.nodelist = "n1";
  has(told(four_racks().busy("n1"), g), "n1, named by --nodelist, is busy");
  auto wide = tasks(2, 5);
  wide.nodes_given = true;
  wide.nodes = {2, 2, {}};
  wide.nodelist = "n1";
  has(told(four_racks(), wide), "it can never start");
  has(told(four_racks(), wide), "n1, named by --nodelist, is not fit for it");
  g.nodes = {4, 4, {}};
  g.nodelist = "n[1,5,9]";
  has(told(four_racks(), with_segment(g, 2, "rack")), "not with n[1,5,9], named by --nodelist");
  auto some = tasks(5, 2);  // of four free CPUs on each of two nodes: two tasks each
  some.nodes_given = true;
  some.nodes = {1, 4, {}};
  has(told(four_racks().busy("n[1-2,5-16]"), some), "14 busy; 4 of 5 tasks fit on 2 nodes");
  has(told(four_racks().busy("n[1-4]"), spread(whole(4), "rack", 4)),
      "12 nodes free, 4 asked: 4 busy; --spread rack:min=4: 3 of 4 domains");
  auto counted = whole(8);
  counted.constraint = "a*2";
  auto l = four_racks().busy("n[5-16]");
  features(l, "n[1-8]", "a");
  has(told(l, counted), "12 busy");
  // Two trees that nothing joins.
  auto apart = Lab::tree({"rack"}).rack("A", "", {1, 1}).rack("B", "", {1, 1});
  apart.topology.joined = false;
  has(told(apart, nodes(3)), "4 in all, but no job spans the trees");
}

TEST_CASE("found by hand: the verdict of a gang names the group, the node and the domain that hold it up") {
  const auto ask = [](const Lab& l, const Group& g) { return l.ask(g).verdict; };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  auto v = require(whole(2), "rack"), u = require(whole(3), "rack");
  v.name = "v";
  u.name = "u";
  const auto two_free = ask(four_racks().busy("n[1-2,5-6,9-10,13-14]"), of({v, u}));
  has(to_text(two_free), "no place for u");
  CHECK(two_free.rungs.back().best.at(0).offered == 1);  // v has room, u has none in any rack
  CHECK(two_free.rungs.back().best.at(0).asked == 2);
  auto lead = tasks(1);
  lead.name = "lead";
  lead.nodelist = "n2";
  has(to_text(ask(four_racks().busy("n2"), of({lead, whole(10)}))), "lead: n2, named by --nodelist, is busy");
  auto alone = of({whole(2)});
  alone.exclusive_level = "rack";
  has(to_text(ask(four_racks().busy("n[1,5,9,13]"), alone)), "12 free nodes are in a rack that others use");
  u.nodes = {5, 5, {}};
  const auto never = ask(four_racks(), of({u}));
  CHECK(never.kind == model::Verdict::Kind::never);
  has(to_text(never), "no place for u");
  CHECK(to_text(never).find("together") == std::string::npos);
}

TEST_CASE("found by hand: the least leaves of a gang are those it would use on an idle cluster") {
  const auto l = four_racks().busy("n[1-3,5-7,9-16]");
  const auto a = l.ask(of({whole(2)}));
  CHECK(l.hosts(of({whole(2)})) == "n[4,8]");
  CHECK(a.leaves_used == 2);
  CHECK(a.leaves_least == 1);
}

TEST_CASE("found by hand: a list of node counts in a gang takes the most that there is room for") {
  const auto l = four_racks().busy("n[9-16]");
  auto b = whole(4);
  b.nodes = {2, 4, {2, 4}};
  CHECK(l.hosts(of({whole(2), b})) == "n[1-6]");
  CHECK(l.hosts(of({whole(5), b})) == "n[1-7]");
}

TEST_CASE("found by hand: in a group with replicas an affinity means the group of the same copy") {
  auto leader = whole(1), worker = whole(1), rep = of({leader, worker});
  rep.name = "rep";
  rep.replicas = 2;
  rep.children[1].affinity = {{"rack", "g0", true}};
  // Three nodes free in the first rack, one in the next: the leader there would have its worker in another's rack.
  CHECK(four_racks().busy("n[4,6-16]").hosts(of({rep})) == "not now");
  CHECK(four_racks().busy("n[4,7-16]").hosts(of({rep})) == "n[1-2,5-6]");
}

TEST_CASE("found by hand: a group without hope ends the search at once, and a container that bounds nothing changes nothing") {
  auto l = Lab::tree({"rack"}).rack("A", "", {1, 2, 1}).rack("B", "", {2, 3}).rack("C", "", {2, 3});
  Group a = spread(nodes(2), "rack"), b = tasks(4, 2), c = copies(nodes(2), 2);
  a.spread[0].max_per_domain = 1;
  b.segments.push_back({"rack", 0, {3, 1}, model::Segment::Remainder::forbid, false, false});
  b.anti_affinity = {{"rack", "g0", true}};
  const auto never = l.ask(of({a, b, c}));
  CHECK(never.verdict.detail.find("no place for g1") != std::string::npos);
  CHECK(never.work.search_steps < 2'000);
  // Eight nodes; b stands side by side, and is placed first also where it is in a group of its own.
  auto m = Lab::tree({"rack"}).rack("A", "", {3, 2, 2, 0}).rack("B", "", {1, 3}).rack("C", "", {1, 0});
  auto side = tasks(6);
  side.nodes_given = true;
  side.nodes = {3, 3, {}};
  side.contiguous = true;
  auto pairs = of({nodes(2)});
  pairs.name = "pairs";
  pairs.replicas = 2;
  auto alone = of({side});
  alone.name = "alone";
  CHECK(m.hosts(of({pairs, alone})) == m.hosts(of({pairs, side})));
  CHECK(m.ask(of({pairs, alone})).placed());
}

TEST_CASE("found by hand: counts in a verdict are what they say") {
  const auto has = [](const Lab& l, const Group& g, const std::string& part) {
    const auto text = to_text(l.ask(g).verdict);
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  auto nine = tasks(9);
  nine.nodes_given = true;
  nine.nodes = {2, 2, {}};
  has(four_racks(), nine, "8 of 9 tasks fit on 2 nodes");
  CHECK(four_racks().ask(nine).verdict.rungs.front().best.front().offered == 4);  // nodes that hold some
  auto down = four_racks().busy("n1");
  down.nodes[15].usable = false;
  has(down, whole(16), "15 of 16");
  auto gold = four_racks();
  features(gold, "n[1-3]", "a");
  auto counted = nodes(5);
  counted.constraint = "a*4";
  has(gold, counted, "3 of 4 nodes with a");
  auto trees = Lab::tree({"rack"}).rack("A", "", {1, 1}).rack("B", "", {1, 1});
  trees.topology.joined = false;
  has(trees, of({nodes(2), nodes(1)}), "no job spans the trees");
  auto lead = whole(1), work = whole(1);
  lead.nodelist = "n1";
  work.nodelist = "n6";
  has(four_racks().busy("n[1,6]"), of({lead, work}), "g0: n1, named by --nodelist, is busy; g1: n6, named by --nodelist, is busy");
}

TEST_CASE("found by hand: whether a gang could ever run is asked of its least, however many copies it wishes for") {
  const auto l = four_racks();
  const auto g = of({spread(copies(tasks(1), 1'000'000, 1), "rack")});
  const auto a = sched::placement::place_on_idle(g, l.shape, l.dense(), {});
  CHECK(a.nodes.size() == 1);
  CHECK(a.work.search_steps < 100);
}

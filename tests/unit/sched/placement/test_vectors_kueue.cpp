// Behaviour vectors KQ: what Kueue's topology-aware scheduling does, under our model.
#include "lab.hpp"

using namespace lab;
using model::PackFill;

namespace {

Lab tree_d() {
  return Lab::tree({"block", "rack"})
      .domain("b1")
      .rack("b1r1", "b1", {1})
      .rack("b1r2", "b1", {3})
      .domain("b2")
      .rack("b2r1", "b2", {1})
      .rack("b2r2", "b2", {2});
}
// Hosts of one rack in one block.
Lab one_rack(std::vector<int> hosts) { return Lab::tree({"block", "rack"}).domain("b1").rack("h", "b1", std::move(hosts)); }

Group fill(Group g, PackFill f) {
  g.pack.fill = f;
  return g;
}
Group unconstrained(Group g) {
  g.pack.ladder = {{"any", 1, {}}};
  return g;
}

}  // namespace

TEST_CASE("KQ1: three tasks that require a rack go to the rack with three slots") {
  CHECK(tree_d().where(require(tasks(3), "rack")) == "b1r2-1:3");
}
TEST_CASE("KQ2: two tasks that require a rack go to the tightest") { CHECK(tree_d().where(require(tasks(2), "rack")) == "b2r2-1:2"); }
TEST_CASE("KQ3: four tasks that require a rack wait, and the best offers three of four") {
  const auto a = tree_d().ask(require(tasks(4), "rack"));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  REQUIRE(a.verdict.rungs.size() == 1);
  CHECK(a.verdict.rungs[0].best[0] == model::DomainCount{"b1r2", 3, 4});
}
TEST_CASE("KQ4: one task that requires a block goes to the tightest rack of the tightest block") {
  CHECK(tree_d().where(require(tasks(1), "block")) == "b2r1-1:1");
}
TEST_CASE("KQ5: four tasks that require a block fill the one that holds them") {
  CHECK(tree_d().where(require(tasks(4), "block")) == "b1r1-1:1 b1r2-1:3");
}
TEST_CASE("KQ6: five tasks that require a block wait, four of five") {
  const auto a = tree_d().ask(require(tasks(5), "block"));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.rungs[0].best[0] == model::DomainCount{"b1", 4, 5});
}
TEST_CASE("KQ7: four tasks that prefer a rack climb to the block") {
  CHECK(tree_d().where(prefer(tasks(4), "rack")) == "b1r1-1:1 b1r2-1:3");
}
TEST_CASE("KQ8: six tasks that prefer a rack or a block span both blocks and leave the smallest hole") {
  CHECK(tree_d().where(prefer(tasks(6), "rack")) == "b1r1-1:1 b1r2-1:3 b2r2-1:2");
  CHECK(tree_d().where(prefer(tasks(6), "block")) == "b1r1-1:1 b1r2-1:3 b2r2-1:2");
}
TEST_CASE("KQ10: ten tasks that prefer a block wait, seven of ten") {
  const auto a = tree_d().ask(prefer(tasks(10), "block"));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.rungs.back().best[0] == model::DomainCount{"any", 7, 10});
}
TEST_CASE("KQ11: the largest block first, the last one the tightest for the rest") {
  const auto l = Lab::tree({"block"}).domain("b1").slots("b1", {2}).domain("b2").slots("b2", {1}).domain("b3").slots("b3", {4});
  CHECK(l.where(prefer(tasks(5), "block")) == "b2-1:1 b3-1:4");
}
TEST_CASE("KQ14: host slices of two on hosts of three") {
  CHECK(one_rack({3, 3, 3}).where(with_segment(tasks(6), 2, "node")) == "h-1:2 h-2:2 h-3:2");
}
TEST_CASE("KQ15: host slices count whole slices and end with the tightest") {
  CHECK(one_rack({6, 5, 4, 2}).where(with_segment(tasks(12), 2, "node")) == "h-1:6 h-3:4 h-4:2");
}
TEST_CASE("KQ17: between hosts with one slice each the one with fewer slots") {
  CHECK(one_rack({4, 3, 2}).where(with_segment(tasks(6), 2, "node")) == "h-1:4 h-3:2");
}
TEST_CASE("KQ20: rack slices of three do not fit racks of two: none of two") {
  const auto l = Lab::tree({"block", "rack"}).domain("b1").rack("r1", "b1", {2}).rack("r2", "b1", {2}).rack("r3", "b1", {2});
  const auto a = l.ask(with_segment(tasks(6), 3, "rack"));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  REQUIRE(a.layers.size() == 1);
  CHECK(a.layers[0] == sched::placement::LayerCount{"rack", 3, 0, 2});
}
TEST_CASE("KQ22: rack slices of three go to the block whose racks hold them") {
  const auto l = Lab::tree({"block", "rack"})
                     .domain("b1")
                     .rack("p", "b1", {2})
                     .rack("q", "b1", {2})
                     .rack("r", "b1", {2})
                     .domain("b2")
                     .rack("s", "b2", {3})
                     .rack("u", "b2", {3});
  CHECK(l.where(with_segment(tasks(6), 3, "rack")) == "s-1:3 u-1:3");
}
TEST_CASE("KQ23: slices in slices: four on one host of each rack") {
  const auto l = Lab::tree({"block", "rack"}).domain("b1").rack("r1", "b1", {1, 4}).rack("r2", "b1", {3, 4});
  CHECK(l.where(require(with_segment(with_segment(tasks(8), 4, "rack"), 2, "node"), "block")) == "r1-2:4 r2-2:4");
}
TEST_CASE("KQ24: each layer of slices says how far it came") {
  const auto l = Lab::tree({"block", "rack"}).domain("b1").rack("r", "b1", {3, 3, 0});
  const auto a = l.ask(with_segment(with_segment(tasks(6), 6, "rack"), 2, "node"));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  REQUIRE(a.layers.size() == 2);
  CHECK(a.layers[0] == sched::placement::LayerCount{"rack", 6, 0, 1});
  CHECK(a.layers[1] == sched::placement::LayerCount{"node", 2, 2, 3});
}
TEST_CASE("KQ26: unconstrained tasks fill the least free first") {
  const auto l = Lab::tree({"block", "rack"}).domain("b1").rack("b1r1", "b1", {4, 1, 1}).domain("b2").rack("b2r1", "b2", {2, 1});
  CHECK(l.where(unconstrained(fill(tasks(6), PackFill::least_free))) == "b1r1-1:1 b1r1-2:1 b1r1-3:1 b2r1-1:2 b2r1-2:1");
}
TEST_CASE("KQ27: best fit on nodes of 3, 3, 2, 1") { CHECK(one_rack({3, 3, 2, 1}).where(tasks(7)) == "h-1:3 h-2:3 h-4:1"); }
TEST_CASE("KQ28: least free on nodes of 3, 3, 2, 1") {
  CHECK(one_rack({3, 3, 2, 1}).where(fill(tasks(7), PackFill::least_free)) == "h-1:3 h-2:1 h-3:2 h-4:1");
}
TEST_CASE("KQ30: a leader and its workers share one rack exactly") {
  const auto l = one_rack({2, 4, 3});
  Group leader = tasks(1), workers = tasks(4, 2), job;
  leader.name = "leader";
  workers.name = "workers";
  job.children = {leader, workers};
  job.pack.require = "rack";
  const auto a = l.ask(job);
  REQUIRE(a.placed());
  std::map<std::string, std::uint32_t> leaders, workers_on;
  for (const auto& n : a.nodes) (n.group == 0 ? leaders : workers_on)[l.shape.nodes[n.node.value].name] += n.tasks;
  CHECK(leaders == std::map<std::string, std::uint32_t>{{"h-3", 1}});
  CHECK(workers_on == std::map<std::string, std::uint32_t>{{"h-1", 1}, {"h-2", 2}, {"h-3", 1}});
}
TEST_CASE("KQ31a: balanced on two equal hosts") {
  CHECK(one_rack({15, 15}).where(fill(prefer(tasks(25), "rack"), PackFill::balanced)) == "h-1:13 h-2:12");
}
TEST_CASE("KQ31b: balanced uses the fewest hosts") {
  CHECK(one_rack({15, 13, 10}).where(fill(prefer(tasks(23), "rack"), PackFill::balanced)) == "h-1:12 h-2:11");
}
TEST_CASE("KQ31c: balanced prefers the rack with the smallest difference") {
  const auto l = Lab::tree({"block", "rack"}).domain("b1").rack("p", "b1", {20, 10}).rack("q", "b1", {15, 15});
  CHECK(l.where(fill(prefer(tasks(22), "rack"), PackFill::balanced)) == "q-1:11 q-2:11");
}
TEST_CASE("KQ32a: a job grows beside the host that it fills") {
  auto l = Lab::tree({"rack"}).domain("x").node_cpu("x", "x1", 0, 2000).node_cpu("x", "x2", 2000, 2000);
  sched::placement::Options o;
  o.members = {{"", base::NodeIndex{0}, 2}};
  CHECK(l.where(require(tasks(2), "rack"), o) == "x2:2");
}
TEST_CASE("KQ32b: a job that shrinks keeps its first ranks") {
  const std::vector<sched::placement::PlacedNode> now{{base::NodeIndex{0}, 3, 0, 0, 0}, {base::NodeIndex{1}, 2, 0, 0, 0}};
  CHECK(sched::placement::shrink(now, 3) == std::vector<sched::placement::PlacedNode>{{base::NodeIndex{0}, 3, 0, 0, 0}});
}
TEST_CASE("KQ34: among identical nodes the first by name, whatever their order in the file") {
  auto l = Lab::tree({"rack"}).domain("r").node_cpu("r", "x2", 1000, 1000).node_cpu("r", "x1", 1000, 1000);
  CHECK(l.where(tasks(1)) == "x1:1");
}
TEST_CASE("KQ errors: slices above the main level, without a size, and unknown levels are refused") {
  const auto t = tree_d().dense();
  const auto wide = sched::placement::check_request(require(with_segment(tasks(4), 2, "block"), "rack"), t);
  REQUIRE(!wide);
  CHECK(wide.error().field == "--segment");
  CHECK(!sched::placement::check_request(with_segment(tasks(4), 0, "rack"), t));
  const auto unknown = sched::placement::check_request(require(tasks(1), "rak"), t);
  REQUIRE(!unknown);
  CHECK(unknown.error().hint.find("block, rack, node") != std::string::npos);
}

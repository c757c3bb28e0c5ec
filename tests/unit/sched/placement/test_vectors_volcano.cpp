// Behaviour vectors V: Volcano's HyperNode scheduling under our model (hard = prefer and require that tier, order fullest).
#include "lab.hpp"

using namespace lab;

namespace {

// n0..n7; s0..s3 of two nodes each at tier 1, s4 and s5 at tier 2. CPUs in use per node; 7.9 usable unless said.
Lab eight(std::vector<int> used, std::int64_t usable = 7900) {
  auto l =
      Lab::tree({"tier2", "tier1"}).domain("s4").domain("s5").domain("s0", "s4").domain("s1", "s4").domain("s2", "s5").domain("s3", "s5");
  used.resize(8, 0);
  for (int i = 0; i < 8; ++i)
    l.node_cpu("s" + std::to_string(i / 2), "n" + std::to_string(i), usable - used[static_cast<std::size_t>(i)] * 1000, usable);
  return l;
}
Group hard(Group g, const std::string& level) {
  g = require(std::move(g), level);
  g.pack.order = model::PackOrder::fullest;
  return g;
}

}  // namespace

TEST_CASE("V1.1: two tasks go to the fullest tier-1 group that holds them") {
  CHECK(eight({0, 0, 1, 1}).where(hard(tasks(2, 2), "tier1")) == "n2:2");
}
TEST_CASE("V1.2: usable CPUs decide which group holds two tasks of four") {
  CHECK(eight({0, 0, 4, 4, 1}).where(hard(tasks(2, 4), "tier1")) == "n4:1 n5:1");
  CHECK(eight({0, 0, 4, 4, 1}, 8000).where(hard(tasks(2, 4), "tier1")) == "n2:1 n3:1");
}
TEST_CASE("V2.3: a replacement returns to the group of the member that runs") {
  auto l = eight({3, 0});
  sched::placement::Options o;
  o.members = {{"", base::NodeIndex{0}, 1}};
  const auto where = l.where(hard(tasks(1, 2), "tier1"), o);
  CHECK((where == "n0:1" || where == "n1:1"));
}
TEST_CASE("V4.1: two partitions of two go to the fullest group") {
  CHECK(eight({0, 0, 1, 1}).where(hard(with_segment(tasks(4, 2), 2, "tier1"), "tier1")) == "n2:2 n3:2");
}
TEST_CASE("V4.2: where every node has six of eight in use, tasks of four wait") {
  CHECK(eight({6, 6, 6, 6, 6, 6, 6, 6}).where(hard(tasks(2, 4), "tier1")) == "not now");
}
TEST_CASE("V5.2: partitions that share no tier-1 group get one each below the same tier 2") {
  const auto a = eight({3, 0, 3, 0, 6, 6, 6, 6}).ask(hard(with_segment(tasks(4, 3), 2, "tier1"), "tier2"));
  REQUIRE(a.placed());
  std::map<std::uint32_t, std::uint32_t> per_group;
  for (const auto& n : a.nodes) per_group[n.node.value / 2] += n.tasks;
  CHECK(per_group == std::map<std::uint32_t, std::uint32_t>{{0, 2}, {1, 2}});
}
TEST_CASE("V5.4: both partitions go to the tier-1 group that is left in the fullest tier 2") {
  CHECK(eight({6, 6, 1, 1}).where(hard(with_segment(tasks(4, 3), 2, "tier1"), "tier2")) == "n2:2 n3:2");
}
TEST_CASE("V6.2: four tasks of four fit the second tier-2 group only") {
  CHECK(eight({3, 3, 3, 5, 2, 0, 2, 0}).where(hard(tasks(4, 4), "tier2")) == "n4:1 n5:1 n6:1 n7:1");
}
TEST_CASE("V9.1: both partitions of a gang in one group") {
  CHECK(eight({0, 0, 1, 1}).where(hard(with_segment(tasks(4, 3), 2, "tier1"), "tier1")) == "n2:2 n3:2");
}
TEST_CASE("V9.4: at least four partitions that no tier-1 group holds even when idle are refused, not queued") {
  auto g = hard(with_segment(tasks(12, 3), 2, "tier1"), "tier1");
  g.min_tasks = 8;  // four partitions of two
  CHECK(eight({}).where(g) == "never");
}
TEST_CASE("VG1: of eight whole-node tasks with a minimum of four, four run in one group") {
  auto l = Lab::tree({"tier1"}).domain("a").wholes("a", "a", 1, 4).domain("b").wholes("b", "b", 1, 4);
  auto g = require(tasks(8), "tier1");
  g.min_tasks = 4;
  g.sharing = model::Sharing::exclusive_node;
  CHECK(l.where(g) == "a1:1 a2:1 a3:1 a4:1");
}
TEST_CASE("VG2: two partitions of four whole nodes take one group each") {
  auto l = Lab::tree({"tier2", "tier1"}).domain("top").domain("a", "top").wholes("a", "a", 1, 4).domain("b", "top").wholes("b", "b", 1, 4);
  const auto a = l.ask(require(with_segment(whole(8), 4, "tier1"), "tier2"));
  REQUIRE(a.placed());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) CHECK(a.nodes[i].segment == i / 4);
}

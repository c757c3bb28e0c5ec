// Behaviour vectors KA (KAI), KO (Koordinator), SL (Slurm) and N (our own), as far as they need neither time nor quotas.
#include "lab.hpp"

using namespace lab;
using model::PackFill;
using model::PackOrder;

namespace {

Group kai(Group g) {
  g.pack.order = PackOrder::parent_first;
  g.pack.fill = PackFill::pack_parents;
  return g;
}
Group koordinator(Group g) {
  g.pack.fill = PackFill::pack_parents;
  return g;
}
Group nodelist(Group g, const std::string& list) {
  g.nodelist = list;
  return g;
}
Group segmented(std::uint32_t nodes, std::uint32_t size) {
  auto g = whole(nodes);
  g.segments.push_back({"", size, {}, model::Segment::Remainder::forbid, false, false});
  return g;
}
Lab two_blocks() { return Lab::blocks({4, 8}).domain("b1").wholes("b1", "node", 1, 4).domain("b2").wholes("b2", "node", 5, 4); }
Lab many_blocks(int nodes) {
  auto l = Lab::blocks({4, 8, 16, 32, 64});
  for (int b = 0; b < nodes / 4; ++b) {
    const auto name = "b" + std::to_string(100 + b);
    l.domain(name).wholes(name, "n", 1 + 4 * b, 4);
  }
  return l;
}
Lab two_racks(int a, int b) { return Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, a).domain("B").wholes("B", "b", 1, b); }

}  // namespace

TEST_CASE("KA-T1: three tasks in the zone with fewest slots, two of them on its freest rack") {
  const auto l = Lab::tree({"zone", "rack"})
                     .domain("A")
                     .rack("A1", "A", {2})
                     .rack("A2", "A", {1})
                     .rack("A3", "A", {1})
                     .rack("A4", "A", {1})
                     .domain("B")
                     .rack("B1", "B", {2})
                     .rack("B2", "B", {2})
                     .rack("B3", "B", {2});
  auto g = kai(tasks(3));
  g.pack.require = "zone";
  g.pack.prefer = "rack";
  CHECK(l.where(g) == "A1-1:2 A2-1:1");
}
TEST_CASE("KA-T2: the rack below the fuller spine goes first") {
  const auto l = Lab::tree({"spine", "rack"})
                     .domain("spine1")
                     .rack("p", "spine1", {1})
                     .rack("q", "spine1", {1})
                     .rack("r", "spine1", {1})
                     .domain("spine2")
                     .rack("s", "spine2", {1, 1});
  CHECK(l.where(kai(prefer(tasks(1), "rack"))) == "s-1:1");
}
TEST_CASE("KA-T3: the last free node of a spine goes first") {
  const auto l = Lab::tree({"spine"}).domain("spine1").slots("spine1", {0, 0, 0, 1}).domain("spine2").slots("spine2", {1, 1, 1, 1});
  CHECK(l.where(kai(prefer(tasks(1), "spine"))) == "spine1-4:1");
}
TEST_CASE("KA-T4: of racks with ten and nine free the second") {
  const auto l = Lab::tree({"rack"}).domain("p").slots("p", {10}).domain("q").slots("q", {9});
  CHECK(l.where(kai(require(tasks(2), "rack"))) == "q-1:2");
}
TEST_CASE("KA-T6: a job that no rack holds waits and names each rack") {
  const auto l = Lab::tree({"rack"}).domain("p").slots("p", {1, 1, 1, 0}).domain("q").slots("q", {1, 1, 1, 0});
  const auto a = l.ask(kai(require(tasks(4), "rack")));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.rungs[0].best == std::vector<model::DomainCount>{{"p", 3, 4}, {"q", 3, 4}});
}
TEST_CASE("KA-T7: a job that only prefers a rack is split where no rack holds it") {
  const auto l = Lab::tree({"rack"}).domain("r1").slots("r1", {0}).domain("r2").slots("r2", {1}).domain("r3").slots("r3", {1});
  CHECK(l.where(kai(prefer(tasks(2), "rack"))) == "r2-1:1 r3-1:1");
}

TEST_CASE("KO1: the freest block first, its freest nodes first, no tightest last") {
  const auto l = Lab::tree({"block"}).domain("b1").slots("b1", {5, 7}).domain("b2").slots("b2", {6, 4});
  CHECK(l.where(koordinator(prefer(tasks(15), "block"))) == "b1-1:5 b1-2:7 b2-1:3");
}
TEST_CASE("KO2: with node multiples of four sixteen are offered, so a gang of twenty waits") {
  const auto l = Lab::tree({"block"}).domain("b1").slots("b1", {5, 7}).domain("b2").slots("b2", {6, 4});
  CHECK(l.where(koordinator(with_segment(tasks(16), 4, "node"))) == "b1-1:4 b1-2:4 b2-1:4 b2-2:4");
  const auto a = l.ask(koordinator(with_segment(tasks(20), 4, "node")));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.offered == 16);
}
TEST_CASE("KO5: two nodes of five offer eight in multiples of four; a gang of ten does not divide") {
  const auto l = Lab::tree({"block"}).domain("b1").slots("b1", {5, 5});
  CHECK(l.where(koordinator(with_segment(tasks(8), 4, "node"))) == "b1-1:4 b1-2:4");
  const auto a = l.ask(koordinator(with_segment(tasks(12), 4, "node")));
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.offered == 8);
  CHECK(l.where(koordinator(with_segment(tasks(10), 4, "node"))) == "never");
}

TEST_CASE("SL1: a third job of three nodes waits where no block has three left") {
  auto l = two_blocks();
  for (const std::uint32_t n : {2U, 3U}) l.busy(l.hosts(whole(n)));
  CHECK(l.hosts(whole(3)) == "not now");
}
TEST_CASE("SL2: five nodes may span both blocks beside three") {
  auto l = two_blocks();
  l.busy(l.hosts(whole(3)));
  CHECK(l.ask(whole(5)).nodes.size() == 5);
}
TEST_CASE("SL3: four nodes in segments of two run, five are refused") {
  CHECK(two_blocks().ask(segmented(4, 2)).placed());
  CHECK(two_blocks().hosts(segmented(5, 2)) == "never");
}
TEST_CASE("SL4: named nodes must hold whole segments") {
  const auto l = two_blocks();
  CHECK(l.hosts(nodelist(segmented(4, 2), "node[1-4]")) == "node[1-4]");
  CHECK(l.hosts(nodelist(segmented(4, 2), "node[1-2,5-6]")) == "node[1-2,5-6]");
  CHECK(l.ask(nodelist(segmented(6, 3), "node[1-8]")).nodes.size() == 6);
  CHECK(l.hosts(nodelist(segmented(6, 3), "node[1-6]")) == "never");
}
TEST_CASE("SL5: a waiting job's segment may become any size that divides it") {
  const auto t = two_blocks().dense();
  CHECK(sched::placement::check_request(segmented(4, 4), t));
  CHECK(sched::placement::check_request(segmented(4, 8), t));
  CHECK(!sched::placement::check_request(segmented(4, 3), t));
  CHECK(sched::placement::check_request(whole(4), t));
}
TEST_CASE("SL6: ranks follow the blocks") {
  auto l = Lab::blocks({4, 8}).domain("b1");
  for (const int i : {1, 3, 5, 7}) l.wholes("b1", "n", i, 1);
  l.domain("b2");
  for (const int i : {2, 4, 6, 8}) l.wholes("b2", "n", i, 1);
  CHECK(l.where(whole(8)) == "n1:1 n3:1 n5:1 n7:1 n2:1 n4:1 n6:1 n8:1");
}
TEST_CASE("SL8: the fragmentation value counts broken domains at every level, not the group that is not whole") {
  auto l = many_blocks(32);
  const auto f = [&] { return sched::placement::fragmentation(l.dense(), l.nodes); };
  CHECK(f() == 0);
  l.busy("n1");
  CHECK(f() == 61);
  l.busy("n[1-3]");
  CHECK(f() == 63);
  l.busy("n[1-32]");
  CHECK(f() == 160);
}
TEST_CASE("SL14: --switches that can be kept is kept; one that no leaf can ever hold is not waited for") {
  auto l = Lab::tree({"spine", "leaf"}).domain("top");
  for (int i = 1; i <= 4; ++i) l.domain("s" + std::to_string(i), "top").wholes("s" + std::to_string(i), "n", i, 1);
  const auto switches = [](std::uint32_t nodes, std::uint32_t n) {
    auto g = whole(nodes);
    g.switches = n;
    return g;
  };
  sched::placement::Options fresh;
  fresh.waited = base::Duration{};
  CHECK(l.ask(switches(2, 2), fresh).placed());
  CHECK(l.ask(switches(1, 1), fresh).placed());
  CHECK(l.ask(switches(2, 1), fresh).placed());
  fresh.literal_switch_wait = true;
  CHECK(l.hosts(switches(2, 1), fresh) == "not now");
  fresh.waited = std::chrono::seconds{300};
  CHECK(l.ask(switches(2, 1), fresh).placed());
}

TEST_CASE("N3: a one-node job without a wish goes where something is broken already") {
  auto l = two_racks(4, 4).busy("a1");
  CHECK(l.hosts(whole(1)) == "a2");
}
TEST_CASE("N6: a later replica joins the block of its service or waits") {
  auto l = two_racks(8, 8);
  sched::placement::Options o;
  for (std::uint32_t n = 0; n < 6; ++n) o.members.push_back({"", base::NodeIndex{n}, 1});
  l.busy("a[1-6]");
  CHECK(l.hosts(require(whole(4), "rack"), o) == "not now");
  CHECK(l.hosts(require(whole(2), "rack"), o) == "a[7-8]");
}
TEST_CASE("N8: an unknown level is refused with the names of the known ones") {
  const auto a = two_racks(2, 2).ask(require(whole(1), "rak"));
  CHECK(a.verdict.kind == model::Verdict::Kind::never);
  CHECK(a.verdict.detail.find("rack, node") != std::string::npos);
}
TEST_CASE("N15: thirty-six nodes in segments of twelve on three racks of seventeen") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 17).domain("B").wholes("B", "b", 1, 17).domain("C").wholes("C", "c", 1, 17);
  CHECK(l.hosts(with_segment(whole(36), 12, "rack")) == "a[1-12],b[1-12],c[1-12]");
}

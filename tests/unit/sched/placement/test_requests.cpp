// What requests beyond the vectors ask for: ladders, ranges, sizes, spread, affinity, exclusive domains, gangs, names.
#include <set>

#include "lab.hpp"

using namespace lab;

namespace {

// Racks A, B, C, D of so many whole nodes below two spines.
Lab four_racks(int each) {
  auto l = Lab::tree({"spine", "rack"}).domain("S").domain("T");
  for (const char* rack : {"A", "B"}) l.domain(rack, "S").wholes(rack, std::string(1, static_cast<char>(rack[0] + 32)), 1, each);
  for (const char* rack : {"C", "D"}) l.domain(rack, "T").wholes(rack, std::string(1, static_cast<char>(rack[0] + 32)), 1, each);
  return l;
}
Lab two_trees() {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 4).domain("B").wholes("B", "b", 1, 4);
  l.topology.joined = false;
  return l;
}
std::map<char, std::uint32_t> per_rack(const Lab& l, const sched::placement::Answer& a) {
  std::map<char, std::uint32_t> out;
  for (const auto& n : a.nodes) ++out[l.shape.nodes[n.node.value].name[0]];
  return out;
}

}  // namespace

TEST_CASE("a ladder keeps a job on its rung until the wait is over") {
  const auto l = four_racks(4).busy("a[1-2],b[1-2],c[1-2],d[1-2]");
  auto g = whole(4);
  g.pack.ladder = {{"rack", 1, std::chrono::minutes{10}}, {"any", 1, {}}};
  sched::placement::Options o;
  o.waited = std::chrono::minutes{9};
  o.eligible = base::time_from_seconds(1000);
  const auto early = l.ask(g, o);
  CHECK(early.verdict.kind == model::Verdict::Kind::not_now);
  REQUIRE(early.verdict.rungs.size() == 2);
  CHECK(early.verdict.rungs[1].opens == base::time_from_seconds(1600));
  o.waited = std::chrono::minutes{10};
  CHECK(l.ask(g, o).placed());
}
TEST_CASE("a rung with two domains takes two racks of one spine before racks of two spines") {
  const auto l = four_racks(4).busy("a1,b[1-2],c1,d1");
  auto g = whole(5);
  g.pack.ladder = {{"rack", 2, {}}};
  CHECK(l.hosts(g) == "a[2-4],b[3-4]");
}
TEST_CASE("a range with a wish takes the most that one rack gives, without a wish all that are free") {
  const auto l = four_racks(4).busy("a1,b[1-3],c[1-3],d[1-3]");
  auto g = whole(2);
  g.nodes = {2, 6, {}};
  CHECK(l.hosts(require(g, "rack")) == "a[2-4]");
  CHECK(l.ask(g).nodes.size() == 6);
  g.nodes = {2, 9, {2, 5, 9}};
  CHECK(l.ask(g).nodes.size() == 5);
}
TEST_CASE("exact sizes go largest first to the tightest rack and are ranked as asked") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 4).domain("B").wholes("B", "b", 1, 3).domain("C").wholes("C", "c", 1, 1);
  auto g = whole(8);
  g.segments.push_back({"rack", 0, {1, 3, 4}, model::Segment::Remainder::forbid, false, false});
  CHECK(l.where(g) == "c1:1 b1:1 b2:1 b3:1 a1:1 a2:1 a3:1 a4:1");
}
TEST_CASE("exact sizes find the one packing that exists") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 6).domain("B").wholes("B", "b", 1, 7);
  auto g = whole(13);
  g.segments.push_back({"rack", 0, {4, 3, 3, 3}, model::Segment::Remainder::forbid, false, false});
  CHECK(l.ask(g).placed());
}
TEST_CASE("a remainder may be a shorter segment") {
  auto l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 4).domain("B").wholes("B", "b", 1, 2);
  auto g = whole(6);
  g.segments.push_back({"rack", 4, {}, model::Segment::Remainder::shorter, false, false});
  CHECK(l.where(g) == "a1:1 a2:1 a3:1 a4:1 b1:1 b2:1");
  g.segments[0].remainder = model::Segment::Remainder::forbid;
  CHECK(l.where(g) == "never");
}
TEST_CASE("distinct segments share no rack") {
  const auto l = four_racks(4);
  auto g = with_segment(whole(4), 2, "rack");
  CHECK(per_rack(l, l.ask(g)).size() == 1);
  g.segments[0].distinct = true;
  CHECK(per_rack(l, l.ask(g)) == std::map<char, std::uint32_t>{{'a', 2}, {'b', 2}});
}
TEST_CASE("an exclusive rack is one that nobody else is on, and all of it is closed") {
  const auto l = four_racks(2).busy("a1");
  auto g = whole(1);
  g.exclusive_level = "rack";
  const auto a = l.ask(g);
  REQUIRE(a.placed());
  CHECK(l.shape.nodes[a.nodes[0].node.value].name == "b1");
  CHECK(a.closed.size() == 2);
}
TEST_CASE("free nodes that stand beside others are told to whoever wants a rack alone") {
  const auto l = four_racks(2).busy("a1").busy("b1").busy("c1").busy("d1");
  auto g = whole(1);
  g.exclusive_level = "rack";
  const auto a = l.ask(g);
  REQUIRE_FALSE(a.placed());
  CHECK(to_text(a.verdict) == "0 of 1 node free: 4 busy; 4 free nodes are in a rack that others use");
}
TEST_CASE("a spread of nodes keeps at most two on a rack") {
  const auto l = four_racks(4);
  auto g = whole(6);
  model::Spread s;
  s.level = "rack";
  s.max_per_domain = 2;
  g.spread = {s};
  const auto a = l.ask(g);
  REQUIRE(a.placed());
  for (const auto& [rack, n] : per_rack(l, a)) CHECK(n <= 2);
  g.nodes = {9, 9, {}};
  CHECK(l.where(g) == "never");
}
TEST_CASE("what --within requires holds beside --switches and a ladder, or they are refused by name") {
  auto l = Lab::tree({"spine", "rack"}).domain("s1").domain("s2");
  for (const char* rack : {"a", "b"}) l.domain(rack, "s1").wholes(rack, rack, 1, 4);
  for (const char* rack : {"c", "d"}) l.domain(rack, "s2").wholes(rack, rack, 1, 4);
  l.busy("a[1-2],b1,c1,d[1-3]");  // 2 and 3 free, 3 and 1
  auto g = whole(6);
  g.switches = 3;
  CHECK(l.hosts(g) == "b[2-4],c[2-4]");
  g.pack.require = "spine";
  CHECK(l.hosts(g) == "not now");
  g.nodes = {5, 5, {}};
  CHECK(l.hosts(g) == "a[3-4],b[2-4]");
  g.switches = 1;
  g.nodes = {4, 4, {}};
  CHECK(l.ask(g).level == "spine");
  g.pack.require = "rack";
  CHECK(l.hosts(g) == "not now");
  const auto t = l.dense();
  const auto field = [&](const Group& x) {
    const auto ok = sched::placement::check_request(x, t);
    return ok ? std::string() : ok.error().field;
  };
  CHECK(field(g).empty());
  g.switches = 2;
  CHECK(field(g) == "--switches");
  g.pack.require.clear();
  g.pack.prefer = "rack";
  CHECK(field(g) == "--near");
  g.switches.reset();
  g.pack.ladder = {{"rack", 1, {}}, {"any", 1, {}}};
  CHECK(field(g) == "--near");
  g.pack.prefer.clear();
  CHECK(field(g).empty());
  g.pack.require = "rack";
  CHECK(field(g) == "--ladder");
  g.pack.ladder.pop_back();
  CHECK(field(g).empty());
  g.pack.ladder = {{"rack", 2, {}}};
  CHECK(field(g) == "--ladder");
  g.pack.require = "spine";
  CHECK(l.hosts(g) == "c[2-4],d4");
}
TEST_CASE("an impossible spread is never, with the numbers, and costs no search") {
  const auto l = four_racks(4).busy("a[1-4]");
  auto g = whole(5);
  g.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  auto a = l.ask(g);
  CHECK(a.verdict.kind == model::Verdict::Kind::never);
  CHECK(a.verdict.detail == "--spread rack:max=1: 4 of 4 domains of level rack have room, for 4 of 5 nodes together");
  CHECK(a.work.search_steps == 0);
  g.nodes = {4, 4, {}};
  a = l.ask(g);
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.offered == 3);
  CHECK(a.verdict.asked == 4);
  CHECK(a.verdict.detail == "--spread rack:max=1: 3 of 4 domains of level rack have room, for 3 of 4 nodes together");
}
TEST_CASE("required nodes of a spread job are in, and count in their domains") {
  const auto l = four_racks(4);
  auto g = whole(3);
  g.nodelist = "a2,d3";
  g.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  CHECK(l.hosts(g) == "a2,b1,d3");
  g.nodelist = "a[2-3]";
  CHECK(l.hosts(g) == "never");
}
TEST_CASE("a level without a rule: over all its domains, as evenly as they have room") {
  const auto l = four_racks(4).busy("a[1-3],b[1-2]");
  auto g = whole(4);
  g.spread = {{"rack", model::Spread::Mode::require, {}, {}, {}, {}}};
  CHECK(l.hosts(g) == "a4,b3,c1,d1");
  g.nodes = {9, 9, {}};
  CHECK(l.hosts(g) == "a4,b[3-4],c[1-3],d[1-3]");
  Group copies = whole(1);
  copies.replicas = 6;
  copies.spread = g.spread;
  CHECK(per_rack(l, l.ask(copies)) == std::map<char, std::uint32_t>{{'a', 1}, {'b', 2}, {'c', 2}, {'d', 1}});
}
TEST_CASE("what a spread can not be combined with is refused by name") {
  const auto t = four_racks(4).dense();
  const auto field = [&](const Group& g) {
    const auto ok = sched::placement::check_request(g, t);
    return ok ? std::string() : ok.error().field;
  };
  auto g = whole(4);
  g.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  CHECK(field(g).empty());
  CHECK(field(with_segment(g, 2, "rack")) == "--segment");
  auto other = g;
  other.contiguous = true;
  CHECK(field(other) == "--contiguous");
  other = g;
  other.switches = 2;
  CHECK(field(other) == "--switches");
  other = g;
  other.spread = {{"rack", model::Spread::Mode::require, {}, {}, 5, {}}};
  CHECK(field(other) == "--spread");  // four racks, and four nodes
  other.spread = {{"rack", model::Spread::Mode::require, {}, {}, {}, {}}};
  CHECK(field(prefer(other, "rack")) == "--near");
  Group around;
  around.children = {whole(1), whole(1)};
  around.spread = g.spread;
  CHECK(field(around) == "--spread");
  around.replicas = 2;
  CHECK(field(around).empty());
}
TEST_CASE("replicas spread by share close a domain that has too much") {
  const auto l = four_racks(4);
  auto g = whole(2);
  g.replicas = 4;
  model::Spread s;
  s.level = "rack";
  s.max_share = 50;
  g.spread = {s};
  const auto a = l.ask(g);
  REQUIRE(a.placed());
  std::map<std::uint32_t, std::set<char>> rack_of;
  for (const auto& n : a.nodes) rack_of[n.replica].insert(l.shape.nodes[n.node.value].name[0]);
  std::map<char, int> replicas_on;
  for (const auto& [replica, racks] : rack_of) {
    CHECK(racks.size() == 1);
    ++replicas_on[*racks.begin()];
  }
  CHECK(replicas_on.size() >= 2);
}
TEST_CASE("minimum of domains and largest skew are kept") {
  const auto l = four_racks(4);
  auto g = whole(1);
  g.replicas = 4;
  model::Spread s;
  s.level = "rack";
  s.min_domains = 3;
  g.spread = {s};
  CHECK(per_rack(l, l.ask(g)).size() >= 3);
  s.min_domains.reset();
  s.max_skew = 1;
  g.spread = {s};
  CHECK(per_rack(l, l.ask(g)) == std::map<char, std::uint32_t>{{'a', 1}, {'b', 1}, {'c', 1}, {'d', 1}});
}
TEST_CASE("groups with anti-affinity take different racks, with affinity the same") {
  const auto l = four_racks(4);
  Group a = whole(1), b = whole(1), job;
  a.name = "a";
  b.name = "b";
  b.anti_affinity = {{"rack", "a", true}};
  job.children = {a, b};
  CHECK(per_rack(l, l.ask(job)).size() == 2);
  b.anti_affinity.clear();
  b.affinity = {{"rack", "a", true}};
  job.children = {a, b};
  CHECK(per_rack(l, l.ask(job)).size() == 1);
}
TEST_CASE("near to a running job: only where it is, and the others are counted as ruled out") {
  const auto l = four_racks(4).busy("c[1-2]");
  sched::placement::Options o;
  o.members = {{"job:train", base::NodeIndex{l.index("c1")}}, {"job:other", base::NodeIndex{l.index("a1")}}};
  Group g = whole(2);
  g.affinity = {{"rack", "job:train", true}};
  CHECK(l.hosts(g, o) == "c[3-4]");
  g.nodes = {3, 3, {}};
  const auto a = l.ask(g, o);
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.causes == std::vector<model::Cause>{{model::Cause::Kind::affinity, 12}, {model::Cause::Kind::busy, 2}});
  CHECK(a.verdict.offered == 2);
  g.affinity[0].level = "spine";
  CHECK(l.hosts(g, o) == "d[1-3]");
  g.affinity[0].target = "job:none";  // runs nowhere: some day it may
  CHECK(l.hosts(g, o) == "not now");
  CHECK(l.ask(g, o).verdict.detail.find("job:none does not run") == 0);
}
TEST_CASE("away from a running job: in none of its domains") {
  const auto l = four_racks(4).busy("c[1-2],a1");
  sched::placement::Options o;
  o.members = {{"job:train", base::NodeIndex{l.index("c1")}}, {"job:train", base::NodeIndex{l.index("a1")}}};
  Group g = whole(2);
  CHECK(l.hosts(g, o) == "c[3-4]");
  g.anti_affinity = {{"rack", "job:train", true}};
  CHECK(l.hosts(g, o) == "b[1-2]");
  g.anti_affinity[0].level = "node";
  CHECK(l.hosts(g, o) == "c[3-4]");
  g.anti_affinity[0].level = "spine";
  CHECK(l.hosts(g, o) == "not now");
  CHECK(l.ask(g, o).verdict.causes == std::vector<model::Cause>{{model::Cause::Kind::affinity, 13}, {model::Cause::Kind::busy, 3}});
}
TEST_CASE("a preferred affinity comes after the rung and before the order of domains") {
  const auto l = four_racks(4).busy("a[1-2],d1");
  sched::placement::Options o;
  o.members = {
      {"job:x", base::NodeIndex{l.index("d1")}}, {"job:y", base::NodeIndex{l.index("b1")}}, {"job:z", base::NodeIndex{l.index("c1")}}};
  Group g = whole(2);
  CHECK(l.hosts(g, o) == "a[3-4]");  // the tightest
  g.affinity = {{"rack", "job:x", false}};
  CHECK(l.hosts(g, o) == "d[2-3]");
  g.nodes = {4, 4, {}};
  CHECK(l.hosts(g, o) == "b[1-4]");  // one rack that is far away before two of which one is near
  g.nodes = {2, 2, {}};
  g.affinity[0].target = "job:none";
  CHECK(l.hosts(g, o) == "a[3-4]");
  // Each wish that can be kept beside those before it.
  g.affinity = {{"rack", "job:y", false}, {"rack", "job:x", false}, {"spine", "job:x", false}};
  CHECK(l.hosts(g, o) == "b[1-2]");
  g.affinity = {{"spine", "job:x", false}, {"rack", "job:y", false}};
  g.anti_affinity = {{"rack", "job:z", false}};
  CHECK(l.hosts(g, o) == "d[2-3]");
  // A range is not cut short for a wish.
  g = whole(2);
  g.nodes = {2, 4, {}};
  g.pack.require = "rack";
  g.affinity = {{"rack", "job:x", false}};
  CHECK(l.hosts(g, o) == "b[1-4]");
}
TEST_CASE("a group of a gang keeps near to another job, its copies away from it") {
  const auto l = four_racks(4).busy("c[1-2]");
  sched::placement::Options o;
  o.members = {{"job:train", base::NodeIndex{l.index("c1")}}};
  Group near = whole(1), far = whole(1), gang;
  near.name = "near";
  near.affinity = {{"rack", "job:train", true}};
  far.name = "far";
  far.replicas = 3;
  far.anti_affinity = {{"rack", "job:train", true}};
  far.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  gang.children = {near, far};
  CHECK(l.hosts(gang, o) == "a1,b1,c3,d1");
  gang.children[1].replicas = 4;
  CHECK(l.hosts(gang, o) == "not now");
  gang.children = {near, whole(1)};
  gang.children[0].nodes = {3, 3, {}};
  const auto a = l.ask(gang, o);
  CHECK(a.verdict.kind == model::Verdict::Kind::not_now);
  CHECK(a.verdict.causes == std::vector<model::Cause>{{model::Cause::Kind::affinity, 12}, {model::Cause::Kind::busy, 2}});
}
TEST_CASE("a gang of a leader and whole-node workers is placed together or not at all") {
  Group leader = tasks(1), workers = whole(4), job;
  leader.name = "leader";
  workers.name = "workers";
  job.children = {leader, workers};
  job.pack.require = "rack";
  const auto l = four_racks(5).busy("a[1-2]");
  const auto a = l.ask(job);
  REQUIRE(a.placed());
  CHECK(a.nodes.size() == 5);
  CHECK(per_rack(l, a) == std::map<char, std::uint32_t>{{'b', 5}});
  CHECK(four_racks(4).where(job) == "never");
}
TEST_CASE("of elastic replicas as many come as there is room for") {
  Group g = require(whole(3), "rack");
  g.replicas = 6;
  g.min_replicas = 2;
  const auto l = four_racks(3).busy("a1");
  std::set<std::uint32_t> replicas;
  for (const auto& n : l.ask(g).nodes) replicas.insert(n.replica);
  CHECK(replicas.size() == 3);
}
TEST_CASE("a child may not require a wider level than what is around it") {
  Group child = whole(1), job;
  child.name = "inner";
  child.pack.require = "spine";
  job.children = {child};
  job.pack.require = "rack";
  const auto refused = sched::placement::check_request(job, four_racks(2).dense());
  REQUIRE(!refused);
  CHECK(refused.error().field == "--within");
}
TEST_CASE("counted features take so many nodes of each") {
  auto l = four_racks(4);
  for (auto& n : l.shape.nodes) n.features = {n.name[0] == 'b' ? "big" : n.name[0] == 'c' ? "fast" : "plain"};
  auto g = whole(4);
  g.constraint = "[big*2&fast*2]";
  CHECK(per_rack(l, l.ask(g)) == std::map<char, std::uint32_t>{{'b', 2}, {'c', 2}});
  g.constraint = "[big|fast]";
  CHECK(per_rack(l, l.ask(g)).size() == 1);
}
TEST_CASE("why segments or groups do not fit is told in their own numbers") {
  const auto l = four_racks(4);
  auto g = require(with_segment(whole(8), 2, "rack"), "rack");
  auto a = l.ask(g);
  CHECK(a.verdict.kind == model::Verdict::Kind::never);
  CHECK(a.verdict.detail == "the best rack (A) offers 2 of 4 segments of 2");
  CHECK(to_text(a.verdict).find("16 of 8") == std::string::npos);
  Group gang;
  gang.children = {whole(1), whole(4)};
  gang.children[0].name = "leader";
  gang.children[1].name = "workers";
  gang.pack.require = "rack";
  a = l.ask(gang);
  CHECK(a.verdict.kind == model::Verdict::Kind::never);
  REQUIRE(a.verdict.rungs.size() == 1);
  CHECK(a.verdict.rungs[0].best[0] == model::DomainCount{"A", 2, 2});  // each by itself
  CHECK(a.verdict.asked == 5);
  CHECK(a.verdict.offered == 16);
  Group copies = whole(2);
  copies.replicas = 3;
  a = four_racks(4).busy("a[1-4],b[1-4],c[1-3]").ask(copies);
  CHECK(a.verdict.asked == 6);
  CHECK(a.verdict.offered == 5);
  CHECK(a.verdict.causes == std::vector<model::Cause>{{model::Cause::Kind::busy, 11}});
}
TEST_CASE("ranks of a gang: copy after copy along the path, in each the groups in the order of the file") {
  const auto l = four_racks(3).busy("b1,c1");  // the tightest racks are filled first, though not first in the path
  Group leader = tasks(1), workers = whole(2), replica;
  leader.name = "leader";
  workers.name = "w";
  replica.children = {leader, workers};
  replica.replicas = 2;
  replica.pack.require = "rack";
  replica.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  const auto a = l.ask(replica);
  REQUIRE(a.nodes.size() == 6);
  std::string told;
  for (const auto& n : a.nodes)
    told += l.shape.nodes[n.node.value].name + ":" + std::to_string(n.group) + "." + std::to_string(n.replica) + " ";
  CHECK(told == "a3:0.0 a1:1.0 a2:1.0 d3:0.1 d1:1.1 d2:1.1 ");
}
TEST_CASE("the order of a group of groups chooses among its domains") {
  auto l = Lab::tree({"spine", "rack"}).domain("s1").domain("s2");
  for (const char* rack : {"a", "b"}) l.domain(rack, "s1").wholes(rack, rack, 1, 4);
  for (const char* rack : {"c", "d"}) l.domain(rack, "s2").wholes(rack, rack, 1, 4);
  l.busy("a1,b[1-3],c[1-2]");  // 3 and 1 free of s1, 2 and 4 of s2
  Group gang;
  gang.children = {whole(1), whole(1)};
  gang.children[0].name = "one";
  gang.children[1].name = "two";
  gang.pack.require = "rack";
  CHECK(l.hosts(gang) == "c[3-4]");
  gang.pack.order = model::PackOrder::parent_first;
  CHECK(l.hosts(gang) == "a[2-3]");
  gang.pack.order = model::PackOrder::fullest;
  CHECK(l.hosts(gang) == "c[3-4]");
  gang.pack.order = model::PackOrder::least_growth;
  gang.children[1].nodes = {3, 3, {}};
  CHECK(l.hosts(gang) == "d[1-4]");
}
TEST_CASE("a required node is one of those counted by feature, or one of the others") {
  auto l = four_racks(4);
  for (auto& n : l.shape.nodes) n.features = {n.name[0] == 'b' ? "big" : n.name[0] == 'c' ? "fast" : "plain"};
  auto g = whole(4);
  g.constraint = "[big*2&fast*2]";
  g.nodelist = "b3";
  CHECK(l.hosts(g) == "b[1,3],c[1-2]");
  g.nodelist = "a1";
  CHECK(l.hosts(g) == "never");
  g.nodes = {5, 5, {}};
  CHECK(l.hosts(g) == "a1,b[1-2],c[1-2]");
  // A node with both features may have to stand for the one that nobody else has.
  l = four_racks(4);
  for (auto& n : l.shape.nodes) n.features = {"big"};
  l.shape.nodes[l.index("c1")].features = {"big", "fast"};
  g.nodes = {2, 2, {}};
  g.constraint = "[big*1&fast*1]";
  g.nodelist = "c1";
  CHECK(l.ask(g).placed());
  g.nodes = {1, 1, {}};
  const auto refused = sched::placement::check_request(g, l.dense());
  REQUIRE(!refused);
  CHECK(refused.error().field == "--constraint");
  g.nodes = {4, 4, {}};
  g.tasks_given = true;
  g.tasks = 6;
  for (std::size_t i = 0; i < l.nodes.size(); ++i) l.nodes[i].free.cpus = l.shape.nodes[i].total.cpus = base::whole_cpus(4);
  std::uint32_t tasks = 0;
  for (const auto& n : l.ask(g).nodes) tasks += n.tasks;
  CHECK(tasks == 6);
}
TEST_CASE("named nodes are all in; a longer list is one to choose from; excluded ones are out") {
  const auto l = four_racks(4);
  auto g = whole(3);
  g.nodelist = "a2,c3";
  const auto both = l.hosts(g);
  CHECK(both.find("a") != std::string::npos);
  CHECK(both.find("c3") != std::string::npos);
  g.nodelist = "a[1-2],c[1-3]";
  CHECK(l.hosts(g) == "c[1-3]");
  g.nodelist = "nowhere";
  CHECK(l.hosts(g) == "never");
  g.nodelist = "";
  g.exclude = "a[1-4],b[1-4],c[1-2]";
  CHECK(l.hosts(g) == "d[1-3]");
}
TEST_CASE("contiguous nodes are neighbours: the tightest run that is long enough") {
  auto l = Lab::flat();
  l.wholes("", "n", 1, 12).busy("n[5,9]");
  auto g = whole(3);
  g.contiguous = true;
  CHECK(l.hosts(g) == "n[6-8]");
  CHECK(l.hosts(whole(3)) == "n[6-8]");
  CHECK(l.hosts(whole(5)) == "n[1-4,6]");
}
TEST_CASE("cheaper nodes win ties, or everything when the site says so") {
  auto l = four_racks(4);
  for (auto& n : l.shape.nodes) n.weight = n.name[0] == 'd' ? 1 : 10;
  CHECK(l.hosts(whole(4)) == "d[1-4]");
  l.busy("a[1-2]");
  CHECK(l.hosts(whole(2)) == "a[3-4]");
  sched::placement::Options o;
  o.weight_first = true;
  CHECK(l.hosts(whole(2), o) == "d[1-2]");
}
TEST_CASE("a partition that packs nothing fills broken racks first") {
  const auto l = four_racks(4).busy("a1,c[1-2]");
  sched::placement::Options o;
  o.packing = sched::placement::Packing::none;
  CHECK(l.hosts(whole(5), o) == "a[2-4],c[3-4]");
  CHECK(l.hosts(require(whole(3), "rack"), o) == "a[2-4]");
}
TEST_CASE("memory and GPUs bound the tasks of a node, and the causes are counted") {
  Lab l = Lab::tree({"rack"}).domain("A").wholes("A", "a", 1, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    l.shape.nodes[i].total.cpus = base::whole_cpus(16);
    l.shape.nodes[i].total.memory = base::Mebibytes{64'000};
    l.shape.nodes[i].total.add_gres("gpu", "a100", i == 2 ? 0 : 4);
    l.nodes[i].free = l.shape.nodes[i].total;
  }
  auto g = tasks(4, 4);
  g.gres_per_task = {{"gpu", "", 2}};
  CHECK(l.where(g) == "a1:2 a2:2");
  g.tasks = 5;
  const auto a = l.ask(g);
  CHECK(a.verdict.kind == model::Verdict::Kind::never);
  CHECK(a.verdict.causes == std::vector<model::Cause>{{model::Cause::Kind::gres, 1}});
  g.tasks = 2;
  g.gres_per_task = {};
  g.memory_per_cpu = base::Mebibytes{16'000};
  CHECK(l.where(g) == "a1:1 a2:1");
}
TEST_CASE("a forest that is not joined never spans its trees") {
  auto l = two_trees();
  CHECK(l.hosts(whole(4)) == "a[1-4]");
  CHECK(l.hosts(whole(5)) == "never");
  l.topology.joined = true;
  CHECK(l.ask(whole(5)).placed());
}
TEST_CASE("nodes at different depths serve what they can") {
  auto l = Lab::tree({"spine", "rack"}).domain("S").wholes("S", "s", 1, 2).domain("A", "S").wholes("A", "a", 1, 2);
  CHECK(l.ask(whole(4)).placed());
  CHECK(l.hosts(require(whole(2), "rack")) == "a[1-2]");
  CHECK(l.hosts(require(whole(3), "rack")) == "never");
  CHECK(l.ask(require(whole(3), "spine")).placed());
}
TEST_CASE("a node that hangs above the segments' level is part of no segment") {
  auto l = Lab::tree({"spine", "rack"})
               .domain("S")
               .domain("A", "S")
               .wholes("A", "a", 1, 1)
               .domain("T")
               .wholes("T", "t", 1, 1)
               .domain("B", "T")
               .wholes("B", "b", 1, 1);
  auto g = with_segment(whole(2), 1, "rack");
  g.segments[0].distinct = true;
  CHECK(l.hosts(g) == "a1,b1");
}
TEST_CASE("tasks that do not divide evenly over the nodes are shared out") {
  const auto l = Lab::tree({"rack"}).domain("A").slots("A", {2, 2, 2});
  auto g = whole(2);
  g.sharing = model::Sharing::shared;
  g.tasks = 3;
  g.tasks_given = true;
  CHECK(l.where(g) == "A-1:2 A-2:1");
}
TEST_CASE("the answer tells the rung, how good it is, and what it was preferred to") {
  const auto a = four_racks(4).busy("a1").ask(whole(3));
  CHECK(a.level == "rack");
  CHECK(a.domains == std::vector<std::string>{"A"});
  CHECK(a.leaves_used == 1);
  CHECK(a.leaves_least == 1);
  REQUIRE(a.beaten.size() == 3);
  CHECK(a.beaten[0] == model::DomainCount{"B", 4, 3});
}
TEST_CASE("nodes that only together hold the tasks are found, whichever way they divide") {
  const auto l = Lab::tree({"rack"}).domain("A").slots("A", {1, 3, 1}).domain("B").slots("B", {1, 2});
  auto g = whole(2);
  g.sharing = model::Sharing::shared;
  g.tasks = 4;
  g.tasks_given = true;
  CHECK(l.where(g) == "A-1:1 A-2:3");
  g.tasks = 5;
  CHECK(l.where(g) == "A-2:3 B-2:2");
  g.tasks = 6;
  CHECK(l.where(g) == "not now");
}
TEST_CASE("a gang of more copies than a search can be deep is placed where they simply fit") {
  auto l = Lab::tree({"rack"});
  for (const char* rack : {"A", "B", "C", "D"}) l.domain(rack).slots(rack, {100, 100, 100, 100});
  Group g;
  g.children.push_back(tasks(1));
  g.children.back().name = "worker";
  g.children.back().replicas = 1600;
  CHECK(l.ask(g).nodes.size() == 1600);
  g.children.back().replicas = 1601;  // more than there are CPUs free
  CHECK(l.ask(g).verdict.reason == model::Reason::resources);
}

TEST_CASE("a gang does not search a domain that is too small for all its groups, though each by itself would fit") {
  auto l = Lab::tree({"spine", "rack"}).domain("S");
  for (const char* rack : {"A", "B", "C"}) l.rack(rack, "S", {3, 4, 5});
  Group job;
  for (int i = 0; i < 7; ++i) {
    job.children.push_back(tasks(2));  // 14 tasks, and a rack has room for 12
    job.children.back().name = "g" + std::to_string(i);
  }
  const auto a = l.ask(job);
  REQUIRE(a.placed());
  CHECK(a.level == "spine");
  CHECK(a.work.search_steps < 60);  // one for each group, and a few to find the domain
}

TEST_CASE("groups that may share a node are not counted as if each needed its own") {
  auto l = Lab::tree({"rack"}).rack("A", "", {4}).rack("B", "", {1, 1, 1});
  Group job;
  for (const char* name : {"a", "b"}) {
    Group g;
    g.name = name;
    g.nodes_given = true;  // one node, of which a CPU
    job.children.push_back(g);
  }
  job.pack.require = "rack";
  l.busy("B-[1-3]");
  CHECK(l.where(job) == "A-1:2");
  job.children.resize(1);
  job.children[0].replicas = 3;
  CHECK(l.where(job) == "A-1:3");
}
TEST_CASE("cheaper nodes win everything for a gang too, when the site says so") {
  auto l = four_racks(4);
  for (auto& n : l.shape.nodes) n.weight = n.name[0] == 'd' ? 1 : n.name[0] == 'c' ? 2 : 10;
  l.busy("a[1-2]");
  Group gang;
  gang.children = {whole(1), whole(1)};
  gang.children[0].name = "one";
  gang.children[1].name = "two";
  sched::placement::Options o;
  CHECK(l.hosts(gang, o) == "a[3-4]");
  o.weight_first = true;
  CHECK(l.hosts(gang, o) == "d[1-2]");
  gang.children[0].nodes = gang.children[1].nodes = {3, 3, {}};
  CHECK(l.hosts(gang, o) == "c[1-3],d[1-3]");
  Group copies = whole(2);
  copies.replicas = 2;
  copies.spread = {{"rack", model::Spread::Mode::require, 1, {}, {}, {}}};
  CHECK(l.hosts(copies, o) == "c[1-2],d[1-2]");
}
TEST_CASE("a gang waits for a rung of its ladder only where something could ever hold it") {
  const auto l = four_racks(4).busy("a1,b1,c1,d1");
  Group gang;
  gang.children = {whole(1), whole(3)};
  gang.children[0].name = "one";
  gang.children[1].name = "two";
  gang.pack.ladder = {{"rack", 1, std::chrono::seconds{60}}, {"any", 1, {}}};
  sched::placement::Options o;
  o.waited = base::Duration{};
  CHECK(l.hosts(gang, o) == "not now");  // a rack with nobody in it would do
  o.waited = std::chrono::seconds{60};
  CHECK(l.ask(gang, o).placed());
  gang.children[1].nodes = {4, 4, {}};  // five nodes are in no rack
  o.waited = base::Duration{};
  CHECK(l.hosts(gang, o) == "a[2-4],b[2-3]");
}
TEST_CASE("elastic segments: as many whole ones as there are, of a range never less than its minimum") {
  const auto l = four_racks(4).busy("a[1-2],b1");  // 2, 3, 4 and 4 free
  const auto elastic = [](Group g, std::uint32_t size, const std::string& level) {
    g.segments.push_back({level, size, {}, model::Segment::Remainder::elastic, false, false});
    return g;
  };
  const auto range = [](std::uint32_t min, std::uint32_t max) {
    Group g = whole(max);
    g.nodes.min = min;
    return g;
  };
  CHECK(l.hosts(elastic(whole(16), 4, "rack")) == "c[1-4],d[1-4]");
  CHECK(l.hosts(elastic(whole(11), 3, "rack")) == "b[2-4],c[1-3],d[1-3]");
  CHECK(l.hosts(elastic(whole(6), 4, "rack")) == "c[1-4]");
  CHECK(l.hosts(elastic(range(5, 16), 4, "rack")) == "c[1-4],d[1-4]");
  CHECK(l.hosts(elastic(range(9, 16), 4, "rack")) == "not now");  // twelve are the fewest
  CHECK(l.ask(elastic(range(9, 16), 4, "rack")).verdict.asked == 12);
  CHECK(l.hosts(elastic(range(4, 7), 4, "rack")) == "c[1-4]");
  const auto none = l.ask(elastic(range(5, 7), 4, "rack"));
  CHECK(none.verdict.kind == model::Verdict::Kind::never);
  CHECK(none.verdict.detail.find("7 can not be divided into segments of 4") != std::string::npos);
  Group list = elastic(range(4, 6), 4, "rack");
  list.nodes.choices = {5, 6};
  CHECK(l.hosts(list) == "never");
  // Asked to stay near each other, the narrowest rung that holds the minimum decides, and on it the domain that gives most.
  CHECK(l.hosts(elastic(prefer(range(2, 12), "rack"), 2, "rack")) == "c[1-4]");
  CHECK(Lab::tree({"rack"}).domain("A").slots("A", {3, 2, 1}).where(elastic(tasks(5), 2, "node")) == "A-1:2 A-2:2");
}
TEST_CASE("an elastic group of a gang grows by whole segments") {
  const auto l = four_racks(4).busy("a[1-2]");  // three segments of four, and two nodes
  Group leader = whole(1), workers = whole(16), gang;
  leader.name = "leader";
  workers.name = "workers";
  workers.nodes.min = 4;
  workers.segments.push_back({"rack", 4, {}, model::Segment::Remainder::elastic, false, false});
  gang.children = {leader, workers};
  CHECK(l.hosts(gang) == "a3,b[1-4],c[1-4],d[1-4]");
}

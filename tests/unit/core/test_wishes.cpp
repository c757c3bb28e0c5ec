// What a submission may say about the topology, and what is refused: each wish with an unknown level, an impossible size, a
// contradiction. The refusal names the field as the user wrote it, and what is known.
#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

// Two spines of two racks of two nodes (n1…n8); n9 hangs on a spine of its own, without a rack.
Topology tree() {
  Topology t;
  t.name = "default";
  t.kind = Topology::Kind::tree;
  t.levels = {{"spine", {}}, {"rack", {"block"}}};
  t.domains = {{"s1", 0, -1, {1, 2}, {}, false, true, {}},
               {"r1", 1, 0, {}, {NodeIndex{0}, NodeIndex{1}}, false, true, {}},
               {"r2", 1, 0, {}, {NodeIndex{2}, NodeIndex{3}}, false, true, {}},
               {"s2", 0, -1, {4, 5}, {}, false, true, {}},
               {"r3", 1, 3, {}, {NodeIndex{4}, NodeIndex{5}}, false, true, {}},
               {"r4", 1, 3, {}, {NodeIndex{6}, NodeIndex{7}}, false, true, {}},
               {"s3", 0, -1, {}, {NodeIndex{8}}, false, true, {}}};
  return t;
}

struct Fabric : Cluster {
  Fabric() : Cluster(9) { expect(run(ImportTopologies{{tree()}}, admin())); }
  // Refused, with that field, and each word somewhere in the text.
  void refuses(Ask a, const std::string& field, const std::vector<std::string>& words) {
    const Error e = refused(std::move(a));
    INFO(to_text(e));
    CHECK(e.field == field);
    for (const auto& w : words) {
      INFO(w);
      CHECK(to_text(e).find(w) != std::string::npos);
    }
    CHECK(state.jobs.empty());
  }
};

Ask wish(std::uint32_t nodes, auto change) {
  Ask a = ask().nodes(nodes);
  change(a.group());
  return a;
}
Segment segment(std::uint32_t size, std::string level = {}) {
  Segment s;
  s.size = size;
  s.level = std::move(level);
  return s;
}

const std::vector<std::string> known{"spine", "rack", "node"};

}  // namespace

TEST_CASE("--within an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.pack.require = "rak"; }), "--within", known);
}
TEST_CASE("--within a level that the nodes' branch does not have is refused") {
  Fabric c;
  c.refuses(wish(1,
                 [](Group& g) {
                   g.pack.require = "rack";
                   g.nodelist = "n9";
                 }),
            "--within", {"n9", "without a rack", "spine, rack, node"});
}
TEST_CASE("--within a level that no node of the partition has is refused") {
  Fabric c;
  c.configuration.partitions.push_back(c.configuration.partitions.front());
  c.configuration.partitions.back().settings.name = "lone";
  c.configuration.partitions.back().settings.is_default = false;
  c.configuration.partitions.back().node_names = {"n9"};
  c.configure();
  c.refuses(wish(1, [](Group& g) { g.pack.require = "rack"; }).partition("lone"), "--within", {"partition lone", "rack"});
}
TEST_CASE("--within a level that no domain could ever fill is refused") {
  Fabric c;
  c.refuses(wish(3, [](Group& g) { g.pack.require = "rack"; }), "--within", {"2 of 3"});
}
TEST_CASE("--near an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.pack.prefer = "cabinet"; }), "--near", known);
}
TEST_CASE("--near a level wider than --within is a contradiction") {
  Fabric c;
  c.refuses(wish(2,
                 [](Group& g) {
                   g.pack.prefer = "spine";
                   g.pack.require = "rack";
                 }),
            "--near", {"spine", "--within rack"});
}
TEST_CASE("--ladder with an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.pack.ladder = {{"rack", 1, {}}, {"row", 1, {}}}; }), "--ladder", known);
}
TEST_CASE("--ladder that does not climb is a contradiction") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.pack.ladder = {{"spine", 1, {}}, {"rack", 1, {}}}; }), "--ladder", {"narrow to wide"});
}
TEST_CASE("--segment on an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(4, [](Group& g) { g.segments = {segment(2, "nvlink")}; }), "--segment", known);
}
TEST_CASE("--segment that does not divide the job is refused") {
  Fabric c;
  c.refuses(wish(5, [](Group& g) { g.segments = {segment(2)}; }), "--segment", {"5", "segments of 2"});
}
TEST_CASE("--segment that no domain can hold is refused") {
  Fabric c;
  c.refuses(wish(6, [](Group& g) { g.segments = {segment(3, "rack")}; }), "--segment", {"segments of 3 on rack"});
}
TEST_CASE("--segment layers from narrow to wide are a contradiction") {
  Fabric c;
  c.refuses(wish(4, [](Group& g) { g.segments = {segment(2, "rack"), segment(4, "spine")}; }), "--segment", {"wide to narrow"});
}
TEST_CASE("--segment layers whose sizes do not divide are refused") {
  Fabric c;
  c.refuses(wish(6, [](Group& g) { g.segments = {segment(3, "spine"), segment(2, "rack")}; }), "--segment", {"do not divide"});
}
TEST_CASE("--segment on a level wider than the job's own is a contradiction") {
  Fabric c;
  c.refuses(wish(2,
                 [](Group& g) {
                   g.pack.require = "rack";
                   g.segments = {segment(2, "spine")};
                 }),
            "--segment", {"wider"});
}
TEST_CASE("--sizes that do not add up to the job are refused") {
  Fabric c;
  c.refuses(wish(4,
                 [](Group& g) {
                   Segment s;
                   s.sizes = {1, 2};
                   s.level = "rack";
                   g.segments = {s};
                 }),
            "--sizes", {"3", "add up"});
}
TEST_CASE("--sizes of which one fits no domain are refused") {
  Fabric c;
  c.refuses(wish(4,
                 [](Group& g) {
                   Segment s;
                   s.sizes = {3, 1};
                   s.level = "rack";
                   g.segments = {s};
                 }),
            "--sizes", {});
}
TEST_CASE("--spread over an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.spread = {{"zone", Spread::Mode::require, 1, {}, {}, {}}}; }), "--spread", known);
}
TEST_CASE("--spread wider than there are domains is refused") {
  Fabric c;
  c.refuses(wish(8, [](Group& g) { g.spread = {{"rack", Spread::Mode::require, 1, {}, {}, {}}}; }), "--spread", {});
}
TEST_CASE("--exclusive an unknown level is refused with the known ones") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.exclusive_level = "cage"; }), "--exclusive", known);
}
TEST_CASE("--contiguous and segments contradict each other") {
  Fabric c;
  c.refuses(wish(4,
                 [](Group& g) {
                   g.contiguous = true;
                   g.segments = {segment(2)};
                 }),
            "--contiguous", {"segments"});
}
TEST_CASE("--switches on a block topology is accepted, with a warning that it has no effect") {
  Cluster c(8);
  Topology t;
  t.name = "default";
  t.kind = Topology::Kind::block;
  t.levels = {{"block", {}}};
  t.block_sizes = {4};
  t.domains = {{"b1", 0, -1, {}, {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, NodeIndex{3}}, false, true, {}},
               {"b2", 0, -1, {}, {NodeIndex{4}, NodeIndex{5}, NodeIndex{6}, NodeIndex{7}}, false, true, {}}};
  Cluster::expect(c.run(ImportTopologies{{t}}, admin()));
  Ask a = wish(2, [](Group& g) { g.switches = 1; });
  const auto result = c.run(SubmitJob{std::make_shared<const JobSpec>(a.spec), {}, {}, false}, user());
  REQUIRE(result.reply);
  REQUIRE(result.reply->warnings.size() == 1);
  CHECK(result.reply->warnings.front().find("--switches=1 has no effect") != std::string::npos);
}
TEST_CASE("a waiting job can not be changed into what would be refused") {
  Fabric c;
  const JobId held = c.submit(wish(4, [](Group& g) { g.segments = {segment(2)}; }));
  JobChange change;
  change.segment_size = 3;
  const auto result = c.run(UpdateJob{held, change}, user());
  REQUIRE_FALSE(result.reply);
  CHECK(result.reply.error().field == "--segment");
  CHECK(c.job(held).spec->groups.front().segments.front().size == 2);
}

TEST_CASE("users 17: a wish survives every unrelated change: of the job, its nodes, the configuration, the topology, the controller") {
  Fabric c;
  const JobId id = c.submit(wish(4, [](Group& g) { g.segments = {segment(2, "rack")}; }).name("train"));
  const auto asked = c.job(id).spec->groups.front();
  JobChange change;
  change.comment = "a note";
  change.time_limit = hours{3};
  Cluster::expect(c.run(UpdateJob{id, change}, user()));
  c.configure();
  Cluster::expect(c.run(DrainNode{c.index("n9"), "disk"}, admin()));
  Cluster::expect(c.run(ResumeNode{c.index("n9")}, admin()));
  Cluster::expect(c.run(ImportTopologies{{tree()}}, admin()));
  c.expect_replay_gives_the_same();
  CHECK(c.job(id).spec->groups.front() == asked);
  c.start(id);
  CHECK(c.nodes_of(id).size() == 4);
  const auto& placed = *c.job(id).attempt->placement;
  CHECK(placed.segmented);
  for (std::size_t i = 0; i + 1 < placed.parts.size(); i += 2)
    CHECK(placed.parts[i].path == placed.parts[i + 1].path);  // segments are whole
}

TEST_CASE("users 17: no upper tier is dropped: a job that requires it stays inside it") {
  Fabric c;
  const JobId blocker = c.submit(ask().nodes(1).on("n2").exclusive());
  c.start(blocker);
  const JobId id = c.submit(wish(4, [](Group& g) { g.pack.require = "spine"; }));
  c.start(id);
  CHECK(c.nodes_of(id) == std::vector<std::string>{"n5", "n6", "n7", "n8"});
  CHECK(c.job(id).attempt->placement->level == "spine");
  CHECK(c.job(id).attempt->placement->domains == std::vector<std::string>{"s2"});
}

TEST_CASE("users 17: every start says how good it is, and what it was preferred to") {
  Fabric c;
  const JobId id = c.submit(ask().nodes(2).exclusive());
  c.start(id);
  const auto& placed = *c.job(id).attempt->placement;
  CHECK(placed.level == "rack");
  CHECK(placed.leaves_used == 1);
  CHECK(placed.leaves_least == 1);
  REQUIRE(placed.beaten.size() == 3);
  CHECK(placed.beaten.front() == DomainCount{"r2", 2, 2});
  CHECK(placed.paths == std::vector<std::vector<std::string>>{{"s1", "r1"}});
  const JobId waiting = c.submit(wish(4, [](Group& g) { g.pack.require = "spine"; }));
  c.pass();
  CHECK(c.job(waiting).attempt->placement->domains == std::vector<std::string>{"s2"});
}

// Without backfill nothing holds nodes for a job that waits; what holds is that small jobs do not break up what is whole.
TEST_CASE("users 18: small jobs fill what is broken already, so that a large job finds whole racks") {
  Fabric c;
  std::vector<JobId> small;
  for (int i = 0; i < 3; ++i) {
    small.push_back(c.submit(ask().nodes(1).exclusive()));
    c.start(small.back());
  }
  // The third joined a rack, and the lone node beside the racks was taken before any rack was broken further.
  std::set<std::string> used;
  for (const auto id : small) used.insert(c.nodes_of(id).front());
  CHECK(used.size() == 3);
  const JobId large = c.submit(wish(4, [](Group& g) { g.pack.require = "spine"; }));
  c.start(large);
  CHECK(c.nodes_of(large).size() == 4);
}

TEST_CASE("users 18: a job that goes first is placed first, whatever small jobs wait behind it") {
  Fabric c;
  const JobId all = c.submit(ask().nodes(8).on("n[1-8]").exclusive());
  c.start(all);
  const JobId large = c.submit(wish(4, [](Group& g) { g.pack.require = "spine"; }).exclusive());
  std::vector<JobId> small;
  for (int i = 0; i < 8; ++i) small.push_back(c.submit(ask().nodes(1).exclusive()));
  c.finish(all);
  c.pass();
  CHECK(c.job(large).attempt);
  REQUIRE(c.job(large).attempt->placement);
  CHECK(c.job(large).attempt->placement->level == "spine");
}

TEST_CASE("--switches waits its whole time where the configuration says literal, though no leaf can ever hold the job") {
  Fabric c;
  const auto three = [&] {
    Ask a = wish(3, [](Group& g) {
      g.switches = 1;
      g.switches_wait = minutes{5};
    });
    return c.submit(a.exclusive());
  };
  const JobId at_once = three();
  c.start(at_once);  // a rack has two nodes: nothing to wait for
  c.finish(at_once);

  c.configuration.settings.literal_switch_wait = true;
  c.configure();
  const JobId waits = three();
  c.pass();
  CHECK_FALSE(c.job(waits).attempt);
  const Verdict why = c.why(waits);
  REQUIRE(why.rungs.size() == 2);
  CHECK(why.rungs[1].opens == c.job(waits).eligible + minutes{5});
  c.advance(minutes{5} - seconds{1});
  c.pass();
  CHECK_FALSE(c.job(waits).attempt);
  c.advance(seconds{1});
  c.start(waits);
  c.finish(waits);

  const JobId freed = three();
  c.pass();
  CHECK_FALSE(c.job(freed).attempt);
  c.configuration.settings.literal_switch_wait = false;
  c.configure();
  c.start(freed);
}

TEST_CASE("a ladder is no blind timer, whatever --switches means") {
  Fabric c;
  c.configuration.settings.literal_switch_wait = true;
  c.configure();
  Ask a = wish(3, [](Group& g) { g.pack.ladder = {{"rack", 1, minutes{5}}, {"any", 1, {}}}; });
  c.start(c.submit(a.exclusive()));
}

TEST_CASE("a partition says whether cheaper nodes come before a better place") {
  Fabric c;
  for (auto& n : c.configuration.nodes) n.weight = n.name == "n7" || n.name == "n8" ? 1 : 5;
  c.configuration.partitions.push_back(c.configuration.partitions.front());
  c.configuration.partitions.back().settings.name = "thrifty";
  c.configuration.partitions.back().settings.is_default = false;
  c.configuration.partitions.back().settings.weight_first = true;
  c.configure();
  c.start(c.submit(ask().nodes(1).on("n1").exclusive()));
  const auto where = [&](const std::string& partition) {
    const JobId id = c.submit(ask().nodes(1).exclusive().partition(partition));
    c.start(id);
    const auto nodes = c.nodes_of(id);
    c.finish(id);
    return nodes;
  };
  CHECK(where("batch") != std::vector<std::string>{"n7"});  // where something is broken already
  CHECK(where("thrifty") == std::vector<std::string>{"n7"});
}

TEST_CASE("no switch at all, and a rung without a level, are refused however they come") {
  Fabric c;
  c.refuses(wish(2, [](Group& g) { g.switches = 0; }), "--switches", {"at least one switch"});
  c.refuses(wish(2, [](Group& g) { g.pack.ladder = {{"", 1, {}}}; }), "--ladder", {"names no level", "spine, rack"});
}

TEST_CASE("an exclusive domain stays closed when the topology comes in another version, with other racks or other names") {
  Fabric c;
  Ask alone = wish(1, [](Group& g) { g.exclusive_level = "rack"; }).on("n1");
  c.start(c.submit(alone));
  const JobId intruder = c.submit(ask().nodes(1).on("n2"));
  c.pass();
  CHECK_FALSE(c.job(intruder).attempt);
  CHECK(to_text(c.why(intruder)).find("1 in a domain kept for another job") != std::string::npos);
  Topology other = tree();
  SECTION("n2 is in another rack now") {
    other.domains[1].nodes = {NodeIndex{0}};
    other.domains[2].nodes.push_back(NodeIndex{1});
  }
  SECTION("the level has another name") { other.levels = {{"spine", {}}, {"row", {}}}; }
  c.expect(c.run(ImportTopologies{{other}}, admin()));
  c.pass();
  CHECK_FALSE(c.job(intruder).attempt);
}

TEST_CASE("a job that is held climbs no ladder") {
  Fabric c;
  c.start(c.submit(ask().nodes(4).on("n[1,3,5,7]").exclusive()));
  Ask a = wish(2, [](Group& g) { g.pack.ladder = {{"rack", 1, minutes{1}}, {"any", 1, {}}}; });
  const JobId id = c.submit(a.exclusive());
  c.expect(c.run(HoldJob{id}, admin()));
  c.advance(minutes{10});
  c.expect(c.run(ReleaseJob{id}, admin()));
  CHECK(c.job(id).eligible == c.now);
  c.pass();
  CHECK_FALSE(c.job(id).attempt);
  c.advance(minutes{1});
  c.start(id);
}

TEST_CASE("gangs whose search finds no end share what a pass spends on searches") {
  Fabric c;
  for (int i = 0; i < 12; ++i) {  // twelve nodes with three CPUs free are needed, of nine: the CPUs would do; each asks for other memory
    Group c1, v, w, job;
    c1.name = "c";
    c1.replicas = 3;
    c1.spread = {{"rack", sy::model::Spread::Mode::require, 1, {}, {}, {}}};
    v.name = "v";
    w.name = "w";
    v.replicas = w.replicas = 2;
    v.tasks_given = w.tasks_given = true;
    v.tasks = 3;
    v.pack.require = "node";
    w.tasks = 1;
    w.cpus_per_task = whole_cpus(3);
    w.affinity = {{"rack", "v", true}};
    w.memory_per_node = v.memory_per_node = Mebibytes{100 + i};
    c1.children = {v, w};
    job.children = {c1};
    Ask a = ask();
    a.group() = job;
    c.submit(a);
  }
  auto view = sy::sched::make_view(c.state, c.state.shape ? c.state.shape : make_shape(c.state));
  view.thorough = false;
  const auto quick = sy::sched::plan_pass(view, c.now);
  CHECK(quick.search_ended);
  CHECK(quick.search_steps > 8'000);   // by themselves they would take ten times that
  CHECK(quick.search_steps < 16'000);
}

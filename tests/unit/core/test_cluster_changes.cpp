#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
Error error_of(const StepResult& r) {
  REQUIRE_FALSE(r.reply);
  return r.reply.error();
}
}  // namespace

TEST_CASE("the same configuration again changes nothing") {
  Cluster c;
  c.submit(ask());
  const auto policy = c.state.policy_version;
  CHECK(c.run(c.configuration, admin()).events.empty());
  CHECK(c.state.policy_version == policy);
}

TEST_CASE("a configuration that contradicts itself is refused whole") {
  Cluster c;
  auto bad = c.configuration;
  bad.nodes.push_back(bad.nodes.front());
  CHECK(error_of(c.run(bad, admin())).value == "n1");
  bad = c.configuration;
  bad.partitions.front().node_names = {"n1", "n77"};
  const Error e = error_of(c.run(bad, admin()));
  CHECK(e.value == "n77");
  CHECK(e.message.find("batch") != std::string::npos);
  bad = c.configuration;
  bad.partitions.push_back(bad.partitions.front());
  bad.partitions.back().settings.name = "other";
  CHECK(error_of(c.run(bad, admin())).message.find("default") != std::string::npos);
}

TEST_CASE("a topology that is named and not in force is told, and refused where a running controller is told it anew") {
  Cluster c;
  for (const char* name : {"fab", "blk"}) {
    Topology t;
    t.name = name;
    Cluster::expect(c.run(ImportTopologies{{t}}, admin()));
  }
  const auto warnings = [&] {
    const auto r = c.run(c.configuration, admin());
    REQUIRE(r.reply);
    return r.reply->warnings;
  };
  c.configuration.partitions.front().settings.topology = "fab";
  CHECK(warnings().empty());

  auto again = c.configuration;
  again.again = true;
  again.partitions.front().settings.topology = "fabb";
  const Error e = error_of(c.run(again, admin()));
  CHECK(to_text(e) ==
        "topology of partition batch: no topology of this name is in force: it would be placed as if flat (given: fabb) (limit: blk, fab); "
        "did you mean fab? If not, import it first: sy topo import FILE");
  CHECK(c.state.partitions.front().topology == "fab");
  again = c.configuration;
  again.again = true;
  again.settings.default_topology = "nvl";
  CHECK(error_of(c.run(again, admin())).field == "default_topology");

  // At a start it may still come.
  c.configuration.partitions.front().settings.topology = "fabb";
  c.configuration.settings.default_topology = "nvl";
  const auto told = warnings();
  REQUIRE(told.size() == 2);
  CHECK(told[0] ==
        "default_topology: no topology of this name is in force: partitions that name none are placed as if flat until it is imported "
        "(given: nvl) (limit: blk, fab); import it: sy topo import FILE");
  CHECK(told[1].starts_with("topology of partition batch: no topology of this name is in force: it is placed as if flat until"));
  CHECK(c.state.partitions.front().topology == "fabb");

  // What stays as it was is told again, and stops no other change.
  again = c.configuration;
  again.again = true;
  again.settings.default_topology.clear();
  const auto r = c.run(again, admin());
  REQUIRE(r.reply);
  CHECK(r.reply->warnings == std::vector{told[1]});
}

TEST_CASE("deleting a partition with waiting jobs crashes nothing: they wait and say why") {
  Cluster c;
  PartitionDeclaration p;
  p.settings.name = "doomed";
  p.node_names = {"ALL"};
  c.configuration.partitions.push_back(p);
  c.configure();
  const auto waits = c.submit(ask().partition("doomed").cpus(4));
  const auto runs = c.submit(ask().partition("doomed"));
  const auto other = c.submit(ask());
  Cluster::expect(c.run(HoldJob{waits}, user()));
  c.start(runs);
  c.configuration.partitions.pop_back();
  const auto r = c.run(c.configuration, admin());
  REQUIRE(r.reply);
  CHECK(r.reply->warnings.size() == 1);
  Cluster::expect(c.run(ReleaseJob{waits}, user()));
  c.pass();
  CHECK(c.job(waits).state == JobState::pending);
  CHECK(c.why(waits).reason == Reason::partition_inactive);
  CHECK(c.why(waits).kind == Verdict::Kind::never);
  c.deliver();
  CHECK(c.job(other).state == JobState::running);
  c.finish(runs);
  CHECK(c.job(runs).outcome == Outcome::completed);
  rebuild_derived(c.state);  // as at the next start
  CHECK(check_invariants(c.state).empty());
  JobChange move;
  move.partitions = {"batch"};
  Cluster::expect(c.run(UpdateJob{waits, move}, user()));
  c.start(waits);
  c.expect_replay_gives_the_same();
}

TEST_CASE("a node that is no longer named becomes a tombstone, unless jobs run there") {
  Cluster c;
  const auto id = c.submit(ask().on("n4"));
  c.start(id);
  const auto index = c.index("n4");
  auto with = c.configuration;
  c.configuration.nodes.pop_back();
  CHECK(error_of(c.run(c.configuration, admin())).value == "n4");
  c.finish(id);
  c.configure();
  CHECK(c.state.find_node("n4") == nullptr);
  CHECK(c.state.nodes[index.value].removed);
  CHECK(c.refused(ask().nodes(4)).code == Code::impossible);
  c.configuration = with;
  c.configure();
  CHECK(c.index("n4") == index);
  c.register_node("n4");
  CHECK(c.node("n4").usable());
  c.expect_replay_gives_the_same();
}

TEST_CASE("a node may not be declared smaller than what its jobs hold, nor its GRES renumbered under them") {
  Cluster c(2, 4, 8000, 2);
  const auto id = c.submit(ask().cpus(4).gres("gpu", 1));
  c.start(id);
  auto smaller = c.configuration;
  smaller.nodes.front().shape->cpus = 2;
  CHECK(error_of(c.run(smaller, admin())).code == Code::conflict);
  auto renumbered = c.configuration;
  renumbered.nodes.front().shape->gres.erase(renumbered.nodes.front().shape->gres.begin());
  CHECK(error_of(c.run(renumbered, admin())).message.find("GRES") != std::string::npos);
  c.finish(id);
  Cluster::expect(c.run(smaller, admin()));
  CHECK(c.node("n1").total.cpus == whole_cpus(2));
}

TEST_CASE("a node that registers less than declared is drained with the difference in words") {
  Cluster c(2, 8, 16000, 4);
  RegisterNode r;
  r.node = c.index("n1");
  r.shape = *c.configuration.nodes.front().shape;
  r.shape.cpus = 6;
  r.shape.memory = Mebibytes{15000};
  r.shape.gres.pop_back();
  r.boot_id = "boot-1";
  r.spool_id = "spool-1";
  Cluster::expect(c.run(r, agent("n1")));
  CHECK(c.node("n1").drained);
  CHECK(c.node("n1").reason == "registered less than declared: 6 CPUs of 8, 15000 MiB of 16000, 3 gpu of 4");
  CHECK(c.node("n1").reason_by == "switchyard");
}

TEST_CASE("a node whose shape was not declared is what it registers, and is drained when that shrinks below its jobs") {
  Cluster c(1);
  c.configuration.nodes.front().shape.reset();
  c.configure();
  RegisterNode r;
  r.node = c.index("n1");
  r.shape.cpus = 16;
  r.shape.memory = Mebibytes{1000};
  r.boot_id = "boot-1";
  r.spool_id = "spool-1";
  Cluster::expect(c.run(r, agent("n1")));
  CHECK(c.node("n1").total.cpus == whole_cpus(16));
  const auto id = c.submit(ask().cpus(16));
  c.start(id);
  r.shape.cpus = 8;
  r.attempts = {{id, AttemptNumber{1}, NodePhase::running}};
  Cluster::expect(c.run(r, agent("n1")));
  CHECK(c.node("n1").drained);
  CHECK(error_of(c.run(ResumeNode{c.index("n1")}, admin())).code == Code::conflict);
  c.finish(id);
  Cluster::expect(c.run(ResumeNode{c.index("n1")}, admin()));
  c.expect_replay_gives_the_same();
}

TEST_CASE("a node that is declared without its size is not taken for a small one before it has registered") {
  Cluster c(1);
  NodeDeclaration fresh;
  fresh.name = "n2";
  c.configuration.nodes.push_back(fresh);
  c.configure();
  const auto large = c.submit(ask().cpus(8).memory(16'000));
  const auto both = c.submit(ask().nodes(2));
  CHECK(c.pass().starts.empty());
  CHECK(c.why(both).kind == Verdict::Kind::not_now);
  CHECK(c.refused(ask().nodes(3)).field == "--nodes");
  CHECK(c.refused(ask().features("a100")).field == "--constraint");
  CHECK(c.refused(ask().on("n9")).message.find("n9") != std::string::npos);
  c.agents["n2"].name = "n2";
  RegisterNode r;
  r.node = c.index("n2");
  r.shape.cpus = 8;
  r.shape.memory = Mebibytes{32'000};
  r.boot_id = "b";
  r.spool_id = "s";
  Cluster::expect(c.run(r, agent("n2")));
  c.start(large);
  CHECK(c.nodes_of(large) == std::vector<std::string>{"n2"});
  CHECK_FALSE(c.refused(ask().cpus(9)).field.empty());
}

TEST_CASE("a node enrols once with its token, in time, and belongs to partitions declared as ALL") {
  Cluster c(1);
  Cluster::expect(c.run(IssueEnrolToken{"n9", "digest", c.now + minutes{10}}, admin()));
  CHECK(error_of(c.run(EnrolNode{"wrong", "key"}, Principal{})).code == Code::unauthenticated);
  const auto r = c.run(EnrolNode{"digest", "key"}, Principal{});
  REQUIRE(r.reply);
  CHECK(r.reply->node == c.index("n9"));
  CHECK(c.node("n9").public_key == "key");
  CHECK(c.state.partitions.front().nodes.contains(c.index("n9")));
  CHECK(error_of(c.run(EnrolNode{"digest", "other key"}, Principal{})).code == Code::unauthenticated);
  Cluster::expect(c.run(IssueEnrolToken{"n9", "digest2", c.now + minutes{10}}, admin()));
  c.now += minutes{10};
  CHECK(error_of(c.run(EnrolNode{"digest2", "key"}, Principal{})).code == Code::unauthenticated);
  Cluster::expect(c.run(RemoveNode{c.index("n9")}, admin()));
  CHECK(c.state.find_node("n9") == nullptr);
  CHECK(error_of(c.run(RemoveNode{c.index("n1")}, admin())).code == Code::conflict);
  c.expect_replay_gives_the_same();
}

TEST_CASE("draining keeps what runs and takes nothing new; a reason is required") {
  Cluster c(1);
  const auto id = c.submit(ask());
  c.start(id);
  CHECK(error_of(c.run(DrainNode{c.index("n1"), ""}, admin())).field == "--reason");
  CHECK(error_of(c.run(DrainNode{c.index("n1"), "bad\nn2 idle"}, admin())).field == "--reason");
  Cluster::expect(c.run(DrainNode{c.index("n1"), "fan"}, admin()));
  const auto next = c.submit(ask());
  CHECK(c.pass().starts.empty());
  CHECK(c.job(id).state == JobState::running);
  CHECK(c.why(next).causes == std::vector<Cause>{{Cause::Kind::drained, 1}});
}

TEST_CASE("an equal topology imports as nothing, a changed one as the next version, a broken one not at all") {
  Cluster c;
  Topology t;
  t.name = "net";
  t.levels = {{"rack", {}}};
  t.domains = {{"r1", 0, -1, {}, {c.index("n1"), c.index("n2")}, false, true}};
  Cluster::expect(c.run(ImportTopologies{{t}}, admin()));
  t.version = 77;
  CHECK(c.run(ImportTopologies{{t}}, admin()).events.empty());
  t.domains.front().nodes.pop_back();
  Cluster::expect(c.run(ImportTopologies{{t}}, admin()));
  CHECK(c.state.topologies.at("net").version == 2);
  t.domains.front().nodes.push_back(NodeIndex{99});
  CHECK(error_of(c.run(ImportTopologies{{t}}, admin())).code == Code::invalid_argument);
}

TEST_CASE("each epoch is higher than the one before, whatever was asked for") {
  Cluster c;
  const auto before = c.state.epoch;
  c.run(BeginEpoch{0, 500});
  CHECK(c.state.epoch == before + 1);
  CHECK(c.submit(ask()).value == 500);
}

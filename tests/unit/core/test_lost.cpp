#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;
using What = ReportAttempt::What;

namespace {
template <class E>
int count(const std::vector<Effect>& effects) {
  int n = 0;
  for (const auto& e : effects) n += std::holds_alternative<E>(e) ? 1 : 0;
  return n;
}
}  // namespace

TEST_CASE("silence ends nothing: the job is lost, keeps its nodes, and is found when the node is heard") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.start(id);
  c.silent("n2");
  CHECK(c.job(id).state == JobState::lost);
  CHECK(c.job(id).lost_from == JobState::running);
  c.advance(hours{10});
  CHECK(c.node("n2").jobs == std::vector<JobId>{id});
  c.heard("n2");
  CHECK(c.job(id).state == JobState::running);
  c.expect_replay_gives_the_same();
}

TEST_CASE("a job lost on two nodes is found only when both are heard") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.start(id);
  c.silent("n1");
  c.silent("n2");
  c.heard("n1");
  CHECK(c.job(id).state == JobState::lost);
  c.heard("n2");
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("an administrator's fence ends the node's part; the job waits again only when the other nodes are clear too") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.start(id);
  c.silent("n1");
  Cluster::expect(c.run(FenceNode{c.index("n1"), ""}, admin()));
  CHECK(c.job(id).state == JobState::ending);
  CHECK(c.pass().starts.empty());
  c.deliver();
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.job(id).restarts == 1);
  c.start(id);
  CHECK(c.job(id).attempt->number == AttemptNumber{2});
  CHECK(c.nodes_of(id) == std::vector<std::string>{"n2", "n3"});
  c.expect_replay_gives_the_same();
}

TEST_CASE("a job that must not run twice ends as node failure when its node is fenced") {
  Cluster c;
  const auto id = c.submit(ask().no_requeue());
  c.start(id);
  c.silent("n1");
  c.run(FenceNode{c.index("n1"), ""}, admin());
  CHECK(c.job(id).outcome == Outcome::node_fail);
  CHECK(c.job(id).end_reason.find("n1 was fenced") != std::string::npos);
}

TEST_CASE("assume_dead fences a silent node at once") {
  Cluster c;
  c.configuration.settings.on_lost = Settings::OnLost::assume_dead;
  c.configure();
  const auto id = c.submit(ask());
  c.start(id);
  c.silent("n1");
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.node("n1").contact == Contact::fenced);
}

TEST_CASE("a fence program runs for a silent node that has jobs, and its success fences") {
  Cluster c;
  c.configuration.settings.fence_program = "/usr/sbin/power-off";
  c.configure();
  CHECK(count<RunFenceProgram>(c.run(NodeSilent{c.index("n4")}).effects) == 0);
  const auto id = c.submit(ask());
  c.start(id);
  c.silent("n1");
  CHECK(count<RunFenceProgram>(pending_effects(c.state)) == 1);
  c.deliver();
  CHECK(c.job(id).state == JobState::pending);
  CHECK(count<RunFenceProgram>(pending_effects(c.state)) == 0);
}

TEST_CASE("a new boot id proves that nothing of before runs") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.reboot("n1");
  c.register_node("n1");
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.node("n1").held == Resources{});
  c.start(id);
  CHECK(c.job(id).attempt->number == AttemptNumber{2});
}

TEST_CASE("the same boot with a new spool is unknown, not ended: only fencing ends it") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.lose_spool("n1");
  c.register_node("n1");
  CHECK(c.job(id).state == JobState::lost);
  CHECK(c.job(id).attempt->nodes.front().phase == NodePhase::unknown);
  c.register_node("n1");  // again with the new spool: still unknown, and nothing is launched a second time
  c.deliver();
  CHECK(c.job(id).state == JobState::lost);
  CHECK(c.agents["n1"].starts_of_scripts == 1);
  c.silent("n1");
  c.heard("n1");
  CHECK(c.job(id).state == JobState::lost);
  c.run(FenceNode{c.index("n1"), ""}, admin());
  CHECK(c.job(id).state == JobState::pending);
}

TEST_CASE("a launch that may have arrived before the spool was lost is not sent again") {
  Cluster c;
  const auto id = c.submit(ask());
  c.pass();
  c.outbox.clear();
  c.lose_spool("n1");
  const auto r = c.register_node("n1");
  CHECK(count<LaunchOnNode>(r.effects) == 0);
  CHECK(c.job(id).state == JobState::lost);
}

TEST_CASE("a spool that comes back with the attempt in it makes the job known again") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  const auto records = c.agents["n1"].records;
  c.lose_spool("n1");
  c.register_node("n1");
  REQUIRE(c.job(id).state == JobState::lost);
  c.agents["n1"].records = records;
  c.agents["n1"].spool = "spool-1";
  c.register_node("n1");
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("a lost node that returns is told what was fenced and kills it first") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.silent("n1");
  c.run(FenceNode{c.index("n1"), ""}, admin());
  c.start(id);  // attempt 2, elsewhere
  const auto r = c.register_node("n1");
  REQUIRE(r.reply->to_kill.size() == 1);
  CHECK(r.reply->to_kill.front().job == id);
  CHECK(r.reply->to_kill.front().attempt == AttemptNumber{1});
  c.deliver();
  CHECK(c.job(id).state == JobState::running);
  CHECK(c.node("n1").usable());
  CHECK(c.agents["n1"].records.empty());
}

TEST_CASE("a launch that never arrived is sent again when the node registers") {
  Cluster c;
  const auto id = c.submit(ask());
  c.pass();
  c.outbox.clear();  // lost with the controller
  c.register_node("n1");
  c.deliver();
  CHECK(c.job(id).state == JobState::running);
  CHECK(c.agents["n1"].starts_of_scripts == 1);
}

TEST_CASE("a job with --no-kill goes on without a member that was fenced, but not without its lead") {
  Cluster c;
  const auto id = c.submit(ask().nodes(3).no_kill());
  c.start(id);
  c.silent("n2");
  c.run(FenceNode{c.index("n2"), ""}, admin());
  CHECK(c.job(id).state == JobState::running);
  CHECK(c.node("n2").held == Resources{});
  c.silent("n1");
  c.run(FenceNode{c.index("n1"), ""}, admin());
  CHECK(c.job(id).state == JobState::ending);
}

TEST_CASE("a job that still runs after the controller restarts is not queued again") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.start(id);
  rebuild_derived(c.state);
  c.run(BeginEpoch{2, 1});
  c.register_all();
  c.deliver();
  CHECK(c.job(id).state == JobState::running);
  CHECK(c.agents["n1"].starts_of_scripts == 1);
  CHECK(pending_effects(c.state).empty());
}

TEST_CASE("a job the controller forgot with an older backup is killed on the node, and its id is not given again") {
  Cluster c;
  const State backup = c.state;
  const auto id = c.submit(ask());
  c.start(id);
  c.state = backup;
  c.history.clear();
  const auto r = c.register_node("n1");
  REQUIRE(r.reply->to_kill.size() == 1);
  CHECK(c.submit(ask()).value > id.value);
}

TEST_CASE("an attempt number seen by a node is not used again after a restore") {
  Cluster c;
  const auto id = c.submit(ask());
  const State backup = c.state;
  c.start(id);
  c.state = backup;
  c.history.clear();
  c.outbox.clear();
  c.register_node("n1");
  CHECK(c.job(id).last_attempt == AttemptNumber{1});
  c.deliver();
  c.start(id);
  CHECK(c.job(id).attempt->number == AttemptNumber{2});
}

TEST_CASE("down ends the jobs of a node and keeps new ones away until resumed") {
  Cluster c(1);
  const auto id = c.submit(ask());
  c.start(id);
  Cluster::expect(c.run(DownNode{c.index("n1"), "smoke"}, admin()));
  c.deliver();
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.pass().starts.empty());
  Cluster::expect(c.run(ResumeNode{c.index("n1")}, admin()));
  c.start(id);
}

TEST_CASE("a job that a node ended for want of a controller is run again, and one that must not run twice ends as node failure") {
  Cluster c(1);
  const auto ended_by_lease = [&](JobId id) {
    ExitRecord exit;
    exit.signal = 15;
    c.report("n1", id, 1, ReportAttempt::What::script_ended, ReportAttempt::Blame::node, "its lease ran out", exit);
    c.report("n1", id, 1, ReportAttempt::What::cleared, {}, {}, exit);
    c.deliver();
  };
  const auto again = c.submit(ask());
  c.start(again);
  ended_by_lease(again);
  CHECK(c.job(again).state == JobState::pending);
  c.start(again);
  CHECK(c.job(again).attempt->number == AttemptNumber{2});
  c.finish(again);
  const auto once = c.submit(ask().no_requeue());
  c.start(once);
  ended_by_lease(once);
  CHECK(c.job(once).outcome == Outcome::node_fail);
  CHECK(c.job(once).end_reason == "its lease ran out");
  CHECK_FALSE(c.node("n1").drained);
}

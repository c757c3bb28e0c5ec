#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;
using What = ReportAttempt::What;

namespace {
std::vector<std::string> launches(const Cluster& c) {
  std::vector<std::string> out;
  for (const auto& e : c.outbox)
    if (const auto* l = std::get_if<LaunchOnNode>(&e)) out.push_back(c.state.nodes[l->node.value].name + (l->lead ? " lead" : ""));
  return out;
}
}  // namespace

TEST_CASE("the members are launched first, the lead when every member has accepted") {
  Cluster c;
  const auto id = c.submit(ask().nodes(3));
  c.pass();
  CHECK(launches(c) == std::vector<std::string>{"n2", "n3"});
  c.outbox.clear();
  c.report("n2", id, 1, What::accepted);
  CHECK(launches(c).empty());
  c.report("n3", id, 1, What::accepted);
  CHECK(launches(c) == std::vector<std::string>{"n1 lead"});
  c.report("n1", id, 1, What::accepted);
  CHECK(c.job(id).state == JobState::starting);
  c.report("n1", id, 1, What::started);
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("a launch is recorded before it is sent: it is an effect of a committed start, with its attempt number") {
  Cluster c;
  const auto id = c.submit(ask());
  ApplyPlan plan;
  for (auto& s : c.plan().starts) plan.starts.push_back({s.job, s.partition, s.nodes, s.placement});
  const auto r = c.run(plan);
  REQUIRE(r.effects.size() == 1);
  const auto& launch = std::get<LaunchOnNode>(r.effects.front());
  CHECK(c.job(id).last_attempt == launch.attempt);
  CHECK(std::holds_alternative<JobStarted>(r.events.front().fact));
}

TEST_CASE("a node that refuses a launch is drained with its reason, and the job waits before it is tried again") {
  Cluster c(2);
  c.agents["n1"].refuses = SimAgent::Refuses::as_node_fault;
  const auto id = c.submit(ask());
  c.pass();
  c.deliver();
  CHECK(c.node("n1").drained);
  CHECK(c.node("n1").reason == "prolog failed");
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.job(id).eligible == c.now + c.state.settings.launch_backoff);
  CHECK(c.why(id).reason == Reason::launch_backoff);
  CHECK(c.pass().starts.empty());  // not at once
  c.advance(c.state.settings.launch_backoff);
  c.start(id);
  CHECK(c.nodes_of(id) == std::vector<std::string>{"n2"});
  CHECK(c.job(id).attempt->number == AttemptNumber{2});
  CHECK(c.job(id).launch_failures == 0);
}

TEST_CASE("a multi-node launch that one node refuses leaves nothing on the nodes that accepted") {
  Cluster c;
  c.agents["n3"].refuses = SimAgent::Refuses::as_node_fault;
  const auto id = c.submit(ask().nodes(3));
  c.pass();
  c.deliver();
  CHECK(c.job(id).state == JobState::pending);
  for (const auto* n : {"n1", "n2", "n3"}) {
    CHECK(c.node(n).held == Resources{});
    CHECK(c.agents[n].records.empty());
    CHECK(c.agents[n].starts_of_scripts == 0);
  }
  CHECK(c.node("n3").drained);
  CHECK_FALSE(c.node("n2").drained);
  c.expect_replay_gives_the_same();
}

TEST_CASE("the pause doubles with each refusal in a row, and after the configured number the job is held") {
  Cluster c(1);
  c.agents["n1"].refuses = SimAgent::Refuses::as_nobodys_fault;
  c.agents["n1"].refusal = "busy";
  const auto id = c.submit(ask());
  std::vector<Duration> pauses;
  for (std::uint32_t i = 1; i <= c.state.settings.max_launch_failures; ++i) {
    c.pass();
    c.deliver();
    REQUIRE(c.job(id).launch_failures == i);
    pauses.push_back(c.job(id).eligible - c.now);
    c.now = c.job(id).eligible;
  }
  CHECK(pauses == std::vector<Duration>{seconds{30}, seconds{60}, seconds{120}});
  CHECK_FALSE(c.node("n1").drained);
  CHECK(c.why(id).reason == Reason::launch_failed_requeued_held);
  CHECK(c.pass().starts.empty());
  c.agents["n1"].refuses = SimAgent::Refuses::nothing;
  Cluster::expect(c.run(ReleaseJob{id}, user()));
  c.start(id);
}

TEST_CASE("a launch refused because of the job ends the job with the reason, and the node keeps working") {
  Cluster c;
  c.agents["n1"].refuses = SimAgent::Refuses::as_job_fault;
  c.agents["n1"].refusal = "output folder /x is missing";
  const auto id = c.submit(ask());
  c.pass();
  c.deliver();
  CHECK(c.job(id).outcome == Outcome::failed);
  CHECK(c.job(id).end_reason == "output folder /x is missing");
  CHECK_FALSE(c.node("n1").drained);
}

TEST_CASE("a prolog that fails after the node accepted is treated as a refused launch") {
  Cluster c;
  const auto id = c.submit(ask());
  c.pass();
  c.report("n1", id, 1, What::accepted);
  c.report("n1", id, 1, What::refused, ReportAttempt::Blame::node, "prolog failed with status 1");
  CHECK(c.node("n1").drained);
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.node("n1").held == Resources{});
}

TEST_CASE("one bad node does not get the next job within seconds") {
  Cluster c(2);
  c.agents["n1"].refuses = SimAgent::Refuses::as_node_fault;
  std::vector<JobId> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(c.submit(ask().cpus(4)));
  for (int i = 0; i < 20; ++i) {
    c.pass();
    c.deliver();
    for (auto id : jobs)
      if (c.job(id).state == JobState::running) c.finish(id);
    c.now += seconds{10};
  }
  for (auto id : jobs) CHECK(c.job(id).outcome == Outcome::completed);
}

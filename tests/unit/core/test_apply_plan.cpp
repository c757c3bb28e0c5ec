#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
ApplyPlan planned(const Cluster& c) {
  const auto p = c.plan();
  ApplyPlan a{p.snapshot, p.policy_version, {}};
  for (const auto& s : p.starts) a.starts.push_back({s.job, s.partition, s.nodes, s.placement});
  return a;
}
const PlanApplied& applied(const StepResult& r) {
  REQUIRE_FALSE(r.events.empty());
  return std::get<PlanApplied>(r.events.back().fact);
}
}  // namespace

TEST_CASE("a start whose job was cancelled or held meanwhile is dropped") {
  Cluster c;
  const auto a = c.submit(ask());
  const auto b = c.submit(ask().on("n2"));
  const auto d = c.submit(ask().on("n3"));
  const auto plan = planned(c);
  c.run(CancelJob{a}, user());
  c.run(HoldJob{b}, user());
  const auto r = c.run(plan);
  CHECK(applied(r).starts == 1);
  CHECK(applied(r).dropped == 2);
  CHECK(c.job(d).state == JobState::starting);
  CHECK(c.job(b).state == JobState::pending);
}

TEST_CASE("a stale start takes the later starts on its nodes with it") {
  Cluster c(2);
  const auto first = c.submit(ask().on("n1"));
  const auto second = c.submit(ask().on("n1"));
  const auto elsewhere = c.submit(ask().on("n2"));
  const auto plan = planned(c);
  REQUIRE(plan.starts.size() == 3);
  c.run(CancelJob{first}, user());
  c.run(plan);
  CHECK(c.job(second).state == JobState::pending);
  CHECK(c.job(elsewhere).state == JobState::starting);
}

TEST_CASE("a start on a node that was drained or filled meanwhile is dropped; applied twice, a plan starts nothing twice") {
  Cluster c(2);
  const auto a = c.submit(ask().on("n1").cpus(4));
  const auto b = c.submit(ask().on("n2").cpus(4));
  const auto plan = planned(c);
  c.run(DrainNode{c.index("n1"), "x"}, admin());
  c.run(plan);
  CHECK(c.job(a).state == JobState::pending);
  CHECK(c.job(b).state == JobState::starting);
  const auto again = c.run(plan);
  CHECK(applied(again).starts == 0);
  CHECK(c.job(b).last_attempt == AttemptNumber{1});
}

TEST_CASE("plans that nobody made are dropped, not trusted") {
  Cluster c(2);
  const auto id = c.submit(ask());
  NodeGrant g;
  g.node = c.index("n1");
  g.held.cpus = g.used.cpus = whole_cpus(99);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{id, "batch", {g}, {}}}})).dropped == 1);
  g.held.cpus = g.used.cpus = whole_cpus(1);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{id, "batch", {g, g}, {}}}})).dropped == 1);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{id, "nope", {g}, {}}}})).dropped == 1);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{id, "batch", {}, {}}}})).dropped == 1);
  g.node = NodeIndex{4'000'000'000U};
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{id, "batch", {g}, {}}}})).dropped == 1);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{JobId{77}, "batch", {g}, {}}}})).dropped == 1);
}

TEST_CASE("GRES instances are given once, the lowest free first, and come back") {
  Cluster c(1, 8, 8000, 4);
  const auto a = c.submit(ask().gres("gpu", 1));
  const auto b = c.submit(ask().gres("gpu", 2));
  c.pass();
  c.deliver();
  CHECK(c.job(a).attempt->nodes.front().gres_instances == std::vector<GresInstanceIndex>{0});
  CHECK(c.job(b).attempt->nodes.front().gres_instances == std::vector<GresInstanceIndex>{1, 2});
  c.finish(a);
  const auto d = c.submit(ask().gres("gpu", 2));
  c.start(d);
  CHECK(c.job(d).attempt->nodes.front().gres_instances == std::vector<GresInstanceIndex>{0, 3});
}

TEST_CASE("a start in a domain that somebody has for himself is dropped, though its node is free") {
  Cluster c{4};
  sy::model::Topology t;
  t.name = "racks";
  t.kind = sy::model::Topology::Kind::tree;
  t.levels = {{"rack", {}}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    sy::model::Domain d;
    d.name = i == 0 ? "a" : "b";
    d.nodes = {NodeIndex{2 * i}, NodeIndex{2 * i + 1}};
    t.domains.push_back(d);
  }
  c.state.topologies.emplace(t.name, t);
  c.state.settings.default_topology = t.name;
  c.state.shape = nullptr;
  auto alone = ask();
  alone.group().exclusive_level = "rack";
  const auto first = c.submit(alone);
  c.start(first);
  REQUIRE(c.nodes_of(first) == std::vector<std::string>{"n1"});
  const auto second = c.submit(ask());
  NodeGrant g;
  g.node = c.index("n2");
  g.tasks = 1;
  g.held.cpus = g.used.cpus = whole_cpus(1);
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{second, "batch", {g}, {}}}})).dropped == 1);
  g.node = c.index("n3");
  CHECK(applied(c.run(ApplyPlan{{}, 1, {{second, "batch", {g}, {}}}})).dropped == 0);
}

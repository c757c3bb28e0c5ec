// Jobs of several groups: what a tree of groups may say, that it starts as one, and what its attempt holds on each node.
#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

Group leader() {
  Group g;
  g.name = "leader";
  g.tasks = 1;
  g.tasks_given = true;
  return g;
}
Group workers(std::uint32_t nodes) {
  Group g;
  g.name = "workers";
  g.nodes = {nodes, nodes, {}};
  g.nodes_given = true;
  g.cpus_per_task = whole_cpus(3);
  return g;
}
Ask gang(std::vector<Group> children, std::uint32_t replicas = 1) {
  Ask a = ask();
  a.group().children = std::move(children);
  a.group().replicas = replicas;
  return a;
}

}  // namespace

TEST_CASE("a gang holds on each node what its groups there ask for, and nothing else") {
  Cluster c(2);  // 4 CPUs each
  const JobId id = c.submit(gang({leader(), workers(2)}));
  c.start(id);
  const auto& attempt = *c.job(id).attempt;
  REQUIRE(attempt.nodes.size() == 2);
  CHECK(attempt.nodes[0].held.cpus == whole_cpus(4));  // the leader beside a worker
  CHECK(attempt.nodes[0].tasks == 2);
  CHECK(attempt.nodes[1].held.cpus == whole_cpus(3));
  REQUIRE(attempt.placement);
  const auto& parts = attempt.placement->parts;
  REQUIRE(parts.size() == 3);
  CHECK(attempt.placement->groups == std::vector<std::string>{"leader", "workers"});
  CHECK(parts[0].group == 0);
  CHECK(parts[1].group == 1);
  CHECK(parts[1].node == parts[0].node);  // parts of one node stand together
  c.finish(id);
  CHECK(c.job(id).outcome == Outcome::completed);
  CHECK(c.node("n1").held == Resources{});
}

TEST_CASE("a gang starts whole or not at all, and frees nothing it did not get") {
  Cluster c(3);
  const JobId blocker = c.submit(ask().nodes(2).exclusive());
  c.start(blocker);
  const JobId id = c.submit(gang({leader(), workers(2)}));
  c.pass();
  CHECK_FALSE(c.job(id).attempt);
  CHECK(c.why(id).kind == Verdict::Kind::not_now);
  c.finish(blocker);
  c.start(id);
}

TEST_CASE("a gang whose workers want whole nodes still shares its leader's node") {
  Cluster c(3);
  const JobId other = c.submit(ask().nodes(1).on("n1"));
  c.start(other);
  Group w = workers(2);
  w.sharing = Sharing::exclusive_node;
  const JobId id = c.submit(gang({leader(), w}));
  c.start(id);
  const auto nodes = c.nodes_of(id);
  REQUIRE(nodes.size() == 3);
  CHECK(nodes.front() == "n1");
  // The node beside the leader still takes others.
  const JobId third = c.submit(ask().nodes(1));
  c.start(third);
  CHECK(c.nodes_of(third) == std::vector<std::string>{"n1"});
}

TEST_CASE("copies of a gang come together, each inside its own bounds") {
  Cluster c(4);
  Ask a = gang({leader(), workers(1)}, 3);
  const JobId id = c.submit(a);
  c.start(id);
  CHECK(c.job(id).attempt->placement->parts.size() == 6);
  const Error e = c.refused(gang({leader(), workers(1)}, 9));
  CHECK(e.code == Code::impossible);
  CHECK(e.field == "groups");
}

TEST_CASE("what a tree of groups may not say is refused by its place") {
  Cluster c(4);
  const auto refuses = [&](Ask a, const std::string& field, const std::string& word) {
    const Error e = c.refused(std::move(a));
    INFO(to_text(e));
    CHECK(e.field == field);
    CHECK(to_text(e).find(word) != std::string::npos);
  };
  Ask both = gang({leader(), workers(1)});
  both.group().nodes = {2, 2, {}};
  both.group().nodes_given = true;
  refuses(both, "groups", "asks for no nodes, tasks or resources itself");
  refuses(gang({leader(), leader()}), "groups[1].name", "two groups have this name");
  Group near = workers(1);
  near.affinity = {{"node", "leadr", true}};
  refuses(gang({leader(), near}), "groups[1].affinity", "leader, workers");
  Group alone = workers(1);
  alone.exclusive_level = "topo";
  refuses(gang({leader(), alone}), "groups[1].exclusive", "whole job only");
  Group selfish = workers(1);
  selfish.sharing = Sharing::exclusive_user;
  refuses(gang({leader(), selfish}), "groups[1].exclusive", "exclusive for its user");
  Group more = leader();
  more.min_tasks = 2;
  refuses(gang({more, workers(1)}), "groups[0].min_tasks", "more than tasks");
  Group few = workers(1);
  few.min_replicas = 3;
  refuses(gang({leader(), few}), "groups[1].min_replicas", "more than replicas");
  Group large = workers(1);
  large.cpus_per_task = Cpus{0};
  refuses(gang({leader(), large}), "groups[1]: --cpus-per-task", "more than nothing");
}

TEST_CASE("the groups of a waiting job can not be changed, the job around them can") {
  Cluster c(2);
  const JobId id = c.submit(gang({leader(), workers(1)}));
  JobChange change;
  change.nodes = NodeRange{1, 1, {}};
  const auto refused = c.run(UpdateJob{id, change}, user());
  REQUIRE_FALSE(refused.reply);
  CHECK(refused.reply.error().code == Code::unsupported);
  JobChange name;
  name.name = "renamed";
  Cluster::expect(c.run(UpdateJob{id, name}, user()));
  CHECK(c.job(id).spec->name == "renamed");
}

TEST_CASE("affinity and anti-affinity between groups hold where they run") {
  Cluster c(4);
  Group apart = workers(1);
  apart.name = "apart";
  apart.anti_affinity = {{"node", "leader", true}};
  Group close = leader();
  close.name = "close";
  close.affinity = {{"node", "leader", true}};
  const JobId id = c.submit(gang({leader(), apart, close}));
  c.start(id);
  const auto& record = *c.job(id).attempt->placement;
  std::map<std::string, NodeIndex> where;
  for (const auto& part : record.parts) where.emplace(record.groups[part.group], part.node);
  CHECK(where.at("close") == where.at("leader"));
  CHECK(where.at("apart") != where.at("leader"));
}

TEST_CASE("what no node could hold is told of a group as it is of a job, with the group's name") {
  Cluster c(2);
  auto big = workers(1);
  big.cpus_per_task = whole_cpus(5);
  const auto text = to_text(c.refused(gang({leader(), big})));
  INFO(text);
  CHECK(text.find("group workers: ") != std::string::npos);
  CHECK(text.find("5 CPUs") != std::string::npos);
  big = workers(1);
  big.constraint = "gold";
  CHECK(to_text(c.refused(gang({leader(), big}))).find("group workers: ") != std::string::npos);
}

TEST_CASE("groups without segments are in none") {
  Cluster c(4);
  auto cut = workers(2);
  cut.segments = {{"leaf", 2, {}, Segment::Remainder::forbid, false, false}};
  const JobId id = c.submit(gang({leader(), cut}));
  c.start(id);
  const auto& parts = c.job(id).attempt->placement->parts;
  for (const auto& part : parts) CHECK(part.segment.has_value() == (part.group == 1));
}

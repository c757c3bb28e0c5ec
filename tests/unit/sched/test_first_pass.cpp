#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
// Starts what can start and says where, "" when it waits.
std::string placed(Cluster& c, Ask a, const Principal& who = user()) {
  const auto id = c.submit(std::move(a), who);
  c.pass();
  std::string out;
  for (const auto& n : c.nodes_of(id)) out += (out.empty() ? "" : " ") + n;
  return out;
}
std::vector<std::uint32_t> tasks_of(const Cluster& c, JobId id) {
  std::vector<std::uint32_t> out;
  for (const auto& g : c.job(id).attempt->nodes) out.push_back(g.tasks);
  return out;
}
JobId last(const Cluster& c) { return c.state.jobs.rbegin()->first; }
}  // namespace

TEST_CASE("a job goes to the tightest node that holds it, names deciding ties") {
  Cluster c(3);
  CHECK(placed(c, ask().cpus(2)) == "n1");
  CHECK(placed(c, ask().cpus(3)) == "n2");
  CHECK(placed(c, ask().cpus(1)) == "n2");  // one free CPU there, two on n1
  CHECK(placed(c, ask().cpus(2)) == "n1");
  CHECK(placed(c, ask().nodes(2)) == "");   // n3 alone is free
}

TEST_CASE("names are in natural order: n2 before n10") {
  Cluster c(12);
  CHECK(placed(c, ask().nodes(3).cpus(4)) == "n1 n2 n3");
  CHECK(placed(c, ask().nodes(8).cpus(4)) == "n4 n5 n6 n7 n8 n9 n10 n11");
}

TEST_CASE("tasks take as few nodes as hold them, the last one as tight as possible") {
  Cluster c(4, 8);
  placed(c, ask().cpus(5).on("n2"));  // three free
  const auto id = c.submit(ask().tasks(11));
  c.pass();
  CHECK(c.nodes_of(id) == std::vector<std::string>{"n1", "n2"});
  CHECK(tasks_of(c, id) == std::vector<std::uint32_t>{8, 3});
}

TEST_CASE("tasks per node are exact with a number of nodes, and a maximum without") {
  Cluster c(4, 8);
  CHECK(placed(c, ask().nodes(2).tasks_per_node(3)) == "n1 n2");
  CHECK(tasks_of(c, last(c)) == std::vector<std::uint32_t>{3, 3});
  CHECK(placed(c, ask().tasks(5).tasks_per_node(2)) == "n1 n2 n3");
  CHECK(tasks_of(c, last(c)) == std::vector<std::uint32_t>{2, 2, 1});
}

TEST_CASE("tasks over a given number of nodes are shared out evenly, and never fewer tasks than nodes") {
  Cluster c(4, 8);
  CHECK(placed(c, ask().nodes(3).tasks(7)) == "n1 n2 n3");
  CHECK(tasks_of(c, last(c)) == std::vector<std::uint32_t>{3, 2, 2});
  CHECK(placed(c, ask().nodes(4).tasks(2)) == "n1 n2");
}

TEST_CASE("a range of nodes takes as many as are free, choices the largest that is") {
  Cluster c(6);
  placed(c, ask().cpus(4));
  CHECK(placed(c, ask().nodes(2, 4).cpus(4)) == "n2 n3 n4 n5");
  CHECK(placed(c, ask().nodes(2, 4).cpus(4)) == "");
  Cluster d(6);
  placed(d, ask().cpus(4));
  CHECK(placed(d, ask().choices({2, 4, 6}).cpus(4)) == "n2 n3 n4 n5");
}

TEST_CASE("memory is given out like CPUs; --mem=0 takes all of a node's") {
  Cluster c(2, 4, 8000);
  CHECK(placed(c, ask().memory(6000)) == "n1");
  CHECK(placed(c, ask().memory(6000)) == "n2");
  CHECK(placed(c, ask().memory(2000)) == "n1");
  CHECK(placed(c, ask().memory(0)) == "");
  Cluster d(2, 4, 8000);
  CHECK(placed(d, ask().memory(0)) == "n1");
  CHECK(d.node("n1").held.memory == Mebibytes{8000});
  CHECK(placed(d, ask().memory(1)) == "n2");
}

TEST_CASE("where a job says nothing about memory the partition's default counts, then the cluster's") {
  Cluster c(1, 4, 8000);
  c.configuration.settings.default_memory_per_cpu = Mebibytes{100};
  c.configure();
  placed(c, ask().cpus(2));
  CHECK(c.node("n1").held.memory == Mebibytes{200});
  c.configuration.partitions.front().settings.default_memory_per_node = Mebibytes{3000};
  c.configure();
  placed(c, ask());
  CHECK(c.node("n1").held.memory == Mebibytes{3200});
}

TEST_CASE("GRES are counted per node, per task and per job, by type and without") {
  Cluster c(3, 8, 8000, 0);
  for (std::size_t i = 0; i < 3; ++i)
    c.configuration.nodes[i].shape->gres = {{"gpu", "a100", 0, 1000, ""}, {"gpu", "a100", 1, 1000, ""}, {"gpu", "v100", 2, 1000, ""}};
  c.configure();
  c.register_all();
  CHECK(placed(c, ask().gres("gpu", 1, "v100")) == "n1");
  CHECK(placed(c, ask().gres("gpu", 3)) == "n2");
  CHECK(c.node("n2").held.gres_count("gpu", "a100") == 2);
  CHECK(placed(c, ask().tasks(2).gres_per_task("gpu", 1)) == "n1");
  CHECK(placed(c, ask().gres_per_job("gpu", 3)) == "n3");
  CHECK(placed(c, ask().gres("gpu", 1)) == "");
  CHECK(c.why(last(c)).causes == std::vector<Cause>{{Cause::Kind::busy, 3}});
}

TEST_CASE("GRES of the whole job spread over as few nodes as have them") {
  Cluster c(4, 8, 8000, 2);
  CHECK(placed(c, ask().gres_per_job("gpu", 5)) == "n1 n2 n3");
  CHECK(placed(c, ask().gres_per_job("gpu", 3)) == "n3 n4");
}

TEST_CASE("a whole-node job needs nodes without jobs and keeps others off") {
  Cluster c(2);
  placed(c, ask());
  CHECK(placed(c, ask().exclusive()) == "n2");
  CHECK(c.node("n2").held == c.node("n2").total);
  CHECK(placed(c, ask().exclusive()) == "");
  c.configuration.partitions.front().settings.exclusive_node = true;
  c.configure();
  CHECK(placed(c, ask()) == "");
}

TEST_CASE("--exclusive=user shares its nodes with jobs of its own user only") {
  Cluster c(2);
  const auto bob = user(1001, "bob");
  CHECK(placed(c, ask().exclusive_user()) == "n1");
  CHECK(placed(c, ask().cpus(2), bob) == "n2");
  CHECK(placed(c, ask()) == "n2");          // tighter, and bob does not mind
  CHECK(placed(c, ask().cpus(2)) == "n1");
  CHECK(placed(c, ask().cpus(2), bob) == "");
  CHECK(placed(c, ask().exclusive_user(), bob) == "");
}

TEST_CASE("equal requests of two users are told apart where nodes are kept for one of them") {
  Cluster c(1);
  c.submit(ask().exclusive_user());
  const auto mine = c.submit(ask());
  const auto his = c.submit(ask(), user(1001, "bob"));
  c.pass();
  CHECK(c.job(mine).state == JobState::starting);
  CHECK(c.job(his).state == JobState::pending);
}

TEST_CASE("features choose nodes: one by one, all of one bracket, and so many of each") {
  Cluster c(6);
  for (std::size_t i = 0; i < 6; ++i) c.configuration.nodes[i].features = {i < 2 ? "a" : i < 5 ? "b" : "c"};
  c.configuration.nodes[1].features.push_back("fast");
  c.configure();
  CHECK(placed(c, ask().features("fast&a").cpus(4)) == "n2");
  CHECK(placed(c, ask().nodes(2).features("[a|b]").cpus(4)) == "n3 n4");
  CHECK(placed(c, ask().nodes(2).features("a*1&b*1").cpus(4)) == "n1 n5");
  CHECK(placed(c, ask().features("a|c").cpus(4)) == "n6");
  CHECK(c.refused(ask().features("a&c")).field == "--constraint");
}

TEST_CASE("named nodes are all in, or a list to choose from when more are named than asked for") {
  Cluster c(4);
  CHECK(placed(c, ask().on("n2,n4")) == "n2 n4");
  CHECK(placed(c, ask().nodes(1).on("n[3-4]").cpus(4)) == "n3");
  CHECK(placed(c, ask().nodes(2).on("n4").cpus(2)) == "n2 n4");
  CHECK(placed(c, ask().not_on("n1").cpus(4)) == "");
  c.run(DrainNode{c.index("n1"), "x"}, admin());
  const auto id = c.submit(ask().on("n1"));
  CHECK(c.why(id).reason == Reason::req_node_not_avail);
  CHECK(c.why(id).detail == "n1, named by --nodelist, is drained");
  CHECK(c.why(id).causes == std::vector<Cause>{{Cause::Kind::drained, 1}});
}

TEST_CASE("more nodes named than there are tasks: a list to choose from") {
  Cluster c(4);
  CHECK(placed(c, ask().tasks(1).on("n[3-4]").cpus(4)) == "n3");
  CHECK(placed(c, ask().tasks(3).on("n[1-2]").cpus(2)) == "n1 n2");
}

TEST_CASE("a job that shares nodes goes to the tightest, in use before idle, cheaper before tighter") {
  Cluster c(4, 8);
  placed(c, ask().cpus(2).on("n1"));
  placed(c, ask().cpus(5).on("n2"));
  CHECK(placed(c, ask().nodes(2).cpus(2)) == "n1 n2");
  CHECK(placed(c, ask().nodes(1).cpus(1)) == "n2");  // one left there
  c.configuration.nodes[3].weight = 1;
  for (const auto i : {0, 1, 2}) c.configuration.nodes[static_cast<std::size_t>(i)].weight = 5;
  c.configure();
  CHECK(placed(c, ask().cpus(1)) == "n4");
  CHECK(placed(c, ask().tasks(1).cpus(1)) == "n4");
}

TEST_CASE("a partition's most nodes limit ranges, and tasks that would take more") {
  Cluster c(4, 4);
  c.configuration.partitions.front().settings.max_nodes = 2;
  c.configure();
  CHECK(placed(c, ask().nodes(1, 4).cpus(4)) == "n1 n2");
  c = Cluster(4, 4);
  c.configuration.partitions.front().settings.max_nodes = 2;
  c.configure();
  for (const char* name : {"n1", "n2", "n3", "n4"}) placed(c, ask().cpus(2).on(name));
  CHECK(placed(c, ask().tasks(5)) == "");  // two free on each of four
  CHECK(placed(c, ask().tasks(4)) == "n1 n2");
  CHECK(c.refused(ask().tasks(9)).field == "--ntasks");
}

TEST_CASE("contiguous nodes are neighbours, in the shortest run that holds them") {
  Cluster c(8);
  placed(c, ask().on("n4").cpus(4));
  CHECK(placed(c, ask().nodes(3).contiguous().cpus(4)) == "n1 n2 n3");
  CHECK(placed(c, ask().nodes(2).contiguous().cpus(4)) == "n5 n6");
  CHECK(placed(c, ask().nodes(3).contiguous().cpus(4)) == "");
}

TEST_CASE("cheaper nodes go first") {
  Cluster c(3);
  c.configuration.nodes[0].weight = 10;
  c.configure();
  CHECK(placed(c, ask().nodes(2).cpus(4)) == "n2 n3");
}

TEST_CASE("a higher tier goes first, then the lower nice, then the earlier submission") {
  Cluster c(1);
  PartitionDeclaration p;
  p.settings.name = "urgent";
  p.settings.priority_tier = 2;
  p.node_names = {"ALL"};
  c.configuration.partitions.push_back(p);
  c.configure();
  const auto nice = c.submit(ask().nice(10).cpus(4));
  const auto first = c.submit(ask().cpus(4));
  const auto second = c.submit(ask().cpus(4));
  const auto urgent = c.submit(ask().partition("urgent").nice(100).cpus(4));
  std::vector<JobId> order;
  for (int i = 0; i < 4; ++i) {
    c.pass();
    c.deliver();
    for (auto id : {nice, first, second, urgent})
      if (c.job(id).state == JobState::running) {
        order.push_back(id);
        c.finish(id);
      }
  }
  CHECK(order == std::vector<JobId>{urgent, first, second, nice});
}

TEST_CASE("a job in several partitions starts in the best one that has room, once") {
  Cluster c(2);
  for (const auto* name : {"left", "right"}) {
    PartitionDeclaration p;
    p.settings.name = name;
    p.node_names = {std::string(name) == "left" ? "n1" : "n2"};
    p.settings.priority_tier = std::string(name) == "left" ? 1 : 2;
    c.configuration.partitions.push_back(p);
  }
  c.configure();
  CHECK(placed(c, ask().partition("left").partition("right").cpus(4)) == "n2");
  CHECK(c.job(last(c)).attempt->partition == "right");
  CHECK(placed(c, ask().partition("left").partition("right").cpus(4)) == "n1");
  CHECK(placed(c, ask().partition("left").partition("right").cpus(4)) == "");
}

TEST_CASE("overlapping partitions share nodes and keep their own limits") {
  Cluster c(2);
  PartitionDeclaration p;
  p.settings.name = "short";
  p.settings.max_time = hours{1};
  p.settings.max_nodes = 1;
  p.node_names = {"ALL"};
  c.configuration.partitions.push_back(p);
  c.configure();
  CHECK(placed(c, ask().cpus(4)) == "n1");
  CHECK(placed(c, ask().partition("short").tasks(4).time(minutes{5})) == "n2");
  CHECK(c.refused(ask().partition("short").tasks(8).time(minutes{5})).field == "--ntasks");
  CHECK(placed(c, ask().nodes(2).cpus(4)) == "");
}

TEST_CASE("a refusal carries its numbers: nodes offered and asked, how many fell to which cause, jobs ahead") {
  Cluster c(5);
  c.configuration.nodes[4].features = {"big"};
  for (std::size_t i = 0; i < 4; ++i) c.configuration.nodes[i].features = {"small"};
  c.configure();
  placed(c, ask().on("n1").cpus(4));
  c.run(DrainNode{c.index("n2"), "x"}, admin());
  c.silent("n3");
  const auto id = c.submit(ask().nodes(2).features("small").cpus(4));
  const auto next = c.submit(ask().nodes(2).features("small").cpus(4));
  const auto v = c.why(id);
  CHECK(v.kind == Verdict::Kind::not_now);
  CHECK(v.offered == 1);
  CHECK(v.asked == 2);
  const auto has = [&](Cause::Kind k) { return std::find(v.causes.begin(), v.causes.end(), Cause{k, 1}) != v.causes.end(); };
  CHECK(has(Cause::Kind::busy));
  CHECK(has(Cause::Kind::drained));
  CHECK(has(Cause::Kind::down));
  CHECK(has(Cause::Kind::feature));
  CHECK(v.ahead == 0);
  CHECK(c.why(next).ahead == 1);
}

TEST_CASE("idle nodes are never left idle because of a job that does not fit") {
  Cluster c(2);
  placed(c, ask().cpus(4));
  CHECK(placed(c, ask().nodes(2).cpus(4)) == "");
  CHECK(placed(c, ask().cpus(4)) == "n2");
}

TEST_CASE("a partition that is down starts nothing and says so") {
  Cluster c;
  c.configuration.partitions.front().settings.state = PartitionState::down;
  c.configure();
  const auto id = c.submit(ask());
  CHECK(c.pass().starts.empty());
  CHECK(c.why(id).reason == Reason::partition_down);
  c.configuration.partitions.front().settings.state = PartitionState::drain;
  c.configure();
  CHECK(c.refused(ask()).code == Code::forbidden);
  c.start(id);
}

TEST_CASE("fifty thousand equal waiting jobs cost one look at the nodes") {
  Cluster c(100);
  for (int i = 0; i < 100; ++i) c.submit(ask().cpus(4));
  c.pass();
  c.submit(ask().cpus(4));
  auto view = sy::sched::make_view(c.state, make_shape(c.state));
  const auto one = view.waiting.front();
  view.waiting.clear();
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    view.waiting.push_back(one);
    view.waiting.back().id = JobId{1000 + i};
    view.waiting.back().uid = Uid{1000 + i % 50};
    if (i % 2 == 0) view.waiting.back().spec = std::make_shared<const JobSpec>(*one.spec);  // equal, not the same
  }
  const auto p = sy::sched::plan_pass(view, c.now);
  CHECK(p.starts.empty());
  CHECK(p.forecasts.size() == 50'000);
  CHECK(p.jobs_looked_at == 1);
  CHECK(p.nodes_looked_at == 100);
}

TEST_CASE("a start makes its class look again only at the nodes that changed") {
  Cluster c(100);
  for (int i = 0; i < 50; ++i) c.submit(ask().cpus(4));
  const auto p = c.plan();
  CHECK(p.starts.size() == 50);
  CHECK(p.nodes_looked_at == 100 + 49 + 50);  // all of them once, then each that changed, and the one that each job gets
}

TEST_CASE("the same view gives the same plan, in any order of submission of equal jobs") {
  Cluster c(4);
  for (int i = 0; i < 10; ++i) c.submit(ask().cpus(1 + i % 3));
  const auto a = c.plan();
  const auto b = c.plan();
  REQUIRE(a.starts.size() == b.starts.size());
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    CHECK(a.starts[i].job == b.starts[i].job);
    CHECK(a.starts[i].nodes == b.starts[i].nodes);
  }
}

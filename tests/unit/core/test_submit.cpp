#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

TEST_CASE("identity comes from the principal, ids ascend and are never given again") {
  Cluster c;
  const auto a = c.submit(ask());
  const auto b = c.submit(ask(), user(1001, "bob"));
  CHECK(b.value == a.value + 1);
  CHECK(c.job(b).user == "bob");
  CHECK(c.job(b).uid == Uid{1001});
  c.run(CancelJob{b}, user(1001, "bob"));
  c.advance(hours{1});
  CHECK(c.state.find_job(b) == nullptr);
  CHECK(c.submit(ask()).value == b.value + 1);
}

TEST_CASE("a job without a partition goes to the default one, and says which are there when there is none") {
  Cluster c;
  CHECK(c.job(c.submit(ask())).spec->partitions == std::vector<std::string>{"batch"});
  c.configuration.partitions.front().settings.is_default = false;
  c.configure();
  const Error e = c.refused(ask());
  CHECK(e.field == "--partition");
  CHECK(e.hint.find("batch") != std::string::npos);
}

TEST_CASE("an impossible request is refused at submission with the option, and what the nodes have") {
  Cluster c(4, 4, 8000, 2);
  const auto check = [&](Ask a, const std::string& field, const std::string& word) {
    const Error e = c.refused(std::move(a));
    INFO(to_text(e));
    CHECK(e.code == Code::impossible);
    CHECK(e.field == field);
    CHECK(e.message.find(word) != std::string::npos);
  };
  check(ask().cpus(5), "--cpus-per-task", "5 CPUs on one node, the largest node of partition batch has 4");
  check(ask().memory(9000), "--mem", "partition batch has");
  check(ask().gres("gpu", 3), "--gres", "gpu:3");
  check(ask().gres("tpu", 1), "--gres", "tpu:1");
  check(ask().nodes(5), "--nodes", "asks 5 nodes, 4 of the 4");
  check(ask().tasks(17), "--ntasks", "asks 17 tasks, 16 fit");
  check(ask().nodes(2).tasks_per_node(5), "--ntasks-per-node", "5 CPUs on one node");
  check(ask().features("a100"), "--constraint", "features a100");
  check(ask().not_on("n[1-4]"), "--exclude", "--exclude leaves no node");
  check(ask().on("n9"), "", "there is no such node");
}

TEST_CASE("what is impossible is said of the nodes that come into question") {
  Cluster c(4, 8, 16'000, 2);
  for (std::size_t i : {2, 3}) {
    auto& shape = *c.configuration.nodes[i].shape;
    shape.cpus = 4;
    shape.memory = Mebibytes{8000};
    shape.gres.clear();
    c.configuration.nodes[i].features = {"y"};
  }
  for (std::size_t i : {0, 1}) c.configuration.nodes[i].features = {"x"};
  c.configure();
  const auto said = [&](Ask a) { return to_text(c.refused(std::move(a))); };
  CHECK(said(ask().features("y").memory(9000))
            .find("--mem: asks 9000M of memory on one node, the largest node of partition batch with the "
                  "features y has 8000M") == 0);
  CHECK(said(ask().features("y").cpus(8)).find("--cpus-per-task: asks 8 CPUs on one node, the largest node") == 0);
  CHECK(said(ask().features("y").gres("gpu", 1))
            .find("--gres: asks gpu:1 on one node, the largest node of partition batch with the features y has no gpu") == 0);
  CHECK(said(ask().gres("nvme", 1)).find("has no nvme") != std::string::npos);
  CHECK(said(ask().on("n3").cpus(8)).find("--cpus-per-task: asks 8 CPUs on one node, node n3 has 4") == 0);
  CHECK(c.submit(ask().tasks(1).on("n[2-3]").cpus(8)).value > 0);  // a list to choose from: n2 can
  CHECK(said(ask().on("n1").features("y")).find("--constraint: node n1 does not have the features y") == 0);
  Ask all = ask();
  all.spec.groups.front().gres_per_job = {{"gpu", "", 9}};
  CHECK(said(std::move(all)).find("--gpus: asks gpu:9 for the job, the nodes of partition batch that could hold it have 4 together") == 0);
}

TEST_CASE("a request beyond its partition's limits is refused with limit and value") {
  Cluster c;
  auto& p = c.configuration.partitions.front().settings;
  p.max_time = hours{2};
  p.max_nodes = 2;
  c.configure();
  Error e = c.refused(ask().time(hours{4}));
  CHECK(e.field == "--time");
  CHECK(e.message == "partition batch allows 2:00:00, asked 4:00:00");
  e = c.refused(ask().nodes(3));
  CHECK(e.field == "--nodes");
  CHECK(e.message == "partition batch allows 2 nodes, asked 3");
}

TEST_CASE("numbers and strings out of bounds are refused by name") {
  Cluster c;
  const auto field = [&](Ask a) { return c.refused(std::move(a)).field; };
  CHECK(field(ask().nodes(3, 2)) == "--nodes");
  CHECK(field(ask().tasks(0)) == "--ntasks");
  CHECK(field(ask().cpus(0)) == "--cpus-per-task");
  CHECK(field(ask().gres("gpu", 0)) == "--gres");
  CHECK(field(ask().time(seconds{0})) == "--time");
  CHECK(field(ask().nice(-5)) == "--nice");
  CHECK(field(ask().name(std::string(2000, 'x'))) == "--job-name");
  CHECK(field(ask().partition("nope")) == "--partition");
  Ask relative;
  relative.spec.work_dir = "here";
  CHECK(field(relative) == "--chdir");
}

TEST_CASE("text that others are shown holds no control characters, whichever field it is in") {
  Cluster c;
  const auto check = [&](const Ask& a, const std::string& field) {
    const Error e = c.refused(a);
    INFO(to_text(e));
    CHECK(e.code == Code::invalid_argument);
    CHECK(e.field == field);
    CHECK(e.value.find('\n') == std::string::npos);
    CHECK(e.hint.find("without line breaks") != std::string::npos);
  };
  check(ask().name("a\nb"), "--job-name");
  check(ask().gres("gpu\n", 1), "--gres");
  check(ask().features("ib\x1b[31m"), "--constraint");
  const auto with = [](std::string JobSpec::* member, const char* text) {
    Ask a;
    a.spec.*member = text;
    return a;
  };
  check(with(&JobSpec::std_out, "out-%j\n.txt"), "--output");
  check(with(&JobSpec::std_err, "\x7f"), "--error");
  check(with(&JobSpec::std_in, "\x01"), "--input");
  check(with(&JobSpec::work_dir, "/home/ann/a\tb"), "--chdir");
  const auto noted = [](std::string Annotations::* member) {
    Ask a;
    a.spec.annotations.edit().*member = "c\x1b[31m\n";
    return a;
  };
  check(noted(&Annotations::comment), "--comment");
  check(noted(&Annotations::account), "--account");
  check(noted(&Annotations::wckey), "--wckey");
  check(noted(&Annotations::qos), "--qos");
  check(noted(&Annotations::mail_user), "--mail-user");
  c.submit(ask().name("naïve – 漢字"));
}

TEST_CASE("a dry run checks everything and changes nothing") {
  Cluster c;
  const auto before = c.state;
  auto r = c.run(SubmitJob{std::make_shared<const JobSpec>(ask().spec), {}, {}, true}, user());
  REQUIRE(r.reply);
  CHECK(r.events.empty());
  CHECK(equal(before, c.state));
  auto bad = c.run(SubmitJob{std::make_shared<const JobSpec>(ask().cpus(99).spec), {}, {}, true}, user());
  CHECK_FALSE(bad.reply);
}

TEST_CASE("options that are stored but not enforced are named in one warning") {
  Cluster c;
  Ask a;
  a.spec.annotations.edit().account = "physics";
  a.spec.annotations.edit().qos = "high";
  auto r = c.run(SubmitJob{std::make_shared<const JobSpec>(a.spec), {}, {}, false}, user());
  REQUIRE(r.reply->warnings.size() == 1);
  CHECK(r.reply->warnings.front().find("account, qos") != std::string::npos);
}

TEST_CASE("the cluster takes no more jobs than it may hold") {
  Cluster c;
  c.configuration.settings.max_jobs = 2;
  c.configure();
  c.submit(ask());
  c.submit(ask());
  CHECK(c.refused(ask()).code == Code::too_many);
}

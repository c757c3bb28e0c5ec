#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
Code code_of(const StepResult& r) { return r.reply ? Code::internal : r.reply.error().code; }
}  // namespace

TEST_CASE("no verb on a job works for somebody else, for an agent or for nobody") {
  Cluster c;
  const auto id = c.submit(ask());
  const std::vector<Action> verbs{CancelJob{id},  SignalJob{id, 15, false, false}, HoldJob{id},
                                  ReleaseJob{id}, RequeueJob{id, false},           UpdateJob{id, {}}};
  for (const auto& verb : verbs) {
    CHECK(code_of(c.run(verb, user(1001, "bob"))) == Code::forbidden);
    CHECK(code_of(c.run(verb, agent("n1"))) == Code::forbidden);
    CHECK(code_of(c.run(verb, Principal{})) == Code::forbidden);
  }
  CHECK(c.job(id).state == JobState::pending);
  CHECK_FALSE(c.job(id).held_by_user);
}

TEST_CASE("a verb on a job that is not there says so, to its owner and to strangers alike") {
  Cluster c;
  CHECK(code_of(c.run(CancelJob{JobId{99}}, user())) == Code::not_found);
}

TEST_CASE("administrators' verbs are refused to users and agents") {
  Cluster c;
  const auto n1 = c.index("n1");
  const std::vector<Action> verbs{DrainNode{n1, "x"}, ResumeNode{n1},    DownNode{n1, "x"},
                                  FenceNode{n1, ""},  RemoveNode{n1},    IssueEnrolToken{"n9", "d", c.now + hours{1}},
                                  Configure{},        ImportTopologies{}};
  for (const auto& verb : verbs)
    for (const auto& who : {user(), agent("n1"), Principal{}}) {
      auto r = c.run(verb, who);
      CHECK(code_of(r) == Code::forbidden);
      CHECK(r.events.empty());
    }
}

TEST_CASE("the controller's own verbs are refused to everybody else") {
  Cluster c;
  for (const auto& who : {user(), admin(), agent("n1"), Principal{}}) {
    CHECK(code_of(c.run(NodeSilent{c.index("n1")}, who)) == Code::forbidden);
    CHECK(code_of(c.run(ApplyPlan{}, who)) == Code::forbidden);
    CHECK(code_of(c.run(BeginEpoch{9, 1}, who)) == Code::forbidden);
    CHECK(code_of(c.run(AdvanceTime{}, who)) == Code::forbidden);
  }
}

TEST_CASE("an agent reports for its own node only") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  ReportAttempt r{c.index("n1"), id, AttemptNumber{1}, ReportAttempt::What::cleared, {}, "", std::nullopt, c.now};
  CHECK(code_of(c.run(r, agent("n2"))) == Code::forbidden);
  CHECK(code_of(c.run(r, user())) == Code::forbidden);
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("root's jobs are refused unless configured") {
  Cluster c;
  const Error e = c.refused(ask(), admin());
  CHECK(e.code == Code::forbidden);
  c.configuration.settings.allow_root_jobs = true;
  c.configure();
  CHECK(c.job(c.submit(ask(), admin())).uid == Uid{0});
}

TEST_CASE("a partition lets in whom its lists name, and keeps out whom they deny") {
  Cluster c;
  auto& p = c.configuration.partitions.front().settings;
  p.allow_groups = {"physics"};
  p.deny_users = {"eve"};
  c.configure();
  CHECK(c.refused(ask()).message.find("physics") != std::string::npos);
  CHECK(c.refused(ask(), user(1002, "eve", {"physics"})).code == Code::forbidden);
  CHECK_NOTHROW(c.submit(ask(), user(1003, "joe", {"physics"})));
}

TEST_CASE("of several partitions those that are closed to the user are left out, with a warning") {
  Cluster c;
  PartitionDeclaration p;
  p.settings.name = "closed";
  p.settings.allow_users = {"root"};
  p.node_names = {"n1"};
  c.configuration.partitions.push_back(p);
  c.configure();
  auto r = c.run(SubmitJob{std::make_shared<const JobSpec>(ask().partition("closed").partition("batch").spec), {}, {}, false}, user());
  REQUIRE(r.reply);
  CHECK(r.reply->warnings.size() == 1);
  CHECK(c.job(r.reply->job).spec->partitions == std::vector<std::string>{"batch"});
}

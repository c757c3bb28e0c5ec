#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;
using What = ReportAttempt::What;

namespace {
template <class E>
bool only_effect(const StepResult& r) {
  return r.effects.size() == 1 && std::holds_alternative<E>(r.effects.front());
}
}  // namespace

TEST_CASE("an end report of an earlier attempt ends nothing and is acknowledged") {
  Cluster c(2);
  const auto id = c.submit(ask());
  c.start(id);
  Cluster::expect(c.run(RequeueJob{id, false}, user()));
  c.deliver();
  c.start(id);
  REQUIRE(c.job(id).attempt->number == AttemptNumber{2});
  const auto r = c.report(c.nodes_of(id).front(), id, 1, What::cleared, {}, {}, ExitRecord{});
  CHECK(r.reply);
  CHECK(r.events.empty());
  CHECK(only_effect<ForgetOnNode>(r));
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("a report without an attempt number is refused") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  const auto r = c.report("n1", id, 0, What::cleared);
  REQUIRE_FALSE(r.reply);
  CHECK(r.reply.error().field == "attempt");
  CHECK(c.job(id).state == JobState::running);
}

TEST_CASE("every report may arrive twice, and late") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.pass();
  c.outbox.clear();
  for (int i = 0; i < 2; ++i) c.report("n2", id, 1, What::accepted);
  for (int i = 0; i < 2; ++i) c.report("n1", id, 1, What::accepted);
  for (int i = 0; i < 2; ++i) c.report("n1", id, 1, What::started);
  c.report("n2", id, 1, What::accepted);
  CHECK(c.job(id).state == JobState::running);
  for (int i = 0; i < 2; ++i) c.report("n1", id, 1, What::script_ended, {}, {}, ExitRecord{});
  c.report("n1", id, 1, What::started);
  CHECK(c.job(id).state == JobState::ending);
  for (int i = 0; i < 2; ++i) c.report("n1", id, 1, What::cleared);
  CHECK(c.job(id).state == JobState::ending);  // n2 is not clear yet
  for (int i = 0; i < 2; ++i) c.report("n2", id, 1, What::cleared);
  CHECK(c.job(id).outcome == Outcome::completed);
  CHECK(only_effect<ForgetOnNode>(c.report("n1", id, 1, What::cleared)));
  c.expect_replay_gives_the_same();
}

TEST_CASE("the end of the script tells the members to end, and the job ends when the last is clear") {
  Cluster c;
  const auto id = c.submit(ask().nodes(3));
  c.start(id);
  const auto r = c.report("n1", id, 1, What::script_ended, {}, {}, ExitRecord{});
  REQUIRE(r.effects.size() == 2);
  for (const auto& e : r.effects) CHECK(std::get<EndOnNode>(e).node != c.index("n1"));
  c.report("n1", id, 1, What::cleared);
  CHECK(c.node("n1").held == Resources{});  // comes back node by node
  CHECK(c.node("n2").held != Resources{});
  c.deliver();
  CHECK(c.job(id).outcome == Outcome::completed);
}

TEST_CASE("a report about a job nobody knows raises the id floor above it, and the attempt is ended") {
  Cluster c;
  const auto r = c.report("n1", JobId{900}, 3, What::started);
  CHECK(r.reply);
  CHECK(only_effect<EndOnNode>(r));
  CHECK(c.submit(ask()).value == 901);
  CHECK(only_effect<ForgetOnNode>(c.report("n1", JobId{900}, 3, What::cleared)));
}

TEST_CASE("started does not count from a member, and a node that holds nothing of the job is told to end it") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.pass();
  c.outbox.clear();
  c.report("n2", id, 1, What::started);
  CHECK(c.job(id).state == JobState::starting);
  CHECK(only_effect<EndOnNode>(c.report("n4", id, 1, What::accepted)));
}

TEST_CASE("a node's clock that is hours off tells nothing: the job starts and ends when that was reported") {
  for (const Duration wrong : {Duration{hours{-10}}, Duration{hours{10}}}) {
    Cluster c;
    const auto id = c.submit(ask());
    c.pass();
    c.outbox.clear();
    const auto say = [&](What what, std::optional<ExitRecord> exit = {}) {
      c.run(ReportAttempt{c.index("n1"), id, AttemptNumber{1}, what, {}, "", std::move(exit), c.now + wrong}, agent("n1"));
    };
    c.now += seconds{5};
    say(What::started);
    CHECK(c.job(id).attempt->started == c.now);
    c.now += minutes{30};
    say(What::script_ended, ExitRecord{});
    CHECK(c.job(id).attempt->script_ended == c.now);
    say(What::cleared);
    CHECK(c.job(id).ended == c.now);
  }
}

TEST_CASE("a node's clock that can be true is taken, and one set back during the job does not make a runtime negative") {
  Cluster c;
  const auto id = c.submit(ask());
  c.pass();
  c.outbox.clear();
  c.now += seconds{5};
  const Time started = c.now - seconds{2};
  c.run(ReportAttempt{c.index("n1"), id, AttemptNumber{1}, What::started, {}, "", std::nullopt, started}, agent("n1"));
  CHECK(c.job(id).attempt->started == started);
  c.now += minutes{1};
  c.run(ReportAttempt{c.index("n1"), id, AttemptNumber{1}, What::script_ended, {}, "", ExitRecord{}, started - seconds{1}}, agent("n1"));
  CHECK(c.job(id).attempt->script_ended == c.now);

  const auto other = c.submit(ask());
  c.start(other);
  const Time began = *c.job(other).attempt->started;
  c.now -= hours{3};  // the controller's own clock is set back
  c.finish(other);
  CHECK(c.job(other).ended == began);
}

TEST_CASE("how the script ended decides what the job ends as") {
  const auto outcome = [](ExitRecord exit) {
    Cluster c;
    const auto id = c.submit(ask());
    c.start(id);
    c.finish(id, exit);
    return std::pair{c.job(id).outcome, c.job(id).end_reason};
  };
  ExitRecord e;
  CHECK(outcome(e) == std::pair{Outcome::completed, std::string{}});
  e.code = 3;
  CHECK(outcome(e) == std::pair{Outcome::failed, std::string{"exit code 3"}});
  e = {};
  e.signal = 11;
  CHECK(outcome(e).first == Outcome::failed);
  e = {};
  e.out_of_memory = true;  // a child was killed, the script itself exits 0
  CHECK(outcome(e).first == Outcome::out_of_memory);
  e = {};
  e.timed_out = true;
  e.signal = 15;
  CHECK(outcome(e).first == Outcome::timeout);
  e = {};
  e.reason = "output folder /x is missing";
  CHECK(outcome(e) == std::pair{Outcome::failed, e.reason});
}

TEST_CASE("a lead that is clear without any exit record ends the job as failed, saying so") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.report("n1", id, 1, What::cleared);
  CHECK(c.job(id).outcome == Outcome::failed);
  CHECK(c.job(id).end_reason.find("no record") != std::string::npos);
}

TEST_CASE("an epilog that failed drains the node with the reason and does not change how the job ended") {
  Cluster c(2);
  const auto id = c.submit(ask());
  c.start(id);
  c.report("n1", id, 1, What::script_ended, {}, {}, ExitRecord{});
  c.report("n1", id, 1, What::cleared, ReportAttempt::Blame::node, "epilog /etc/epilog failed: exit code 3");
  CHECK(c.job(id).outcome == Outcome::completed);
  CHECK(c.node("n1").drained);
  CHECK(c.node("n1").reason == "epilog /etc/epilog failed: exit code 3");
  CHECK_FALSE(c.node("n2").drained);
  CHECK(c.node("n1").held == Resources{});
}

#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
void cancel(Cluster& c, JobId id) { Cluster::expect(c.run(CancelJob{id}, user())); }
}  // namespace

TEST_CASE("cancelled while waiting, a job ends at once and holds nothing") {
  Cluster c;
  const auto id = c.submit(ask());
  cancel(c, id);
  CHECK(c.job(id).outcome == Outcome::cancelled);
  CHECK_FALSE(c.job(id).attempt);
  CHECK(c.job(id).end_reason == "cancelled by uid 1000 (ann)");
}

TEST_CASE("cancelled before a node has answered, it ends when every node is clear, and a late launch is refused") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.pass();
  const auto launches = std::exchange(c.outbox, {});  // still on their way
  cancel(c, id);
  CHECK(c.job(id).state == JobState::ending);
  c.deliver();
  CHECK(c.job(id).outcome == Outcome::cancelled);
  c.outbox = launches;
  c.deliver();
  CHECK(c.agents["n1"].starts_of_scripts == 0);
  CHECK(c.node("n1").held == Resources{});
}

TEST_CASE("cancelled while running, it holds its nodes until they are clear") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  c.start(id);
  cancel(c, id);
  CHECK(c.job(id).state == JobState::ending);
  CHECK(c.node("n2").jobs == std::vector<JobId>{id});
  c.deliver();
  CHECK(c.job(id).state == JobState::ended);
  CHECK(c.job(id).outcome == Outcome::cancelled);
  c.expect_replay_gives_the_same();
}

TEST_CASE("cancelled twice, the answer is the same and nothing happens the second time") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  cancel(c, id);
  const auto again = c.run(CancelJob{id}, user());
  CHECK(again.reply);
  CHECK(again.events.empty());
}

TEST_CASE("cancelled after it ended, it stays what it was and the answer is a conflict") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.finish(id);
  const auto r = c.run(CancelJob{id}, user());
  REQUIRE_FALSE(r.reply);
  CHECK(r.reply.error().code == Code::conflict);
  CHECK(c.job(id).outcome == Outcome::completed);
}

TEST_CASE("cancelled while its script has ended and nodes clear, it ends as the script ended") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.report("n1", id, 1, ReportAttempt::What::script_ended, {}, {}, ExitRecord{});
  CHECK(c.job(id).state == JobState::ending);
  cancel(c, id);
  c.report("n1", id, 1, ReportAttempt::What::cleared);
  CHECK(c.job(id).outcome == Outcome::completed);
}

TEST_CASE("cancelled while lost, it stays lost until its node is heard or fenced, then it is cancelled") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.silent("n1");
  REQUIRE(c.job(id).state == JobState::lost);
  cancel(c, id);
  c.deliver();
  CHECK(c.job(id).state == JobState::lost);
  c.heard("n1");
  CHECK(c.job(id).state == JobState::ending);
  c.deliver();
  CHECK(c.job(id).outcome == Outcome::cancelled);
}

TEST_CASE("cancelling a job that is ending to be requeued calls the requeue off") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  Cluster::expect(c.run(RequeueJob{id, false}, user()));
  cancel(c, id);
  c.deliver();
  CHECK(c.job(id).state == JobState::ended);
  CHECK(c.job(id).outcome == Outcome::cancelled);
}

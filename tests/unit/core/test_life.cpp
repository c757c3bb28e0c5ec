#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

TEST_CASE("a job is submitted, starts, ends, and is forgotten after a while") {
  Cluster c;
  const auto id = c.submit(ask().cpus(2));
  CHECK(c.job(id).state == JobState::pending);
  c.pass();
  CHECK(c.job(id).state == JobState::starting);
  CHECK(c.node("n1").held.cpus == whole_cpus(2));
  c.deliver();
  CHECK(c.job(id).state == JobState::running);
  c.finish(id);
  CHECK(c.job(id).state == JobState::ended);
  CHECK(c.job(id).outcome == Outcome::completed);
  CHECK(c.node("n1").held.cpus == Cpus{});
  CHECK(c.agents["n1"].records.empty());
  c.advance(c.state.settings.keep_ended);
  CHECK(c.state.find_job(id) == nullptr);
  c.expect_replay_gives_the_same();
}

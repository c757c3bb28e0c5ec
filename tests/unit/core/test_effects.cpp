#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

// Whatever the moment at which the controller dies after a commit, State alone says what is still due.
TEST_CASE("a crash between commit and effect loses nothing, at any point of a job's life") {
  for (int crash_at = 0; crash_at < 14; ++crash_at) {
    Cluster c;
    const auto id = c.submit(ask().nodes(3));
    int steps = 0;
    bool finished = false;
    for (int turn = 0; turn < 60 && c.job(id).state != JobState::ended; ++turn) {
      if (c.job(id).state == JobState::pending) c.pass();
      if (steps++ == crash_at) {
        c.outbox.clear();
        for (auto& e : pending_effects(c.state)) c.outbox.push_back(e);
      }
      if (!c.outbox.empty()) {
        const Effect e = c.outbox.front();
        const auto rest = std::deque<Effect>(c.outbox.begin() + 1, c.outbox.end());
        c.outbox = {e};
        c.deliver();
        c.outbox.insert(c.outbox.end(), rest.begin(), rest.end());
      } else if (c.job(id).state == JobState::running && !finished) {
        finished = true;
        c.finish(id);
      }
    }
    INFO("crash at step " << crash_at);
    CHECK(c.job(id).state == JobState::ended);
    CHECK(c.agents["n1"].starts_of_scripts == 1);
    CHECK(c.node("n2").held == Resources{});
  }
}

TEST_CASE("what an event touched is named, so that the store writes those rows") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  for (const auto& e : c.history) {
    const auto t = touched_by(c.state, e);
    INFO(fact_name(e.fact));
    const bool something = !t.jobs.empty() || !t.nodes.empty() || t.all_nodes || t.counters || t.tokens || t.topologies;
    CHECK(something == !std::holds_alternative<PlanApplied>(e.fact));
  }
}

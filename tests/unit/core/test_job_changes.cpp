#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {
Code code_of(const StepResult& r) { return r.reply ? Code::internal : r.reply.error().code; }
}  // namespace

TEST_CASE("a held job does not start; a user's hold is the user's to release, an administrator's is not") {
  Cluster c;
  const auto id = c.submit(ask());
  Cluster::expect(c.run(HoldJob{id}, user()));
  CHECK(c.run(HoldJob{id}, user()).events.empty());
  CHECK(c.pass().starts.empty());
  CHECK(c.why(id).reason == Reason::job_held_user);
  Cluster::expect(c.run(ReleaseJob{id}, user()));
  Cluster::expect(c.run(HoldJob{id}, admin()));
  CHECK(c.why(id).reason == Reason::job_held_admin);
  CHECK(code_of(c.run(ReleaseJob{id}, user())) == Code::forbidden);
  Cluster::expect(c.run(ReleaseJob{id}, admin()));
  c.start(id);
  CHECK(code_of(c.run(HoldJob{id}, user())) == Code::conflict);
}

TEST_CASE("submitted held, a job waits for its release") {
  Cluster c;
  Ask a;
  a.spec.hold = true;
  const auto id = c.submit(a);
  CHECK(c.pass().starts.empty());
  c.run(ReleaseJob{id}, user());
  c.start(id);
}

TEST_CASE("requeue ends a running job first and starts it again with the next attempt number") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  Cluster::expect(c.run(RequeueJob{id, false}, user()));
  CHECK(c.job(id).state == JobState::ending);
  CHECK(c.pass().starts.empty());
  c.deliver();
  CHECK(c.job(id).state == JobState::pending);
  CHECK(c.job(id).restarts == 1);
  c.start(id);
  CHECK(c.job(id).attempt->number == AttemptNumber{2});
  int ended = 0;
  for (const auto& e : c.history)
    if (const auto* f = std::get_if<AttemptEnded>(&e.fact)) {
      ++ended;
      CHECK(f->attempt.number == AttemptNumber{1});
      CHECK(f->attempt.exit->signal == 15);
    }
  CHECK(ended == 1);
}

TEST_CASE("requeue with hold leaves the job held; an ended job can be requeued; a waiting one and --no-requeue can not") {
  Cluster c;
  const auto id = c.submit(ask());
  CHECK(code_of(c.run(RequeueJob{id, false}, user())) == Code::conflict);
  c.start(id);
  c.finish(id);
  Cluster::expect(c.run(RequeueJob{id, true}, user()));
  CHECK(c.job(id).held_by_user);
  c.run(ReleaseJob{id}, user());
  c.start(id);
  c.expect_replay_gives_the_same();
  const auto once = c.submit(ask().no_requeue());
  c.start(once);
  CHECK(code_of(c.run(RequeueJob{once, false}, user())) == Code::conflict);
}

TEST_CASE("requeued with hold, a job is held by whoever did it: its owner, or an administrator") {
  for (const bool live : {false, true}) {
    Cluster c;
    const auto mine = c.submit(ask()), theirs = c.submit(ask());
    for (const auto id : {mine, theirs}) {
      c.start(id);
      if (!live) c.finish(id);
    }
    Cluster::expect(c.run(RequeueJob{mine, true}, user()));
    Cluster::expect(c.run(RequeueJob{theirs, true}, admin()));
    c.deliver();
    CHECK(c.why(mine).reason == Reason::job_held_user);
    CHECK(c.why(theirs).reason == Reason::job_held_admin);
    CHECK(code_of(c.run(ReleaseJob{theirs}, user())) == Code::forbidden);
    Cluster::expect(c.run(ReleaseJob{theirs}, admin()));
    CHECK_FALSE(c.job(theirs).held_by_admin);
    c.expect_replay_gives_the_same();
  }
}

TEST_CASE("a waiting job may change what decides where it runs; impossible changes are refused and change nothing") {
  Cluster c;
  const auto id = c.submit(ask());
  JobChange change;
  change.nodes = NodeRange{2, 2, {}};
  change.cpus_per_task = whole_cpus(4);
  Cluster::expect(c.run(UpdateJob{id, change}, user()));
  change.cpus_per_task = whole_cpus(40);
  CHECK(code_of(c.run(UpdateJob{id, change}, user())) == Code::impossible);
  c.start(id);
  CHECK(c.nodes_of(id).size() == 2);
  CHECK(code_of(c.run(UpdateJob{id, change}, user())) == Code::conflict);
}

TEST_CASE("a running job's limit: its owner shortens, administrators also lengthen, and the nodes are told") {
  Cluster c;
  const auto id = c.submit(ask().time(hours{2}));
  c.start(id);
  JobChange change;
  change.time_limit = std::optional<Duration>{hours{1}};
  const auto r = c.run(UpdateJob{id, change}, user());
  REQUIRE(r.effects.size() == 1);
  CHECK(std::get<SetTimeLimitOnNode>(r.effects.front()).limit == Duration{hours{1}});
  change.time_limit = std::optional<Duration>{hours{3}};
  CHECK(code_of(c.run(UpdateJob{id, change}, user())) == Code::forbidden);
  Cluster::expect(c.run(UpdateJob{id, change}, admin()));
  CHECK(c.job(id).attempt->time_limit == Duration{hours{3}});
  CHECK(pending_effects(c.state).size() == 1);  // a crash before it was sent loses nothing
}

TEST_CASE("only administrators raise a priority, and other changes do not trip over a nice that is there") {
  Cluster c;
  const auto id = c.submit(ask().nice(100));
  JobChange change;
  change.nice = 50;
  CHECK(code_of(c.run(UpdateJob{id, change}, user())) == Code::forbidden);
  change.nice = -10;
  Cluster::expect(c.run(UpdateJob{id, change}, admin()));
  JobChange comment;
  comment.comment = "hello";
  Cluster::expect(c.run(UpdateJob{id, comment}, user()));
  CHECK(c.job(id).spec->nice == -10);
}

TEST_CASE("a job beyond its limit that no supervisor ended is asked to end by the controller") {
  Cluster c;
  const auto id = c.submit(ask().time(minutes{10}));
  c.start(id);
  c.advance(minutes{10} + seconds{80});
  CHECK(c.job(id).state == JobState::running);  // grace, and a minute's patience
  c.advance(seconds{11});
  CHECK(c.job(id).state == JobState::ending);
  c.deliver();
  CHECK(c.job(id).outcome == Outcome::timeout);
}

TEST_CASE("the time limit comes from the job, else the partition, else the cluster") {
  Cluster c;
  const auto limit = [&](Ask a) {
    const auto id = c.submit(std::move(a));
    c.start(id);
    return c.job(id).attempt->time_limit;
  };
  CHECK(limit(ask().time(minutes{7})) == Duration{minutes{7}});
  CHECK(limit(ask()) == c.state.settings.default_time);
  c.configuration.partitions.front().settings.max_time = hours{5};
  c.configure();
  CHECK(limit(ask()) == Duration{hours{5}});
  c.configuration.partitions.front().settings.default_time = hours{1};
  c.configure();
  CHECK(limit(ask()) == Duration{hours{1}});
}

TEST_CASE("a signal goes to the lead alone or to all nodes, and only to a running job") {
  Cluster c;
  const auto id = c.submit(ask().nodes(2));
  CHECK(code_of(c.run(SignalJob{id, 10, false, false}, user())) == Code::conflict);
  c.start(id);
  CHECK(c.run(SignalJob{id, 10, true, false}, user()).effects.size() == 1);
  CHECK(c.run(SignalJob{id, 10, false, true}, user()).effects.size() == 2);
  CHECK(code_of(c.run(SignalJob{id, 99, false, false}, user())) == Code::invalid_argument);
}

TEST_CASE("ended jobs stay for the configured time and are then forgotten") {
  Cluster c;
  const auto id = c.submit(ask());
  c.start(id);
  c.finish(id);
  c.advance(c.state.settings.keep_ended - seconds{1});
  CHECK(c.state.find_job(id) != nullptr);
  c.advance(seconds{1});
  CHECK(c.state.find_job(id) == nullptr);
  CHECK(c.state.ended_order.empty());
}

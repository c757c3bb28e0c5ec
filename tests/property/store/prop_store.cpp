#include <map>

#include "daemon/store/sqlite_store.hpp"
#include "support/catch.hpp"
#include "support/cluster.hpp"
#include "support/power_cut_vfs.hpp"

using namespace sy;
using namespace sy::test;

namespace {

// One random thing that users, nodes, administrators or time do to the cluster. Refusals are part of life.
// Of a script ('a') or an environment ('e'), one of a few.
Digest some_digest(char kind, int n) { return *Digest::from_text(std::string(63, kind) + std::to_string(n)); }

class Life {
 public:
  explicit Life(std::uint64_t seed) : cluster(3, 4, 8000, 2), random_(seed) { cluster.check_after_every_step = false; }

  void step() {
    switch (pick(20)) {
      case 0:
      case 1:
      case 2:
      case 3: submit(); break;
      case 4:
      case 5: cluster.pass(); break;
      case 6:
      case 7: cluster.deliver(); break;
      case 8:
      case 9: finish(); break;
      case 10: cluster.run(CancelJob{any_job()}, who()); break;
      case 11: cluster.run(pick(2) == 0 ? Action{HoldJob{any_job()}} : Action{ReleaseJob{any_job()}}, who()); break;
      case 12: cluster.run(RequeueJob{any_job(), pick(2) == 0}, who()); break;
      case 13: update(); break;
      case 14: trouble(); break;
      case 15: administer(); break;
      case 16: cluster.advance(seconds{static_cast<int>(1 + pick(400))}); break;
      case 17: cluster.run(SignalJob{any_job(), 10, false, true}, who()); break;
      case 18: reconfigure(); break;
      default: enrol(); break;
    }
  }

  Cluster cluster;

 private:
  std::uint64_t pick(std::uint64_t n) {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (random_ >> 33U) % n;
  }
  JobId any_job() {
    if (cluster.state.jobs.empty()) return JobId{1};
    auto it = cluster.state.jobs.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(pick(cluster.state.jobs.size())));
    return it->first;
  }
  std::string any_node() { return "n" + std::to_string(1 + pick(3)); }
  Principal who() { return pick(3) == 0 ? admin() : user(); }

  void submit() {
    auto request = ask().nodes(static_cast<std::uint32_t>(1 + pick(3))).cpus(static_cast<std::int64_t>(1 + pick(4)));
    request.time(minutes{static_cast<int>(1 + pick(60))}).name("job" + std::to_string(pick(3)));
    if (pick(4) == 0) request.gres("gpu", 1);
    if (pick(5) == 0) request.no_requeue();
    const auto n = static_cast<int>(pick(3));
    cluster.run(SubmitJob{std::make_shared<const JobSpec>(request.spec), some_digest('a', n), some_digest('e', n), pick(10) == 0}, user());
  }
  void finish() {
    std::vector<JobId> running;
    for (const auto& [id, job] : cluster.state.jobs)
      if (job.state == JobState::running) running.push_back(id);
    if (running.empty()) return;
    ExitRecord exit;
    exit.code = static_cast<int>(pick(2));
    cluster.finish(running[pick(running.size())], exit);
  }
  void update() {
    JobChange change;
    if (pick(2) == 0) change.nice = static_cast<std::int32_t>(pick(100));
    if (pick(2) == 0) change.time_limit = std::optional<Duration>{minutes{static_cast<int>(5 + pick(100))}};
    if (pick(3) == 0) change.name = "renamed";
    cluster.run(UpdateJob{any_job(), change}, who());
  }
  void trouble() {
    const auto node = any_node();
    switch (pick(5)) {
      case 0: cluster.silent(node); break;
      case 1: cluster.heard(node); break;
      case 2:
        cluster.reboot(node);
        cluster.register_node(node);
        break;
      case 3:
        cluster.lose_spool(node);
        cluster.register_node(node);
        break;
      default: cluster.run(FenceNode{cluster.index(node), "sy fence"}, admin());
    }
  }
  void administer() {
    const auto node = cluster.index(any_node());
    switch (pick(3)) {
      case 0: cluster.run(DrainNode{node, "disk"}, admin()); break;
      case 1: cluster.run(DownNode{node, "fire"}, admin()); break;
      default: cluster.run(ResumeNode{node}, admin());
    }
  }
  void reconfigure() {
    cluster.configuration.settings.keep_ended = seconds{static_cast<int>(pick(300))};
    cluster.configuration.settings.on_lost = pick(2) == 0 ? Settings::OnLost::wait : Settings::OnLost::assume_dead;
    cluster.run(cluster.configuration, admin());
  }
  void enrol() {
    const std::string digest = "digest" + std::to_string(pick(4));
    if (pick(2) == 0) cluster.run(IssueEnrolToken{any_node(), digest, cluster.now + minutes{10}}, admin());
    else cluster.run(EnrolNode{digest, "key"}, {});
  }

  std::uint64_t random_;
};

std::string difference(const State& a, const State& b) {
  std::string why;
  if (equal(a, b, &why)) return {};
  return "they differ: " + why;
}

// Gathers what each step did, as the controller does, and commits several together.
class Keeper {
 public:
  explicit Keeper(daemon::Store& store) : store_(store) {}
  void saw(const Cluster& cluster) {
    batch_.add(cluster.state, {cluster.history.begin() + static_cast<std::ptrdiff_t>(seen_), cluster.history.end()});
    seen_ = cluster.history.size();
  }
  void commit() {
    for (const char kind : {'a', 'e'})
      for (int i = 0; i < 3; ++i) batch_.blobs.push_back({some_digest(kind, i).text(), "bytes"});
    store_.commit(batch_);
    batch_ = {};
  }

 private:
  daemon::Store& store_;
  daemon::Batch batch_;
  std::size_t seen_{};
};

}  // namespace

TEST_CASE("the state from the tables, the state replayed from events, and the live state are equal") {
  check_property("tables, events and memory agree", [](std::uint64_t seed) {
    PowerCutDisk disk{"prop-store"};
    const auto store = daemon::open_sqlite_store({.path = "/store.db", .keep_events = hours{24 * 365}, .vfs = disk.vfs()});
    Life life{seed};
    Keeper keeper{*store};
    const auto& live = life.cluster.state;
    for (int round = 0; round < 25; ++round) {
      for (int i = 0; i < 1 + round % 4; ++i) {
        life.step();
        keeper.saw(life.cluster);
      }
      keeper.commit();
      if (round % 5 == 4) {
        const auto difference_to_tables = difference(store->load(), live);
        RC_ASSERT(difference_to_tables == std::string{});
      }
    }
    State replayed;
    const auto events = store->events(Sequence{0}, 1'000'000);
    RC_ASSERT(events.size() == life.cluster.history.size());
    for (const auto& event : events) evolve(replayed, event);
    const auto difference_to_events = difference(replayed, live);
    RC_ASSERT(difference_to_events == std::string{});

    std::size_t ends = 0;   // counted from the events alone
    for (const auto& event : events)
      ends += std::holds_alternative<JobEnded>(event.fact) || std::holds_alternative<AttemptEnded>(event.fact) ? 1U : 0U;
    RC_ASSERT(store->accounting({.duplicates = true, .limit = 1'000'000}).size() == ends);
  });
}

TEST_CASE("after a power cut at any moment the state is the acknowledged one") {
  check_property("nothing acknowledged is missing", [](std::uint64_t seed) {
    PowerCutDisk disk{"prop-power-cut"};
    const daemon::SqliteOptions options{.path = "/store.db", .keep_events = hours{24 * 365}, .vfs = disk.vfs()};
    Life life{seed};
    {
      const auto store = daemon::open_sqlite_store(options);
      Keeper keeper{*store};
      for (std::uint64_t round = 0; round < 5 + seed % 20; ++round) {
        life.step();
        keeper.saw(life.cluster);
        keeper.commit();
      }
      disk.cut(seed);
    }
    const auto store = daemon::open_sqlite_store(options);
    const auto lost = difference(store->load(), life.cluster.state);
    RC_ASSERT(lost == std::string{});
    RC_ASSERT(store->events(Sequence{0}, 1'000'000).size() == life.cluster.history.size());
  });
}

#include "support/power_cut_vfs.hpp"
#include "unit/store/fixture.hpp"

using namespace sy;
using namespace sy::test;

namespace {

using Synchronous = daemon::SqliteOptions::Synchronous;

daemon::SqliteOptions on(const PowerCutDisk& disk, Synchronous synchronous = Synchronous::full) {
  return {.path = "/store.db", .vfs = disk.vfs(), .synchronous = synchronous};
}

// Commits some jobs, cuts the power, loads again; several times over. Counts acknowledged changes that are missing.
std::size_t lost_after_cuts(std::uint64_t seed, Synchronous synchronous) {
  PowerCutDisk disk{"power-cut-" + std::to_string(seed)};
  Story story;
  std::size_t lost = 0;
  for (std::uint64_t round = 0; round < 4; ++round) {
    auto store = daemon::open_sqlite_store(on(disk, synchronous));
    const auto loaded = store->load();
    std::string why;
    if (!model::equal(loaded, story.state, &why)) {
      ++lost;
      story.state = loaded;
    }
    const std::uint64_t commits = 1 + (seed * 7 + round * 3) % 12;
    for (std::uint64_t i = 0; i < commits; ++i) {
      store->commit(story.submit("job", "#!/bin/sh\n# " + std::string(static_cast<std::size_t>(seed * 131 + i * 977) % 9000, 'x')));
      if (i % 3 == 2) store->commit(story.end(base::JobId{story.state.next_job_id.value - 1}, model::Outcome::completed));
    }
    disk.cut(seed * 1000 + round);
  }
  return lost;
}

}  // namespace

TEST_CASE("after a power cut no acknowledged change is missing") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    CHECK(lost_after_cuts(seed, Synchronous::full) == 0);
  }
}

TEST_CASE("the power-cut disk finds the loss when commits are not synced") {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    try {
      if (lost_after_cuts(seed, Synchronous::off) > 0) ++found;
    } catch (const daemon::StoreFailure&) {
      ++found;   // damaged beyond reading: found as well
    }
  }
  CHECK(found > 0);
}

TEST_CASE("every commit is synced before it returns") {
  PowerCutDisk disk{"sync-count"};
  Story story;
  const auto store = daemon::open_sqlite_store(on(disk));
  store->load();
  for (int i = 0; i < 5; ++i) {
    const auto before = disk.syncs();
    store->commit(story.submit());
    CHECK(disk.syncs() > before);
  }
}

TEST_CASE("a full disk refuses the commit, keeps nothing of it, and work goes on when there is room again") {
  PowerCutDisk disk{"full-disk"};
  Story story;
  const auto store = daemon::open_sqlite_store(on(disk));
  store->commit(story.submit());
  const auto kept = story.state;
  disk.set_capacity(disk.used() + 8192);
  const std::string big = "#!/bin/sh\n" + std::string(100'000, 'x');
  const auto refused = story.submit("big", big);
  CHECK(failure_of([&] { store->commit(refused); }).find("disk is full") != std::string::npos);
  CHECK(failure_of([&] { store->commit(refused); }).find("load the state again") != std::string::npos);
  std::string why;
  CHECK(model::equal(store->load(), kept, &why));
  CHECK(why.empty());
  CHECK_FALSE(store->blob(daemon::blob_digest(big)).has_value());
  CHECK(store->events(base::Sequence{1}, 10).empty());
  story.state = kept;
  disk.set_capacity({});
  store->commit(story.submit());
  CHECK(model::equal(store->load(), story.state, &why));
}

TEST_CASE("a sync that fails refuses the commit, and a later load shows a state that was whole") {
  PowerCutDisk disk{"failing-disk"};
  Story story;
  const auto store = daemon::open_sqlite_store(on(disk));
  store->commit(story.submit());
  const auto kept = story.state;
  disk.fail_syncs(true);
  CHECK(failure_of([&] { store->commit(story.submit()); }).find("reports an error") != std::string::npos);
  disk.fail_syncs(false);
  const auto loaded = store->load();
  CHECK((model::equal(loaded, kept) || model::equal(loaded, story.state)));
  story.state = loaded;
  store->commit(story.submit());
  CHECK(model::equal(store->load(), story.state));
}

TEST_CASE("look-ups see what is committed while the writer goes on") {
  PowerCutDisk disk{"readers"};
  Story story;
  const auto store = daemon::open_sqlite_store(on(disk));
  for (int i = 0; i < 50; ++i) {
    store->commit(story.submit("job", "#!/bin/sh\n" + std::to_string(i)));
    CHECK(store->blob(daemon::blob_digest("#!/bin/sh\n" + std::to_string(i))).has_value());
    CHECK(store->events(base::Sequence{0}, 1000).size() == static_cast<std::size_t>(i) + 1);
  }
}

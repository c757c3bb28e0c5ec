#include "daemon/store/connection.hpp"
#include "daemon/store/migrations.hpp"
#include "unit/store/fixture.hpp"

using namespace sy;
using namespace sy::test;
using daemon::Connection;
using daemon::Migration;

namespace {

// This release's steps and one that a later release may take.
std::vector<Migration> with_a_later_step() {
  const auto ours = daemon::all_migrations();
  std::vector<Migration> later{ours.begin(), ours.end()};
  later.push_back({ours.back().number + 1, "9999_later",
                   "ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 5; UPDATE jobs SET priority = 7 WHERE id = 1"});
  return later;
}

}  // namespace

TEST_CASE("migrations are numbered from one without gaps") {
  int expected = 0;
  for (const auto& step : daemon::all_migrations()) CHECK(step.number == ++expected);
  CHECK(expected >= 1);
}

TEST_CASE("a file of the release before is brought up to date with its rows, once") {
  const Folder folder;
  Story story;
  {
    const auto store = open_store(folder);
    store->commit(story.submit("kept"));
    store->commit(story.submit("kept"));
  }
  const auto later = with_a_later_step();
  for (int round = 0; round < 2; ++round) {
    Connection db{folder.file(), {}, Connection::Access::write};
    daemon::migrate(db, later);
    CHECK(db.pragma("user_version") == later.back().number);
    auto& rows = db.prepared("SELECT spec, priority FROM jobs ORDER BY id");
    REQUIRE(rows.row());
    CHECK(rows.text(0).find("kept") != std::string_view::npos);
    CHECK(rows.integer(1) == 7);
    REQUIRE(rows.row());
    CHECK(rows.integer(1) == 5);
    rows.reset();
  }
  CHECK(failure_of([&] { open_store(folder); }).find("newer release") != std::string::npos);
}

TEST_CASE("a step that fails leaves the file as it was") {
  const Folder folder;
  open_store(folder);
  auto broken = with_a_later_step();
  broken.push_back({broken.back().number + 1, "9999_broken", "CREATE TABLE half (x INTEGER) STRICT; SELECT nonsense FROM nowhere"});
  {
    Connection db{folder.file(), {}, Connection::Access::write};
    CHECK_FALSE(failure_of([&] { daemon::migrate(db, broken); }).empty());
    CHECK(db.pragma("user_version") == daemon::all_migrations().back().number);
  }
  CHECK(open_store(folder)->check().empty());
}

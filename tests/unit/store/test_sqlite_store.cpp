#include <sqlite3.h>

#include "unit/store/fixture.hpp"

using namespace sy;
using namespace sy::test;

namespace {

std::string difference(const model::State& a, const model::State& b) {
  std::string why;
  return model::equal(a, b, &why) ? std::string{} : "they differ: " + why;
}

std::vector<std::uint64_t> job_ids(const std::vector<daemon::AccountingRow>& rows) {
  std::vector<std::uint64_t> ids;
  for (const auto& row : rows) ids.push_back(row.job.value);
  return ids;
}

}  // namespace

TEST_CASE("a new store is empty, and what is committed is there after a restart") {
  const Folder folder;
  Story story;
  {
    const auto store = open_store(folder);
    CHECK(difference(store->load(), model::State{}) == "");
    story.new_node("n1");
    story.new_node("n2");
    story.state.settings.cluster_name = "yard";
    model::Partition batch;
    batch.name = "batch";
    batch.nodes = base::NodeSet::range(0, 2);
    story.state.partitions.push_back(batch);
    story.state.topologies["t"].name = "t";
    story.state.epoch = 7;
    model::rebuild_derived(story.state);
    store->commit(story.happens({core::Configured{}, core::TopologyImported{story.state.topologies["t"]}, core::EpochBegan{7, 0}}));
    for (int i = 0; i < 3; ++i) store->commit(story.submit());
    store->commit(story.end(base::JobId{2}, model::Outcome::completed));
    CHECK(difference(store->load(), story.state) == "");
  }
  const auto store = open_store(folder);
  CHECK(difference(store->load(), story.state) == "");
  CHECK(store->check().empty());
}

TEST_CASE("equal requests are one object after loading") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  store->commit(story.submit("same"));
  store->commit(story.submit("same"));
  store->commit(story.submit("other"));
  const auto state = store->load();
  CHECK(state.jobs.at(base::JobId{1}).spec == state.jobs.at(base::JobId{2}).spec);
  CHECK(state.jobs.at(base::JobId{1}).spec != state.jobs.at(base::JobId{3}).spec);
}

TEST_CASE("several steps share one commit, and each thing has the row of the last") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  daemon::Batch group;
  const auto add = [&](std::vector<core::Fact> facts) {
    const auto one = story.happens(std::move(facts));
    group.add(story.state, one.events);
  };
  auto& job = story.new_job();
  add({core::JobSubmitted{job}});
  job.held_by_user = true;
  add({core::JobHeld{job.id, false, "ann"}});
  auto& gone = story.new_job();
  const auto gone_id = gone.id;
  add({core::JobSubmitted{gone}});
  story.state.jobs.erase(gone_id);
  story.state.waiting.erase(gone_id);
  add({core::JobForgotten{gone_id}});
  store->commit(group);
  CHECK(difference(store->load(), story.state) == "");
  CHECK(store->events(base::Sequence{0}, 100).size() == 4);
}

TEST_CASE("a changed request replaces the stored one") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  store->commit(story.submit("before"));
  auto changed = std::make_shared<model::JobSpec>(*story.state.jobs.at(base::JobId{1}).spec);
  changed->name = "after";
  story.state.jobs.at(base::JobId{1}).spec = changed;
  store->commit(story.happens({core::JobUpdated{base::JobId{1}, changed, "ann"}}));
  CHECK(store->load().jobs.at(base::JobId{1}).spec->name == "after");
}

TEST_CASE("a blob lives as long as a job names it") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  const std::string script{"#!/bin/sh\nhostname\n\0x", 21};
  const auto digest = daemon::blob_digest(script);
  store->commit(story.submit("a", script));
  store->commit(story.submit("b", script));
  CHECK(store->blob(digest) == script);
  CHECK_FALSE(store->blob("nothing").has_value());
  store->commit(story.forget(base::JobId{1}));
  CHECK(store->blob(digest) == script);
  CHECK(store->check().empty());
  store->commit(story.forget(base::JobId{2}));
  CHECK_FALSE(store->blob(digest).has_value());
  CHECK(store->check().empty());
}

TEST_CASE("a blob that no submitted job names is not kept") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  auto batch = story.submit("a", "#!/bin/sh\n");
  batch.blobs.push_back({daemon::blob_digest("stray"), "stray"});
  store->commit(batch);
  CHECK_FALSE(store->blob(daemon::blob_digest("stray")).has_value());
}

TEST_CASE("the sha256 of known bytes is the known one") {
  CHECK(daemon::blob_digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("an answer is found by principal, route and key until it has expired") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  auto batch = story.submit();
  batch.replies.push_back({"uid 1000", "POST /v1/jobs", "k1", "digest", 201, "{\"id\":1}", story.now + base::hours{24}});
  store->commit(batch);
  const auto reply = store->reply("uid 1000", "POST /v1/jobs", "k1");
  REQUIRE(reply.has_value());
  CHECK(reply->request_digest == "digest");
  CHECK(reply->status == 201);
  CHECK(reply->body == "{\"id\":1}");
  CHECK_FALSE(store->reply("uid 1001", "POST /v1/jobs", "k1").has_value());
  CHECK_FALSE(store->reply("uid 1000", "POST /v1/jobs", "k").has_value());

  daemon::Batch only_reply;
  only_reply.replies.push_back({"uid 1000", "POST /v1/jobs/1/cancel", "k2", "d", 200, "{}", story.now + base::hours{48}});
  store->commit(only_reply);
  CHECK(store->reply("uid 1000", "POST /v1/jobs/1/cancel", "k2").has_value());

  story.now += base::hours{25};
  store->commit(story.submit());
  CHECK_FALSE(store->reply("uid 1000", "POST /v1/jobs", "k1").has_value());
  CHECK(store->reply("uid 1000", "POST /v1/jobs/1/cancel", "k2").has_value());
}

TEST_CASE("events come back as they were, page by page, and go when they are old") {
  const Folder folder;
  Story story;
  const auto store = daemon::open_sqlite_store({.path = folder.file(), .keep_events = base::hours{1}});
  store->commit(story.submit("a"));
  story.now += base::minutes{50};
  store->commit(story.submit("b"));
  const auto page = store->events(base::Sequence{1}, 10);
  REQUIRE(page.size() == 1);
  CHECK(page[0].sequence.value == 2);
  CHECK(page[0].at == story.now);
  CHECK(page[0].by == "uid 1000 (ann)");
  CHECK(std::get<core::JobSubmitted>(page[0].fact).job == story.state.jobs.at(base::JobId{2}));
  CHECK(store->events(base::Sequence{0}, 1).size() == 1);
  story.now += base::minutes{20};
  store->commit(story.submit("c"));
  CHECK(store->events(base::Sequence{0}, 10).front().sequence.value == 2);
}

TEST_CASE("accounting finds ended attempts by each filter, in pages of whole jobs") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  story.new_node("n1");
  story.new_node("n2");
  store->commit(story.happens({core::Configured{}}));
  for (const auto* name : {"a", "b", "c"}) store->commit(story.submit(name));
  auto& second = story.state.jobs.at(base::JobId{2});
  second.user = "bob";
  auto spec = std::make_shared<model::JobSpec>(*second.spec);
  spec->annotations.edit().account = "physics";
  second.spec = spec;
  const auto t1 = story.now;
  store->commit(story.end(base::JobId{1}, model::Outcome::completed, 0));
  story.now += base::hours{1};
  store->commit(story.end(base::JobId{2}, model::Outcome::failed, 1));
  const auto ids = [&](daemon::AccountingQuery query) { return job_ids(store->accounting(query)); };
  using Ids = std::vector<std::uint64_t>;
  CHECK(ids({}) == Ids{1, 2});
  CHECK(ids({.jobs = {base::JobId{2}, base::JobId{9}}}) == Ids{2});
  CHECK(ids({.users = {"ann"}}) == Ids{1});
  CHECK(ids({.users = {"ann' OR '1'='1"}}).empty());
  CHECK(ids({.users = {"ann", "bob"}}) == Ids{1, 2});
  CHECK(ids({.outcomes = {"failed", "timeout"}}) == Ids{2});
  CHECK(ids({.partitions = {"batch"}}) == Ids{1, 2});
  CHECK(ids({.names = {"a"}}) == Ids{1});
  CHECK(ids({.nodes = {"n2"}}) == Ids{2});
  CHECK(ids({.accounts = {"physics"}}) == Ids{2});
  CHECK(ids({.since = t1 + base::minutes{1}}) == Ids{2});
  CHECK(ids({.until = t1 - base::minutes{1}}).empty());
  CHECK(ids({.after_job = 1}) == Ids{2});
  CHECK(ids({.limit = 1}) == Ids{1});
  const auto rows = store->accounting({.jobs = {base::JobId{2}}});
  CHECK(rows.at(0).at_end == story.state.jobs.at(base::JobId{2}));
}

TEST_CASE("of a requeued job the last attempt is shown, and all with duplicates") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  store->commit(story.submit());
  auto& job = story.state.jobs.at(base::JobId{1});
  model::Attempt first;
  first.number = job.last_attempt = base::AttemptNumber{1};
  first.partition = "batch";
  first.ending_as = model::Outcome::node_fail;
  store->commit(
      story.happens({core::AttemptEnded{job.id, first, story.now}, core::JobRequeued{job.id, story.now, false, false, "node n1 failed"}}));
  CHECK(store->accounting({}).at(0).at_end.outcome == model::Outcome::node_fail);
  store->commit(story.end(job.id, model::Outcome::completed));
  const auto last = store->accounting({});
  REQUIRE(last.size() == 1);
  CHECK(last[0].attempt.value == 2);
  const auto all = store->accounting({.duplicates = true, .limit = 1});
  REQUIRE(all.size() == 2);
  CHECK(all[0].at_end.attempt == first);
}

TEST_CASE("a job cancelled while it waits, requeued and run has a row for each end") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  store->commit(story.submit());
  auto& job = story.state.jobs.at(base::JobId{1});
  job.outcome = model::Outcome::cancelled;
  job.ended = story.now;
  store->commit(story.happens({core::JobEnded{job.id, job.outcome, story.now, {}}}));
  store->commit(story.end(job.id, model::Outcome::completed));
  const auto all = store->accounting({.duplicates = true});
  REQUIRE(all.size() == 2);
  CHECK(all[0].attempt.value == 0);
  CHECK(all[1].attempt.value == 1);
  CHECK(store->accounting({}).at(0).at_end.outcome == model::Outcome::completed);
}

TEST_CASE("accounting is dropped by policy only") {
  const Folder folder;
  Story story;
  const auto store = daemon::open_sqlite_store({.path = folder.file(), .keep_accounting = base::hours{2}});
  store->commit(story.submit());
  store->commit(story.end(base::JobId{1}, model::Outcome::completed));
  story.now += base::hours{1};
  store->commit(story.forget(base::JobId{1}));
  CHECK(store->accounting({}).size() == 1);
  story.now += base::hours{2};
  store->commit(story.submit());
  CHECK(store->accounting({}).empty());
}

TEST_CASE("a backup is a whole store, made while commits go on, and never written over another file") {
  const Folder folder;
  Story story;
  const auto store = open_store(folder);
  store->commit(story.submit("a", "#!/bin/sh\n"));
  store->backup(folder.file("backup.db"));
  const auto at_backup = story.state;
  store->commit(story.submit("b"));
  CHECK(failure_of([&] { store->backup(folder.file("backup.db")); }).find("exists already") != std::string::npos);
  const auto copy = daemon::open_sqlite_store({.path = folder.file("backup.db")});
  CHECK(difference(copy->load(), at_backup) == "");
  CHECK(copy->check().empty());
  struct stat info{};
  REQUIRE(::stat(folder.file("backup.db").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
}

TEST_CASE("files of the store are for its owner alone, and laxer modes are refused with what to do") {
  const Folder folder;
  open_store(folder)->load();
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    struct stat info{};
    REQUIRE(::stat(entry.path().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }
  ::chmod(folder.file().c_str(), 0640);
  CHECK(failure_of([&] { open_store(folder); }).find("chmod 0600") != std::string::npos);
  ::chmod(folder.file().c_str(), 0600);
  ::chmod(folder.path().c_str(), 0755);
  CHECK(failure_of([&] { open_store(folder); }).find("chmod 0700") != std::string::npos);
  ::chmod(folder.path().c_str(), 0700);
  CHECK(failure_of([&] { open_store(folder); }).empty());
  CHECK_FALSE(failure_of([&] { daemon::open_sqlite_store({.path = folder.path() + "/missing/x.db"}); }).empty());
}

TEST_CASE("a second process on the same store is refused") {
  const Folder folder;
  const auto store = open_store(folder);
  CHECK(failure_of([&] { open_store(folder); }).find("another process uses the store") != std::string::npos);
}

namespace {

void run_sql(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

long root_page(const std::string& path, const std::string& table) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  long page = 0;
  const auto keep = [](void* to, int, char** columns, char**) { return *static_cast<long*>(to) = std::stol(columns[0]), 0; };
  CHECK(sqlite3_exec(db, ("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'").c_str(), keep, &page, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  return page;
}

}  // namespace

TEST_CASE("a file of a newer release or of another program is refused and left alone") {
  const Folder folder;
  open_store(folder);
  run_sql(folder.file(), "PRAGMA user_version = 999");
  CHECK(failure_of([&] { open_store(folder); }).find("newer release") != std::string::npos);

  run_sql(folder.file("other.db"), "CREATE TABLE t (x); PRAGMA application_id = 0");
  ::chmod(folder.file("other.db").c_str(), 0600);
  CHECK(failure_of([&] { daemon::open_sqlite_store({.path = folder.file("other.db")}); }).find("another program") != std::string::npos);
}

TEST_CASE("a damaged file is refused with a sentence, and check says what is wrong") {
  const Folder folder;
  Story story;
  {
    const auto store = open_store(folder);
    for (int i = 0; i < 200; ++i) store->commit(story.submit("job" + std::to_string(i)));
    CHECK(store->damage().empty());
  }
  const auto size = std::filesystem::file_size(folder.file());
  SECTION("not a database at all") {
    std::FILE* file = std::fopen(folder.file().c_str(), "r+");
    std::fwrite("this is no database", 1, 19, file);
    std::fclose(file);
    CHECK(failure_of([&] { open_store(folder)->load(); }).find("damaged") != std::string::npos);
  }
  SECTION("cut off") {
    std::filesystem::resize_file(folder.file(), size / 2 / 4096 * 4096);
    CHECK(failure_of([&] { open_store(folder)->load(); }).find("damaged") != std::string::npos);
  }
  SECTION("one page among the scripts") {
    {
      const auto store = open_store(folder);
      Story more = story;
      store->commit(more.submit("x", "#!/bin/sh\n" + std::string(40'000, '#')));
    }
    run_sql(folder.file(), "PRAGMA wal_checkpoint(TRUNCATE)");
    const auto page = root_page(folder.file(), "blobs");
    std::FILE* file = std::fopen(folder.file().c_str(), "r+");
    std::fseek(file, (page - 1) * 4096, SEEK_SET);
    std::fwrite("this is no page", 1, 15, file);
    std::fclose(file);
    const auto opened = open_store(folder);
    CHECK(opened->load().jobs.size() == 201);  // it can be lived with
    CHECK_FALSE(opened->damage().empty());
    CHECK_FALSE(opened->check().empty());
  }
  SECTION("a row that makes no sense") {
    run_sql(folder.file(), "UPDATE jobs SET state = 'dancing' WHERE id = 7");
    CHECK(failure_of([&] { open_store(folder)->load(); }).find("dancing") != std::string::npos);
  }
  SECTION("a blob with other bytes") {
    {
      const auto store = open_store(folder);
      Story more = story;
      store->commit(more.submit("x", "#!/bin/sh\n"));
    }
    run_sql(folder.file(), "UPDATE blobs SET bytes = x'00'");
    const auto faults = open_store(folder)->check();
    REQUIRE_FALSE(faults.empty());
    CHECK(faults[0].find("other bytes") != std::string::npos);
  }
}

#include "bench.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon::testing;

TEST_CASE("A submission is answered after its commit, and not before") {
  Bench bench;
  bench.store.close_gate();
  const auto answer = bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission());
  bench.turn_until([&] { return bench.store.commit_waits(); });
  bench.turns(20);
  CHECK_FALSE(answer->there);
  CHECK(bench.controller->state().jobs.size() == 1);  // in memory it has happened
  bench.store.open_gate();
  CHECK(bench.now(answer).status == 201);
}

TEST_CASE("A read that shows what is not yet on disk waits for it") {
  Bench bench;
  const std::uint64_t id = bench.submit();
  bench.store.close_gate();
  bench.ask(Bench::ann, "POST", "/v1/jobs/" + std::to_string(id) + "/hold");
  bench.turn_until([&] { return bench.store.commit_waits(); });
  const auto list = bench.ask(Bench::bob, "GET", "/v1/jobs?fields=id,held_by_user");
  const auto refusal = bench.ask(Bench::bob, "POST", "/v1/jobs/" + std::to_string(id) + "/cancel");
  bench.turns(20);
  CHECK_FALSE(list->there);
  CHECK_FALSE(refusal->there);
  bench.store.open_gate();
  CHECK(bench.now(list).body.find("\"held_by_user\":true") != std::string::npos);
  CHECK(bench.now(refusal).status == 403);
  CHECK(list->response.header("X-Switchyard-Sequence") == std::to_string(bench.controller->state().sequence.value));
}

TEST_CASE("Commands that arrive during a commit share the next one") {
  Bench bench;
  bench.turns(20);
  bench.store.close_gate();
  std::vector<Bench::GotPtr> answers{bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission())};
  bench.turn_until([&] { return bench.store.commit_waits(); });
  const std::size_t before = bench.store.commits();
  for (int i = 0; i < 50; ++i) answers.push_back(bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission()));
  bench.turns(5);
  bench.store.open_gate();
  for (const auto& answer : answers) CHECK(bench.now(answer).status == 201);
  CHECK(bench.store.commits() - before <= 3);  // the one that waited, the fifty together, perhaps a plan
}

TEST_CASE("A launch is sent after the start is on disk, and not before") {
  Bench bench;
  bench.bring_up("n1");
  bench.controller->start();
  bench.turns(20);
  bench.submit();
  bench.turn_until([&] { return !bench.controller->state().live.empty() || bench.agents.count("/v1/launch") > 0; });
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });

  bench.clock += base::seconds{1};
  bench.store.close_gate();
  bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission());
  bench.turn_until([&] { return bench.controller->state().live.size() == 2; });  // planned in memory, on top of what is not on disk
  bench.turns(20);
  CHECK(bench.agents.count("/v1/launch") == 1);
  bench.store.open_gate();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 2; });
}

TEST_CASE("After a failed commit nothing of it was shown, memory is discarded, and work is refused until commits succeed again") {
  Bench bench;
  bench.submit(Bench::ann, R"("name":"kept")");
  bench.store.close_gate();
  const auto lost = bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission(R"("name":"lost")"));
  const auto read = bench.ask(Bench::bob, "GET", "/v1/jobs?fields=name");
  bench.turn_until([&] { return bench.store.commit_waits(); });
  bench.store.break_disk(true);
  bench.store.open_gate();
  const auto answer = bench.now(lost);
  CHECK(answer.status == 503);
  CHECK(answer.body.find("disk is full") != std::string::npos);
  CHECK(bench.now(read).status == 503);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission()).status == 503);
  CHECK(bench.call(Bench::ann, "GET", "/v1/jobs").status == 503);
  CHECK(bench.call(Bench::ann, "GET", "/readyz").status == 503);
  CHECK(bench.call(Bench::ann, "GET", "/livez").status == 200);
  bench.store.break_disk(false);
  bench.turn_until([&] { return !bench.controller->ledger().fault(); });
  const auto list = bench.call(Bench::ann, "GET", "/v1/jobs?fields=name");
  CHECK(list.body.find("kept") != std::string::npos);
  CHECK(list.body.find("lost") == std::string::npos);
  CHECK(bench.call(Bench::ann, "GET", "/readyz").status == 200);
  CHECK(bench.submit() > 1);
}

TEST_CASE("Each start begins a later epoch, whatever the clock says") {
  Bench bench;
  const std::uint64_t first = bench.controller->state().epoch;
  bench.clock -= base::hours{24};
  bench.api.reset();
  bench.controller.reset();
  bench.controller = std::make_unique<daemon::Controller>(
      bench.loop, daemon::Controller::Doors{bench.store, bench.agents, {}, [&] { return bench.clock; }}, wire::DaemonSettings{}, bench.key);
  REQUIRE(bench.controller->ledger().open());
  CHECK(bench.controller->state().epoch > first);
}

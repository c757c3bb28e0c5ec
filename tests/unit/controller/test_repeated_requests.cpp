#include "bench.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon::testing;

namespace {
std::vector<http::Header> key(const std::string& text) { return {{"Idempotency-Key", text}}; }
}  // namespace

TEST_CASE("The same key with the same body gets the first answer and does nothing again") {
  Bench bench;
  const auto first = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  const auto second = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  CHECK(second.status == 201);
  CHECK(second.body == first.body);
  CHECK(second.header("Idempotency-Replayed") == "true");
  CHECK(bench.controller->state().jobs.size() == 1);
}

TEST_CASE("Two requests with one key under way at once share one answer") {
  Bench bench;
  bench.store.close_gate();
  const auto first = bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  const auto second = bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  bench.turns(10);
  CHECK_FALSE(second->there);
  bench.store.open_gate();
  CHECK(bench.now(second).body == bench.now(first).body);
  CHECK(bench.controller->state().jobs.size() == 1);
}

TEST_CASE("The same key with another body is refused") {
  Bench bench;
  bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  const auto other = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(R"("name":"x")"), key("k"));
  CHECK(other.status == 422);
  CHECK(other.body.find("Idempotency-Key") != std::string::npos);
}

TEST_CASE("Keys belong to one user and one route") {
  Bench bench;
  bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  CHECK(bench.call(Bench::bob, "POST", "/v1/jobs", Bench::submission(), key("k")).header("Idempotency-Replayed").empty());
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs/1/hold", "{}", key("k")).header("Idempotency-Replayed").empty());
  CHECK(bench.controller->state().jobs.size() == 2);
}

TEST_CASE("The answer is kept in the store and outlives the controller") {
  Bench bench;
  const auto first = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  bench.api.reset();
  bench.api = std::make_unique<daemon::Api>(*bench.controller);  // its memory is gone
  const auto second = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  CHECK(second.body == first.body);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(R"("name":"x")"), key("k")).status == 422);
  bench.clock += base::hours{25};
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k")).header("Idempotency-Replayed").empty());
}

TEST_CASE("A refusal is not kept: the same key may try again") {
  Bench bench;
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", "{}", key("k")).status == 400);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k")).status == 201);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("")).status == 400);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("a b")).status == 400);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key(std::string(256, 'x'))).status == 400);
}

TEST_CASE("A request whose commit failed is new when it is sent again") {
  Bench bench;
  bench.store.break_disk(true);
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k")).status == 503);
  bench.store.break_disk(false);
  bench.turn_until([&] { return !bench.controller->ledger().fault(); });
  const auto again = bench.call(Bench::ann, "POST", "/v1/jobs", Bench::submission(), key("k"));
  CHECK(again.status == 201);
  CHECK(again.header("Idempotency-Replayed").empty());
}

#include <map>

#include "bench.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;
using namespace sy::daemon::testing;

namespace {
// Written out by hand, not taken from the table under test: who may get past the door of each route. u: any user, o: the job's owner,
// a: administrators only, *: anybody, n: a signed agent, t: a token.
const std::map<std::string, char> expected{
    {"POST /v1/jobs", 'u'},
    {"GET /v1/jobs", 'u'},
    {"GET /v1/jobs/{id}", 'u'},
    {"GET /v1/jobs/{id}/script", 'o'},
    {"PATCH /v1/jobs/{id}", 'o'},
    {"POST /v1/jobs/{id}/cancel", 'o'},
    {"POST /v1/jobs/{id}/signal", 'o'},
    {"POST /v1/jobs/{id}/hold", 'o'},
    {"POST /v1/jobs/{id}/release", 'o'},
    {"POST /v1/jobs/{id}/requeue", 'o'},
    {"GET /v1/accounting", 'u'},
    {"GET /v1/nodes", 'u'},
    {"GET /v1/nodes/{name}", 'u'},
    {"POST /v1/nodes/{name}/enrol", 'a'},
    {"POST /v1/nodes/{name}/drain", 'a'},
    {"POST /v1/nodes/{name}/down", 'a'},
    {"POST /v1/nodes/{name}/resume", 'a'},
    {"POST /v1/nodes/{name}/fence", 'a'},
    {"GET /v1/partitions", 'u'},
    {"GET /v1/partitions/{name}", 'u'},
    {"GET /v1/topologies", 'u'},
    {"GET /v1/topologies/{name}", 'u'},
    {"GET /v1/topologies/{name}/export", 'u'},
    {"GET /v1/topologies/{name}/use", 'u'},
    {"GET /v1/topologies/{name}/quality", 'u'},
    {"PUT /v1/topologies", 'a'},
    {"PUT /v1/topologies/{name}", 'a'},
    {"POST /v1/topologies/check", 'a'},
    {"POST /v1/topologies/try", 'u'},
    {"GET /v1/config", 'u'},
    {"POST /v1/reconfigure", 'a'},
    {"GET /livez", '*'},
    {"GET /readyz", '*'},
    {"GET /metrics", '*'},
    {"POST /v1/agent/enrol", 't'},
    {"POST /v1/agent/register", 'n'},
    {"POST /v1/agent/heartbeat", 'n'},
    {"POST /v1/agent/reports", 'n'},
};

std::string name_of(const Route& route) { return std::string(route.method) + " " + std::string(route.path); }

std::string concrete(const Route& route) {
  std::string path(route.path);
  if (const auto at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, "1");
  if (const auto at = path.find("{name}"); at != std::string::npos)
    path.replace(at, 6, path.starts_with("/v1/nodes") ? "n1" : path.starts_with("/v1/partitions") ? "main" : "none");
  return path;
}

std::string body_for(const Route& route) {
  if (name_of(route) == "POST /v1/jobs") return Bench::submission();
  if (route.path.ends_with("/drain") || route.path.ends_with("/down")) return R"({"reason":"test"})";
  if (route.path.ends_with("/signal")) return R"({"signal":"USR1"})";
  if (route.method == "PATCH") return R"({"name":"x"})";
  if (route.method == "PUT") return R"({"text":"x"})";
  return route.method == "GET" ? "" : "{}";
}
bool kept_out(int status) { return status == 401 || status == 403; }
}  // namespace

TEST_CASE("Every route is in the table of expectations and the other way round") {
  std::size_t seen = 0;
  for (const Route& route : routes()) {
    INFO(name_of(route));
    CHECK(expected.count(name_of(route)) == 1);
    const char who = expected.at(name_of(route));
    CHECK((route.listener == Listener::agents) == (who == 'n' || who == 't'));
    if (route.method == "GET") CHECK_FALSE(route.may_be_given_twice);
    ++seen;
  }
  CHECK(seen == expected.size());
}

TEST_CASE("Every route on the unix socket lets in exactly the roles it is meant for") {
  for (const Route& route : routes()) {
    if (route.listener != Listener::local) continue;
    Bench bench;
    REQUIRE(bench.submit(Bench::ann) == 1);
    const char who = expected.at(name_of(route));
    INFO(name_of(route));
    const auto status = [&](std::uint32_t uid) {
      return bench.call(uid, std::string(route.method), concrete(route), body_for(route)).status;
    };
    CHECK(kept_out(status(Bench::bob)) == (who == 'o' || who == 'a'));     // a user, not the owner
    CHECK(kept_out(status(7777)) == (who == 'o' || who == 'a'));           // a uid that nobody knows
    CHECK(kept_out(status(~0U)) == (who != '*'));                          // the kernel told nothing
    CHECK(kept_out(status(Bench::ann)) == (who == 'a'));                   // the owner
    CHECK_FALSE(kept_out(status(Bench::root)));                            // an administrator
  }
}

TEST_CASE("The listener for agents answers none of the users' routes, whoever asks, and its own only when signed") {
  Bench bench;
  bench.bring_up("n1");
  bench.submit();
  for (const Route& route : routes()) {
    INFO(name_of(route));
    const std::string method(route.method), body = body_for(route);
    const char who = expected.at(name_of(route));
    CHECK(kept_out(bench.now(bench.ask_agents(method, concrete(route), body)).status) == (who != 't'));
    const int as_node = bench.now(bench.ask_as_node("n1", method, concrete(route), body)).status;
    CHECK(kept_out(as_node) == (route.listener == Listener::local));
  }
}

TEST_CASE("The unix socket answers none of the agents' routes, also not for administrators") {
  Bench bench;
  for (const Route& route : routes())
    if (route.listener == Listener::agents) {
      INFO(name_of(route));
      CHECK(bench.call(Bench::root, std::string(route.method), concrete(route), "{}").status == 404);
    }
}

TEST_CASE("A signature serves one request, unchanged, once, by the node it names") {
  Bench bench;
  bench.bring_up("n1");
  bench.bring_up("n2");
  const std::string body = R"({"boot_id":"b","spool_id":"s"})", target = "/v1/agent/heartbeat";
  const auto headers = [&](const std::string& key_of, const std::string& name, const std::string& to, base::Time at) {
    const SignatureHeaders s = sign_request(bench.node_keys.at(key_of), name, {"POST", target, body, to}, at);
    return std::vector<http::Header>{{std::string(header_key), s.key},
                                     {std::string(header_time), s.time},
                                     {std::string(header_nonce), s.nonce},
                                     {std::string(header_signature), s.signature}};
  };
  const auto good = headers("n1", "n1", "controller", bench.clock);
  CHECK(bench.now(bench.ask_agents("POST", target, body, good)).status == 200);
  CHECK(bench.now(bench.ask_agents("POST", target, body, good)).status == 401);                                        // again
  CHECK(bench.now(bench.ask_agents("POST", target, body + " ", headers("n1", "n1", "controller", bench.clock))).status == 401);  // changed
  CHECK(bench.now(bench.ask_agents("POST", "/v1/agent/reports", body, headers("n1", "n1", "controller", bench.clock))).status == 401);
  CHECK(bench.now(bench.ask_agents("POST", target, body, headers("n2", "n1", "controller", bench.clock))).status == 401);  // another's key
  CHECK(bench.now(bench.ask_agents("POST", target, body, headers("n1", "n1", "n2", bench.clock))).status == 401);  // for somebody else
  CHECK(bench.now(bench.ask_agents("POST", target, body, headers("n1", "n1", "controller", bench.clock - base::minutes{5}))).status == 401);
  CHECK(bench.now(bench.ask_agents("POST", target, body, headers("n1", "stranger", "controller", bench.clock))).status == 401);
}

TEST_CASE("An enrolment token works once, in time, and not after another was used") {
  Bench bench;
  bench.enrol("n1");
  const auto issued = bench.call(Bench::root, "POST", "/v1/nodes/n2/enrol");
  const auto begin = issued.body.find("n2."), end = issued.body.find('"', begin);
  const std::string token = issued.body.substr(begin, end - begin);
  const std::string body = R"({"token":")" + token + R"(","public_key":")" + KeyPair::generate().public_key() + "\"}";
  CHECK(bench
            .now(bench.ask_agents("POST", "/v1/agent/enrol",
                                  R"({"token":"n2.guess.x","public_key":")" + KeyPair::generate().public_key() + "\"}"))
            .status == 401);
  CHECK(bench.now(bench.ask_agents("POST", "/v1/agent/enrol", body)).status == 200);
  CHECK(bench.now(bench.ask_agents("POST", "/v1/agent/enrol", body)).status == 401);
  const auto late = bench.call(Bench::root, "POST", "/v1/nodes/n2/enrol");
  const auto at = late.body.find("n2."), stop = late.body.find('"', at);
  bench.clock += base::minutes{11};
  CHECK(bench
            .now(bench.ask_agents(
                "POST", "/v1/agent/enrol",
                R"({"token":")" + late.body.substr(at, stop - at) + R"(","public_key":")" + KeyPair::generate().public_key() + "\"}"))
            .status == 401);
}

TEST_CASE("Who asks too often is told so, and others are not kept waiting") {
  Bench bench([](wire::DaemonSettings& s) {
    s.limits.requests_per_second = 0.001;
    s.limits.burst = 3;
  });
  for (int i = 0; i < 3; ++i) CHECK(bench.call(Bench::ann, "GET", "/v1/nodes").status == 200);
  const auto limited = bench.call(Bench::ann, "GET", "/v1/nodes");
  CHECK(limited.status == 429);
  CHECK(limited.header("Retry-After") == "1");
  CHECK(bench.call(Bench::bob, "GET", "/v1/nodes").status == 200);
}

TEST_CASE("A known path with another method says which methods it takes") {
  Bench bench;
  const auto answer = bench.call(Bench::ann, "DELETE", "/v1/jobs");
  CHECK(answer.status == 405);
  CHECK(answer.header("Allow") == "POST, GET");
  CHECK(bench.call(Bench::ann, "GET", "/v1/jobs/1/cancel").status == 405);  // no change of state by GET
  CHECK(bench.call(Bench::ann, "GET", "/nothing").status == 404);
}

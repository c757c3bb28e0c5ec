#include <nlohmann/json.hpp>

#include "bench.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;
using namespace sy::daemon::testing;
using nlohmann::json;

namespace {
constexpr const char* two_racks = "SwitchName=s Switches=r1,r2\nSwitchName=r1 Nodes=n1\nSwitchName=r2 Nodes=n2\n";

http::Response ask(Bench& bench, const json& body) { return bench.call(Bench::ann, "POST", "/v1/topologies/try", body.dump()); }
json told(Bench& bench, const json& body) {
  const auto response = ask(bench, body);
  INFO(response.body);
  REQUIRE(response.status == 200);
  return json::parse(response.body);
}
json refused(Bench& bench, const json& body, int status = 400) {
  const auto response = ask(bench, body);
  INFO(response.body);
  CHECK(response.status == status);
  return json::parse(response.body);
}
json nodes(int n) { return {{"groups", {{{"nodes", {{"min", n}, {"max", n}}}}}}}; }
json within(json spec, const char* level) {
  spec["groups"][0]["pack"]["require"] = level;
  return spec;
}
}  // namespace

TEST_CASE("A user tries a job on a text that is in force nowhere: a node and its path for each rank, and nothing changes") {
  Bench bench;
  bench.bring_up("n1");
  bench.bring_up("n2");
  const auto before = bench.controller->state().sequence;
  const json placed = told(bench, {{"spec", nodes(2)}, {"text", two_racks}});
  CHECK(placed["verdict"]["kind"] == "fits");
  CHECK(placed["partition"] == "main");
  CHECK(placed["nodes"] == "n[1-2]");
  CHECK(placed["level"] == "spine");
  CHECK(placed["ranks"][1]["path"] == "s.r2");
  CHECK(placed["ranks"][1]["node"] == "n2");
  CHECK(bench.controller->state().sequence == before);
  CHECK(bench.controller->state().topologies.empty());
  const json never = told(bench, {{"spec", within(nodes(2), "leaf")}, {"text", two_racks}});
  CHECK(never["verdict"]["kind"] == "never");
  CHECK_FALSE(never.contains("ranks"));
}

TEST_CASE("A trial looks at the nodes as they are, or at idle ones where that is asked") {
  Bench bench;
  bench.bring_up("n1");  // n2 has never been seen
  CHECK(told(bench, {{"spec", nodes(2)}, {"text", two_racks}})["verdict"]["kind"] == "not_now");
  CHECK(told(bench, {{"spec", nodes(2)}, {"text", two_racks}, {"idle", true}})["verdict"]["kind"] == "fits");
  CHECK(told(bench, {{"spec", nodes(1)}, {"text", two_racks}})["nodes"] == "n1");
}

TEST_CASE("A trial takes a topology in force by name, or the partition's own") {
  Bench bench;
  bench.bring_up("n1");
  bench.bring_up("n2");
  CHECK(told(bench, {{"spec", nodes(2)}})["level"] == "any");  // no topology: one flat domain
  const json import{{"text", two_racks}};
  REQUIRE(bench.call(Bench::root, "PUT", "/v1/topologies/default", import.dump()).status == 200);
  REQUIRE(bench.call(Bench::root, "PUT", "/v1/topologies/other", json{{"text", "SwitchName=x Nodes=n[1-2]\n"}}.dump()).status == 200);
  const json own = told(bench, {{"spec", nodes(2)}});
  CHECK(own["level"] == "spine");
  CHECK(own["topology"] == "default");
  const json other = told(bench, {{"spec", nodes(2)}, {"topology", "other"}, {"partition", "main"}});
  CHECK(other["level"] == "leaf");
  CHECK(other["domains"] == json::array({"x"}));
  const json unknown = refused(bench, {{"spec", nodes(2)}, {"topology", "nowhere"}}, 404);
  CHECK(unknown["field"] == "topology");
  CHECK(unknown["limit"] == "default, other");
}

TEST_CASE("A trial refuses what a submission or an import refuses, by name") {
  Bench bench;
  bench.bring_up("n1");
  const json level = refused(bench, {{"spec", within(nodes(1), "rak")}, {"text", two_racks}});
  CHECK(level["field"] == "--within");
  CHECK(level["limit"].get<std::string>().find("spine, leaf") == 0);
  const json text = refused(bench, {{"spec", nodes(1)}, {"text", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2,n9\n"}, {"file", "a.conf"}});
  CHECK(text["detail"].get<std::string>().find("a.conf:2:1: ") == 0);
  CHECK(text["detail"].get<std::string>().find("that the cluster does not know: n9") != std::string::npos);
  json twice{{"groups", {{{"name", "a"}}, {{"name", "a"}}}}};
  CHECK(refused(bench, {{"spec", twice}, {"text", two_racks}})["field"] == "groups[1].name");
  CHECK(refused(bench, {{"text", two_racks}})["field"] == "spec");
  CHECK(refused(bench, {{"spec", nodes(1)}, {"partition", "nowhere"}})["field"] == "--partition");
  CHECK(refused(bench, {{"spec", nodes(1)}, {"format", "slurm"}})["field"] == "format");
  CHECK(refused(bench, {{"spec", nodes(1)}, {"txet", two_racks}})["field"] == "txet");
  CHECK(refused(bench, {{"spec", nodes(1)}, {"text", std::string((4U << 20U) + 1, '#')}}, 413)["field"] == "text");
}

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

TEST_CASE("The list of topologies tells the one of the default partition, and a name for a text without one is kept") {
  wire::Config changed;
  Bench bench({}, [&](core::Configure& c) { changed.cluster = c; });
  bench.bring_up("n1");
  bench.bring_up("n2");
  const auto usual = [&] { return json::parse(bench.call(Bench::ann, "GET", "/v1/topologies").body)["usual"]; };
  CHECK(usual() == "");
  const auto import = [&](const char* name) {
    const auto answer = bench.call(Bench::root, "PUT", "/v1/topologies", json{{"text", two_racks}, {"topology", name}}.dump());
    REQUIRE(answer.status == 200);
    return json::parse(answer.body)["topologies"][0]["name"];
  };
  CHECK(import("fab") == "fab");
  CHECK(import("blk") == "blk");
  CHECK(usual() == "blk");  // the partition names none that is in force: the first
  CHECK(import("default") == "default");
  CHECK(usual() == "default");
  changed.daemon = bench.controller->settings();
  changed.cluster.settings.default_topology = "fab";
  REQUIRE(bench.controller->reconfigure(changed));
  CHECK(usual() == "fab");
  changed.cluster.partitions.front().settings.topology = "blk";
  REQUIRE(bench.controller->reconfigure(changed));
  CHECK(usual() == "blk");
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
  CHECK(refused(bench, {{"spec", nodes(1)}, {"text", std::string((256U << 10U) + 1, '#')}}, 413)["field"] == "text");
}

TEST_CASE("A short text of a user can not be made to unfold into much, nor to match for long") {
  Bench bench([](wire::DaemonSettings&) {},
              [](core::Configure& c) {
                for (int i = 0; i < 2000; ++i) {
                  core::NodeDeclaration node;
                  node.name = "name-that-is-long-" + std::to_string(i);
                  node.shape = model::NodeShape{};
                  node.shape->cpus = 1;
                  c.nodes.push_back(node);
                }
              });
  std::string many, aliases = "a: &a [x,x,x,x,x,x,x,x,x]\n", patterns;
  for (int i = 0; i < 2000; ++i) many += "SwitchName=s" + std::to_string(i) + " Nodes=a" + std::to_string(i) + "n[1-65536]\n";
  for (char c = 'b'; c < 'i'; ++c)
    aliases += std::string(1, c) + ": &" + c + " [" + [&] {
      std::string out;
      for (int i = 0; i < 9; ++i) out += std::string(i == 0 ? "*" : ",*") + static_cast<char>(c - 1);
      return out;
    }() + "]\n";
  for (int i = 0; i < 500; ++i)
    patterns += "---\nkind: HyperNode\nmetadata: {name: h" + std::to_string(i) +
                "}\nspec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '(a|b|c|n){1,200}zz'}}}]}\n";
  const auto detail = [&](const std::string& text, const char* format, int status) {
    return refused(bench, {{"spec", nodes(1)}, {"text", text}, {"format", format}}, status)["detail"].get<std::string>();
  };
  std::string everybody;
  for (int i = 0; i < 500; ++i)
    everybody += "---\nkind: HyperNode\nmetadata: {name: h" + std::to_string(i) +
                 "}\nspec: {tier: 1, members: [{type: HyperNode, selector: {regexMatch: {pattern: 'h'}}}]}\n";
  CHECK(detail(everybody, "hypernode", 400).find("the file names more hosts than may be read from one") != std::string::npos);
  CHECK(detail(many, "slurm", 400).find("the file names more hosts than may be read from one") != std::string::npos);
  CHECK(detail(aliases, "yaml", 400).find("the file holds too many values, aliases included") != std::string::npos);
  CHECK(detail(patterns, "hypernode", 413).find("the file's patterns take more steps than may be spent on one") != std::string::npos);
}

TEST_CASE("A job that may use several partitions is tried in each, as a submission would") {
  Bench bench({}, [](core::Configure& c) {
    core::PartitionDeclaration other = c.partitions.front();
    other.settings.name = "other";
    other.settings.is_default = other.settings.all_nodes = c.partitions.front().settings.all_nodes = false;
    c.partitions.front().node_names = {"n1"};
    other.node_names = {"n2"};
    c.partitions.push_back(other);
  });
  bench.bring_up("n2");  // n1 has never been seen
  json spec = nodes(1);
  spec["partitions"] = {"main", "other"};
  const json placed = told(bench, {{"spec", spec}, {"text", two_racks}});
  CHECK(placed["partition"] == "other");
  CHECK(placed["nodes"] == "n2");
  spec["groups"][0]["nodes"] = {{"min", 2}, {"max", 2}};
  CHECK(told(bench, {{"spec", spec}, {"text", two_racks}})["verdict"]["kind"] == "never");
}

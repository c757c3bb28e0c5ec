#include "fake.hpp"
#include "nodes.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

std::string sinfo(Words options) {
  World world;
  world.answer("GET /v1/nodes", nodes_body);
  world.answer("GET /v1/partitions", partitions_body);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  options.insert(options.begin(), "sinfo");
  const int code = world.run(options);
  INFO(world.err());
  CHECK(code == 0);
  return world.out();
}

}  // namespace

TEST_CASE("sinfo prints Slurm's default, long, node, summary and reason formats") {
  check_golden("sinfo", sinfo({}));
  check_golden("sinfo-long", sinfo({"-l"}));
  check_golden("sinfo-nodes", sinfo({"-N"}));
  check_golden("sinfo-nodes-long", sinfo({"-lNe"}));
  check_golden("sinfo-summary", sinfo({"-s"}));
  check_golden("sinfo-reasons", sinfo({"-R"}));
}

TEST_CASE("sinfo -o takes every letter and -O every name") {
  std::string letters;
  for (const char letter : std::string{"aAbBcCdDeEfFgGhHiIlLmMnNoOpPrRsStTuUvVwXYzZ"}) letters += std::string{"%"} + letter + "|";
  check_golden("sinfo-all-letters", sinfo({"-o", letters}));
  check_golden("sinfo-all-names", sinfo({"-NO",
                                         "NodeList:|,AllocMem:|,Memory:|,CPUsState:|,StateLong:|,GresUsed:|,Port:|,"
                                         "StateComplete:|,Comment:|,NodeHost:100"}));
}

TEST_CASE("without a partition in the format a node counts once") {
  CHECK(sinfo({"-h", "-o", "%C"}) == "11/21/32/64\n");
  CHECK(sinfo({"-h", "-o", "%D"}) == "6\n");
  CHECK(sinfo({"-aho", "%F/%C"}) == "2/2/2/6/11/21/32/64\n");
  CHECK(sinfo({"-h", "-o", "%N"}) == "n[1-5,10]\n");
  CHECK(sinfo({"-h", "-N", "-o", "%R", "-n", "n5"}) == "main\nbig\n");
  CHECK(sinfo({"-h", "-o", "%R"}) == "main\nbig\n");
}

TEST_CASE("sinfo chooses by partition, state and node") {
  CHECK(sinfo({"-h", "-o", "%N", "-t", "idle"}) == "n[3-4]\n");
  CHECK(sinfo({"-h", "-o", "%N", "-p", "big"}) == "n[5,10]\n");
  CHECK(sinfo({"-h", "-o", "%N", "-t", "drain,down"}) == "n[5,10]\n");
  CHECK(sinfo({"-h", "-o", "%N", "-d"}) == "n10\n");
  CHECK(sinfo({"-h", "-o", "%n %T", "-n", "n[1,10]"}) == "n1 allocated\nn10 down*\n");
}

TEST_CASE("hidden partitions are shown with --all, or when they are named") {
  World world;
  world.answer("GET /v1/nodes", nodes_body);
  std::string hidden = partitions_body;
  hidden.replace(hidden.rfind("\"hidden\":false"), 14, "\"hidden\":true");
  world.answer("GET /v1/partitions", hidden);
  const auto text = [&](Words words) {
    world.context.out.clear();
    CHECK(world.run(words) == 0);
    return world.out();
  };
  CHECK(text({"sinfo", "-h", "-o", "%R"}) == "main\n");
  CHECK(text({"sinfo", "-a", "-h", "-o", "%R", "--hide"}) == "main\n");
  CHECK(text({"sinfo", "-a", "-h", "-o", "%R"}) == "main\nbig\n");
  CHECK(text({"sinfo", "-p", "big", "-h", "-o", "%R"}) == "big\n");
  CHECK(text({"scontrol", "-o", "show", "partition"}).find("PartitionName=big") == std::string::npos);
  CHECK(text({"scontrol", "-a", "-o", "show", "partition"}).find("PartitionName=big") != std::string::npos);
  CHECK(text({"scontrol", "--json", "show", "partition"}).find("\"name\":\"big\"") == std::string::npos);
  CHECK(text({"scontrol", "--json", "show", "partition", "big"}).find("\"name\":\"main\"") == std::string::npos);
  CHECK(text({"scontrol", "--json", "show", "partition", "big"}).find("\"name\":\"big\"") != std::string::npos);
  std::string closed = partitions_body;
  closed.insert(closed.rfind("\"hidden\""), "\"closed\":true,");
  world.answer("GET /v1/partitions", closed);
  CHECK(text({"sinfo", "-h", "-o", "%R"}) == "main\n");
  CHECK(text({"sinfo", "-a", "-h", "-o", "%R"}) == "main\nbig\n");
  CHECK(text({"scontrol", "-o", "show", "partition", "big"}).find("PartitionName=big") != std::string::npos);
}

TEST_CASE("all fields of sinfo, and an order of fields there are not") {
  CHECK(sinfo({"-o", "%all"}).starts_with("AVAIL|NODES(A/I)|"));
  CHECK(sinfo({"-O", "All:|"}).find("|STATECOMPLETE|") != std::string::npos);
  World world;
  CHECK(world.run({"sinfo", "-S", "!!"}) == 1);
  CHECK(world.err().find("Invalid sort specification: !") != std::string::npos);
  CHECK(world.run({"sinfo", "-S", "x"}) == 1);
  CHECK(world.controller.asked.empty());
  CHECK(sinfo({"-h", "-N", "-o", "%N", "-S", "-N"}).starts_with("n10\n"));
}

TEST_CASE("who gave a reason is a name, and with its number where Slurm writes both") {
  World world;
  std::string nodes = nodes_body;
  nodes.replace(nodes.find("\"reason_by\":\"root\""), 18, "\"reason_by\":\"uid 0 (root)\"");
  world.answer("GET /v1/nodes", nodes);
  world.answer("GET /v1/partitions", partitions_body);
  CHECK(world.run({"sinfo", "-h", "-R", "-o", "%u %U"}) == 0);
  CHECK(world.out() == "root root(0)\nswitchyard switchyard\n");
  world.context.out.clear();
  CHECK(world.run({"scontrol", "-o", "show", "node", "n5"}) == 0);
  CHECK(world.out().find("Reason=bad fan [root@") != std::string::npos);
}

TEST_CASE("free memory is not known, and sinfo says so as scontrol does") { CHECK(sinfo({"-h", "-o", "%e", "-n", "n1"}) == "N/A\n"); }

TEST_CASE("an unknown node state or letter is refused") {
  World world;
  CHECK(world.run({"sinfo", "-t", "sleepy"}) == 1);
  CHECK(world.err().find("sleepy") != std::string::npos);
  CHECK(world.run({"sinfo", "-o", "%@"}) == 1);
  CHECK(world.controller.asked.empty());
}

TEST_CASE("sinfo --json and --version answer tools") {
  const std::string text = sinfo({"--json"});
  REQUIRE(JsonDocument::parse(text));
  check_golden("sinfo.json", text);
  CHECK(sinfo({"--version"}).rfind("slurm 26.05", 0) == 0);
}

TEST_CASE("sinfo tells a dead controller in Slurm's words") {
  World world;
  world.controller.dead = true;
  CHECK(world.run({"sinfo"}) == 1);
  CHECK(world.err().rfind("slurm_load_partitions: Unable to contact slurm controller", 0) == 0);
}

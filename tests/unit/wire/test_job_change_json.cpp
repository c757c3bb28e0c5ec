#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "wire/job_change_json.hpp"

using namespace sy;
using wire::Json;

TEST_CASE("A change holds what was given and nothing else") {
  const auto change = wire::job_change_from_json(Json::parse(
      R"({"name":"x","nice":-3,"nodes":{"min":2,"max":4},"cpus_per_task":1.5,"time_limit_s":90,"memory_per_cpu_mib":null,"partitions":["a","b"]})"));
  REQUIRE(change);
  CHECK(change->name == "x");
  CHECK(change->nice == -3);
  CHECK(change->nodes->max == 4);
  CHECK(change->cpus_per_task == base::Cpus{1500});
  CHECK(change->time_limit == std::optional<base::Duration>(base::seconds{90}));
  REQUIRE(change->memory_per_cpu.has_value());
  CHECK_FALSE(change->memory_per_cpu->has_value());
  CHECK_FALSE(change->memory_per_node.has_value());
  CHECK_FALSE(change->comment.has_value());
  CHECK(change->partitions->size() == 2);
}

TEST_CASE("An unlimited time is null, as in a spec") {
  const auto change = wire::job_change_from_json(Json::parse(R"({"time_limit_s":null})"));
  REQUIRE(change);
  CHECK(change->time_limit == std::optional<base::Duration>(base::Duration::max()));
}

TEST_CASE("A change of nothing, of what does not exist, or to nonsense is refused by name") {
  for (const char* bad : {"{}", "[]", R"({"nmae":"x"})", R"({"name":null})", R"({"tasks":0})", R"({"nice":"x"})", R"({"time_limit_s":-1})"})
    CHECK_FALSE(wire::job_change_from_json(Json::parse(bad)));
  CHECK(wire::job_change_from_json(Json::parse(R"({"nmae":"x"})")).error().hint.find("name") != std::string::npos);
}

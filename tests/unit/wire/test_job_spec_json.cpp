#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/read_members.hpp"

using namespace sy;
using wire::Json;

namespace {

Json minimal() { return Json{{"work_dir", "/home/ann"}}; }

base::Error fault(const Json& json) {
  const auto spec = wire::job_spec_from_json(json);
  REQUIRE_FALSE(spec.has_value());
  return spec.error();
}

model::JobSpec everything() {
  model::JobSpec s;
  s.name = "train \"7B\"";
  s.partitions = {"gpu", "long"};
  s.time_limit = base::Duration{90'000'001};
  s.time_min = base::hours{1};
  s.nice = -100;
  s.requeue = false;
  s.hold = true;
  s.work_dir = "/home/änn";
  s.std_in = "";
  s.std_out = "%x.out";
  s.std_err = "%x.err";
  s.append_output = true;
  s.warning_signal = model::WarningSignal{10, base::seconds{120}, true};
  s.script_args = {"--lr", "1e-4", ""};
  s.script_name = "/home/ann/run.sh";
  s.submit_host = "login1";
  s.kill_on_bad_exit = s.no_kill = s.wait_all_nodes = true;
  s.annotations = model::Annotations{"acc", "high", "a comment", "w", "nomultithread", "block", "cores", "local", "END", "ann"};
  auto& g = s.groups[0];
  g.name = "workers";
  g.nodes = {2, 8, {2, 4, 8}};
  g.nodes_given = true;
  g.tasks = 64;
  g.tasks_given = true;
  g.min_tasks = 32;
  g.tasks_per_node = 8;
  g.cpus_per_task = base::Cpus{1500};
  g.memory_per_node = base::Mebibytes{0};
  g.memory_per_cpu = base::Mebibytes{2048};
  g.gres_per_node = {{"gpu", "a100", 8}};
  g.gres_per_task = {{"gpu", "", 1}};
  g.gres_per_job = {{"nic", "", 2}};
  g.constraint = "a100&ib";
  g.nodelist = "n[1-8]";
  g.exclude = "n9";
  g.sharing = model::Sharing::exclusive_user;
  g.exclusive_level = "rack";
  g.contiguous = true;
  g.replicas = 3;
  g.min_replicas = 2;
  g.pack.prefer = "rack";
  g.pack.require = "block";
  g.pack.ladder = {{"rack", 2, base::minutes{10}}, {"any", 1, {}}};
  g.pack.order = model::PackOrder::least_growth;
  g.pack.fill = model::PackFill::balanced;
  g.segments = {{"nvlink", 8, {}, model::Segment::Remainder::shorter, true, true}, {"", 0, {4, 2}, {}, false, false}};
  g.spread = {{"rack", model::Spread::Mode::prefer, 2U, 50U, 3U, 1U}};
  g.affinity = {{"rack", "leader", false}};
  g.anti_affinity = {{"node", "other", true}};
  g.switches = 1;
  g.switches_wait = base::seconds{60};
  g.distribution = model::Distribution::plane;
  g.plane_size = 4;
  g.children.resize(1);
  g.children[0].name = "inner";
  return s;
}

}  // namespace

TEST_CASE("a spec with every member set comes back equal from its text") {
  const auto spec = everything();
  const auto text = wire::job_spec_text(spec);
  const auto back = wire::job_spec_from_stored_text(text);
  REQUIRE(back.has_value());
  CHECK(*back == spec);
  const auto request = wire::job_spec_from_json(Json::parse(text));
  REQUIRE(request.has_value());
  CHECK(*request == spec);
  CHECK(wire::job_spec_text(*back) == text);
}

TEST_CASE("members at their defaults are left out") {
  CHECK(wire::job_spec_text(model::JobSpec{}) == "{}");
  model::JobSpec spec;
  spec.work_dir = "/tmp";
  spec.groups[0].tasks = 4;
  spec.groups[0].tasks_given = true;
  CHECK(wire::job_spec_text(spec) == R"({"work_dir":"/tmp","groups":[{"tasks":4}]})");
}

TEST_CASE("the presence of nodes and tasks says that they were given, at the default value too") {
  auto json = minimal();
  json["groups"] = Json::array({{{"nodes", {{"min", 1}}}, {"tasks", 1}}});
  const auto spec = wire::job_spec_from_json(json);
  REQUIRE(spec.has_value());
  CHECK(spec->groups[0].nodes_given);
  CHECK(spec->groups[0].tasks_given);
  CHECK(wire::job_spec_from_stored_text(wire::job_spec_text(*spec)).value() == *spec);

  model::JobSpec derived;  // what the server works out without the user having said it is kept as such
  derived.groups[0].nodes = {3, 3, {}};
  derived.groups[0].tasks = 9;
  CHECK(wire::job_spec_from_stored_text(wire::job_spec_text(derived)).value() == derived);
}

TEST_CASE("nodes without max are exactly min") {
  auto json = minimal();
  json["groups"] = Json::array({{{"nodes", {{"min", 4}}}}});
  CHECK(wire::job_spec_from_json(json).value().groups[0].nodes == model::NodeRange{4, 4, {}});
}

TEST_CASE("a time limit that is null is unlimited, and one that is absent is the partition's") {
  auto json = minimal();
  CHECK_FALSE(wire::job_spec_from_json(json).value().time_limit.has_value());
  json["time_limit_s"] = nullptr;
  const auto spec = wire::job_spec_from_json(json).value();
  CHECK(spec.time_limit == base::Duration::max());
  CHECK(wire::job_spec_text(spec).find(R"("time_limit_s":null)") != std::string::npos);
  json["time_limit_s"] = 0.5;
  CHECK(wire::job_spec_from_json(json).value().time_limit == base::milliseconds{500});
}

TEST_CASE("an unknown member is refused with the nearest known name and its place") {
  auto json = minimal();
  json["groups"] = Json::array({{{"task", 4}}});
  const auto e = fault(json);
  CHECK(e.code == base::Code::invalid_argument);
  CHECK(e.field == "spec.groups[0].task");
  CHECK(e.hint.find("tasks") != std::string::npos);
}

TEST_CASE("wrong types, ranges, lengths and sizes are refused with field, limit and value") {
  const auto with = [](const char* name, Json value) {
    auto json = minimal();
    json[name] = std::move(value);
    return fault(json);
  };
  CHECK(with("name", 7).field == "spec.name");
  CHECK(with("name", std::string(1025, 'x')).value == "1025 bytes");
  CHECK(with("name", std::string("a\0b", 3)).message.find("NUL") != std::string::npos);
  CHECK(with("nice", 1e300).field == "spec.nice");
  CHECK(with("nice", 3'000'000'000LL).limit == "-2147483645 to 2147483645");
  CHECK(with("nice", 1.5).field == "spec.nice");
  CHECK(with("requeue", "yes").field == "spec.requeue");
  CHECK(with("time_limit_s", -1).field == "spec.time_limit_s");
  CHECK(with("time_limit_s", "1:00:00").field == "spec.time_limit_s");
  CHECK(with("partitions", "gpu").field == "spec.partitions");
  CHECK(with("partitions", Json(std::vector<std::string>(65, "p"))).limit == "at most 64");
  CHECK(with("groups", Json::array()).field == "spec.groups");
  CHECK(with("groups", Json::array({1})).field == "spec.groups[0]");
  CHECK(with("warning_signal", Json{{"signal", 65}}).field == "spec.warning_signal.signal");
  CHECK(with("work_dir", "tmp").field == "spec.work_dir");
  CHECK(fault(Json::object()).field == "spec.work_dir");
  CHECK(fault(Json::array()).field == "spec");
}

TEST_CASE("contradictions inside a range of nodes are refused") {
  const auto range = [](Json nodes) {
    auto json = minimal();
    json["groups"] = Json::array({{{"nodes", std::move(nodes)}}});
    return fault(json).field;
  };
  CHECK(range({{"min", 4}, {"max", 2}}) == "spec.groups[0].nodes");
  CHECK(range({{"min", 0}, {"max", 2}}) == "spec.groups[0].nodes.min");
  CHECK(range({{"min", 2}, {"max", 4}, {"choices", {4, 2}}}) == "spec.groups[0].nodes");
}

TEST_CASE("an unknown word of an enumeration is refused with the known ones") {
  auto json = minimal();
  json["groups"] = Json::array({{{"sharing", "exclusive"}}});
  CHECK(fault(json).limit == "shared, exclusive_node, exclusive_user");
}

TEST_CASE("groups nested without end are refused, not followed") {
  Json group = Json::object();
  for (int i = 0; i < 40; ++i) group = Json{{"children", Json::array({group})}};
  auto json = minimal();
  json["groups"] = Json::array({group});
  CHECK(fault(json).message.find("nested too deep") != std::string::npos);
}

TEST_CASE("stored specs are read although they exceed today's limits") {
  model::JobSpec spec;
  spec.name = std::string(5000, 'x');
  CHECK(wire::job_spec_from_stored_text(wire::job_spec_text(spec)).value() == spec);
}

TEST_CASE("text that is not UTF-8 is written as JSON all the same") {
  model::JobSpec spec;
  spec.name = "a\xff\xc3(\x01\"\\";
  const auto json = Json::parse(wire::job_spec_text(spec));
  CHECK(json["name"] == "a\xEF\xBF\xBD\xEF\xBF\xBD(\x01\"\\");
}

TEST_CASE("a number too large for any type is refused, not thrown") {
  const auto read = wire::parse_json(R"({"nice":-3e333333})");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == base::Code::invalid_argument);
}

TEST_CASE("what a group may say one day is refused by its name, as not carried out") {
  const auto refused = [](const std::string& members) {
    const auto read = wire::job_spec_from_json(*wire::parse_json(R"({"work_dir":"/","groups":[{)" + members + "}]}"));
    REQUIRE_FALSE(read);
    return read.error();
  };
  for (const std::string name : {"starts_after", "gang_timeout", "on_loss", "exclusive_scope"}) {
    const auto e = refused("\"" + name + "\":[]");
    CHECK(e.code == base::Code::unsupported);
    CHECK(to_text(e) ==
          fmt::format("spec.groups[0].{0}: spec.groups[0].{0} is known, but this release does not carry it out; leave it out", name));
  }
  CHECK(refused(R"("exclusive":{"level":"rack","scope":"job"})").field == "spec.groups[0].exclusive.scope");
  CHECK(refused(R"("exclusive":{"level":"rack"})").code == base::Code::invalid_argument);
  CHECK(refused(R"("on_los":1)").hint.find("on_loss") == std::string::npos);
}

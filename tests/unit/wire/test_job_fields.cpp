#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/placement.hpp"
#include "wire/job_fields.hpp"
#include "wire/views.hpp"

using namespace sy;
using nlohmann::json;

namespace {

model::State cluster() {
  model::State state;
  for (std::uint32_t i = 0; i < 4; ++i) {
    model::Node node;
    node.index = base::NodeIndex{i};
    node.name = "n" + std::to_string(i + 1);
    node.contact = model::Contact::up;
    node.shape.cpus = 8;
    node.shape.memory = base::Mebibytes{16384};
    node.shape.gres = {{"gpu", "a100", 0, 1000, ""}, {"gpu", "a100", 1, 1000, ""}};
    node.total = {base::whole_cpus(8), base::Mebibytes{16384}, {{"gpu", "a100", 2}}};
    node.gres_holder.resize(2);
    state.nodes.push_back(node);
  }
  model::Partition p;
  p.name = "batch";
  p.is_default = true;
  p.nodes = base::NodeSet::range(0, 4);
  p.default_time = base::hours{1};
  state.partitions.push_back(p);
  return state;
}

model::Job waiting_job() {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = "train";
  spec->work_dir = "/home/ann";
  auto& g = spec->groups[0];
  g.nodes = {2, 2, {}};
  g.nodes_given = true;
  g.tasks_per_node = 2;
  g.cpus_per_task = base::whole_cpus(3);
  g.memory_per_node = base::Mebibytes{4096};
  g.gres_per_node = {{"gpu", "a100", 1}};
  model::Job job;
  job.id = base::JobId{42};
  job.spec = spec;
  job.user = "ann";
  job.uid = base::Uid{1000};
  job.submitted = job.eligible = base::time_from_seconds(100);
  return job;
}

model::Job running_job() {
  auto job = waiting_job();
  job.state = model::JobState::running;
  model::Attempt attempt;
  attempt.number = base::AttemptNumber{1};
  attempt.partition = "batch";
  attempt.time_limit = base::minutes{30};
  attempt.started = base::time_from_seconds(200);
  for (const std::uint32_t n : {2U, 0U}) {
    model::NodeGrant grant;
    grant.node = base::NodeIndex{n};
    grant.tasks = 2;
    grant.held = grant.used = {base::whole_cpus(6), base::Mebibytes{4096}, {{"gpu", "a100", 1}}};
    grant.gres_instances = {1};
    attempt.nodes.push_back(grant);
  }
  job.attempt = attempt;
  return job;
}

json view(const model::Job& job, const sched::Forecast* forecast = nullptr, std::int64_t now = 260) {
  const auto state = cluster();
  std::string out;
  wire::append_job(out, job, state, forecast, wire::all_job_fields(), base::time_from_seconds(now));
  return json::parse(out);
}

}  // namespace

TEST_CASE("the view of a job has every field once, in any state") {
  for (const auto& job : {waiting_job(), running_job()}) {
    const auto v = view(job);
    CHECK(v.size() == wire::job_field_count);
    for (const auto field : wire::all_job_fields()) CHECK(v.contains(std::string{wire::field_name(field)}));
  }
}

TEST_CASE("a running job shows how it was placed, one without a topology shows null") {
  auto job = running_job();
  CHECK(view(job)["placed"].is_null());
  job.attempt->placement = test::placed_on(base::NodeIndex{2});
  const auto placed = view(job)["placed"];
  CHECK(placed["topology"] == "fabric");
  CHECK(placed["level"] == "rack");
  CHECK(placed["domains"] == json({"r1"}));
  CHECK(placed["leaves_used"] == 1);
  CHECK(placed["beaten"] == json::parse(R"([{"domain":"r2","offered":3,"asked":2}])"));
  CHECK(placed["ranks"] ==
        json::parse(R"([{"first":0,"count":2,"node":"n3","path":["","r2"],"segment":1,"group":"workers","replica":1}])"));
  job.state = model::JobState::pending;  // the attempt before does not speak for the next
  CHECK(view(job)["placed"].is_null());
}

TEST_CASE("a waiting job of groups counts all copies of all of them") {
  auto job = waiting_job();
  auto spec = std::make_shared<model::JobSpec>(*job.spec);
  model::Group leader;
  leader.name = "leader";
  model::Group workers = spec->groups[0];
  spec->groups[0] = model::Group{};
  spec->groups[0].replicas = 2;
  spec->groups[0].children = {leader, workers};
  job.spec = spec;
  const auto v = view(job);
  CHECK(v["node_count"] == 6);
  CHECK(v["tasks"] == 10);
  CHECK(v["cpus"] == 26);
  CHECK(v["memory_mib"] == 16384);
  CHECK(v["tres"] == "cpu=26,mem=16G,node=6,billing=26,gres/gpu:a100=4,gres/gpu=4");
}

TEST_CASE("only the fields asked for are written, in the order asked") {
  const auto state = cluster();
  const auto fields = wire::parse_job_fields("user,id,user").value();
  std::string out;
  wire::append_job(out, waiting_job(), state, nullptr, fields, base::time_from_seconds(0));
  CHECK(out == R"({"user":"ann","id":42})");
}

TEST_CASE("an unknown field is refused with the nearest") {
  const auto fields = wire::parse_job_fields("id,nodse");
  REQUIRE_FALSE(fields.has_value());
  CHECK(fields.error().value == "nodse");
  CHECK(fields.error().hint == "did you mean nodes?");
  CHECK_FALSE(wire::parse_job_fields("id,").has_value());
  CHECK(wire::parse_job_fields("").value().size() == wire::job_field_count);
}

TEST_CASE("a waiting job shows what it asks for") {
  const auto v = view(waiting_job());
  CHECK(v["partition"] == "batch");
  CHECK(v["slurm_state"] == "PENDING");
  CHECK(v["node_count"] == 2);
  CHECK(v["tasks"] == 4);
  CHECK(v["cpus"] == 12);
  CHECK(v["memory_mib"] == 8192);
  CHECK(v["gres"] == "gpu:a100:1");
  CHECK(v["tres"] == "cpu=12,mem=8G,node=2,billing=12,gres/gpu:a100=2,gres/gpu=2");
  CHECK(v["nodes"] == "");
  CHECK(v["started_us"].is_null());
  CHECK(v["time_limit_s"] == 3600);
  CHECK(v["std_out"] == "/home/ann/slurm-42.out");
  CHECK(v["std_err"] == "/home/ann/slurm-42.out");
  CHECK(v["std_in"] == "/dev/null");
  CHECK(v["verdict"]["kind"] == "fits");
  CHECK(v["spec"]["groups"][0]["nodes"]["min"] == 2);
}

TEST_CASE("why a job waits comes from its hold, then from the forecast, then from its begin time") {
  auto job = waiting_job();
  sched::Forecast forecast;
  model::Verdict verdict;
  verdict.kind = model::Verdict::Kind::not_now;
  verdict.reason = model::Reason::resources;
  forecast.why = std::make_shared<const model::Verdict>(verdict);
  forecast.planned = sched::Forecast::Planned{base::time_from_seconds(900), {base::NodeIndex{1}, base::NodeIndex{0}}};
  forecast.priority = 77;
  auto v = view(job, &forecast);
  CHECK(v["reason"] == "Resources");
  CHECK(v["planned_start_us"] == 900'000'000);
  CHECK(v["planned_nodes"] == "n[1-2]");
  CHECK(v["priority"] == 77);
  job.held_by_user = true;
  CHECK(view(job, &forecast)["reason"] == "JobHeldUser");
  verdict.reason = model::Reason::launch_failed_requeued_held;
  forecast.why = std::make_shared<const model::Verdict>(verdict);
  CHECK(view(job, &forecast)["reason"] == model::reason_name(model::Reason::launch_failed_requeued_held));
  job.held_by_user = false;
  job.eligible = base::time_from_seconds(1000);
  CHECK(view(job)["reason"] == "BeginTime");
  CHECK(view(job)["verdict"]["until_us"] == 1'000'000'000);
}

TEST_CASE("a running job shows what it holds, in rank order") {
  auto job = running_job();
  auto v = view(job);
  CHECK(v["nodes"] == "n[3,1]");
  CHECK(v["batch_host"] == "n3");
  CHECK(v["cpus"] == 12);
  CHECK(v["elapsed_s"] == 60);
  CHECK(v["time_limit_s"] == 1800);
  CHECK(v["reason"] == "None");
  CHECK(v["placement"][1]["node"] == "n1");
  CHECK(v["gres_detail"][0]["gres"][0]["index"] == 1);
  job.attempt->suspensions = {{base::time_from_seconds(210), base::time_from_seconds(220)}, {base::time_from_seconds(250), std::nullopt}};
  CHECK(view(job)["elapsed_s"] == 40);
  job.attempt->time_limit = base::Duration::max();
  CHECK(view(job)["time_limit_s"].is_null());
}

TEST_CASE("a job that waits again after a requeue shows no nodes of its last attempt") {
  auto job = running_job();
  job.state = model::JobState::pending;
  job.last_attempt = base::AttemptNumber{1};
  const auto v = view(job);
  CHECK(v["nodes"] == "");
  CHECK(v["started_us"].is_null());
  CHECK(v["attempt"] == 1);
}

TEST_CASE("an ended job shows its exit and reason") {
  auto job = running_job();
  job.state = model::JobState::ended;
  job.outcome = model::Outcome::failed;
  job.ended = base::time_from_seconds(230);
  job.end_reason = "exit code 3";
  job.attempt->exit = model::ExitRecord{3, 0, false, false, false, base::seconds{9}, base::Mebibytes{12}, {}};
  const auto v = view(job);
  CHECK(v["slurm_state"] == "FAILED");
  CHECK(v["exit_code"] == 3);
  CHECK(v["cpu_time_s"] == 9);
  CHECK(v["reason"] == "NonZeroExitCode");
  CHECK(v["reason_text"] == "exit code 3");
  CHECK(v["elapsed_s"] == 30);
}

TEST_CASE("the view of a node shows its shape, what is held and by whom") {
  auto state = cluster();
  auto& node = state.nodes[1];
  node.held = {base::whole_cpus(6), base::Mebibytes{4096}, {{"gpu", "a100", 1}}};
  node.jobs = {base::JobId{42}};
  node.gres_holder[1] = base::JobId{42};
  std::string out;
  wire::append_node(out, node, state);
  const auto v = json::parse(out);
  CHECK(v["name"] == "n2");
  CHECK(v["state"] == "mixed");
  CHECK(v["cpus_held"] == 6);
  CHECK(v["gres_text"] == "gpu:a100:2");
  CHECK(v["gres_used_text"] == "gpu:a100:1(IDX:1)");
  CHECK(v["partitions"] == json{"batch"});
  CHECK(v["jobs"] == json{42});
  CHECK(v.size() == wire::NodeMembers::known().size());

  for (const std::string& member : wire::NodeMembers::known()) {
    out.clear();
    wire::append_node(out, node, state, *wire::NodeMembers::parse(member));
    CHECK(json::parse(out) == json{{member, v.at(member)}});
  }
  out.clear();
  wire::append_node(out, node, state, *wire::NodeMembers::parse("state,name"));
  CHECK(json::parse(out) == json{{"name", "n2"}, {"state", "mixed"}});
  const auto unknown = wire::NodeMembers::parse("name,colour");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().field == "fields");
  CHECK(unknown.error().value == "colour");
}

TEST_CASE("the view of a partition leaves out removed nodes and shows no limit as null") {
  auto state = cluster();
  state.nodes[3].removed = true;
  std::string out;
  wire::append_partition(out, state.partitions[0], state, false);
  const auto v = json::parse(out);
  CHECK(v["nodes"] == "n[1-3]");
  CHECK(v["node_count"] == 3);
  CHECK(v["cpus"] == 24);
  CHECK(v["max_time_s"].is_null());
  CHECK(v["default_time_s"] == 3600);
}

TEST_CASE("a verdict shows its causes and rungs with their numbers") {
  model::Verdict verdict;
  verdict.kind = model::Verdict::Kind::not_now;
  verdict.reason = model::Reason::resources;
  verdict.offered = 5;
  verdict.asked = 8;
  verdict.causes = {{model::Cause::Kind::busy, 3}};
  verdict.rungs = {{"rack", {{"r3", 5, 8}}, {{model::Cause::Kind::drained, 1}}, base::time_from_seconds(1)}};
  std::string out;
  wire::append_verdict(out, verdict);
  const auto v = json::parse(out);
  CHECK(v["kind"] == "not_now");
  CHECK(v["reason"] == "Resources");
  CHECK(v["causes"][0] == json{{"kind", "busy"}, {"nodes", 3}});
  CHECK(v["rungs"][0]["best"][0]["domain"] == "r3");
  CHECK(v["rungs"][0]["opens_us"] == 1'000'000);
  CHECK(v["text"] == model::to_text(verdict));
}

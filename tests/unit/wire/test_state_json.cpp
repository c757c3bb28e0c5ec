#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/placement.hpp"
#include "wire/event_json.hpp"
#include "wire/state_json.hpp"

using namespace sy;
using base::time_from_micros;

namespace {

model::ExitRecord exit_record() { return {3, 9, true, true, true, base::Duration{1'234'567}, base::Mebibytes{77}, "killed for memory"}; }

model::Attempt attempt() {
  model::Attempt a;
  a.number = base::AttemptNumber{2};
  a.partition = "gpu";
  const base::Resources held{base::Cpus{4500}, base::Mebibytes{4096}, {{"gpu", "a100", 2}}};
  a.nodes = {{base::NodeIndex{3}, 4, held, {base::Cpus{500}, base::Mebibytes{1}, {}}, {0, 5}, model::NodePhase::running}};
  a.time_limit = base::Duration::max();
  a.planned_at = time_from_micros(11);
  a.started = time_from_micros(12);
  a.script_ended = time_from_micros(13);
  a.suspensions = {{time_from_micros(14), time_from_micros(15)}, {time_from_micros(16), std::nullopt}};
  a.exit = exit_record();
  a.ending_as = model::Outcome::timeout;
  a.requeue_after = a.hold_after = true;
  a.why_ending = "time is up";
  a.ended_by = base::Uid{0};
  a.placement = test::placed_on(base::NodeIndex{7});
  return a;
}

model::Job job() {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = "train";
  model::Job j;
  j.id = base::JobId{1ULL << 60U};
  j.spec = spec;
  j.uid = base::Uid{4'294'967'294U};
  j.gid = base::Gid{100};
  j.user = "ann";
  j.group = "users";
  j.submitted = time_from_micros(1);
  j.eligible = time_from_micros(-2);
  j.script_digest = *base::Digest::from_text(std::string(64, 'a'));
  j.env_digest = *base::Digest::from_text(std::string(64, 'b'));
  j.held_by_user = j.held_by_admin = true;
  j.launch_failures = 2;
  j.restarts = 1;
  j.state = model::JobState::lost;
  j.lost_from = model::JobState::ending;
  j.last_attempt = base::AttemptNumber{2};
  j.attempt = attempt();
  j.outcome = model::Outcome::boot_fail;
  j.ended = time_from_micros(99);
  j.end_reason = "gone";
  return j;
}

model::NodeShape shape() { return {64, 2, 16, 2, base::Mebibytes{256'000}, {{"gpu", "a100", 3, 500, "/dev/nvidia3"}}}; }

model::Node node() {
  model::Node n;
  n.index = base::NodeIndex{7};
  n.name = "n7";
  n.removed = n.declared = n.shape_declared = true;
  n.shape = shape();
  n.registered = model::NodeShape{};
  n.features = {"a100", "ib"};
  n.weight = 9;
  n.labels = {{"rack", "r1"}};
  n.address = "10.0.0.7";
  n.port = 6831;
  n.public_key = "key";
  n.boot_id = "boot";
  n.spool_id = "spool";
  n.version = "0.1";
  n.contact = model::Contact::fenced;
  n.drained = n.down = true;
  n.reason = "disk";
  n.reason_at = time_from_micros(5);
  n.reason_by = "root";
  n.boot_time = time_from_micros(6);
  n.registered_at = time_from_micros(7);
  n.total = {base::whole_cpus(64), base::Mebibytes{256'000}, {{"gpu", "a100", 1}}};
  return n;
}

model::Partition partition() {
  model::Partition p;
  p.name = "gpu";
  p.nodes = {0, 1, 2, 7, 130};
  p.all_nodes = p.is_default = p.exclusive_node = p.hidden = p.allow_root = p.topology_optional = p.weight_first = true;
  p.state = model::PartitionState::drain;
  p.max_time = base::hours{2};
  p.default_time = base::hours{1};
  p.min_nodes = 2;
  p.max_nodes = 8;
  p.priority_tier = -3;
  p.allow_users = {"ann"};
  p.deny_users = {"bob"};
  p.allow_groups = {"hpc"};
  p.deny_groups = {"guests"};
  p.topology = "tree";
  p.default_memory_per_cpu = base::Mebibytes{1};
  p.default_memory_per_node = base::Mebibytes{2};
  return p;
}

model::Settings settings() {
  model::Settings s;
  s.cluster_name = "yard";
  s.on_lost = model::Settings::OnLost::assume_dead;
  s.lease = base::minutes{5};
  s.kill_grace = base::milliseconds{1500};
  s.keep_ended = base::Duration::max();
  s.launch_backoff = base::seconds{1};
  s.max_launch_failures = 9;
  s.overtime = base::seconds{2};
  s.allow_root_jobs = true;
  s.fence_program = "/usr/sbin/fence";
  s.max_jobs = 5;
  s.default_topology = "tree";
  s.literal_switch_wait = true;
  s.default_time = base::minutes{1};
  s.default_memory_per_cpu = base::Mebibytes{3};
  return s;
}

model::Topology topology() {
  model::Topology t;
  t.name = "tree";
  t.kind = model::Topology::Kind::block;
  t.levels = {{"spine", {"top"}}, {"rack", {}}};
  t.domains = {{"s0", 0, -1, {1}, {}, false, true}, {"r0", 1, 0, {}, {base::NodeIndex{0}, base::NodeIndex{5}}, true, false, "400G"}};
  t.joined = false;
  t.block_sizes = {18, 36};
  t.version = 4;
  return t;
}

core::RegisterNode registration() {
  core::RegisterNode r;
  r.node = base::NodeIndex{2};
  r.shape = shape();
  r.boot_id = "b";
  r.spool_id = "s";
  r.version = "v";
  r.address = "a";
  r.port = 1;
  r.boot_time = time_from_micros(3);
  r.labels = {{"k", "v"}};
  r.attempts = {{base::JobId{4}, base::AttemptNumber{5}, model::NodePhase::unknown}};
  return r;
}

// One of each, every member away from its default; with how many members it has.
std::vector<std::pair<core::Fact, std::size_t>> every_fact() {
  const base::JobId j{42};
  const base::AttemptNumber a{3};
  const base::NodeIndex n{7};
  const base::Time t = time_from_micros(1'700'000'000'000'001);
  core::NodeDeclaration declared{"n1", "h1", 1, shape(), {"ib"}, 2};
  return {{core::JobSubmitted{job()}, 1},
          {core::JobUpdated{j, job().spec, "ann"}, 3},
          {core::JobHeld{j, true, "root"}, 3},
          {core::JobReleased{j}, 1},
          {core::JobStarted{j, attempt()}, 2},
          {core::NodeAccepted{j, a, n}, 3},
          {core::ScriptStarted{j, a, t}, 3},
          {core::TimeLimitChanged{j, base::hours{3}}, 2},
          {core::EndAsked{j, a, model::Outcome::cancelled, true, true, "why", base::Uid{5}}, 7},
          {core::ScriptEnded{j, a, exit_record(), t}, 4},
          {core::NodeCleared{j, a, n, true}, 4},
          {core::JobLost{j, a, n, true, "silent"}, 5},
          {core::JobFound{j, a}, 2},
          {core::AttemptEnded{j, attempt(), t}, 3},
          {core::JobRequeued{j, t, true, true, "why"}, 5},
          {core::JobEnded{j, model::Outcome::failed, t, "why"}, 4},
          {core::JobForgotten{j}, 1},
          {core::SignalSent{j, a, 10, true, true}, 5},
          {core::Configured{settings(), {declared}, {{partition(), {"n[1-2]"}}}}, 3},
          {core::TopologyImported{topology()}, 1},
          {core::EpochBegan{UINT64_MAX, 9}, 2},
          {core::EnrolTokenIssued{{"n1", "digest", t}}, 1},
          {core::NodeEnrolled{"n1", "key", "digest"}, 3},
          {core::NodeRegistered{registration(), t}, 2},
          {core::NodeContactChanged{n, model::Contact::silent}, 2},
          {core::NodeDrained{n, "disk", "root", t}, 4},
          {core::NodeResumed{n}, 1},
          {core::NodeDowned{n, "fire", "root", t}, 4},
          {core::NodeFenced{n, "power", "root", t}, 4},
          {core::NodeRemoved{n}, 1},
          {core::PlanApplied{base::Sequence{8}, 2, 3, 4}, 4}};
}

}  // namespace

TEST_CASE("each part of the state comes back equal from its text") {
  CHECK(wire::attempt_from_text(wire::json_text(attempt())).value() == attempt());
  CHECK(wire::job_from_text(wire::json_text(job())).value() == job());
  CHECK(wire::node_from_text(wire::json_text(node())).value() == node());
  CHECK(wire::partition_from_text(wire::json_text(partition())).value() == partition());
  CHECK(wire::settings_from_text(wire::json_text(settings())).value() == settings());
  CHECK(wire::topology_from_text(wire::json_text(topology())).value() == topology());
  const model::EnrolToken token{"n1", "digest", time_from_micros(4)};
  CHECK(wire::enrol_token_from_text(wire::json_text(token)).value() == token);
}

TEST_CASE("parts at their defaults come back equal too") {
  CHECK(wire::attempt_from_text(wire::json_text(model::Attempt{})).value() == model::Attempt{});
  CHECK(wire::node_from_text(wire::json_text(model::Node{})).value() == model::Node{});
  CHECK(wire::settings_from_text(wire::json_text(model::Settings{})).value() == model::Settings{});
  CHECK(wire::partition_from_text(wire::json_text(model::Partition{})).value() == model::Partition{});
  CHECK(wire::topology_from_text(wire::json_text(model::Topology{})).value() == model::Topology{});
}

TEST_CASE("settings are written whole, so that a later release's defaults do not change what was in force") {
  const auto json = nlohmann::json::parse(wire::json_text(model::Settings{}));
  CHECK(json.at("keep_ended_s") == 300);
  CHECK(json.at("allow_root_jobs") == false);
}

TEST_CASE("what is derived is not kept in a node's row") {
  auto held = node();
  held.held = held.total;
  held.jobs = {base::JobId{1}};
  held.gres_holder = {base::JobId{1}};
  CHECK(wire::json_text(held) == wire::json_text(node()));
}

TEST_CASE("there is one sample of every fact") {
  const auto facts = every_fact();
  REQUIRE(facts.size() == std::variant_size_v<core::Fact>);
  for (std::size_t i = 0; i < facts.size(); ++i) CHECK(facts[i].first.index() == i);
}

TEST_CASE("every fact is written with all its members, and is the same after reading") {
  for (const auto& [fact, members] : every_fact()) {
    const auto text = wire::fact_text(fact);
    INFO(text);
    CHECK(nlohmann::json::parse(text).size() == members);
    const auto back = wire::fact_from_text(wire::fact_kind(fact), wire::event_version, text);
    REQUIRE(back.has_value());
    CHECK(back->index() == fact.index());
    CHECK(wire::fact_text(*back) == text);
  }
}

TEST_CASE("the kind of a fact is core's name for it") {
  for (const auto& [fact, members] : every_fact()) CHECK(wire::fact_kind(fact) == core::fact_name(fact));
}

TEST_CASE("an event of a newer version or an unknown kind is refused, not guessed") {
  CHECK(wire::fact_from_text("job_released", wire::event_version + 1, R"({"job":1})").error().code == base::Code::unsupported);
  CHECK(wire::fact_from_text("job_danced", 1, R"({"job":1})").error().value == "job_danced");
  CHECK(wire::fact_from_text("job_released", 1, R"({"job":1,"extra":2})").error().field == "job_released.extra");
  CHECK(wire::fact_from_text("job_released", 1, "{").error().message.find("not JSON") != std::string::npos);
}

TEST_CASE("facts as version 1 wrote them are read") {
  // Taken from a store of version 1. These lines stay: a release must read what the one before it wrote.
  const auto started = wire::fact_from_text(
      "job_started", 1,
      R"({"job":42,"attempt":{"number":1,"partition":"batch","nodes":[{"tasks":1,"held":{"cpus":1},"used":{"cpus":1}}],)"
      R"("time_limit_s":600,"planned_at_us":1700000000000000}})");
  REQUIRE(started.has_value());
  const auto& fact = std::get<core::JobStarted>(*started);
  CHECK(fact.attempt.nodes.at(0).held.cpus == base::whole_cpus(1));
  CHECK(fact.attempt.time_limit == base::minutes{10});
  const auto ended =
      wire::fact_from_text("job_ended", 1, R"({"job":42,"outcome":"failed","at_us":1700000000000000,"reason":"exit code 3"})");
  REQUIRE(ended.has_value());
  CHECK(std::get<core::JobEnded>(*ended).outcome == model::Outcome::failed);
}

TEST_CASE("an event of a stream carries its sequence, time, author, kind and fact") {
  std::string out;
  wire::append_event(out, {base::Sequence{5}, time_from_micros(6), "node n\"3", core::JobReleased{base::JobId{7}}});
  CHECK(out == R"({"sequence":5,"at_us":6,"by":"node n\"3","kind":"job_released","version":1,"fact":{"job":7}})");
}

TEST_CASE("what an agent sends is limited") {
  const auto fault = [](const char* text) {
    const auto shape = wire::node_shape_from_json(nlohmann::json::parse(text), "shape");
    return shape ? std::string{} : shape.error().field;
  };
  CHECK(fault(R"({"cpus":4,"memory_mib":100})").empty());
  CHECK(fault(R"({"cpus":0})") == "shape.cpus");
  CHECK(fault(R"({"memory_mib":-1})") == "shape.memory_mib");
  CHECK(fault(R"({"cpu":1})") == "shape.cpu");
  CHECK_FALSE(wire::exit_record_from_json(nlohmann::json::parse(R"({"code":"1"})"), "exit").has_value());
}

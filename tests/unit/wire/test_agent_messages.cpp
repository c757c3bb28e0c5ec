#include "support/catch.hpp"
#include "support/placement.hpp"
#include "wire/agent_messages.hpp"

using namespace sy;
using namespace sy::wire;

namespace {
LaunchMessage launch() {
  LaunchMessage m;
  m.job = base::JobId{7};
  m.attempt = base::AttemptNumber{2};
  m.epoch = 12;
  m.node = "n1";
  m.expires = base::time_from_seconds(1000);
  m.nonce = "abc";
  m.role = LaunchMessage::Role::member;
  m.user = "ann";
  m.uid = base::Uid{1000};
  m.gid = base::Gid{100};
  m.groups = {base::Gid{100}, base::Gid{200}};
  m.nodes = {"n1", "n2"};
  m.tasks = {2, 1};
  m.cpus = base::Cpus{1500};
  m.cpus_of_nodes = {base::Cpus{1500}, base::Cpus{500}};
  m.gres = {{"gpu", "a100", 1, 1000, "/dev/nvidia1"}};
  m.script_base64 = std::string(2U << 20U, 'A');
  m.environment = {"A=b", "LONG=" + std::string(100'000, 'x')};
  m.time_limit = base::minutes{5};
  m.warning_signal = model::WarningSignal{10, base::seconds{30}, true};
  m.memory_per_cpu = base::Mebibytes{100};
  m.account = "physics";
  m.qos = "urgent";
  m.placement = test::placed_on(base::NodeIndex{1});
  return m;
}
}  // namespace

TEST_CASE("A launch goes to JSON and comes back the same") {
  const auto back = message_from_text<LaunchMessage>(message_text(launch()));
  REQUIRE(back);
  CHECK(*back == launch());
}

TEST_CASE("Reports and registrations go to JSON and come back the same") {
  ReportsMessage reports;
  AttemptReport report{
      base::JobId{3},      base::AttemptNumber{1},    core::ReportAttempt::What::script_ended, core::ReportAttempt::Blame::job, "why",
      model::ExitRecord{}, base::time_from_seconds(5)};
  report.exit->code = 3;
  report.exit->cpu_time = base::milliseconds{1500};
  reports.reports = {report};
  const auto back = message_from_text<ReportsMessage>(message_text(reports));
  REQUIRE(back);
  REQUIRE(back->reports.size() == 1);
  CHECK(back->reports[0].exit == report.exit);
  CHECK(back->reports[0].what == report.what);
  CHECK(back->reports[0].at == report.at);

  RegisterMessage registration;
  registration.shape.cpus = 8;
  registration.boot_id = "b";
  registration.spool_id = "s";
  registration.labels = {{"rack", "r1"}};
  registration.attempts = {{base::JobId{1}, base::AttemptNumber{2}, model::NodePhase::running}};
  const auto again = message_from_text<RegisterMessage>(message_text(registration));
  REQUIRE(again);
  CHECK(again->shape == registration.shape);
  CHECK(again->labels == registration.labels);
  CHECK(again->attempts.at(0).phase == model::NodePhase::running);
  CHECK(message_text(HeartbeatAnswer{4, true}) == R"({"epoch":4,"register":true})");
}

TEST_CASE("Messages with what is missing, unknown or of the wrong type are refused") {
  CHECK_FALSE(message_from_text<EndMessage>(R"({"job":1,"attempt":1,"epoch":1,"node":"n1"})"));          // no nonce
  CHECK_FALSE(message_from_text<EndMessage>(R"({"job":0,"attempt":1,"epoch":1,"node":"n1","nonce":"x"})"));
  CHECK_FALSE(message_from_text<HeartbeatMessage>(R"({"boot_id":"b"})"));
  CHECK_FALSE(message_from_text<HeartbeatMessage>(R"({"boot_id":"b","spool_id":"s","spool":"x"})"));
  CHECK_FALSE(message_from_text<HeartbeatMessage>(R"({"boot_id":1,"spool_id":"s"})"));
  CHECK_FALSE(message_from_text<HeartbeatMessage>("[]"));
  CHECK_FALSE(message_from_text<HeartbeatMessage>("{"));
  CHECK_FALSE(message_from_text<ReportsMessage>(R"({"reports":[{"job":1}]})"));
}

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "unit/agent/fake_controller.hpp"

using namespace sy;
using What = core::ReportAttempt::What;
using Blame = core::ReportAttempt::Blame;

namespace {

const std::string until_told = "touch $1.ready; while [ ! -e go ]; do sleep 0.05; done\n";

struct World {
  FakeController controller;
  AgentProcess agent{controller};
  World() { agent.start(); }

  wire::LaunchMessage message(std::uint64_t job, const std::string& script) const {
    auto m = controller.launch(job, script, agent.work_dir);
    m.script_args = {std::to_string(job)};
    return m;
  }
  void launch(std::uint64_t job, const std::string& script) {
    const auto sent = controller.post("/v1/launch", message(job, script));
    INFO(sent.body << agent.log());
    REQUIRE(sent.status == 200);
  }
  void launch_and_wait_ready(std::uint64_t job, const std::string& script) {
    launch(job, script);
    wait_until("the script runs", [&] { return ::access((agent.work_dir + "/" + std::to_string(job) + ".ready").c_str(), F_OK) == 0; });
  }
  // How often the script wrote its line; a shell also says there that its child was terminated.
  int lines() const {
    int n = 0;
    const std::string out = agent.output();
    for (std::size_t at = 0; (at = out.find("line\n", at)) != std::string::npos; ++at) ++n;
    return n;
  }
  void go() const { std::ofstream(agent.work_dir + "/go") << ""; }
};

}  // namespace

TEST_CASE("a launched job runs, and everything about it is reported in order") {
  World w;
  w.launch(7, "echo line $GIVEN $SLURM_JOB_ID $SLURM_JOBID; exit 3\n");
  const auto cleared = w.controller.wait_for(7, What::cleared);
  CHECK(w.agent.output() == "line yes 7 7\n");
  const auto ended = w.controller.wait_for(7, What::script_ended);
  REQUIRE(ended.exit);
  CHECK(ended.exit->code == 3);
  std::vector<What> order;
  for (const auto& r : w.controller.reports()) order.push_back(r.what);
  CHECK(order.size() >= 4);
  CHECK(std::is_sorted(order.begin(), order.end()));
  const auto registration = w.controller.registration();
  CHECK(registration->shape.cpus == 4);
  CHECK(registration->shape.memory.value == 2048);
  CHECK(registration->shape.gres.size() == 2);
  CHECK(registration->boot_id == "boot-1");
}

TEST_CASE("requests that are unsigned, signed by others, changed, replayed, late, old or for others are refused") {
  World w;
  const auto body = wire::message_text(w.message(1, "true\n"));
  http::Request bare;
  bare.method = "POST";
  bare.target = "/v1/launch";
  bare.body = body;
  CHECK(w.controller.send(bare).status == 401);
  const auto other = daemon::KeyPair::generate();
  CHECK(w.controller.send(w.controller.sign("POST", "/v1/launch", body, &other)).status == 401);
  auto changed = w.controller.sign("POST", "/v1/launch", body);
  changed.body.replace(changed.body.find("nobody"), 6, "nobodx");
  CHECK(w.controller.send(changed).status == 401);
  for (const char* target : {"/v1/end", "/v1/signal", "/v1/time-limit", "/v1/forget", "/v1/status"}) {
    http::Request unsigned_request;
    unsigned_request.method = std::string{target} == "/v1/status" ? "GET" : "POST";
    unsigned_request.target = target;
    CHECK(w.controller.send(unsigned_request).status == 401);
  }

  auto expired = w.message(1, "true\n");
  expired.expires = base::time_from_seconds(1000);
  CHECK(w.controller.post("/v1/launch", expired).status == 401);
  auto elsewhere = w.message(1, "true\n");
  elsewhere.node = "n2";
  CHECK(w.controller.post("/v1/launch", elsewhere).status == 403);
  auto old = w.message(1, "true\n");
  old.epoch = 4;
  CHECK(w.controller.post("/v1/launch", old).status == 409);
  CHECK(w.controller.send(w.controller.sign("POST", "/v1/launch", "{}")).status == 400);
  CHECK(w.controller.send(w.controller.sign("GET", "/v1/launch", "")).status == 404);
  CHECK(w.controller.send(w.controller.sign("GET", "/v1/status", "")).status == 200);
  CHECK(w.controller.reports().empty());
  CHECK(std::filesystem::is_empty(w.agent.spool() + "/attempts"));
}

TEST_CASE("a launch that comes twice, again, or too late runs once") {
  World w;
  const auto m = w.message(9, "echo line\n" + until_told);
  const auto request = w.controller.sign("POST", "/v1/launch", wire::message_text(m));
  REQUIRE(w.controller.send(request).status == 200);
  wait_until("the script runs", [&] { return ::access((w.agent.work_dir + "/9.ready").c_str(), F_OK) == 0; });
  CHECK(w.controller.send(request).status == 401);                 // the very same bytes
  CHECK(w.controller.post("/v1/launch", m).status == 401);         // signed anew, the same capability
  auto fresh = w.message(9, "echo line\n" + until_told);
  CHECK(w.controller.post("/v1/launch", fresh).status == 200);     // a fresh one: answered as the first time
  auto second = w.message(9, "echo line\n");
  second.attempt = base::AttemptNumber{2};
  CHECK(w.controller.post("/v1/launch", second).status == 503);    // the first one is ended before
  w.controller.wait_for(9, What::cleared);
  second.nonce = "another";
  CHECK(w.controller.post("/v1/launch", second).status == 200);
  wait_until("the second attempt", [&] { return w.lines() == 2; });
  fresh.nonce = "a third";
  CHECK(w.controller.post("/v1/launch", fresh).status == 200);     // the first attempt, done long ago: nothing happens
  auto before = w.message(9, "echo line\n");
  before.attempt = base::AttemptNumber{0};
  CHECK(w.controller.post("/v1/launch", before).status == 400);
  w.launch(10, "true\n");
  w.controller.wait_for(10, What::cleared);
  CHECK(w.lines() == 2);
}

TEST_CASE("an earlier attempt is refused once a later one was seen, in whatever order they come") {
  World w;
  auto later = w.message(9, "echo line\n");
  later.attempt = base::AttemptNumber{3};
  REQUIRE(w.controller.post("/v1/launch", later).status == 200);
  CHECK(w.controller.post("/v1/launch", w.message(9, "echo line\n")).status == 409);
  w.controller.wait_for(9, What::cleared);
  CHECK(w.controller.post("/v1/launch", w.message(9, "echo line\n")).status == 409);
  CHECK(w.agent.output() == "line\n");
}

TEST_CASE("an agent killed in the middle of a job finds it again, and its end is reported") {
  World w;
  w.launch_and_wait_ready(5, "echo line\n" + until_told + "exit 4\n");
  w.controller.wait_for(5, What::started);
  w.agent.kill();
  CHECK_FALSE(w.agent.processes_of(5).empty());
  w.agent.start();
  const auto seen = w.controller.registration()->attempts;
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].phase == model::NodePhase::running);
  CHECK(w.controller.post("/v1/launch", w.message(5, "echo line\n")).status == 200);
  w.go();
  CHECK(w.controller.wait_for(5, What::script_ended).exit->code == 4);
  w.controller.wait_for(5, What::cleared);
  CHECK(w.agent.output() == "line\n");
}

TEST_CASE("a job that ends while its agent is away is reported when it is back") {
  World w;
  w.launch_and_wait_ready(5, until_told + "exit 6\n");
  CHECK(w.agent.stop() == 0);  // SIGTERM leaves jobs alone
  CHECK_FALSE(w.agent.processes_of(5).empty());
  w.go();
  wait_until("the supervisor is done", [&] { return w.agent.supervisor_of(5) == 0; });
  w.agent.start();
  CHECK(w.controller.wait_for(5, What::script_ended).exit->code == 6);
  w.controller.wait_for(5, What::cleared);
}

TEST_CASE("a supervisor that was killed is noticed, whether the agent lived or not, and nothing of the job stays") {
  for (const bool agent_lives : {true, false}) {
    World w;
    w.launch_and_wait_ready(5, "setsid sleep 1000 &\n" + until_told);
    if (!agent_lives) w.agent.kill();
    REQUIRE(w.agent.supervisor_of(5) > 0);
    ::kill(w.agent.supervisor_of(5), SIGKILL);
    if (!agent_lives) w.agent.start();
    const auto ended = w.controller.wait_for(5, What::script_ended);
    REQUIRE(ended.exit);
    CHECK(ended.exit->signal == SIGKILL);
    CHECK(ended.exit->reason.find("supervisor") != std::string::npos);
    w.controller.wait_for(5, What::cleared);
    CHECK(w.agent.processes_of(5).empty());
  }
}

TEST_CASE("reports are repeated until they are acknowledged, and not after") {
  World w;
  w.controller.acknowledge(false);
  w.launch(5, "true\n");
  wait_until("the end is reported again and again", [&] { return w.controller.received(5, What::cleared) >= 2; });
  w.agent.kill();
  w.agent.start();
  const int before = w.controller.received(5, What::cleared);
  wait_until("also by its successor", [&] { return w.controller.received(5, What::cleared) > before; });
  w.controller.acknowledge(true);
  const int unacknowledged = w.controller.received(5, What::cleared);
  wait_until("once more", [&] { return w.controller.received(5, What::cleared) > unacknowledged; });
  w.launch(6, "true\n");
  w.controller.wait_for(6, What::cleared);
  const auto now = w.controller.received(5, What::cleared);
  w.launch(7, "true\n");
  w.controller.wait_for(7, What::cleared);
  CHECK(w.controller.received(5, What::cleared) == now);
}

TEST_CASE("an end of an attempt that never was here keeps its launch from running") {
  World w;
  CHECK(w.controller.post("/v1/end", w.controller.about<wire::EndMessage>(8)).status == 200);
  w.controller.wait_for(8, What::cleared);
  CHECK(w.controller.post("/v1/launch", w.message(8, "echo line\n")).status == 200);
  CHECK(w.controller.post("/v1/end", w.controller.about<wire::EndMessage>(8)).status == 200);
  w.launch(9, "true\n");
  w.controller.wait_for(9, What::cleared);
  CHECK(w.agent.output().empty());
}

TEST_CASE("a running job is ended, signalled once per request, and its limit changed") {
  World w;
  w.launch_and_wait_ready(1, "trap 'echo heard' USR1\n" + until_told);
  auto m = w.controller.about<wire::SignalMessage>(1);
  m.signal = SIGUSR1;
  m.batch_only = true;
  CHECK(w.controller.post("/v1/signal", m).status == 200);
  wait_until("the trap", [&] { return w.agent.output() == "heard\n"; });
  w.agent.kill();
  w.agent.start();
  CHECK(w.controller.post("/v1/signal", m).status == 401);  // the same capability, at an agent that was restarted
  auto end = w.controller.about<wire::EndMessage>(1);
  end.grace = std::chrono::milliseconds{100};
  CHECK(w.controller.post("/v1/end", end).status == 200);
  w.controller.wait_for(1, What::cleared);
  CHECK(w.controller.post("/v1/signal", w.controller.about<wire::SignalMessage>(1)).status == 409);
  CHECK(w.controller.post("/v1/signal", w.controller.about<wire::SignalMessage>(99)).status == 404);
  CHECK(w.agent.output().find("heard\nheard") == std::string::npos);

  w.launch_and_wait_ready(2, until_told);
  auto limit = w.controller.about<wire::TimeLimitMessage>(2);
  limit.time_limit = std::chrono::milliseconds{1};
  CHECK(w.controller.post("/v1/time-limit", limit).status == 200);
  CHECK(w.controller.wait_for(2, What::script_ended).exit->timed_out);
}

TEST_CASE("what was fenced is killed at registration, and launches wait for it") {
  World w;
  w.launch_and_wait_ready(5, "trap '' TERM\n" + until_told);
  w.controller.set_deaf(true);
  w.agent.kill();
  w.controller.set_fenced({{base::JobId{5}, base::AttemptNumber{1}}});
  w.controller.set_deaf(false);
  w.agent.start();
  w.controller.wait_for(5, What::cleared);
  CHECK(w.agent.processes_of(5).empty());
}

TEST_CASE("a later controller's term is remembered over a restart") {
  World w;
  const auto old = w.message(3, "true\n");  // of epoch 5
  w.controller.set_epoch(6);
  w.launch(4, "true\n");                    // of epoch 6
  w.agent.kill();
  w.controller.set_epoch(6);
  w.agent.start();
  CHECK(w.controller.post("/v1/launch", old).status == 409);
}

TEST_CASE("a lost spool is a new spool, and says so") {
  World w;
  const std::string before = w.controller.registration()->spool_id;
  w.agent.kill();
  w.agent.start();
  CHECK(w.controller.registration()->spool_id == before);
  w.agent.kill();
  std::filesystem::remove_all(w.agent.spool());
  w.agent.start();
  CHECK(w.controller.registration()->spool_id != before);
}

TEST_CASE("until it has registered an agent says nothing about attempts: with a new spool it might deny what still runs") {
  World w;
  w.launch_and_wait_ready(5, until_told);
  const pid_t supervisor = w.agent.supervisor_of(5);
  w.agent.kill();
  std::filesystem::rename(w.agent.spool(), w.agent.root + "/lost");
  w.controller.set_deaf(true);
  w.agent.start_unregistered();
  CHECK(w.controller.post("/v1/end", w.controller.about<wire::EndMessage>(5)).status == 503);
  CHECK(w.controller.post("/v1/launch", w.message(6, "echo line\n")).status == 503);
  CHECK(w.controller.post("/v1/signal", w.controller.about<wire::SignalMessage>(5)).status == 503);
  CHECK(w.controller.post("/v1/time-limit", w.controller.about<wire::TimeLimitMessage>(5)).status == 503);
  CHECK(w.controller.post("/v1/forget", w.controller.about<wire::ForgetMessage>(5)).status == 503);
  w.controller.set_deaf(false);
  wait_until("registration", [&] { return w.controller.registrations() > 1; });
  CHECK(w.controller.registration()->attempts.empty());  // no tombstone that says the attempt is over
  CHECK(::kill(supervisor, 0) == 0);
  CHECK_FALSE(w.controller.report(5, What::cleared));
  w.go();
  ::kill(supervisor, SIGKILL);
}

TEST_CASE("a limit that was set once does not come back with a repeated request, also after a restart of the agent") {
  World w;
  w.launch_and_wait_ready(1, until_told);
  auto first = w.controller.about<wire::TimeLimitMessage>(1);
  first.time_limit = std::chrono::milliseconds{1};
  auto later = w.controller.about<wire::TimeLimitMessage>(1);
  later.time_limit = std::chrono::hours{2};
  auto signed_first = w.controller.about<wire::TimeLimitMessage>(1);
  signed_first.time_limit = std::chrono::hours{1};
  CHECK(w.controller.post("/v1/time-limit", signed_first).status == 200);
  CHECK(w.controller.post("/v1/time-limit", later).status == 200);
  const std::string limit = w.agent.spool() + "/attempts/1.1/limit";
  const auto in_force = [&] {
    std::ifstream in(limit);
    std::string text;
    in >> text;
    return text;
  };
  CHECK(in_force() == "7200000000");
  w.agent.kill();
  w.agent.start();
  CHECK(w.controller.post("/v1/time-limit", signed_first).status == 401);
  CHECK(in_force() == "7200000000");
  CHECK(w.controller.post("/v1/time-limit", first).status == 200);  // a fresh one is carried out
  CHECK(w.controller.wait_for(1, What::script_ended).exit->timed_out);
}

TEST_CASE("a launch sent again to an agent that was restarted, even killed in the middle of it, runs once") {
  World w;
  const auto m = w.message(9, "echo line\n" + until_told);
  const auto request = w.controller.sign("POST", "/v1/launch", wire::message_text(m));
  REQUIRE(w.controller.send(request).status == 200);
  wait_until("the script runs", [&] { return ::access((w.agent.work_dir + "/9.ready").c_str(), F_OK) == 0; });
  w.agent.kill();
  w.agent.start();
  w.controller.send(request);                                       // its caches are empty: only the spool knows
  CHECK(w.controller.post("/v1/launch", m).status == 401);          // and from here on the cache
  w.go();
  w.controller.wait_for(9, What::cleared);
  CHECK(w.controller.post("/v1/launch", w.message(9, "echo line\n")).status == 200);
  w.launch(10, "true\n");
  w.controller.wait_for(10, What::cleared);
  CHECK(w.lines() == 1);
}

TEST_CASE("an agent runs no jobs of root unless its settings say so") {
  FakeController controller;
  for (const bool allowed : {false, true}) {
    AgentProcess agent{controller, allowed ? "allow_root: true\n" : ""};
    agent.start();
    auto m = controller.launch(allowed ? 2 : 1, "id -u\n", agent.work_dir);
    m.user = "root";
    m.uid = base::Uid{0};
    m.gid = base::Gid{0};
    m.groups = {m.gid};
    const auto sent = controller.post("/v1/launch", m);
    CHECK(sent.status == (allowed ? 200 : 403));
    if (!allowed) {
      CHECK(sent.body.find("node n1 runs no jobs of root") != std::string::npos);
      CHECK(controller.wait_for(1, What::refused).blame == Blame::job);
    } else if (::geteuid() == 0) {
      controller.wait_for(2, What::cleared);
      CHECK(agent.output() == "0\n");
    }
  }
}

TEST_CASE("what a job can not be blamed for is the node's, what it asks wrongly is the job's") {
  World w;
  auto stranger = w.message(1, "true\n");
  stranger.uid = base::Uid{54321};
  stranger.user = "stranger";
  const auto sent = w.controller.post("/v1/launch", stranger);
  CHECK(sent.status == 404);
  CHECK(sent.body.find(R"("blame":"job")") != std::string::npos);
  CHECK(sent.body.find("user stranger (uid 54321) is unknown on node n1") != std::string::npos);
  const auto refused = w.controller.wait_for(1, What::refused);
  CHECK(refused.blame == Blame::job);
  stranger.nonce = "fresh";
  stranger.uid = base::Uid{65534};
  CHECK(w.controller.post("/v1/launch", stranger).body.find(R"("blame":"job")") != std::string::npos);  // as the first time

  auto gone = w.message(2, "true\n");
  gone.work_dir = "/nowhere/at/all";
  CHECK(w.controller.post("/v1/launch", gone).status == 200);
  const auto cleared = w.controller.wait_for(2, What::cleared);
  REQUIRE(cleared.exit);
  CHECK(cleared.exit->code == 1);
  CHECK(cleared.exit->reason == "working directory /nowhere/at/all does not exist on this node");
  CHECK_FALSE(w.controller.report(2, What::started));

  auto prolog = w.message(3, "echo line\n");
  prolog.prolog = "/bin/false";
  CHECK(w.controller.post("/v1/launch", prolog).status == 200);
  CHECK(w.controller.wait_for(3, What::refused).blame == Blame::node);
  CHECK(w.agent.output().empty());
}

TEST_CASE("a lease that is not renewed ends the jobs of the node") {
  World w;
  w.controller.set_lease(std::chrono::seconds{2});
  w.agent.kill();
  w.agent.start();
  w.launch_and_wait_ready(5, until_told);
  w.controller.set_deaf(true);
  wait_until("the job is gone", [&] { return w.agent.processes_of(5).empty(); });
  w.controller.set_deaf(false);
  CHECK(w.controller.wait_for(5, What::script_ended).exit->reason.find("lease") != std::string::npos);
}

TEST_CASE("enrolment needs the right token and the right controller, and keeps its keys to itself") {
  FakeController controller;
  FakeController impostor;
  AgentProcess agent{controller};
  CHECK(agent.enrol("n1.wrong." + std::string(32, 'a')) == 1);
  CHECK(agent.enrol("rubbish") == 1);
  std::string token = controller.token("n1");
  token.back() = token.back() == '0' ? '1' : '0';
  CHECK(agent.enrol(token) == 1);                      // another fingerprint
  CHECK(agent.log().find("fingerprint") != std::string::npos);
  CHECK(agent.enrol(controller.token("n2")) == 1);     // another node
  CHECK(agent.enrol(controller.token("n1")) == 0);
  struct stat s{};
  for (const char* name : {"/keys/node.key", "/keys/controller.pub"}) {
    REQUIRE(::stat((agent.root + name).c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == 0600);
  }
  REQUIRE(::stat(agent.spool().c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0700);
}

TEST_CASE("a second agent on the same spool, a lax spool and a lax key are refused at the start") {
  World w;
  AgentProcess& a = w.agent;
  const auto exits = [&] {
    return std::system((std::string{SWITCHYARD_AGENT} + " --config " + a.root + "/agent.yaml >>" + a.root + "/second 2>&1").c_str());
  };
  CHECK(exits() != 0);
  a.kill();
  ::chmod((a.root + "/keys/node.key").c_str(), 0644);
  CHECK(exits() != 0);
  ::chmod((a.root + "/keys/node.key").c_str(), 0600);
  ::chmod(a.spool().c_str(), 0755);
  CHECK(exits() != 0);
}

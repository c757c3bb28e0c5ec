#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "bench.hpp"
#include "daemon/controller/fence_program.hpp"
#include "daemon/controller/launch_message.hpp"
#include "support/catch.hpp"
#include "wire/agent_messages.hpp"

using namespace sy;
using namespace sy::daemon;
using namespace sy::daemon::testing;
using nlohmann::json;

namespace {
const std::string two_nodes =
    R"("name":"pair","time_limit_s":60,"script_args":["x"],"groups":[{"nodes":{"min":2},"tasks":4,"cpus_per_task":1}])";

http::Response problem_with_blame(const char* blame) {
  return {409, "application/problem+json", std::string(R"({"status":409,"detail":"prolog failed","blame":")") + blame + "\"}", {}, false};
}

struct Up : Bench {
  explicit Up(std::function<void(wire::DaemonSettings&)> adjust = {}, std::function<void(core::Configure&)> cluster = {})
      : Bench(adjust, cluster) {
    bring_up("n1");
    bring_up("n2");
    controller->start();
    turns(10);
  }
  const model::Job& job(std::uint64_t id) { return *controller->state().find_job(base::JobId{id}); }
  std::string ended(std::uint64_t id) {
    turn_until([&] { return job(id).state == model::JobState::ended; });
    return std::string(model::outcome_name(job(id).outcome));
  }
};
}  // namespace

TEST_CASE("A job on two nodes: the member is launched first, the lead once it has accepted, and the end is followed to its end") {
  Up bench;
  const std::uint64_t id = bench.submit(Bench::ann, two_nodes);
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  bench.turns(20);
  REQUIRE(bench.agents.count("/v1/launch") == 1);
  const auto member = wire::message_from_text<wire::LaunchMessage>(bench.agents.sent.at(0).body);
  REQUIRE(member);
  CHECK(member->role == wire::LaunchMessage::Role::member);
  CHECK(member->script_base64.empty());
  CHECK(member->node == bench.agents.sent[0].node);
  bench.report(member->node, id, 1, "accepted");
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 2; });
  const auto lead = wire::message_from_text<wire::LaunchMessage>(bench.agents.sent.at(1).body);
  REQUIRE(lead);
  CHECK(lead->role == wire::LaunchMessage::Role::lead);
  CHECK(lead->script_base64 == to_base64("#!/bin/sh\ntrue\n"));
  CHECK(lead->environment == std::vector<std::string>{"A=b"});
  CHECK(lead->user == "ann");
  CHECK(lead->uid == base::Uid{Bench::ann});
  CHECK(lead->nodes.size() == 2);
  CHECK(lead->tasks_total == 4);
  CHECK(lead->time_limit == std::optional<base::Duration>(base::seconds{60}));
  CHECK(lead->script_args == std::vector<std::string>{"x"});
  CHECK(lead->epoch == bench.controller->state().epoch);
  CHECK(lead->nonce != member->nonce);
  CHECK(lead->expires > bench.clock);
  bench.report(lead->node, id, 1, "accepted");
  bench.report(lead->node, id, 1, "started");
  CHECK(bench.job(id).state == model::JobState::running);
  bench.report(lead->node, id, 1, "script_ended", R"({"code":3})");
  bench.turn_until([&] { return bench.agents.count("/v1/end") >= 1; });  // the member has to be told
  bench.report(lead->node, id, 1, "cleared");
  bench.report(member->node, id, 1, "cleared");
  CHECK(bench.ended(id) == "failed");
  bench.report(lead->node, id, 1, "cleared");                           // repeated: acknowledged again
  bench.turns(10);
  CHECK(bench.agents.count("/v1/forget") == 0);                         // the acknowledgement says it
}

TEST_CASE("A launch tells where each rank sits in the topology") {
  Up bench({}, [](core::Configure& c) { c.settings.default_topology = "fabric"; });
  const json import{{"format", "slurm-tree"}, {"text", "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\nSwitchName=top Switches=s[1-2]\n"}};
  const auto imported = bench.call(Bench::root, "PUT", "/v1/topologies/fabric", import.dump());
  INFO(imported.body);
  REQUIRE(imported.status == 200);
  bench.submit(Bench::ann, two_nodes);
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  const auto launch = wire::message_from_text<wire::LaunchMessage>(bench.agents.sent.at(0).body);
  REQUIRE(launch);
  REQUIRE(launch->placement);
  CHECK(launch->placement->topology == "fabric");
  CHECK(launch->placement->levels == std::vector<std::string>{"spine", "leaf"});
  CHECK(launch->placement->level == "spine");
  CHECK(launch->placement->paths == std::vector<std::vector<std::string>>{{"top", "s1"}, {"top", "s2"}});
  REQUIRE(launch->placement->parts.size() == 2);
  CHECK(launch->placement->parts[1].node == base::NodeIndex{1});
  CHECK(launch->placement->parts[1].path == 1);
}

TEST_CASE("A launch that does not get through is tried again with a fresh capability, and not twice at a time") {
  Up bench;
  int failures = 3;
  bench.agents.answers = [&](const NotedAgents::Sent& s) -> base::Result<http::Response> {
    if (s.target == "/v1/launch" && failures-- > 0) return base::fail(base::Code::unavailable, "connection refused");
    return http::Response{200, "application/json", "{}", {}, false};
  };
  const std::uint64_t id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 4; });
  std::set<std::string> nonces;
  for (const auto& sent : bench.agents.sent)
    if (sent.target == "/v1/launch") nonces.insert(wire::message_from_text<wire::LaunchMessage>(sent.body)->nonce);
  CHECK(nonces.size() == 4);
  bench.turns(50);
  CHECK(bench.agents.count("/v1/launch") == 4);
  CHECK(bench.job(id).last_attempt == base::AttemptNumber{1});
}

TEST_CASE("A cancelled job is not launched any more, and its nodes are told to end it") {
  Up bench;
  bench.agents.answers = [](const NotedAgents::Sent& s) -> base::Result<http::Response> {
    if (s.target == "/v1/launch") return base::fail(base::Code::unavailable, "connection refused");
    return http::Response{200, "application/json", "{}", {}, false};
  };
  const std::uint64_t id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  CHECK(bench.call(Bench::ann, "POST", "/v1/jobs/" + std::to_string(id) + "/cancel").status == 200);
  bench.turn_until([&] { return bench.agents.count("/v1/end") >= 1; });
  const std::size_t launches = bench.agents.count("/v1/launch");
  bench.turns(50);
  CHECK(bench.agents.count("/v1/launch") == launches);
  bench.report(bench.agents.sent.at(0).node, id, 1, "cleared");
  CHECK(bench.ended(id) == "cancelled");
}

TEST_CASE("An agent that refuses for the node's sake gets its node drained and the job another try") {
  Up bench;
  bench.agents.answers = [](const NotedAgents::Sent& s) -> base::Result<http::Response> {
    if (s.target == "/v1/launch") return problem_with_blame("node");
    return http::Response{200, "application/json", "{}", {}, false};
  };
  const std::uint64_t id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  bench.turn_until([&] { return bench.job(id).state == model::JobState::pending || bench.job(id).state == model::JobState::ending; });
  const model::Node& node = *bench.controller->state().find_node(bench.agents.sent.at(0).node);
  bench.turn_until([&] { return node.drained; });
  CHECK(node.reason.find("prolog failed") != std::string::npos);
  bench.turns(50);
  CHECK(bench.agents.count("/v1/launch") == 1);  // not at once again: that is how jobs get held and nodes black
}

TEST_CASE("A signal is delivered, once for each time it is asked") {
  Up bench;
  const std::uint64_t id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  const std::string node = bench.agents.sent.at(0).node;
  bench.report(node, id, 1, "accepted");
  bench.report(node, id, 1, "started");
  for (int i = 0; i < 2; ++i)
    CHECK(bench.call(Bench::ann, "POST", "/v1/jobs/" + std::to_string(id) + "/signal", R"({"signal":"USR1","batch_only":true})").status ==
          200);
  bench.turn_until([&] { return bench.agents.count("/v1/signal") == 2; });
  const auto signal = wire::message_from_text<wire::SignalMessage>(bench.agents.sent.back().body);
  CHECK(signal->signal == 10);
  CHECK(signal->batch_only);
}

TEST_CASE("After a restart what is still due is derived from the state and sent again") {
  Up bench;
  bench.agents.answers_wait = true;
  const std::uint64_t id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  bench.api.reset();
  bench.controller.reset();
  bench.agents.answer();            // to nobody
  bench.turns(10);
  bench.agents.answers_wait = false;
  bench.controller =
      std::make_unique<Controller>(bench.loop, Controller::Doors{bench.store, bench.agents, look_up_user, [&] { return bench.clock; }},
                                   wire::DaemonSettings{}, bench.key);
  REQUIRE(bench.controller->ledger().open());
  bench.api = std::make_unique<Api>(*bench.controller);
  bench.controller->start();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 2; });
  const auto again = wire::message_from_text<wire::LaunchMessage>(bench.agents.sent.back().body);
  CHECK(again->job == base::JobId{id});
  CHECK(again->attempt == base::AttemptNumber{1});  // the same attempt: the agent answers with what it did
}

namespace {
// A liveness with a clock of the test's own, looked at every second as its timer would.
struct Watch {
  Monotonic now = monotonic_now();
  Bench& bench;
  Liveness liveness;
  explicit Watch(Bench& b) : bench(b), liveness(b.loop, b.controller->ledger(), options()) {}
  Liveness::Options options() {
    Liveness::Options o;
    o.silent_after = base::seconds{60};
    o.now = [this] { return now; };
    return o;
  }
  void seconds(int n) {
    for (int i = 0; i < n; ++i) {
      now += base::seconds{1};
      liveness.check();
    }
  }
  const model::Node& node(const char* name) const { return *bench.controller->state().find_node(name); }
  model::Contact contact(const char* name) const { return node(name).contact; }
};
}  // namespace

TEST_CASE("Silence by the monotonic clock makes a node silent, a heartbeat brings it back, and a lease fences only what runs") {
  Bench bench({}, [](core::Configure& c) { c.settings.lease = base::seconds{100}; });
  bench.bring_up("n1");
  bench.bring_up("n2");
  Watch w(bench);
  const base::NodeIndex n1 = w.node("n1").index;
  w.seconds(59);
  CHECK(w.contact("n1") == model::Contact::up);
  w.liveness.heard(n1);
  w.seconds(2);
  CHECK(w.contact("n1") == model::Contact::up);
  CHECK(w.contact("n2") == model::Contact::silent);
  w.seconds(60);
  CHECK(w.contact("n1") == model::Contact::silent);
  w.liveness.heard(n1);
  CHECK(w.contact("n1") == model::Contact::up);
  w.seconds(3600);
  CHECK(w.contact("n1") == model::Contact::silent);  // nothing ran there: there is nothing to fence
}

TEST_CASE("A lease fences a silent node later than its agent has ended the jobs, counting only time in which we could be reached") {
  Bench bench({}, [](core::Configure& c) {
    c.settings.lease = base::seconds{100};
    c.settings.kill_grace = base::seconds{30};
  });
  bench.bring_up("n1");
  const auto id = bench.submit();
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  const auto job = [&]() -> const model::Job& { return *bench.controller->state().find_job(base::JobId{id}); };
  Watch w(bench);
  w.seconds(60);
  CHECK(w.contact("n1") == model::Contact::silent);
  CHECK(job().state == model::JobState::lost);
  w.seconds(120);                                     // 180 s: lease and grace are over, the margin for clocks that drift is not
  CHECK(w.contact("n1") == model::Contact::silent);
  w.now += base::hours{5};                            // stopped meanwhile, as by SIGSTOP or a sleeping machine
  w.liveness.check();
  CHECK(w.contact("n1") == model::Contact::silent);
  w.seconds(150);
  CHECK(w.contact("n1") == model::Contact::silent);
  SECTION("a disk that takes nothing makes us unreachable: counted from its return") {
    bench.store.break_disk(true);
    bench.ask(Bench::ann, "POST", "/v1/jobs", Bench::submission());
    bench.turn_until([&] { return bench.controller->ledger().fault().has_value(); });
    w.seconds(300);
    bench.store.break_disk(false);
    bench.turn_until([&] { return !bench.controller->ledger().fault(); });
    w.seconds(189);
    CHECK(w.contact("n1") == model::Contact::silent);
    w.seconds(2);
    CHECK(w.contact("n1") == model::Contact::fenced);
  }
  SECTION("and when all is over the job waits again, with the next attempt to come") {
    w.seconds(39);
    CHECK(w.contact("n1") == model::Contact::silent);
    w.seconds(2);
    CHECK(w.contact("n1") == model::Contact::fenced);
    CHECK(w.node("n1").reason == "fenced: lease");
    CHECK(job().state == model::JobState::pending);
    CHECK(job().last_attempt == base::AttemptNumber{1});
  }
}

TEST_CASE("A clock that is set forward by hours ends no running job") {
  Bench bench;
  bench.controller->start();
  bench.bring_up("n1");
  const auto id = bench.submit(Bench::ann, R"("time_limit_s":3600)");
  bench.turn_until([&] { return bench.agents.count("/v1/launch") == 1; });
  bench.report("n1", id, 1, "accepted");
  bench.report("n1", id, 1, "started");
  const auto job = [&]() -> const model::Job& { return *bench.controller->state().find_job(base::JobId{id}); };
  REQUIRE(job().state == model::JobState::running);
  const auto commands = [&] { return bench.controller->ledger().counters().commands; };
  bench.clock += base::hours{12};
  const auto before = commands();
  bench.turn_until([&] { return commands() >= before + 2; });
  CHECK(job().state == model::JobState::running);
}

TEST_CASE("A fence program's exit status decides, and one that hangs is killed") {
  CHECK(run_program("/bin/true", "n1", base::seconds{10}).code == 0);
  CHECK(run_program("/bin/false", "n1", base::seconds{10}).code == 1);
  CHECK(run_program("/nowhere/fence", "n1", base::seconds{10}).code == -1);
  const ProgramEnd hung = run_program("/usr/bin/yes", "n1", base::milliseconds{50});
  CHECK(hung.code == -1);
  CHECK(hung.what.find("did not end") != std::string::npos);
  CHECK(hung.what.size() < 600);
  const ProgramEnd failed = run_program("/bin/ls", "/nowhere\n/n1", base::seconds{10});
  CHECK(failed.code == 2);
  CHECK(failed.what.find("exit code 2: ") == 0);
  CHECK(failed.what.find("No such file or directory") != std::string::npos);
  CHECK(failed.what.find('\n') == std::string::npos);
}

TEST_CASE("An environment goes into one blob and comes back the same") {
  const std::vector<std::string> entries{"A=b", "EMPTY=", "LINES=a\nb", "X=\xff"};
  CHECK(split_environment(join_environment(entries)) == entries);
  CHECK(split_environment("").empty());
}

TEST_CASE("The controller is not ready while a due pass does not end") {
  Bench bench;
  Planner::Options options;
  options.now = [&] { return bench.clock; };
  options.in_time = std::chrono::milliseconds{30};
  std::promise<void> release;
  options.pass = [&, wait = release.get_future().share()](const sched::View&, base::Time) {
    wait.wait();
    return sched::Plan{};
  };
  Planner planner(bench.loop, bench.controller->ledger(), options);
  CHECK(planner.in_time());
  planner.due();
  bench.turn_until([&] { return !planner.in_time(); });
  release.set_value();
  bench.turn_until([&] { return planner.in_time(); });
}

TEST_CASE("A pass comes when the next rung of a waiting job opens, not at the next full round") {
  Bench bench;
  Planner::Options options;
  options.now = [&] { return bench.clock; };
  options.at_least = base::hours{1};
  int passes = 0;
  options.pass = [&](const sched::View&, base::Time now) {
    sched::Plan plan;
    auto why = std::make_shared<sched::Verdict>();
    why->kind = sched::Verdict::Kind::not_now;
    why->rungs.resize(2);
    if (passes++ == 0) why->rungs[1].opens = now + base::milliseconds{20};
    plan.forecasts.push_back({base::JobId{1}, why, 0, 0, {}});
    return plan;
  };
  Planner planner(bench.loop, bench.controller->ledger(), options);
  bench.submit();  // somebody waits: there are no nodes
  planner.due();
  bench.turn_until([&] { return planner.counters().passes == 2; });
  bench.turns(20);
  CHECK(planner.counters().passes == 2);
}

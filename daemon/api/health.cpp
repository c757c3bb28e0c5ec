// Is it alive, is it of use, and the figures of both.
#include <fmt/format.h>

#include "daemon/api/api.hpp"
#include "daemon/api/handlers.hpp"
#include "http/problem.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

http::Response plain(int status, std::string text) {
  http::Response response;
  response.status = status;
  response.content_type = "text/plain";
  response.body = std::move(text);
  return response;
}

// One metric of the Prometheus text format, with its values.
class Metrics {
 public:
  void one(std::string_view name, std::string_view kind, std::string_view help, double value) {
    head(name, kind, help);
    line(name, {}, value);
  }
  void head(std::string_view name, std::string_view kind, std::string_view help) {
    out_ += fmt::format("# HELP switchyard_{} {}\n# TYPE switchyard_{} {}\n", name, help, name, kind);
  }
  void line(std::string_view name, std::string_view labels, double value) {
    out_ += labels.empty() ? fmt::format("switchyard_{} {}\n", name, value) : fmt::format("switchyard_{}{{{}}} {}\n", name, labels, value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void add_jobs(Metrics& m, const model::State& state) {
  std::size_t by_state[7] = {};
  by_state[static_cast<std::size_t>(model::JobState::pending)] = state.waiting.size();
  for (const base::JobId id : state.live) ++by_state[static_cast<std::size_t>(state.jobs.at(id).state)];
  by_state[static_cast<std::size_t>(model::JobState::ended)] = state.ended_order.size();
  m.head("jobs", "gauge", "Jobs in memory by state.");
  for (std::size_t i = 0; i < 7; ++i)
    m.line("jobs", fmt::format("state=\"{}\"", model::state_name(static_cast<model::JobState>(i))), static_cast<double>(by_state[i]));
}

void add_nodes(Metrics& m, const model::State& state) {
  std::map<std::string, std::size_t> by_state;
  std::int64_t total = 0, held = 0;
  for (const model::Node& node : state.nodes) {
    if (node.removed) continue;
    ++by_state[std::string(model::node_state_name(node))];
    total += node.total.cpus.value;
    held += node.held.cpus.value;
  }
  m.head("nodes", "gauge", "Nodes by state.");
  for (const auto& [name, count] : by_state) m.line("nodes", fmt::format("state=\"{}\"", name), static_cast<double>(count));
  m.one("cpus", "gauge", "CPUs of all nodes.", static_cast<double>(total) / 1000);
  m.one("cpus_held", "gauge", "CPUs held by jobs.", static_cast<double>(held) / 1000);
}

void add_ledger(Metrics& m, const Ledger::Counters& c) {
  m.one("commands_total", "counter", "Commands decided.", static_cast<double>(c.commands));
  m.one("commands_refused_total", "counter", "Commands refused.", static_cast<double>(c.refused));
  m.one("events_total", "counter", "Facts since the start.", static_cast<double>(c.events));
  m.one("commits_total", "counter", "Transactions on disk.", static_cast<double>(c.commits));
  m.one("commits_failed_total", "counter", "Transactions that failed.", static_cast<double>(c.failed_commits));
  m.one("commit_seconds_total", "counter", "Time spent in commits.", c.commit_seconds);
  m.one("replies_waiting", "gauge", "Replies that wait for a commit.", static_cast<double>(c.waiting));
}

void add_passes(Metrics& m, const Planner::Counters& c, const sched::Plan& plan) {
  m.one("passes_total", "counter", "Scheduling passes.", static_cast<double>(c.passes));
  m.one("pass_seconds_total", "counter", "Time spent in scheduling passes.", c.all_seconds);
  m.one("pass_last_seconds", "gauge", "Time of the last scheduling pass.", c.last_seconds);
  m.one("pass_starts_total", "counter", "Starts that passes proposed.", static_cast<double>(c.starts));
  m.one("pass_plans_dropped_total", "counter", "Plans that could not be applied.", static_cast<double>(c.dropped_plans));
  m.one("pass_jobs_looked_at_total", "counter", "Jobs looked at by passes.", static_cast<double>(c.jobs_looked_at));
  m.one("forecasts", "gauge", "Waiting jobs with a forecast.", static_cast<double>(plan.forecasts.size()));
}

void add_api(Metrics& m, const Api::Counters& c, const http::ServerCounters& s, std::size_t polls) {
  m.head("http_requests_total", "counter", "Answers by class of status.");
  for (int i = 1; i < 6; ++i) m.line("http_requests_total", fmt::format("class=\"{}xx\"", i), static_cast<double>(c.by_class[i]));
  m.one("http_refused_access_total", "counter", "Requests refused for who asked.", static_cast<double>(c.refused_access));
  m.one("http_limited_total", "counter", "Requests refused for their rate.", static_cast<double>(c.limited));
  m.one("http_repeated_total", "counter", "Requests answered by their idempotency key.", static_cast<double>(c.repeated));
  m.one("http_connections", "gauge", "Open connections.", static_cast<double>(s.open));
  m.one("http_connections_idle", "gauge", "Open connections without a request.", static_cast<double>(s.idle));
  m.one("http_connections_total", "counter", "Connections accepted.", static_cast<double>(s.accepted));
  m.one("http_malformed_total", "counter", "Requests that were no HTTP or too large.", static_cast<double>(s.malformed));
  m.one("http_timed_out_total", "counter", "Connections closed for taking too long.", static_cast<double>(s.timed_out));
  m.one("long_polls", "gauge", "Requests that wait for a job.", static_cast<double>(polls));
}
}  // namespace

void livez(const CallPtr& call) { call->reply_at_once(plain(200, "ok\n")); }

// Alive is not enough (design D6).
void readyz(const CallPtr& call) {
  if (const auto& fault = call->controller.ledger().fault()) return call->reply_at_once(http::problem(*fault));
  if (call->controller.draining())
    return call->reply_at_once(http::problem({Code::unavailable, "the controller is shutting down", {}, {}, {}, {}}));
  if (!call->controller.planner().in_time())
    return call->reply_at_once(http::problem({Code::unavailable, "a scheduling pass is due and has not finished in time", {}, {}, {}, {}}));
  call->reply_at_once(plain(200, "ready\n"));
}

void metrics(const CallPtr& call) {
  Metrics m;
  Controller& c = call->controller;
  m.one("ready", "gauge", "1 when commits succeed and scheduling passes end in time.",
        !c.ledger().fault() && c.planner().in_time() ? 1 : 0);
  m.one("epoch", "gauge", "Term of this controller.", static_cast<double>(c.state().epoch));
  m.one("sequence", "counter", "Number of the last fact on disk.", static_cast<double>(c.ledger().committed().value));
  m.one("store_faults", "gauge", "Damage found in the state file after the start.", static_cast<double>(c.store_faults()));
  add_jobs(m, c.state());
  add_nodes(m, c.state());
  add_ledger(m, c.ledger().counters());
  add_passes(m, c.planner().counters(), *c.planner().plan());
  add_api(m, call->api.counters(), call->api.server_counters(), call->api.long_polls().size());
  const EffectRunner::Counters effects = c.effects().counters();
  m.one("agent_requests_total", "counter", "Requests to agents.", static_cast<double>(effects.sent));
  m.one("agent_requests_failed_total", "counter", "Requests to agents that failed.", static_cast<double>(effects.failed));
  m.one("launches_total", "counter", "Launches sent.", static_cast<double>(effects.launches));
  http::Response response = plain(200, m.take());
  response.content_type = "text/plain; version=0.0.4";
  call->reply_at_once(std::move(response));
}

}  // namespace sy::daemon::handlers

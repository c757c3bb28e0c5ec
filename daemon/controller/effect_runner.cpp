#include "daemon/controller/effect_runner.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/controller/launch_message.hpp"
#include "daemon/runtime/crypto.hpp"
#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {
constexpr int signal_tries = 4;

enum Kind : std::size_t { kind_launch, kind_end, kind_signal, kind_limit };

bool is_success(const http::Response& response) { return response.status >= 200 && response.status < 300; }

std::string text_member(const std::string& body, const char* name) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return {};
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
}
}  // namespace

EffectRunner::EffectRunner(http::Loop& loop, Ledger& ledger, AgentLink& link, BlobCache& blobs, UserCache& users, Options options)
    : loop_(loop), ledger_(ledger), link_(link), blobs_(blobs), users_(users), options_(std::move(options)) {}

EffectRunner::~EffectRunner() { *alive_ = false; }

void EffectRunner::set_hooks(std::string prolog, std::string epilog) {
  options_.prolog = std::move(prolog);
  options_.epilog = std::move(epilog);
}

EffectRunner::Lane& EffectRunner::lane(base::NodeIndex node) {
  auto& place = lanes_[node];
  if (!place) place = std::make_unique<Lane>(loop_);
  return *place;
}

bool EffectRunner::reachable(base::NodeIndex node) const {
  const auto& nodes = ledger_.state().nodes;
  return node.value < nodes.size() && !nodes[node.value].removed && nodes[node.value].contact == model::Contact::up &&
         nodes[node.value].port != 0;
}

void EffectRunner::run(const std::vector<core::Effect>& effects) {
  for (const core::Effect& effect : effects) start(effect);
}

void EffectRunner::run_all_pending() {
  lanes_.clear();
  run_committed(core::pending_effects(ledger_.state()));
}

void EffectRunner::run_pending(base::NodeIndex node) { run_committed(core::pending_effects(ledger_.state(), node)); }

// State may be ahead of the disk: what is derived from it waits like everything else.
void EffectRunner::run_committed(std::vector<core::Effect> effects) {
  ledger_.when_committed(ledger_.state().sequence, [this, effects = std::move(effects)](const base::Error* failed) {
    if (failed == nullptr) run(effects);
  });
}

void EffectRunner::start(const core::Effect& effect) {
  if (const auto* fence = std::get_if<core::RunFenceProgram>(&effect)) {
    if (options_.fence) options_.fence(fence->node);
    return;
  }
  // The answer to the agent's own report says it already, and agents repeat reports until they have it.
  if (std::holds_alternative<core::ForgetOnNode>(effect)) return;
  const base::NodeIndex node = std::visit([](const auto& e) { return e.node; }, effect);
  if (!reachable(node)) return;  // it is due again when the node is heard
  Lane& l = lane(node);
  if (const auto* s = std::get_if<core::SignalOnNode>(&effect)) {
    if (l.resting) l.signals.emplace_back(*s, signal_tries);
    else signal(*s, signal_tries);
    return;
  }
  if (l.resting) return;         // it is due again after the pause
  if (const auto* e = std::get_if<core::LaunchOnNode>(&effect)) launch(*e);
  else if (const auto* e2 = std::get_if<core::EndOnNode>(&effect)) end(*e2);
  else if (const auto* e3 = std::get_if<core::SetTimeLimitOnNode>(&effect)) time_limit(*e3);
}

template <class Message>
Message EffectRunner::capability(base::JobId job, base::AttemptNumber attempt, const model::Node& node) const {
  Message m;
  m.job = job;
  m.attempt = attempt;
  m.epoch = ledger_.state().epoch;
  m.node = node.name;
  m.expires = options_.now() + options_.capability_life;
  m.nonce = random_hex(16);
  return m;
}

// Which rank this node has in the attempt, if it still has to be launched there.
std::optional<std::size_t> EffectRunner::rank_to_launch(const core::LaunchOnNode& e) const {
  const model::Job* job = ledger_.state().find_job(e.job);
  if (job == nullptr || !job->attempt || job->attempt->number != e.attempt) return std::nullopt;
  const auto& nodes = job->attempt->nodes;
  const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const model::NodeGrant& g) { return g.node == e.node; });
  if (at == nodes.end() || at->phase != model::NodePhase::launching || job->attempt->ending_as != model::Outcome::none) return std::nullopt;
  return static_cast<std::size_t>(at - nodes.begin());
}

void EffectRunner::launch(const core::LaunchOnNode& e) {
  const Key key{kind_launch, e.job.value, e.attempt.value};
  if (lane(e.node).under_way.count(key) != 0 || !rank_to_launch(e)) return;
  const model::Job& job = *ledger_.state().find_job(e.job);
  lane(e.node).under_way.insert(key);
  ++counters_.launches;
  const std::uint64_t generation = ledger_.generation();
  const auto still = [this, e, key, generation] {
    if (generation == ledger_.generation() && rank_to_launch(e) && reachable(e.node)) return true;
    lane(e.node).under_way.erase(key);
    return false;
  };
  users_.find(job.uid, job.gid, [this, e, still, script = job.script_digest.text(), environment = job.env_digest.text()](const User&) {
    if (!still()) return;
    if (!e.lead) {
      launch_with(e, {}, {});
      return;
    }
    blobs_.get(script, [this, e, still, environment](const BlobText& script_text) {
      if (!still()) return;
      if (!script_text) log_error("job {} has no script in the store", e.job.value);
      blobs_.get(environment, [this, e, still, script_text](const BlobText& environment_text) {
        if (still()) launch_with(e, script_text, environment_text);
      });
    });
  });
}

void EffectRunner::launch_with(const core::LaunchOnNode& e, const BlobText& script, const BlobText& environment) {
  const model::State& state = ledger_.state();
  const model::Job& job = *state.find_job(e.job);
  const model::Node& node = state.nodes[e.node.value];
  const User* user = users_.known(job.uid);
  wire::LaunchMessage m = make_launch(state, job, *rank_to_launch(e), user != nullptr ? user->gids : std::vector<base::Gid>{});
  static_cast<wire::Capability&>(m) = capability<wire::Capability>(e.job, e.attempt, node);
  m.prolog = options_.prolog;
  m.epilog = options_.epilog;
  if (script) m.script_base64 = to_base64(*script);
  if (environment) m.environment = split_environment(*environment);
  send(node, {kind_launch, e.job.value, e.attempt.value}, "/v1/launch", wire::message_text(m), [this, e](const http::Response& response) {
    if (is_success(response)) return true;
    if (text_member(response.body, "blame").empty()) return false;
    refused(e, response);
    return true;
  });
}

// The agent has judged: trying again is the core's decision, not ours.
void EffectRunner::refused(const core::LaunchOnNode& e, const http::Response& response) {
  ++counters_.refused;
  core::ReportAttempt report;
  report.node = e.node;
  report.job = e.job;
  report.attempt = e.attempt;
  report.what = core::ReportAttempt::What::refused;
  report.blame = text_member(response.body, "blame") == "job" ? core::ReportAttempt::Blame::job : core::ReportAttempt::Blame::node;
  report.reason = text_member(response.body, "detail");
  report.at = options_.now();
  model::Principal who;
  who.role = model::Role::agent;
  who.node = ledger_.state().nodes[e.node.value].name;
  const auto outcome = ledger_.execute(who, std::move(report));
  if (!outcome.reply)
    log_warning("node {} refused job {}, and that could not be noted: {}", who.node, e.job.value, base::to_text(outcome.reply.error()));
}

void EffectRunner::end(const core::EndOnNode& e) {
  const model::Node& node = ledger_.state().nodes[e.node.value];
  auto m = capability<wire::EndMessage>(e.job, e.attempt, node);
  m.grace = e.grace;
  if (const model::Job* job = ledger_.state().find_job(e.job); job != nullptr && job->attempt) m.why = job->attempt->why_ending;
  send(node, {kind_end, e.job.value, e.attempt.value}, "/v1/end", wire::message_text(m), is_success);
}

void EffectRunner::signal(const core::SignalOnNode& e, int tries) {
  if (!reachable(e.node)) return;
  const model::Node& node = ledger_.state().nodes[e.node.value];
  auto m = capability<wire::SignalMessage>(e.job, e.attempt, node);
  m.signal = e.signal;
  m.batch_only = e.batch_only;
  m.whole_job = e.whole_job;
  // Signals are not merged: a script may count them. The nonce makes each its own.
  const Key key{kind_signal + (++signals_sent_ << 8U), e.job.value, e.attempt.value};
  const auto judge = [](const http::Response& response) {
    return is_success(response) || response.status == 404 || response.status == 409;
  };
  send(node, key, "/v1/signal", wire::message_text(m), judge, [this, e, tries] {
    if (tries > 1) lane(e.node).signals.emplace_back(e, tries - 1);
    else log_warning("signal {} for job {} could not be delivered", e.signal, e.job.value);
  });
}

void EffectRunner::time_limit(const core::SetTimeLimitOnNode& e) {
  const model::Node& node = ledger_.state().nodes[e.node.value];
  auto m = capability<wire::TimeLimitMessage>(e.job, e.attempt, node);
  if (e.limit != base::Duration::max()) m.time_limit = e.limit;
  const auto judge = [](const http::Response& response) { return is_success(response) || response.status == 404; };
  send(node, {kind_limit, e.job.value, e.attempt.value}, "/v1/time-limit", wire::message_text(m), judge);
}

void EffectRunner::send(const model::Node& node, Key key, const char* target, std::string body,
                        std::function<bool(const http::Response&)> judge, std::function<void()> given_up) {
  if (!lane(node.index).under_way.insert(key).second && std::get<0>(key) != kind_launch) return;  // a launch is noted beforehand
  ++counters_.sent;
  link_.post(node, target, std::move(body),
             [this, alive = alive_, index = node.index, key, target, judge = std::move(judge),
              given_up = std::move(given_up)](base::Result<http::Response> answer) {
               if (!*alive) return;
               Lane& l = lane(index);
               l.under_way.erase(key);
               if (answer && judge(*answer)) {
                 l.pause = {};
                 return;
               }
               ++counters_.failed;
               if (given_up) given_up();
               rest(index,
                    std::string(target) + ": " +
                        (answer ? std::to_string(answer->status) + " " + text_member(answer->body, "detail") : answer.error().message));
             });
}

void EffectRunner::rest(base::NodeIndex node, const std::string& why) {
  Lane& l = lane(node);
  if (l.resting) return;
  if (ledger_.state().nodes.size() > node.value) log_warning("node {}: {}", ledger_.state().nodes[node.value].name, why);
  l.pause = l.pause == base::Duration{} ? options_.first_pause : std::min(l.pause * 2, options_.longest_pause);
  l.resting = true;
  l.retry.start(l.pause, [this, node] {
    Lane& again = lane(node);
    again.resting = false;
    if (!reachable(node)) {
      again.signals.clear();
      again.pause = {};
      return;
    }
    for (const auto& [effect, tries] : std::exchange(again.signals, {})) signal(effect, tries);
    run_pending(node);
  });
}

EffectRunner::Counters EffectRunner::counters() const {
  Counters counters = counters_;
  for (const auto& [node, l] : lanes_) counters.under_way += l->under_way.size();
  return counters;
}

}  // namespace sy::daemon

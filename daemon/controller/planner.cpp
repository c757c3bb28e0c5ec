#include "daemon/controller/planner.hpp"

#include <algorithm>

#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {
model::Principal ourselves() {
  model::Principal who;
  who.role = model::Role::system;
  who.user = "switchyard";
  return who;
}

// Facts after which another job may start, or the reason why one waits may be another.
bool asks_for_a_pass(const core::Fact& fact) {
  return !std::holds_alternative<core::PlanApplied>(fact) && !std::holds_alternative<core::JobStarted>(fact) &&
         !std::holds_alternative<core::NodeAccepted>(fact) && !std::holds_alternative<core::ScriptStarted>(fact) &&
         !std::holds_alternative<core::ScriptEnded>(fact) && !std::holds_alternative<core::SignalSent>(fact) &&
         !std::holds_alternative<core::EndAsked>(fact) && !std::holds_alternative<core::JobForgotten>(fact) &&
         !std::holds_alternative<core::EnrolTokenIssued>(fact) && !std::holds_alternative<core::EpochBegan>(fact);
}
}  // namespace

Planner::Planner(http::Loop& loop, Ledger& ledger, Options options)
    : ledger_(ledger), options_(std::move(options)), plan_(std::make_shared<sched::Plan>()), soon_(loop), later_(loop), thread_(loop) {}

void Planner::changed(const std::vector<core::Event>& events) {
  if (std::any_of(events.begin(), events.end(), [](const core::Event& e) { return asks_for_a_pass(e.fact); })) due();
}

void Planner::reloaded() {
  plan_ = std::make_shared<sched::Plan>();
  due();
}

void Planner::pause(bool paused) {
  paused_ = paused;
  if (!paused) due();
}

void Planner::due() {
  if (!due_) due_since_ = monotonic_now();
  due_ = true;
  if (running_ || paused_ || soon_.running()) return;
  soon_.start(options_.coalesce, [this] { start_pass(); });
}

void Planner::start_pass() {
  if (paused_ || running_ || ledger_.fault()) return;
  due_ = false;
  running_ = true;
  running_since_ = due_since_;
  const model::State& state = ledger_.state();
  auto view = std::make_shared<sched::View>(sched::make_view(state, state.shape ? state.shape : model::make_shape(state)));
  auto plan = std::make_shared<sched::Plan>();
  auto seconds = std::make_shared<double>();
  const base::Time now = options_.now();
  thread_.run(
      [this, view, plan, seconds, now] {
        const Monotonic begin = monotonic_now();
        *plan = options_.pass(*view, now);
        *seconds = std::chrono::duration<double>(monotonic_now() - begin).count();
      },
      [this, plan, seconds, generation = ledger_.generation()] { finished(generation, plan, *seconds); });
}

void Planner::finished(std::uint64_t generation, std::shared_ptr<sched::Plan> plan, double seconds) {
  running_ = false;
  ++counters_.passes;
  counters_.last_seconds = seconds;
  counters_.all_seconds += seconds;
  counters_.jobs_looked_at += plan->jobs_looked_at;
  counters_.nodes_looked_at += plan->nodes_looked_at;
  if (generation != ledger_.generation() || ledger_.fault()) {
    ++counters_.dropped_plans;
  } else {
    core::ApplyPlan apply{plan->snapshot, plan->policy_version, {}};
    for (sched::Start& start : plan->starts) apply.starts.push_back({start.job, std::move(start.partition), std::move(start.nodes)});
    plan->starts.clear();
    plan_ = std::move(plan);
    if (!apply.starts.empty()) {
      counters_.starts += apply.starts.size();
      const auto outcome = ledger_.execute(ourselves(), std::move(apply));
      if (!outcome.reply) {
        log_warning("a plan could not be applied: {}", base::to_text(outcome.reply.error()));
        ++counters_.dropped_plans;
      }
    }
  }
  if (due_) due();
  else sleep_until_next();
}

// Time alone makes jobs eligible, opens rungs and ends causes.
void Planner::sleep_until_next() {
  const model::State& state = ledger_.state();
  if (state.waiting.empty()) return;
  const base::Time now = options_.now();
  base::Duration pause = options_.at_least;
  for (const auto& [id, forecast] : plan_->forecasts)
    if (forecast.why.until && *forecast.why.until > now)
      pause = std::min(pause, *forecast.why.until - now + base::Duration{std::chrono::milliseconds{1}});
  later_.start(pause, [this] { due(); });
}

bool Planner::in_time() const {
  const Monotonic now = monotonic_now();
  return paused_ || ((!due_ || now - due_since_ < options_.in_time) && (!running_ || now - running_since_ < options_.in_time));
}

}  // namespace sy::daemon

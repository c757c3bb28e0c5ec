#include "daemon/controller/planner.hpp"

#include <algorithm>
#include <utility>

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
  image_.follow(ledger_.state(), events);
  if (std::any_of(events.begin(), events.end(), [](const core::Event& e) { return asks_for_a_pass(e.fact); })) due();
}

void Planner::reloaded() {
  plan_ = std::make_shared<sched::Plan>();
  image_.reset();
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
  const auto rest = std::chrono::ceil<base::Duration>(next_ - monotonic_now());
  soon_.start(std::max(rest, base::Duration::zero()), [this] { start_pass(); });
}

void Planner::start_pass() {
  if (paused_ || running_ || ledger_.fault()) return;
  due_ = false;
  running_ = true;
  running_since_ = due_since_;
  const Monotonic begin_view = monotonic_now();
  auto view = std::make_shared<sched::View>(image_.view(ledger_.state()));
  const double view_seconds = std::chrono::duration<double>(monotonic_now() - begin_view).count();
  auto plan = std::make_shared<sched::Plan>();
  auto seconds = std::make_shared<double>();
  auto until = std::make_shared<std::optional<base::Time>>();
  const base::Time now = options_.now();
  view->thorough = begin_view - thorough_at_ >= options_.thorough;
  if (view->thorough) thorough_at_ = begin_view;
  thread_.run(
      [this, view, plan, seconds, until, now] {
        const Monotonic begin = monotonic_now();
        *plan = options_.pass(*view, now);
        const sched::Verdict* last = nullptr;  // forecasts share theirs, in runs
        const auto soonest = [&](const std::optional<base::Time>& at) {
          if (at && *at > now) *until = std::min(until->value_or(*at), *at);
        };
        for (const auto& forecast : plan->forecasts) {
          if (forecast.why.get() == std::exchange(last, forecast.why.get())) continue;
          soonest(last->until);
          for (const auto& rung : last->rungs) soonest(rung.opens);
        }
        *seconds = std::chrono::duration<double>(monotonic_now() - begin).count();
      },
      [this, plan, seconds, until, view_seconds, generation = ledger_.generation()] {
        rest_after(view_seconds, *seconds);
        next_change_ = *until;
        finished(generation, plan, *seconds);
      });
}

// Under a stream of changes, images and passes take at most a ninth of a processor each: the rest serves requests.
void Planner::rest_after(double view_seconds, double pass_seconds) {
  const std::chrono::duration<double> rest{8 * std::max(view_seconds, pass_seconds)};
  next_ = monotonic_now() + std::clamp(std::chrono::duration_cast<base::Duration>(rest), options_.coalesce, options_.longest_rest);
}

void Planner::finished(std::uint64_t generation, std::shared_ptr<sched::Plan> plan, double seconds) {
  running_ = false;
  const bool look_again = plan->look_again;
  ++counters_.passes;
  counters_.last_seconds = seconds;
  counters_.all_seconds += seconds;
  counters_.jobs_looked_at += plan->jobs_looked_at;
  counters_.nodes_looked_at += plan->nodes_looked_at;
  if (generation != ledger_.generation() || ledger_.fault()) {
    ++counters_.dropped_plans;
  } else {
    core::ApplyPlan apply{plan->snapshot, plan->policy_version, {}};
    for (sched::Start& start : plan->starts)
      apply.starts.push_back({start.job, std::move(start.partition), std::move(start.nodes), std::move(start.placement)});
    plan->starts.clear();
    thread_.run([old = std::exchange(plan_, std::move(plan))] {}, nullptr);  // a long plan takes its time to be destroyed: not on the loop
    if (!apply.starts.empty()) {
      counters_.starts += apply.starts.size();
      const auto outcome = ledger_.execute(ourselves(), std::move(apply));
      if (!outcome.reply) {
        log_warning("a plan could not be applied: {}", base::to_text(outcome.reply.error()));
        ++counters_.dropped_plans;
      }
    }
  }
  search_ended_ = plan_->search_ended;
  if (due_ || look_again) due();
  else sleep_until_next();
}

// Time alone makes jobs eligible, opens rungs and ends causes.
void Planner::sleep_until_next() {
  const model::State& state = ledger_.state();
  if (state.waiting.empty()) return;
  const base::Time now = options_.now();
  base::Duration pause = options_.at_least;
  if (next_change_ && *next_change_ > now) pause = std::min(pause, *next_change_ - now + base::Duration{std::chrono::milliseconds{1}});
  if (search_ended_)
    pause =
        std::min(pause, std::max(std::chrono::ceil<base::Duration>(thorough_at_ + options_.thorough - monotonic_now()), base::Duration{}));
  later_.start(pause, [this] { due(); });
}

bool Planner::in_time() const {
  const Monotonic now = monotonic_now();
  return paused_ || ((!due_ || now - due_since_ < options_.in_time) && (!running_ || now - running_since_ < options_.in_time));
}

}  // namespace sy::daemon

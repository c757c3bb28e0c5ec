#include "core/attempt.hpp"
#include "core/react/due.hpp"
#include "core/step.hpp"

namespace sy::core {

namespace {

struct Reaction {
  const State& state;
  std::vector<Effect>& out;

  void due_for_job(JobId id) const {
    if (const Job* job = state.find_job(id)) effects_due(state, *job, out);
  }

  void operator()(const JobStarted& f) const { due_for_job(f.job); }
  // Only the last member's answer makes anything due: the lead's launch.
  void operator()(const NodeAccepted& f) const {
    if (const Job* job = state.find_job(f.job)) launches_due(state, *job, out, /*lead_only=*/true);
  }
  void operator()(const EndAsked& f) const { due_for_job(f.job); }
  void operator()(const ScriptEnded& f) const { due_for_job(f.job); }
  void operator()(const TimeLimitChanged& f) const { due_for_job(f.job); }
  void operator()(const NodeCleared& f) const {
    if (!f.fenced) out.push_back(ForgetOnNode{f.job, f.attempt, f.node});
    // A member that is gone no longer keeps the lead waiting.
    if (const Job* job = state.find_job(f.job)) launches_due(state, *job, out, /*lead_only=*/true);
  }
  void operator()(const SignalSent& f) const {
    const Job* job = state.find_job(f.job);
    if (job == nullptr || !is_live(*job) || job->attempt->number != f.attempt) return;
    for (const auto& g : job->attempt->nodes)
      if (can_hear(state, g) && (!f.batch_only || is_lead(*job->attempt, g.node)))
        out.push_back(SignalOnNode{f.job, f.attempt, g.node, f.signal, f.batch_only, f.whole_job});
  }
  void operator()(const NodeContactChanged& f) const { node_effects_due(state, f.node, out); }
  void operator()(const NodeRegistered& f) const { node_effects_due(state, f.what.node, out); }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::vector<Effect> react(const State& state, const std::vector<Event>& events) {
  std::vector<Effect> out;
  for (const auto& e : events) std::visit(Reaction{state, out}, e.fact);
  return out;
}

}  // namespace sy::core

#include <algorithm>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/node_loss.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {

using What = ReportAttempt::What;
using Blame = ReportAttempt::Blame;

struct Report {
  const State& state;
  const Asked& asked;
  const ReportAttempt& r;
  const Job& job;
  const Attempt& attempt;
  const NodeGrant& grant;
  const Node& node;
  Decision& d;

  bool lead() const { return is_lead(attempt, r.node); }
  // The node's clock, as long as it can be true: not before what came first, not in the future. A node whose clock is hours
  // off says nothing about when, so that the time of the report counts; a runtime is never negative.
  Time at() const {
    const Time first = attempt.started.value_or(attempt.planned_at);
    return r.at >= first && r.at <= asked.now ? r.at : std::max(asked.now, first);
  }
  void again_end_it() const { d.effects.push_back(EndOnNode{r.job, r.attempt, r.node, state.settings.kill_grace}); }
  void drain_if_blamed(const char* otherwise) const {
    if (r.blame == Blame::node && !node.drained)
      d.facts.push_back(NodeDrained{r.node, r.reason.empty() ? otherwise : r.reason, "switchyard", asked.now});
  }
  void ask_end(Outcome as, bool requeue, std::string why) const {
    d.facts.push_back(EndAsked{r.job, r.attempt, as, requeue, false, std::move(why), std::nullopt});
  }

  void accepted() const {
    if (is_ending(job)) again_end_it();
    else if (grant.phase == NodePhase::launching || grant.phase == NodePhase::unknown)
      d.facts.push_back(NodeAccepted{r.job, r.attempt, r.node});
  }

  // The node can not be trusted with the next job either: drained. The job is not tried again at once (settle: back-off).
  void refused() const {
    if (grant.phase == NodePhase::running) return again_end_it();
    const std::string why = "node " + node.name + " refused it: " + (r.reason.empty() ? "no reason given" : r.reason);
    if (r.exit && lead() && !attempt.exit) d.facts.push_back(ScriptEnded{r.job, r.attempt, *r.exit, at()});
    if (!is_ending(job)) {
      if (r.blame == Blame::job) ask_end(Outcome::failed, false, r.reason.empty() ? why : r.reason);
      else ask_end(Outcome::launch_failed, true, why);
    }
    drain_if_blamed("refused a launch");
    d.facts.push_back(NodeCleared{r.job, r.attempt, r.node, false});
  }

  void started() const {
    if (!lead() || attempt.started) return;
    if (is_ending(job)) again_end_it();
    d.facts.push_back(ScriptStarted{r.job, r.attempt, at()});
  }

  // Blamed on the node, for want of a controller: as if the node had failed, also when nobody had time to fence it.
  void end_as_exit_says() const {
    if (!lead() || attempt.exit) return;
    if (r.what == What::script_ended && r.blame == Blame::node) end_for_node(job, node, r.reason, d.facts);
    d.facts.push_back(ScriptEnded{r.job, r.attempt, r.exit.value_or(ExitRecord{}), at()});
  }
  void script_ended() const { end_as_exit_says(); }

  void cleared() const {
    const bool exit_known = attempt.exit || (r.exit && lead());
    if (r.exit) end_as_exit_says();
    if (!is_ending(job) && !exit_known) {
      if (lead()) ask_end(Outcome::failed, false, "node " + node.name + " kept no record of how the script ended");
      else end_for_node(job, node, "node " + node.name + " no longer holds its part of the job", d.facts);
    }
    drain_if_blamed("failed to clean up after a job");
    d.facts.push_back(NodeCleared{r.job, r.attempt, r.node, false});
  }
};

// A report about an attempt that is not live here: of an earlier attempt, a repeated one, or one from a future that a
// restore from backup took away. It changes no job. Done ones may be forgotten, others must not run.
Decision late(const State& state, const ReportAttempt& r) {
  Decision d;
  d.reply.job = r.job;
  if (r.job >= state.next_job_id) d.facts.push_back(EpochBegan{state.epoch, r.job.value + 1});
  if (r.what == What::cleared || r.what == What::refused) d.effects.push_back(ForgetOnNode{r.job, r.attempt, r.node});
  else d.effects.push_back(EndOnNode{r.job, r.attempt, r.node, state.settings.kill_grace});
  return d;
}

}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const ReportAttempt& action) {
  auto node = node_itself(state, asked.who, action.node);
  if (!node) return fail(node.error());
  if (action.job.value == 0 || action.attempt.value == 0)
    return fail(Code::invalid_argument, "a report names a job and an attempt", "attempt");
  const NodeGrant* grant = live_grant(state, action.job, action.attempt, action.node);
  if (grant == nullptr) return late(state, action);
  Decision d;
  d.reply.job = action.job;
  const Job& job = state.jobs.at(action.job);
  const Report report{state, asked, action, job, *job.attempt, *grant, **node, d};
  switch (action.what) {
    case What::accepted: report.accepted(); break;
    case What::refused: report.refused(); break;
    case What::started: report.started(); break;
    case What::script_ended: report.script_ended(); break;
    case What::cleared: report.cleared(); break;
  }
  return d;
}

}  // namespace sy::core::verbs

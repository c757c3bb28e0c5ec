#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
// Supervisors enforce the limit; this is for one that does not. It leaves them grace and a minute first.
constexpr Duration patience = std::chrono::seconds{60};
constexpr std::size_t forget_at_once = 10'000;

bool is_overdue(const Job& job, const Settings& s, Time now) {
  const Attempt& a = *job.attempt;
  if (standing(job) != JobState::running || !a.started || a.time_limit == Duration::max()) return false;
  return now - *a.started > a.time_limit + s.overtime + s.kill_grace + patience;
}
}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const AdvanceTime&) {
  if (asked.who.role != Role::system) return fail(Code::forbidden, "only the controller advances time");
  Decision d;
  for (const auto& [ended, id] : state.ended_order) {
    if (ended + state.settings.keep_ended > asked.now || d.facts.size() >= forget_at_once) break;
    d.facts.push_back(JobForgotten{id});
  }
  for (auto id : state.live) {
    const Job& job = state.jobs.at(id);
    if (is_overdue(job, state.settings, asked.now))
      d.facts.push_back(EndAsked{id, job.attempt->number, Outcome::timeout, false, false, "reached its time limit", std::nullopt});
  }
  return d;
}

}  // namespace sy::core::verbs

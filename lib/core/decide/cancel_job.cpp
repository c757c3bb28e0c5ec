#include <fmt/format.h>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

// Waiting: ends at once. Live, lost included: every node is told, and the job ends when all are clear. Asked again: the
// same answer and no new fact. A requeue that was under way is called off.
Result<Decision> decide(const State& state, const Asked& asked, const CancelJob& action) {
  auto job = own_job(state, asked.who, action.job, "cancel");
  if (!job) return fail(job.error());
  const Job& j = **job;
  Decision d;
  d.reply.job = j.id;
  const std::string why = "cancelled by " + describe(asked.who);
  switch (j.state) {
    case JobState::pending: d.facts.push_back(JobEnded{j.id, Outcome::cancelled, asked.now, why}); break;
    case JobState::ended:
      return fail(Code::conflict, fmt::format("job {} has ended already", j.id.value), "job", std::to_string(j.id.value));
    case JobState::starting:
    case JobState::running:
    case JobState::suspended:
    case JobState::ending:
    case JobState::lost:
      if (!is_ending(j) || j.attempt->requeue_after)
        d.facts.push_back(EndAsked{j.id, j.attempt->number, Outcome::cancelled, false, false, why, asked.who.uid});
      break;
  }
  return d;
}

}  // namespace sy::core::verbs

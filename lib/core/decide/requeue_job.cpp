#include <fmt/format.h>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

// A live job is ended first and waits again only when every node is clear or fenced (design D3); an ended one waits at once.
Result<Decision> decide(const State& state, const Asked& asked, const RequeueJob& action) {
  auto job = own_job(state, asked.who, action.job, "requeue");
  if (!job) return fail(job.error());
  const Job& j = **job;
  const std::string id = std::to_string(j.id.value);
  if (!j.spec->requeue)
    return fail(Code::conflict, fmt::format("job {} was submitted with --no-requeue", id), "job", id, "submit it again");
  const std::string why = "requeued by " + describe(asked.who);
  Decision d;
  d.reply.job = j.id;
  if (j.state == JobState::pending) return fail(Code::conflict, fmt::format("job {} is waiting already", id), "job", id);
  if (j.state == JobState::ended) {
    const bool by_admin = action.hold && asked.who.uid != j.uid;
    d.facts.push_back(JobRequeued{j.id, asked.now, action.hold && !by_admin, false, why});
    if (by_admin) d.facts.push_back(JobHeld{j.id, true, describe(asked.who)});
    return d;
  }
  if (is_ending(j)) {
    if (j.attempt->requeue_after) return d;
    return fail(Code::conflict, fmt::format("job {} is ending; requeue it when it has ended", id), "job", id);
  }
  d.facts.push_back(EndAsked{j.id, j.attempt->number, Outcome::cancelled, true, action.hold, why, asked.who.uid});
  return d;
}

}  // namespace sy::core::verbs

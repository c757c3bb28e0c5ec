#include <fmt/format.h>

#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
Result<const Job*> waiting_job(const State& state, const Asked& asked, JobId id, std::string_view verb) {
  auto job = own_job(state, asked.who, id, verb);
  if (job && (*job)->state != JobState::pending)
    return fail(Code::conflict, fmt::format("job {} is not waiting: only waiting jobs can be held or released", id.value), "job",
                std::to_string(id.value));
  return job;
}
}  // namespace

// An administrator's hold on somebody else's job can be taken away by administrators only; everybody's own hold is a user's.
Result<Decision> decide(const State& state, const Asked& asked, const HoldJob& action) {
  auto job = waiting_job(state, asked, action.job, "hold");
  if (!job) return fail(job.error());
  const bool by_admin = asked.who.is_administrator() && asked.who.uid != (*job)->uid;
  Decision d;
  d.reply.job = action.job;
  if (!(by_admin ? (*job)->held_by_admin : (*job)->held_by_user)) d.facts.push_back(JobHeld{action.job, by_admin, describe(asked.who)});
  return d;
}

Result<Decision> decide(const State& state, const Asked& asked, const ReleaseJob& action) {
  auto job = waiting_job(state, asked, action.job, "release");
  if (!job) return fail(job.error());
  if ((*job)->held_by_admin && !asked.who.is_administrator())
    return fail(Code::forbidden, fmt::format("job {} is held by an administrator, who must release it", action.job.value), "job",
                std::to_string(action.job.value));
  Decision d;
  d.reply.job = action.job;
  if ((*job)->held_by_user || (*job)->held_by_admin) d.facts.push_back(JobReleased{action.job});
  return d;
}

}  // namespace sy::core::verbs

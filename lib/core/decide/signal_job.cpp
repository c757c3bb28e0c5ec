#include <fmt/format.h>

#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

Result<Decision> decide(const State& state, const Asked& asked, const SignalJob& action) {
  auto job = own_job(state, asked.who, action.job, "signal");
  if (!job) return fail(job.error());
  if (action.signal < 1 || action.signal > 64)
    return fail(Error{Code::invalid_argument, "there is no such signal", "--signal", "1-64", std::to_string(action.signal),
                      "give a name such as USR1, or a number"});
  const Job& j = **job;
  if (j.state != JobState::running && j.state != JobState::suspended)
    return fail(Code::conflict, fmt::format("job {} is not running: there is nothing to signal", j.id.value), "job",
                std::to_string(j.id.value));
  Decision d;
  d.reply.job = j.id;
  d.facts.push_back(SignalSent{j.id, j.attempt->number, action.signal, action.batch_only, action.whole_job});
  return d;
}

}  // namespace sy::core::verbs

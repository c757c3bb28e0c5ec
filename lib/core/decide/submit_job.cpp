#include <fmt/format.h>

#include "core/decide/access.hpp"
#include "core/decide/check_spec.hpp"
#include "core/decide/verbs.hpp"
#include "model/annotation_names.hpp"

namespace sy::core::verbs {

namespace {

std::string not_enforced(const Annotations& a) {
  std::vector<std::string> given;
  for (const auto& [name, member] : model::annotation_names)
    if (!(a.*member).empty()) given.push_back(model::option_of_annotation(name));
  if (given.empty()) return {};
  return fmt::format("stored and shown, but not enforced by this release: {}", fmt::join(given, ", "));
}

Job make_job(const State& state, const Asked& asked, const SubmitJob& action, std::shared_ptr<const JobSpec> spec) {
  Job job;
  job.id = state.next_job_id;
  job.held_by_user = spec->hold;
  job.spec = std::move(spec);
  job.uid = asked.who.uid;
  job.gid = asked.who.gid;
  job.user = asked.who.user;
  job.group = asked.who.group;
  job.submitted = job.eligible = asked.now;
  job.script_digest = action.script_digest;
  job.env_digest = action.env_digest;
  return job;
}

}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const SubmitJob& action) {
  if (asked.who.role == Role::nobody || asked.who.role == Role::agent || asked.who.role == Role::system)
    return fail(Code::forbidden, "only users submit jobs");
  if (!action.spec) return fail(Code::invalid_argument, "the job has no description", "spec");
  if (state.jobs.size() >= state.settings.max_jobs)
    return fail(Error{Code::too_many, "the cluster holds as many jobs as it may", "jobs", std::to_string(state.settings.max_jobs),
                      std::to_string(state.jobs.size()), "try again when some have ended"});
  if (auto ok = check_spec(*action.spec, asked.who); !ok) return fail(ok.error());
  if (auto ok = check_jobs_named(state, *action.spec, asked.who.uid); !ok) return fail(ok.error());

  Decision d;
  auto partitions = resolve_partitions(state, asked.who, *action.spec, d.reply.warnings);
  if (!partitions) return fail(partitions.error());
  auto spec = action.spec;
  if (*partitions != spec->partitions) {
    auto resolved = std::make_shared<JobSpec>(*spec);
    resolved->partitions = std::move(*partitions);
    spec = std::move(resolved);
  }
  if (auto ok = check_possible(state, *spec, asked.who.uid, d.reply.warnings); !ok) return fail(ok.error());
  if (auto text = not_enforced(*spec->annotations); !text.empty()) d.reply.warnings.push_back(std::move(text));
  d.reply.job = state.next_job_id;
  if (!action.dry_run) d.facts.push_back(JobSubmitted{make_job(state, asked, action, std::move(spec))});
  return d;
}

}  // namespace sy::core::verbs

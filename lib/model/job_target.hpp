// Whom an affinity means when not a group of its own job: "job:12" one job, "job:train" all of that name, "job:self" all with the
// name of the job that asks; of the same user always. Not where these jobs are (sched/view.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_spec.hpp"

namespace sy::model {

struct JobTarget {
  std::optional<std::uint64_t> id;
  std::string_view name;               // where there is no id; empty: the asking job's own
};

// Nothing: it names a group (or no job: "job:").
std::optional<JobTarget> job_target(std::string_view);
// The targets in the group and all inside it that mean jobs, as written, each once. A group may not be called so.
std::vector<std::string> jobs_named_in(const Group&);
std::vector<std::string> jobs_avoided_in(const Group&);  // by anti-affinity only
bool names_jobs(const Group&);
// "job:self": the first of that name has nobody to be near to, and is free to choose.
bool means_own_name(std::string_view target);

}  // namespace sy::model

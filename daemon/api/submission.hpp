// The body of a submission taken apart and checked for form: spec, script, environment.
// Not whether the job can run here: core decides that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/job_spec.hpp"

namespace sy::daemon {

struct Submission {
  model::JobSpec spec;
  std::string script;
  std::vector<std::string> environment;
  bool dry_run{};
};

inline constexpr std::size_t max_environment_bytes = 2 * 1024 * 1024;
inline constexpr std::size_t max_environment_entry_bytes = 128 * 1024 - 1;  // what the kernel takes for one string

base::Result<Submission> read_submission(std::string_view body);

}  // namespace sy::daemon

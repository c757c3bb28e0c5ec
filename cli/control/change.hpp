// Key=Value words of `scontrol update` and `sy update` as the CHANGE of a job that the API takes (docs/api-v1.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sy::cli {

using Assignment = std::pair<std::string, std::string>;  // key as written, value

// "Key=value" → pair; a word without '=' is refused.
base::Result<std::vector<Assignment>> parse_assignments(const std::vector<std::string>& words);

struct JobChangeText {
  std::string body;        // JSON; empty when nothing but a hold or a release is asked for
  std::string time_step;   // "+30", "-10": added to the limit in force, which only the controller knows
  bool hold{}, release{};  // Priority=0
};
base::Result<JobChangeText> job_change(const std::vector<Assignment>&);

}  // namespace sy::cli

// Slurm's state names as people filter and sort by them, mapped to ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::cli {

// "PENDING,R,cancelled" → our names, as the API's `state=` takes them. "all": empty. States of Slurm's that can not occur
// here are left out; `none` is set when nothing is left. Unknown words: an Error that lists the known ones.
struct StateFilter {
  std::vector<std::string> ours;
  bool all{};
  bool none{};
};
base::Result<StateFilter> parse_states(std::string_view list);

inline constexpr std::string_view active_states = "pending,starting,running,suspended,ending,lost";

// Position in Slurm's order: pending, running, suspended, completed, …
int state_rank(std::string_view slurm_state);

}  // namespace sy::cli

// Filters that nothing can match because a name is mistyped: an empty list must not look like the answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/context.hpp"

namespace sy::cli {

// For a list of jobs that came back empty. The fault in Slurm's words ("Invalid user: ann"), where a user is not known on this machine
// or a partition not on this cluster; who_is_wrong: how this command says it of a user.
std::optional<std::string> mistyped_filter(Context&, std::string_view users, std::string_view partitions, std::string_view who_is_wrong);

}  // namespace sy::cli

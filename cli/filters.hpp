// Filters that commands share, and those that nothing can match because a name is mistyped, or means another cluster: an empty list
// must not look like the answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/option_table.hpp"
#include "base/result.hpp"
#include "cli/context.hpp"
#include "cli/json.hpp"

namespace sy::cli {

// For a list of jobs that came back empty. The fault in Slurm's words ("Invalid user: ann"), where a user is not known on this machine
// or a partition not on this cluster; who_is_wrong: how this command says it of a user.
std::optional<std::string> mistyped_filter(Context&, std::string_view users, std::string_view partitions, std::string_view who_is_wrong);

// A partition that a list leaves out unless all are asked for: hidden, or closed to the user.
bool is_kept_back(Json partition);

// What is meant for another cluster must not act on this one. `asked`: -M, else SLURM_CLUSTERS is read; this one's name, or "all".
// Returns this cluster's name where one was asked for, else "" without a question to the controller.
base::Result<std::string> this_cluster(Context&, std::string asked);

// --where NAME=VALUE of a command for people: a condition on what a submission was annotated with, as the API takes it.
struct WhereOption {
  std::string where;  // "&hint=nomultithread"
};
base::Result<void> add_where(WhereOption&, const base::GivenOption&);

}  // namespace sy::cli

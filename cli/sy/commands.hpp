// The subcommands of `sy` that speak to people: sentences, tables that fit, --json for everything.
// Submitting and cancelling are shared with sbatch and scancel.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/command_table.hpp"

namespace sy::cli {

int run_queue(Context&, const Words&);
int run_show(Context&, const Words&);
int run_update(Context&, const Words&);
int run_hold(Context&, const Words&);
int run_release(Context&, const Words&);
int run_requeue(Context&, const Words&);
int run_nodes(Context&, const Words&);
int run_drain(Context&, const Words&);
int run_resume(Context&, const Words&);
int run_fence(Context&, const Words&);
int run_node(Context&, const Words&);
int run_history(Context&, const Words&);

// "sy queue: error: …" on standard error; exit code 1.
int complain_to_people(Context&, const base::Error&);
int complain_to_people(Context&, std::string_view);

}  // namespace sy::cli

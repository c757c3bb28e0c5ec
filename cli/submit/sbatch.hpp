// `sbatch` and `sy submit`: collect, send, report; --wait and --test-only.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {
int run_sbatch(Context&, const Words&);
int run_submit(Context&, const Words&);
}  // namespace sy::cli

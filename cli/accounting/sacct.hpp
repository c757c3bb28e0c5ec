// `sacct`: what jobs used, in Slurm's formats.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {
int run_sacct(Context&, const Words&);
}

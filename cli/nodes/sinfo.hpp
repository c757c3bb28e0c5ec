// `sinfo`: nodes and partitions in Slurm's formats.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {
int run_sinfo(Context&, const Words&);
}

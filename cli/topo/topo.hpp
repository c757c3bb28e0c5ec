// `sy topo`: the topology in force in the terminal, and everything that is done with topology files.
// Reading and building files: wire/topology. Placements without a daemon: cli/offline.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {

int run_topo(Context&, const Words&);

// One subcommand each; words: without its name.
int run_topo_view(Context&, const Words&);
int run_topo_show(Context&, const Words&);
int run_topo_check(Context&, const Words&);
int run_topo_import(Context&, const Words&);
int run_topo_export(Context&, const Words&);
int run_topo_try(Context&, const Words&);      // cli/offline
int run_topo_quality(Context&, const Words&);

}  // namespace sy::cli

// Slurm's topology.conf.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("slurm", input); }

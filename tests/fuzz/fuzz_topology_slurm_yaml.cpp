// Slurm's topology.yaml.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("slurm-yaml", input); }

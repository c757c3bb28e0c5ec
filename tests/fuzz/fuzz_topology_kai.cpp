// KAI's Topology resource over the cluster's labels.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("kai", input); }

// Volcano's HyperNodes, with patterns over node names.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("hypernode", input); }

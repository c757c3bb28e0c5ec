// Topograph's model and graph.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("topograph", input); }

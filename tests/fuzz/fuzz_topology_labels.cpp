// Node labels with an ordered list of keys.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("labels", input); }

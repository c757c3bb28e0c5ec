// The text of ibnetdiscover.
#include "fuzz/topology_import.hpp"

void sy::fuzz::fuzz_one(std::string_view input) { import_as("ibnetdiscover", input); }

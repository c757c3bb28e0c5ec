// Where the tests find the tree and the programs they start. Only paths.cpp knows the folder, so that nothing else is compiled anew
// in another checkout.
#pragma once

#include <string>

std::string source_dir();             // the checkout
std::string golden_dir();             // tests/golden
std::string supervisor_program();     // the built switchyard-supervisor

// What to_text leaves out: a verdict's rungs, a line each.
#pragma once

#include <string>
#include <vector>

#include "model/verdict.hpp"

namespace sy::model {

// "rack: r3 has 5 of 8, r1 has 4 of 8 (3 busy)"; the causes only where they differ from those of the whole.
std::vector<std::string> rung_lines(const Verdict&);

}  // namespace sy::model

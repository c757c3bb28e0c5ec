// `scancel` and `sy cancel`: end jobs or send them a signal, by id or by what they are.
#pragma once

#include "cli/command_table.hpp"

namespace sy::cli {
int run_scancel(Context&, const Words&);
}

// Names and numbers of signals as Linux knows them: "TERM", "SIGUSR1", "9".
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sy::base {
Result<int> parse_signal(std::string_view);   // any case, with or without SIG, or a number 1–64
std::string signal_name(int);                 // "SIGTERM"; "signal 42" when unnamed
}  // namespace sy::base

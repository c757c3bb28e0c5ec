// The two clocks of the machine: wall time for records and people, monotonic time for silence, leases and time-outs.
// Not for the pure levels: they get times on their commands.
#pragma once

#include <chrono>

#include "base/time.hpp"

namespace sy::daemon {

base::Time wall_now();
using Monotonic = std::chrono::steady_clock::time_point;
inline Monotonic monotonic_now() { return std::chrono::steady_clock::now(); }

}  // namespace sy::daemon

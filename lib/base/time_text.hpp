// Slurm's words for spans of time: "30", "1:00:00", "1-12", "UNLIMITED", and back.
// Not calendar times with zones: those need the machine's zone and live in cli/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sy::base {

// minutes | minutes:seconds | hours:minutes:seconds | days-hours[:minutes[:seconds]] | UNLIMITED, INFINITE, -1 (nullopt).
// At most 1,000,000 days. Refuses negative, empty, overflow, trailing text. "0" is zero: the caller says what it means.
Result<std::optional<Duration>> parse_walltime(std::string_view);
// "5:00", "1:00:00", "2-00:00:00" as squeue prints %l and %M; nullopt: "UNLIMITED".
std::string format_walltime(std::optional<Duration>);
// Same, always with hours: "00:05:00", as sacct and scontrol print.
std::string format_walltime_long(std::optional<Duration>);

// Our configuration's words: "30s", "10m", "2h", "1d", "500ms", "1h30m". Refuses a bare number.
Result<Duration> parse_span(std::string_view);
std::string format_span(Duration);

}  // namespace sy::base

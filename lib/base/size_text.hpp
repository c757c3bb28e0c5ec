// Slurm's words for sizes: "4G", "1875m", "4GB", "4000" (MiB), and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace sy::base {

// Suffixes K M G T P (any case, optional B or iB), no suffix: MiB; powers of 1024; K rounds up to whole MiB.
Result<Mebibytes> parse_memory(std::string_view);
// "4G" when whole, else "1875M", as squeue %m prints.
std::string format_memory(Mebibytes);

// "500", "10k", "1M": counts with decimal suffixes k m (1024-based as Slurm's gres counts: K M G T).
Result<std::int64_t> parse_count(std::string_view);

// Our configuration's bytes: "64KiB", "4MiB", "1GiB", "100".
Result<std::uint64_t> parse_bytes(std::string_view);

}  // namespace sy::base

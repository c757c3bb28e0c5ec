// Points in time as people read and write them, in the machine's zone: SLURM_TIME_FORMAT out, Slurm's many spellings in.
// Not spans of time: those are base/time_text.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sy::cli {

struct Context;

// How this process prints times: made once, from SLURM_TIME_FORMAT and TZ.
class TimeStyle {
 public:
  TimeStyle() = default;
  TimeStyle(std::string format, std::int64_t now_s) : format_(std::move(format)), now_s_(now_s) {}
  static TimeStyle of(Context&);
  // Seconds since 1970 → "2026-11-29T14:05:00", or by SLURM_TIME_FORMAT.
  std::string text(std::int64_t seconds) const;
  // Microseconds, or `otherwise` when absent.
  std::string micros(std::optional<std::int64_t> us, std::string_view otherwise) const;
  std::int64_t now_s() const { return now_s_; }

 private:
  std::string format_{"standard"};
  std::int64_t now_s_{};
};

// "2026-11-29T14:05", "11/29-14:05", "14:05", "now-2hours", "today", "midnight", "yesterday", "uts1700000000", … → seconds
// since 1970. A bare clock time is the next one when `future`, else today's.
base::Result<std::int64_t> parse_point(std::string_view text, std::int64_t now_s, bool future);

// Midnight that began the day of `seconds`, in the local zone.
std::int64_t start_of_day(std::int64_t seconds);

}  // namespace sy::cli

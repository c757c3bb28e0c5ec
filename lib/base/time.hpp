// Points and spans of time for code that must not read a clock: the type has no now(), so time can only be passed in.
// Not a formatter for people: see time_text.hpp.
#pragma once

#include <chrono>
#include <cstdint>

namespace sy::base {

// Microseconds since 1970-01-01T00:00:00Z.
struct Clock {
  using rep = std::int64_t;
  using period = std::micro;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Clock, duration>;
  static constexpr bool is_steady = false;
};

using Time = Clock::time_point;
using Duration = Clock::duration;

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time time_from_micros(std::int64_t us) { return Time{Duration{us}}; }
constexpr std::int64_t micros(Time t) { return t.time_since_epoch().count(); }
constexpr Time time_from_seconds(std::int64_t s) { return Time{std::chrono::seconds{s}}; }
// Whole seconds, rounded down.
constexpr std::int64_t to_seconds(Time t) { return std::chrono::floor<std::chrono::seconds>(t.time_since_epoch()).count(); }
constexpr std::int64_t to_seconds(Duration d) { return std::chrono::floor<std::chrono::seconds>(d).count(); }

}  // namespace sy::base

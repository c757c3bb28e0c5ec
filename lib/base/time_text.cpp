#include "base/time_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

namespace sy::base {
namespace {

constexpr std::int64_t max_seconds = 1'000'000LL * 86'400;  // a million days; microseconds of it fit 64 bits with ease
constexpr const char* walltime_hint =
    "write minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes:seconds or UNLIMITED";
constexpr const char* span_hint = "write a number with its unit: 500ms, 30s, 10m, 2h, 1d, 1h30m";

std::string shorten(std::string_view text) { return std::string(text.substr(0, 80)); }

bool equals_ignoring_case(std::string_view a, std::string_view upper) {
  if (a.size() != upper.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'a' && a[i] <= 'z' ? static_cast<char>(a[i] - 'a' + 'A') : a[i];
    if (c != upper[i]) return false;
  }
  return true;
}

// Digits only. nullopt: empty, other characters, or more than max_seconds (any unit is at least a microsecond's worth).
std::optional<std::int64_t> digits(std::string_view text, std::int64_t most) {
  if (text.empty()) return std::nullopt;
  std::int64_t v = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    v = v * 10 + (c - '0');
    if (v > most) return std::nullopt;
  }
  return v;
}

tl::unexpected<Error> bad_walltime(std::string_view text, std::string message) {
  return fail(Error{Code::invalid_argument, std::move(message), {}, {}, shorten(text), walltime_hint});
}

tl::unexpected<Error> walltime_too_long(std::string_view text) {
  return fail(Error{Code::invalid_argument, "the time is too long", {}, "1000000 days", shorten(text), "write UNLIMITED for no limit"});
}

bool only_digits(std::string_view s) { return s.find_first_not_of("0123456789") == std::string_view::npos; }

std::string clock_text(std::optional<Duration> d, bool always_hours) {
  if (!d || *d == Duration::max()) return "UNLIMITED";
  const std::int64_t total = d->count() < 0 ? 0 : to_seconds(*d);
  const std::int64_t days = total / 86'400, h = total / 3'600 % 24, m = total / 60 % 60, s = total % 60;
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, h, m, s);
  if (always_hours) return fmt::format("{:02}:{:02}:{:02}", h, m, s);
  if (h > 0) return fmt::format("{}:{:02}:{:02}", h, m, s);
  return fmt::format("{}:{:02}", m, s);
}

struct Unit {
  std::string_view name;
  std::int64_t micros;
};
constexpr std::array<Unit, 6> units{
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

}  // namespace

Result<std::optional<Duration>> parse_walltime(std::string_view text) {
  if (equals_ignoring_case(text, "UNLIMITED") || equals_ignoring_case(text, "INFINITE") || text == "-1") return std::optional<Duration>{};
  if (text.empty()) return bad_walltime(text, "the time is empty");
  if (text.front() == '-') return bad_walltime(text, "the time is negative");

  std::string_view rest = text, day_part;
  bool has_days = false;
  if (const auto dash = rest.find('-'); dash != std::string_view::npos) {
    has_days = true;
    day_part = rest.substr(0, dash);
    rest = rest.substr(dash + 1);
  }
  std::vector<std::string_view> fields;
  while (true) {
    const auto colon = rest.find(':');
    fields.push_back(rest.substr(0, colon));
    if (colon == std::string_view::npos || fields.size() > 3) break;
    rest = rest.substr(colon + 1);
  }
  if (fields.size() > 3) return bad_walltime(text, "the time has too many colons");
  if (has_days) fields.insert(fields.begin(), day_part);

  // What each field counts, in seconds, by how many there are.
  static constexpr std::array<std::int64_t, 4> with_days{86'400, 3'600, 60, 1};
  static constexpr std::array<std::int64_t, 3> three{3'600, 60, 1}, two{60, 1, 0};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].empty() || !only_digits(fields[i])) return bad_walltime(text, "the time can not be read");
    const std::int64_t unit = has_days ? with_days[i] : fields.size() == 3 ? three[i] : two[i];
    const auto v = digits(fields[i], max_seconds / unit);
    if (!v) return walltime_too_long(text);
    total += *v * unit;
    if (total > max_seconds) return walltime_too_long(text);
  }
  return std::optional<Duration>{seconds{total}};
}

std::string format_walltime(std::optional<Duration> d) { return clock_text(d, false); }
std::string format_walltime_long(std::optional<Duration> d) { return clock_text(d, true); }

Result<Duration> parse_span(std::string_view text) {
  const auto bad = [&](std::string message) {
    return fail(Error{Code::invalid_argument, std::move(message), {}, {}, shorten(text), span_hint});
  };
  if (text.empty()) return bad("the span of time is empty");
  constexpr std::int64_t most = max_seconds * 1'000'000;
  std::int64_t total = 0;
  std::size_t at = 0, next_unit = 0;
  while (at < text.size()) {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    const std::string_view number = text.substr(from, at - from);
    if (number.empty()) return bad("a number is missing in the span of time");
    const std::size_t unit_from = at;
    while (at < text.size() && text[at] >= 'a' && text[at] <= 'z') ++at;
    const std::string_view unit = text.substr(unit_from, at - unit_from);
    if (unit.empty()) return bad(at == text.size() ? "the span of time has no unit" : "the span of time can not be read");
    std::size_t u = 0;
    while (u < units.size() && units[u].name != unit) ++u;
    if (u == units.size()) return bad("the span of time has an unknown unit");
    if (u < next_unit) return bad("the units of a span of time stand largest first, each once");
    next_unit = u + 1;
    const auto v = digits(number, most / units[u].micros);
    if (!v || total + *v * units[u].micros > most)
      return fail(Error{Code::invalid_argument, "the span of time is too long", {}, "1000000d", shorten(text), {}});
    total += *v * units[u].micros;
  }
  return Duration{total};
}

std::string format_span(Duration d) {
  if (d.count() == 0) return "0s";
  std::string out;
  // Unsigned, so that the most negative span has a magnitude too.
  std::uint64_t rest = static_cast<std::uint64_t>(d.count());
  if (d.count() < 0) {
    out = "-";
    rest = 0 - rest;
  }
  for (const Unit& u : units) {
    const std::uint64_t n = rest / static_cast<std::uint64_t>(u.micros);
    if (n > 0) out += fmt::format("{}{}", n, u.name);
    rest %= static_cast<std::uint64_t>(u.micros);
  }
  return out;
}

}  // namespace sy::base

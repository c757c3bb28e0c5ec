#include "cli/calendar.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>
#include <vector>

#include "cli/context.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

std::tm local(std::int64_t seconds) {
  std::tm parts{};
  const std::time_t t = seconds;
  ::localtime_r(&t, &parts);
  return parts;
}

std::int64_t from_local(std::tm parts) {
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

std::string with_format(const std::tm& parts, const char* format) {
  std::array<char, 256> buffer{};
  const std::size_t n = std::strftime(buffer.data(), buffer.size(), format, &parts);
  return {buffer.data(), n};
}

std::string standard(const std::tm& t) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}

// Today's times by the clock, near ones by the day's name, others by date.
std::string relative(const std::tm& t, std::int64_t seconds, std::int64_t now_s) {
  const std::int64_t apart = start_of_day(seconds) - start_of_day(now_s);
  const std::int64_t days = (apart + (apart < 0 ? -43'200 : 43'200)) / 86'400;  // days may have 23 or 25 hours
  if (days == 0) return with_format(t, "%H:%M:%S");
  if (days == -1) return with_format(t, "Ystday %H:%M");
  if (days == 1) return with_format(t, "Tomorr %H:%M");
  if (days > -7 && days < 7) return with_format(t, "%a %H:%M");
  return days > -180 && days < 180 ? with_format(t, "%-d %b %H:%M") : with_format(t, "%-d %b %Y");
}

// Reads a number of so many digits at most; moves past it.
std::optional<int> digits(std::string_view& text, std::size_t most) {
  int n = 0;
  std::size_t i = 0;
  while (i < text.size() && i < most && text[i] >= '0' && text[i] <= '9') n = n * 10 + (text[i++] - '0');
  if (i == 0) return std::nullopt;
  text.remove_prefix(i);
  return n;
}

bool eat(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// "14:05", "14:05:30", "2:05pm"
bool clock(std::string_view& text, std::tm& parts) {
  const auto h = digits(text, 2);
  if (!h || !eat(text, ':')) return false;
  const auto m = digits(text, 2);
  if (!m) return false;
  int s = 0;
  if (eat(text, ':')) {
    const auto read = digits(text, 2);
    if (!read) return false;
    s = *read;
  }
  int hour = *h;
  const std::string rest = lower(trim(text));
  if (rest == "am" || rest == "pm") {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (rest == "pm" ? 12 : 0);
    text = {};
  }
  if (hour > 24 || *m > 59 || s > 59) return false;
  parts.tm_hour = hour;
  parts.tm_min = *m;
  parts.tm_sec = s;
  return true;
}

bool date(std::tm& parts, int year, int month, int day) {
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  parts.tm_year = (year < 70 ? year + 2000 : year < 100 ? year + 1900 : year) - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  return true;
}

// The date in one of its spellings; leaves what follows.
bool calendar_day(std::string_view& text, std::tm& parts) {
  std::string_view t = text;
  const auto first = digits(t, 4);
  if (!first) return false;
  if (eat(t, '-')) {  // YYYY-MM-DD
    const auto month = digits(t, 2);
    if (!month || !eat(t, '-')) return false;
    const auto day = digits(t, 2);
    if (!day || !date(parts, *first, *month, *day)) return false;
  } else if (!t.empty() && (t[0] == '/' || t[0] == '.')) {  // MM/DD[/YY], DD is second as in the manual
    const char separator = t[0];
    eat(t, separator);
    const auto day = digits(t, 2);
    if (!day) return false;
    int year = parts.tm_year + 1900;
    if (eat(t, separator)) {
      const auto written = digits(t, 4);
      if (!written) return false;
      year = *written;
    }
    if (!date(parts, year, *first, *day)) return false;
  } else {  // MMDD[YY]
    t = text;
    const auto written = std::min(t.find_first_not_of("0123456789"), t.size());
    if (written != 4 && written != 6) return false;
    std::array<int, 3> n{0, 0, parts.tm_year + 1900};
    for (std::size_t i = 0; i < written / 2; ++i) n[i] = *digits(t, 2);
    if (!date(parts, n[2], n[0], n[1])) return false;
  }
  text = t;
  return true;
}

std::optional<std::int64_t> offset(std::string_view text) {  // "+2hours", "-1day", "+30"
  const bool minus = text[0] == '-';
  text.remove_prefix(1);
  std::int64_t n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (fault != std::errc{} || n < 0 || n > 100'000'000) return std::nullopt;
  const std::string unit = lower(trim(text.substr(static_cast<std::size_t>(end - text.data()))));
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
      {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86'400}, {"weeks", 604'800}}};
  if (unit.empty()) return minus ? -n : n;
  for (const auto& [name, seconds] : units)
    if (name.substr(0, unit.size()) == unit) return (minus ? -n : n) * seconds;
  return std::nullopt;
}

std::optional<std::int64_t> by_name(std::string_view word, std::int64_t now_s) {
  static constexpr std::array<std::pair<std::string_view, int>, 6> hours{
      {{"midnight", 0}, {"noon", 12}, {"fika", 15}, {"teatime", 16}, {"elevenses", 11}, {"today", 0}}};
  for (const auto& [name, hour] : hours)
    if (name == word) return start_of_day(now_s) + hour * 3600;
  if (word == "tomorrow") return start_of_day(start_of_day(now_s) + 36 * 3600);
  if (word == "yesterday") return start_of_day(start_of_day(now_s) - 12 * 3600);
  return std::nullopt;
}

}  // namespace

std::int64_t start_of_day(std::int64_t seconds) {
  std::tm parts = local(seconds);
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  return from_local(parts);
}

TimeStyle TimeStyle::of(Context& context) { return {context.env("SLURM_TIME_FORMAT").value_or("standard"), context.now_us() / 1'000'000}; }

std::string TimeStyle::text(std::int64_t seconds) const {
  const std::tm parts = local(seconds);
  if (format_.empty() || format_ == "standard") return standard(parts);
  if (format_ == "relative") return relative(parts, seconds, now_s_);
  return with_format(parts, format_.c_str());
}

std::string TimeStyle::micros(std::optional<std::int64_t> us, std::string_view otherwise) const {
  return us ? text(*us / 1'000'000) : std::string{otherwise};
}

base::Result<std::int64_t> parse_point(std::string_view written, std::int64_t now_s, bool future) {
  const std::string word = lower(trim(written));
  const auto bad = [&] {
    return base::fail(base::Error{base::Code::invalid_argument,
                                  fmt::format("Invalid time specification \"{}\"", written),
                                  {},
                                  {},
                                  {},
                                  "write YYYY-MM-DD[THH:MM[:SS]], HH:MM, MM/DD, now-2hours or today"});
  };
  if (word.rfind("now", 0) == 0) {
    const std::string_view rest = trim(std::string_view{word}.substr(3));
    if (rest.empty()) return now_s;
    if (rest[0] != '+' && rest[0] != '-') return bad();
    const auto shift = offset(rest);
    return shift ? base::Result<std::int64_t>{now_s + *shift} : bad();
  }
  if (word.rfind("uts", 0) == 0) {
    std::int64_t n = 0;
    const auto [end, fault] = std::from_chars(word.data() + 3, word.data() + word.size(), n);
    return fault == std::errc{} && end == word.data() + word.size() ? base::Result<std::int64_t>{n} : bad();
  }
  if (auto named = by_name(word, now_s)) return *named;

  std::tm parts = local(now_s);
  std::string_view text = word;
  std::tm trial = parts;
  if (std::string_view rest = text; clock(rest, trial) && rest.empty()) {
    std::int64_t at = from_local(trial);
    if (future && at <= now_s) ++trial.tm_mday, at = from_local(trial);
    return at;
  }
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  if (!calendar_day(text, parts)) return bad();
  if (!text.empty()) {
    if (text[0] != 't' && text[0] != '-' && text[0] != ' ') return bad();
    text.remove_prefix(1);
    if (std::string_view rest = text; clock(rest, parts)) {
      text = rest;
    } else {
      const auto hour = digits(text, 2);  // "2026-11-29T14"
      if (!hour || *hour > 24) return bad();
      parts.tm_hour = *hour;
    }
    if (!text.empty()) return bad();
  }
  return from_local(parts);
}

}  // namespace sy::cli

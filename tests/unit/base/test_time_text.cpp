#include "base/time_text.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {
constexpr std::int64_t minute = 60, hour = 3'600, day = 86'400;
}

TEST_CASE("walltimes read as Slurm reads them") {
  const std::vector<std::pair<std::string, std::int64_t>> rows{
      {"30", 30 * minute},
      {"0", 0},
      {"0:20:0", 20 * minute},
      {"1:0:0", hour},
      {"0-00:10", 10 * minute},
      {"7-00:00:00", 7 * day},
      {"100:00:00", 100 * hour},
      {"1-12", 36 * hour},
      {"1:30", 90},
      {"90:00", 90 * minute},
      {"1-0:0:1", day + 1},
      {"00:00:01", 1},
      {"0-0", 0},
      {"4320", 3 * day},
      {"1-1:1:1", day + hour + minute + 1},
      {"1000000-0", 1'000'000 * day},
  };
  for (const auto& [text, secs] : rows) {
    INFO(text);
    const auto got = parse_walltime(text);
    REQUIRE(got);
    REQUIRE(*got);
    CHECK(to_seconds(**got) == secs);
  }
  for (const std::string text : {"UNLIMITED", "unlimited", "Unlimited", "INFINITE", "infinite", "-1"}) {
    INFO(text);
    const auto got = parse_walltime(text);
    REQUIRE(got);
    CHECK_FALSE(got->has_value());
  }
}

TEST_CASE("a walltime that can not be read is refused with the forms that can") {
  for (const std::string text : {"",   "-2",  "-1:00", "1:",  ":1",  "1:2:3:4", "1-",   "-",    "1-1-1",      "1-2:3:4:5", "10m",
                                 "1h", "abc", " 10",   "10 ", "1.5", "+5",      "1:-5", "0x10", "UNLIMITEDX", "1::2"}) {
    INFO(text);
    const auto got = parse_walltime(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == Code::invalid_argument);
    CHECK(got.error().hint.find("days-hours") != std::string::npos);
    CHECK(got.error().value == text);
  }
}

TEST_CASE("a walltime beyond a million days is refused instead of overflowing") {
  for (const std::string text : {"1000000-0:0:1", "1000001-0", "99999999999999999999", "9223372036854775807", "0:0:99999999999999999999999",
                                 "18446744073709551617", "1-99999999999999999999"}) {
    INFO(text);
    const auto got = parse_walltime(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().limit == "1000000 days");
  }
}

TEST_CASE("spans of time print as squeue and as sacct print them") {
  struct Row {
    std::int64_t secs;
    std::string brief, full;
  };
  const std::vector<Row> rows{
      {0, "0:00", "00:00:00"},
      {5, "0:05", "00:00:05"},
      {300, "5:00", "00:05:00"},
      {3'599, "59:59", "00:59:59"},
      {3'600, "1:00:00", "01:00:00"},
      {36'000, "10:00:00", "10:00:00"},
      {day, "1-00:00:00", "1-00:00:00"},
      {2 * day, "2-00:00:00", "2-00:00:00"},
      {day + hour + minute + 1, "1-01:01:01", "1-01:01:01"},
      {-5, "0:00", "00:00:00"},
  };
  for (const Row& row : rows) {
    INFO(row.secs);
    CHECK(format_walltime(Duration{seconds{row.secs}}) == row.brief);
    CHECK(format_walltime_long(Duration{seconds{row.secs}}) == row.full);
  }
  CHECK(format_walltime(Duration{milliseconds{1'999}}) == "0:01");
  CHECK(format_walltime(std::nullopt) == "UNLIMITED");
  CHECK(format_walltime(Duration::max()) == "UNLIMITED");
  CHECK(format_walltime_long(std::nullopt) == "UNLIMITED");
  CHECK(format_walltime(Duration::min()) == "0:00");
}

TEST_CASE("the configuration's spans need a unit, largest first") {
  const std::vector<std::pair<std::string, Duration>> rows{
      {"30s", seconds{30}},
      {"10m", minutes{10}},
      {"2h", hours{2}},
      {"1d", hours{24}},
      {"500ms", milliseconds{500}},
      {"7us", Duration{7}},
      {"1h30m", minutes{90}},
      {"1d2h3m4s5ms6us", hours{26} + minutes{3} + seconds{4} + milliseconds{5} + Duration{6}},
      {"0s", Duration{0}},
      {"90m", minutes{90}},
      {"1000000d", hours{24'000'000}},
  };
  for (const auto& [text, span] : rows) {
    INFO(text);
    const auto got = parse_span(text);
    REQUIRE(got);
    CHECK(*got == span);
  }
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "the span of time is empty"},
      {"30", "the span of time has no unit"},
      {"1h30", "the span of time has no unit"},
      {"s", "a number is missing in the span of time"},
      {"-5s", "a number is missing in the span of time"},
      {"5S", "the span of time can not be read"},
      {"1.5h", "the span of time can not be read"},
      {"5 s", "the span of time can not be read"},
      {"5w", "the span of time has an unknown unit"},
      {"30m1h", "the units of a span of time stand largest first, each once"},
      {"1h1h", "the units of a span of time stand largest first, each once"},
      {"1000001d", "the span of time is too long"},
      {"99999999999999999999s", "the span of time is too long"},
      {"1000000d1us", "the span of time is too long"},
  };
  for (const auto& [text, message] : refused) {
    INFO(text);
    const auto got = parse_span(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().message == message);
  }
}

TEST_CASE("a span prints in the words it can be read from") {
  CHECK(format_span(Duration{0}) == "0s");
  CHECK(format_span(minutes{90}) == "1h30m");
  CHECK(format_span(milliseconds{1'500}) == "1s500ms");
  CHECK(format_span(hours{24} + Duration{1}) == "1d1us");
  CHECK(format_span(seconds{-5}) == "-5s");
  CHECK(format_span(Duration::min()) == "-106751991d4h54s775ms808us");
}

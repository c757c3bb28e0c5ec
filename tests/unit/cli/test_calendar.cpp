#include "cli/calendar.hpp"
#include "fake.hpp"
#include "support/catch.hpp"

using namespace sy::cli;
using sy::cli::test::test_now_us;

namespace {
constexpr std::int64_t now_s = test_now_us / 1'000'000;  // 2026-11-29T14:00:00
std::string read(const std::string& text, bool future = false) {
  auto at = parse_point(text, now_s, future);
  return at ? TimeStyle("standard", now_s).text(*at) : "refused";
}
}  // namespace

TEST_CASE("points in time are read in Slurm's spellings") {
  CHECK(read("now") == "2026-11-29T14:00:00");
  CHECK(read("now-2hours") == "2026-11-29T12:00:00");
  CHECK(read("now+1day") == "2026-11-30T14:00:00");
  CHECK(read("now-30") == "2026-11-29T13:59:30");
  CHECK(read("2026-11-28") == "2026-11-28T00:00:00");
  CHECK(read("2026-11-28T08:30") == "2026-11-28T08:30:00");
  CHECK(read("2026-11-28T08:30:15") == "2026-11-28T08:30:15");
  CHECK(read("2026-11-28T08") == "2026-11-28T08:00:00");
  CHECK(read("11/28") == "2026-11-28T00:00:00");
  CHECK(read("11/28-09:15") == "2026-11-28T09:15:00");
  CHECK(read("11/28/25") == "2025-11-28T00:00:00");
  CHECK(read("1128") == "2026-11-28T00:00:00");
  CHECK(read("1128T08:30") == "2026-11-28T08:30:00");
  CHECK(read("112825") == "2025-11-28T00:00:00");
  CHECK(read("08:00") == "2026-11-29T08:00:00");
  CHECK(read("08:00", true) == "2026-11-30T08:00:00");
  CHECK(read("2:05pm") == "2026-11-29T14:05:00");
  CHECK(read("today") == "2026-11-29T00:00:00");
  CHECK(read("tomorrow") == "2026-11-30T00:00:00");
  CHECK(read("yesterday") == "2026-11-28T00:00:00");
  CHECK(read("noon") == "2026-11-29T12:00:00");
  CHECK(read("uts1795960800") == "2026-11-29T14:00:00");
}

TEST_CASE("what is no point in time is refused") {
  for (const auto* text :
       {"", "soon", "now2", "2026-13-01", "2026-11-28T25:00", "25:61", "now-1parsec", "2026-11-28x", "uts", "1/2/3/4", "1332", "113"}) {
    INFO(text);
    CHECK(read(text) == "refused");
  }
}

TEST_CASE("times are printed by SLURM_TIME_FORMAT") {
  CHECK(TimeStyle("%s", now_s).text(now_s) == "1795960800");
  CHECK(TimeStyle("relative", now_s).text(now_s + 60) == "14:01:00");
  CHECK(TimeStyle("relative", now_s).text(now_s + 86'400) == "Tomorr 14:00");
  CHECK(TimeStyle("relative", now_s).text(now_s - 86'400) == "Ystday 14:00");
  CHECK(TimeStyle("relative", now_s).text(now_s + 3 * 86'400) == "Wed 14:00");
  CHECK(TimeStyle("%d.%m.", now_s).text(now_s) == "29.11.");
  CHECK(TimeStyle("standard", now_s).micros(std::nullopt, "N/A") == "N/A");
}

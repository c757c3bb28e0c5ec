#include <limits>

#include "base/size_text.hpp"
#include "support/catch.hpp"

using namespace sy::base;

TEST_CASE("memory reads as Slurm reads it, in MiB") {
  const std::vector<std::pair<std::string, std::int64_t>> rows{
      {"1875m", 1'875},
      {"16g", 16'384},
      {"0", 0},
      {"150M", 150},
      {"4GB", 4'096},
      {"4000", 4'000},
      {"2G", 2'048},
      {"4GiB", 4'096},
      {"4gib", 4'096},
      {"1T", 1'048'576},
      {"1P", 1'073'741'824},
      {"1K", 1},
      {"1024K", 1},
      {"1025K", 2},
      {"0K", 0},
      {"1024P", std::int64_t{1} << 40},
      {"1mb", 1},
      {"007", 7},
  };
  for (const auto& [text, mib] : rows) {
    INFO(text);
    const auto got = parse_memory(text);
    REQUIRE(got);
    CHECK(got->value == mib);
  }
}

TEST_CASE("memory that can not be read or is too large is refused") {
  for (const std::string text : {"", "G", "-1", "1.5G", "4 G", "4GBB", "4X", "4iB", "4B", "0x10", " 4", "4Gi", "+4"}) {
    INFO(text);
    const auto got = parse_memory(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().hint.find("1875M") != std::string::npos);
  }
  for (const std::string text : {"1025P", "1099511627777", "18446744073709551616", "99999999999999999999999K", "18446744073709551615P"}) {
    INFO(text);
    const auto got = parse_memory(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().limit == "1024P");
  }
}

TEST_CASE("memory prints in the largest unit that is whole") {
  const std::vector<std::pair<std::int64_t, std::string>> rows{
      {0, "0"},         {1, "1M"},         {1'875, "1875M"},      {4'096, "4G"},
      {1'536, "1536M"}, {1'048'576, "1T"}, {1'073'741'824, "1P"}, {std::int64_t{1} << 40, "1024P"},
      {-1'024, "-1G"},
  };
  for (const auto& [mib, text] : rows) CHECK(format_memory(Mebibytes{mib}) == text);
}

TEST_CASE("counts take multiples of 1024 and refuse what overflows") {
  const std::vector<std::pair<std::string, std::int64_t>> rows{
      {"500", 500},
      {"10k", 10'240},
      {"10K", 10'240},
      {"1M", 1'048'576},
      {"2g", 2'147'483'648},
      {"0", 0},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"1T", std::int64_t{1} << 40},
  };
  for (const auto& [text, n] : rows) {
    INFO(text);
    const auto got = parse_count(text);
    REQUIRE(got);
    CHECK(*got == n);
  }
  for (const std::string text :
       {"", "k", "-1", "1.5", "0.5", "10kk", "10kB", "1P", "9223372036854775808", "9007199254740992k", "18446744073709551616"}) {
    INFO(text);
    CHECK_FALSE(parse_count(text));
  }
}

TEST_CASE("the configuration's bytes say their unit in full") {
  const std::vector<std::pair<std::string, std::uint64_t>> rows{
      {"100", 100},
      {"1B", 1},
      {"64KiB", 65'536},
      {"4MiB", 4'194'304},
      {"1GiB", 1'073'741'824},
      {"1TiB", 1'099'511'627'776},
      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
  };
  for (const auto& [text, n] : rows) {
    INFO(text);
    const auto got = parse_bytes(text);
    REQUIRE(got);
    CHECK(*got == n);
  }
  for (const std::string text : {"", "KiB", "-1", "1K", "1KB", "1kib", "1 KiB", "1.5MiB", "18446744073709551616", "16777216TiB"}) {
    INFO(text);
    CHECK_FALSE(parse_bytes(text));
  }
}

#include <fmt/format.h>

#include "base/hostlist.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {
using Names = std::vector<std::string>;
struct Row {
  std::string text;
  Names names;
};
}  // namespace

TEST_CASE("a host list expands brackets, ranges, steps and padding in the order written") {
  const std::vector<Row> rows{
      {"", {}},
      {"  ", {}},
      {"n1", {"n1"}},
      {"n1,n2", {"n1", "n2"}},
      {"n1, n2\tn3\nn4", {"n1", "n2", "n3", "n4"}},
      {"n[1-3]", {"n1", "n2", "n3"}},
      {"n[3]", {"n3"}},
      {"n[1-3,5]", {"n1", "n2", "n3", "n5"}},
      {"n[3,1,2,2]", {"n3", "n1", "n2", "n2"}},
      {"n[1-3,07-09:2],gpu[0-1]x[0-1]", {"n1", "n2", "n3", "n07", "n09", "gpu0x0", "gpu0x1", "gpu1x0", "gpu1x1"}},
      {"n[0-8:4]", {"n0", "n4", "n8"}},
      {"n[0-7:4]", {"n0", "n4"}},
      {"n[8-11]", {"n8", "n9", "n10", "n11"}},
      {"n[08-11]", {"n08", "n09", "n10", "n11"}},
      {"n[098-101]", {"n098", "n099", "n100", "n101"}},
      {"[1-2]", {"1", "2"}},
      {"r[1-2]-n[1-2].cluster", {"r1-n1.cluster", "r1-n2.cluster", "r2-n1.cluster", "r2-n2.cluster"}},
      {"a[1][2][3]", {"a123"}},
      {"n[999999999999999998-999999999999999999]", {"n999999999999999998", "n999999999999999999"}},
      {"n1,n1", {"n1", "n1"}},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto got = expand_hostlist(row.text);
    REQUIRE(got);
    CHECK(*got == row.names);
  }
}

TEST_CASE("a host list that can not be read is refused with the position of the fault") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {",", "a name is missing before this comma (at character 1 of the host list)"},
      {"a,,b", "a name is missing before this comma (at character 3 of the host list)"},
      {"a,", "a name is missing after the last comma (at character 3 of the host list)"},
      {"n[", "expected a number (at character 3 of the host list)"},
      {"n[1", "'[' is never closed (at character 4 of the host list)"},
      {"n[1-", "expected a number (at character 5 of the host list)"},
      {"n[]", "expected a number (at character 3 of the host list)"},
      {"n[1,]", "expected a number (at character 5 of the host list)"},
      {"n]", "']' without '[' (at character 2 of the host list)"},
      {"n[[1]]", "expected a number (at character 3 of the host list)"},
      {"n[1 -2]", "expected ',' or ']' after a range (at character 4 of the host list)"},
      {"n[a-b]", "expected a number (at character 3 of the host list)"},
      {"n[5-2]", "the range 5-2 runs backwards (at character 6 of the host list)"},
      {"n[1-9:0]", "a step of 0 never ends (at character 8 of the host list)"},
      {"n[1:2]", "expected ',' or ']' after a range (at character 4 of the host list)"},
      {"n[1234567890123456789]", "a number has more than 18 digits (at character 22 of the host list)"},
      {std::string("n\x01"), "a control character can not be part of a host name (at character 2 of the host list)"},
      {std::string(256, 'n'), "a host name is longer than 255 characters (at character 257 of the host list)"},
  };
  for (const auto& [text, message] : rows) {
    INFO(text);
    const auto got = expand_hostlist(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == Code::invalid_argument);
    CHECK(got.error().message == message);
    CHECK_FALSE(got.error().hint.empty());
  }
}

TEST_CASE("a host list that names too many hosts is refused before any name is made") {
  // Each would need more memory than any machine has.
  for (const std::string text : {"n[0-999999999999999999]", "n[0-999999]x[0-999999]x[0-999999]x[0-999999]", "n[0-262144]",
                                 "n[0-131071],m[0-131071],o", "[1-1000][1-1000]"}) {
    INFO(text);
    const auto got = expand_hostlist(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == Code::too_large);
    CHECK(got.error().limit == "262144 names");
  }
  CHECK(expand_hostlist("n[0-262143]")->size() == 262'144);
  CHECK(expand_hostlist("n[1-4]", 4)->size() == 4);
  CHECK_FALSE(expand_hostlist("n[1-5]", 4));
  CHECK_FALSE(expand_hostlist("a,b,c,d,e", 4));
  CHECK_FALSE(expand_hostlist("n[1,1,1,1,1]", 4));
}

TEST_CASE("a long bracket and a long text are read without recursion") {
  std::string text = "n[0";
  for (int i = 1; i < 100'000; ++i) text += fmt::format(",{}", i * 2);
  text += "]";
  CHECK(expand_hostlist(text)->size() == 100'000);
  CHECK_FALSE(expand_hostlist(std::string(1'000'000, '[')));
  std::string many_brackets;
  for (int i = 0; i < 300; ++i) many_brackets += "[1]";
  CHECK_FALSE(expand_hostlist(many_brackets));
}

TEST_CASE("names fold as Slurm prints them: sorted naturally, duplicates dropped, last number in ranges") {
  const std::vector<std::pair<Names, std::string>> rows{
      {{}, ""},
      {{"n1"}, "n1"},
      {{"login"}, "login"},
      {{"n1", "n2", "n4"}, "n[1-2,4]"},
      {{"n10", "n9", "n2", "n1"}, "n[1-2,9-10]"},
      {{"n1", "n1", "n1"}, "n1"},
      {{"n08", "n09", "n10", "n11"}, "n[08-11]"},
      {{"n8", "n9", "n10"}, "n[8-10]"},
      {{"n1", "n01"}, "n[01,1]"},
      {{"n01", "n1", "n02", "n2"}, "n[01,1,02,2]"},
      {{"n099", "n100"}, "n[099-100]"},
      {{"b2", "a1", "b1", "a2"}, "a[1-2],b[1-2]"},
      {{"rack2-n1", "rack1-n2", "rack1-n1"}, "rack1-n[1-2],rack2-n1"},
      {{"rack10-n1", "rack9-n1"}, "rack9-n1,rack10-n1"},
      {{"n1-ib", "n2-ib"}, "n1-ib,n2-ib"},
      {{"1", "2", "3"}, "[1-3]"},
      {{"n999999999999999999", "n1000000000000000000"}, "n999999999999999999,n1000000000000000000"},
      {{"login", "n1", "login2", "login1"}, "login,login[1-2],n1"},
  };
  for (const auto& [names, text] : rows) {
    INFO(text);
    CHECK(fold_hostlist(names) == text);
  }
}

TEST_CASE("names fold in rank order with duplicates kept") {
  CHECK(fold_hostlist_in_order({"n3", "n1", "n2"}) == "n[3,1-2]");
  CHECK(fold_hostlist_in_order({"n2", "n1"}) == "n[2,1]");
  CHECK(fold_hostlist_in_order({"n1", "n1"}) == "n[1,1]");
  CHECK(fold_hostlist_in_order({"a1", "b1", "a2"}) == "a1,b1,a2");
  CHECK(fold_hostlist_in_order({"login", "login"}) == "login,login");
  CHECK(fold_hostlist_in_order({}).empty());
}

TEST_CASE("names compare naturally: digits as numbers, ties by text") {
  const Names sorted{"", "a", "n", "n01", "n1", "n1a", "n2", "n2b", "n10", "n10a1", "n10a02", "n10a2", "n10a10", "n11", "na"};
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      INFO(sorted[i] << " < " << sorted[j]);
      CHECK(natural_less(sorted[i], sorted[j]) == (i < j));
    }
  CHECK(natural_less("n99999999999999999999998", "n99999999999999999999999"));
  CHECK(natural_less("n99999999999999999999999", "n100000000000000000000000"));
}

#include "base/features.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {
using Op = FeatureExpression::Op;
using Features = std::vector<std::string>;
FeatureExpression parsed(const std::string& text) {
  const auto got = parse_features(text);
  INFO(text << (got ? "" : ": " + to_text(got.error())));
  REQUIRE(got);
  return *got;
}
}  // namespace

TEST_CASE("feature expressions read and print in one form") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"a100", "a100"},
      {"v100-32g|v100-16g", "v100-32g|v100-16g"},
      {"knl&quad", "knl&quad"},
      {"[rack1|rack2]*2", "[rack1|rack2]*2"},
      {"[rack1|rack2]", "[rack1|rack2]"},
      {"(a|b)&!c", "(a|b)&!c"},
      {" a & b ", "a&b"},
      {"a&b&c", "a&b&c"},
      {"(a&b)&c", "a&b&c"},
      {"a|(b|c)", "a|b|c"},
      {"a&b|c", "(a&b)|c"},
      {"a|b&c", "(a|b)&c"},
      {"[a*2&b*1]", "a*2&b*1"},
      {"[!a]*2", "(!a)*2"},
      {"(!a)*2&b*1", "(!a)*2&b*1"},
      {"a*4&b*2", "a*4&b*2"},
      {"!(a|b)", "!(a|b)"},
      {"!!a", "!!a"},
      {"((((a))))", "a"},
      {"[(a&b)|c]", "[(a&b)|c]"},
      {"(a|b)*3", "(a|b)*3"},
      {"[a|b]&gpu", "[a|b]&gpu"},
      {"nps=4", "nps=4"},
  };
  for (const auto& [text, printed] : rows) {
    INFO(text);
    CHECK(format_features(parsed(text)) == printed);
    CHECK(parsed(printed) == parsed(text));
  }
  CHECK(parsed("[rack1|rack2]*2").op == Op::counted);
  CHECK(parsed("[rack1|rack2]*2").count == 2);
  CHECK(parsed("[rack1|rack2]*2").operands.at(0).op == Op::one_of_for_all);
}

TEST_CASE("a feature expression that can not be read is refused with the position") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "the feature expression is empty (at character 1 of the feature expression)"},
      {"  ", "the feature expression is empty (at character 3 of the feature expression)"},
      {"a,b", "',' joins nothing: & means and, | means or (at character 2 of the feature expression)"},
      {"a&", "a feature's name is expected (at character 3 of the feature expression)"},
      {"a||b", "a feature's name is expected (at character 3 of the feature expression)"},
      {"(a", "')' is missing (at character 3 of the feature expression)"},
      {"[a|b", "']' is missing (at character 5 of the feature expression)"},
      {"a)", "')' is not expected here (at character 2 of the feature expression)"},
      {"a*0", "a count of nodes from 1 is expected after '*' (at character 4 of the feature expression)"},
      {"a*", "a count of nodes from 1 is expected after '*' (at character 3 of the feature expression)"},
      {"a*9999999", "a count is more than 1000000 (at character 9 of the feature expression)"},
      {"a b", "'b' is not expected here (at character 3 of the feature expression)"},
      {"[a|b]|c",
       "alternatives in brackets and counts can only be joined by & and not be nested (at character 8 of the feature expression)"},
      {"(a*2)|b",
       "alternatives in brackets and counts can only be joined by & and not be nested (at character 8 of the feature expression)"},
      {"[[a|b]|c]",
       "alternatives in brackets and counts can only be joined by & and not be nested (at character 10 of the feature expression)"},
  };
  for (const auto& [text, message] : rows) {
    INFO(text);
    const auto got = parse_features(text);
    REQUIRE_FALSE(got);
  }
}

TEST_CASE("nesting, names and length of a feature expression are bounded") {
  CHECK(parse_features(std::string(7, '(') + "a" + std::string(7, ')')));
  CHECK_FALSE(parse_features(std::string(8, '(') + "a" + std::string(8, ')')));
  CHECK_FALSE(parse_features(std::string(4'000, '(')));
  CHECK_FALSE(parse_features(std::string(4'000, '!')));
  CHECK_FALSE(parse_features(std::string(5'000, 'a')));
  std::string many = "a";
  for (int i = 0; i < 63; ++i) many += "|a";
  CHECK(parse_features(many));
  CHECK_FALSE(parse_features(many + "|a"));
}

TEST_CASE("changing between & and | nests without a parenthesis, and is bounded too") {
  CHECK(parse_features("a|b&c|d&e").has_value());
  const auto e = parse_features("a|b&c|d&e|f&g|h&i|j");
  REQUIRE_FALSE(e.has_value());
  CHECK(e.error().message.find("levels of nesting") != std::string::npos);
}

TEST_CASE("a node matches by its features") {
  const Features node{"a100", "ib", "rack1"};
  for (const std::string text :
       {"a100", "a100&ib", "a100|v100", "(v100|a100)&!rack2", "!v100", "[rack1|rack2]", "rack1*4&rack2*2", "ib*2&a100"})
    CHECK(matches(parsed(text), node));
  for (const std::string text : {"a10", "a1000", "a100&v100", "!ib", "!(v100|ib)", "[rack2|rack3]", "rack2*1&rack3*1", "rack1*2&v100"})
    CHECK_FALSE(matches(parsed(text), node));
  CHECK_FALSE(matches(parsed("a"), {}));
}

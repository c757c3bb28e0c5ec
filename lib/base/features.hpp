// Slurm's feature expressions: "a100&ib", "a|b", "[rack1|rack2]*2", "(a|b)&!c": words to a tree and back.
// Not the choice of nodes: which of several alternatives all nodes share, and how many nodes of each, is placement's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::base {

// A parsed expression. Nodes match one by one (matches); `alternatives` is the matching-or form "[a|b]": all nodes of the
// job must match the same member; `counted` is "a*4&b*2": so many nodes of each.
struct FeatureExpression {
  enum class Op : std::uint8_t { feature, all_of, any_of, none_of, one_of_for_all, counted };
  Op op{Op::feature};
  std::string feature;
  std::uint32_t count{};                      // for counted
  std::vector<FeatureExpression> operands;
  bool operator==(const FeatureExpression&) const = default;
};

// & and | without parentheses are taken from left to right, as Slurm does. At most 64 names, 8 levels of nesting, 4096 bytes.
// Alternatives in brackets and counts stand outermost or joined by & outermost, nowhere deeper. Empty text is refused.
Result<FeatureExpression> parse_features(std::string_view);
std::string format_features(const FeatureExpression&);
// Does one node with these (sorted) features match? Alternatives in brackets: any of them; counted: what is counted (and where
// several are counted, as in "a*4&b*2", any of them): such a node may serve.
bool matches(const FeatureExpression&, const std::vector<std::string>& sorted_features);

}  // namespace sy::base

// Slurm's feature expressions: "a100&ib", "a|b", "[rack1|rack2]*2", "(a|b)&!c".
#pragma once

#include <cstdint>
#include <memory>
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

// At most 64 names, 8 levels of nesting. Empty text is refused.
Result<FeatureExpression> parse_features(std::string_view);
std::string format_features(const FeatureExpression&);
// For op ≠ one_of_for_all and counted: does a node with these (sorted) features match?
bool matches(const FeatureExpression&, const std::vector<std::string>& sorted_features);

}  // namespace sy::base

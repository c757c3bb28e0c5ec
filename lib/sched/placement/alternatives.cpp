#include "sched/placement/alternatives.hpp"

#include <algorithm>

#include "base/features.hpp"

namespace sy::sched::placement {
namespace {

using base::FeatureExpression;
using model::Group;

constexpr std::uint64_t too_many = 1U << 20U;

bool is_choice(const FeatureExpression& e) { return e.op == FeatureExpression::Op::one_of_for_all && !e.operands.empty(); }

// The expression with each alternative of its first choice.
std::vector<FeatureExpression> one_by_one(const FeatureExpression& e) {
  if (is_choice(e)) return e.operands;
  std::vector<FeatureExpression> out;
  if (e.op != FeatureExpression::Op::all_of) return out;
  const auto choice = std::find_if(e.operands.begin(), e.operands.end(), is_choice);
  if (choice == e.operands.end()) return out;
  for (const auto& alternative : choice->operands) {
    out.push_back(e);
    out.back().operands[static_cast<std::size_t>(choice - e.operands.begin())] = alternative;
  }
  return out;
}

std::uint64_t count_ways(const FeatureExpression& e) {
  if (is_choice(e)) return e.operands.size();
  std::uint64_t ways = 1;
  if (e.op == FeatureExpression::Op::all_of)
    for (const auto& operand : e.operands) ways *= is_choice(operand) ? operand.operands.size() : 1;
  return ways;
}

}  // namespace

std::vector<Group> ways_to_choose(const Group& g) {
  std::vector<Group> out;
  if (const auto f = base::parse_features(g.constraint); f && g.children.empty())
    for (const auto& alternative : one_by_one(*f)) {
      out.push_back(g);
      out.back().constraint = base::format_features(alternative);
    }
  for (std::size_t i = 0; i < g.children.size() && out.empty(); ++i)
    for (auto& child : ways_to_choose(g.children[i])) {
      out.push_back(g);
      out.back().children[i] = std::move(child);
    }
  return out;
}

std::uint64_t count_ways_to_choose(const Group& g) {
  std::uint64_t ways = 1;
  if (const auto f = base::parse_features(g.constraint); f && g.children.empty()) ways = count_ways(*f);
  for (const auto& child : g.children) ways = std::min(ways * count_ways_to_choose(child), too_many);
  return ways;
}

}  // namespace sy::sched::placement

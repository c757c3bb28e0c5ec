// Feature expressions: what is read prints as text that reads as the same tree.
#include "base/features.hpp"
#include "fuzz/fuzz.hpp"

using namespace sy::base;

void sy::fuzz::fuzz_one(std::string_view input) {
  const auto e = parse_features(input);
  if (!e) return;
  const auto back = parse_features(format_features(*e));
  FUZZ_CHECK(back.has_value());
  FUZZ_CHECK(*back == *e);
  (void)matches(*e, {"a", "b"});
  FUZZ_PLANT(e->op == FeatureExpression::Op::all_of && e->operands.size() == 4);
}

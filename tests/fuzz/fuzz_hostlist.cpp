// Host lists: bounded whatever the text, and the same names after folding and expanding again.
#include <algorithm>

#include "base/hostlist.hpp"
#include "fuzz/fuzz.hpp"

using namespace sy::base;

void sy::fuzz::fuzz_one(std::string_view input) {
  constexpr std::size_t limit = 1'000;
  const auto names = expand_hostlist(input, limit);
  if (!names) {
    FUZZ_CHECK(!names.error().message.empty());
    return;
  }
  FUZZ_CHECK(names->size() <= limit);
  FUZZ_PLANT(names->size() == 21);

  const auto in_order = expand_hostlist(fold_hostlist_in_order(*names), limit);
  FUZZ_CHECK(in_order.has_value());
  FUZZ_CHECK(*in_order == *names);

  auto sorted = *names;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return natural_less(a, b); });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto folded = expand_hostlist(fold_hostlist(*names), limit);
  FUZZ_CHECK(folded.has_value());
  FUZZ_CHECK(*folded == sorted);
}

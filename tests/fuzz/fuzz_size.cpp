// Memory, counts and bytes: never negative, never overflowed, and memory prints as text that reads as the same amount.
#include "base/size_text.hpp"
#include "fuzz/fuzz.hpp"

using namespace sy::base;

void sy::fuzz::fuzz_one(std::string_view input) {
  if (const auto m = parse_memory(input)) {
    FUZZ_CHECK(m->value >= 0);
    FUZZ_CHECK(m->value <= std::int64_t{1} << 40);
    const auto back = parse_memory(format_memory(*m));
    FUZZ_CHECK(back.has_value());
    FUZZ_CHECK(*back == *m);
    FUZZ_PLANT(m->value / 1024 == 77);
  }
  if (const auto n = parse_count(input)) FUZZ_CHECK(*n >= 0);
  parse_bytes(input);
}

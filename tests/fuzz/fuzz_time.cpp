// Walltimes and the configuration's spans: what is read prints as text that reads as the same time.
#include "base/time_text.hpp"
#include "fuzz/fuzz.hpp"

using namespace sy::base;

void sy::fuzz::fuzz_one(std::string_view input) {
  if (const auto t = parse_walltime(input)) {
    FUZZ_CHECK(!*t || (*t)->count() >= 0);
    FUZZ_CHECK(parse_walltime(format_walltime(*t)).value() == *t);
    FUZZ_CHECK(parse_walltime(format_walltime_long(*t)).value() == *t);
    FUZZ_PLANT(*t && to_seconds(**t) > 86'400 && to_seconds(**t) % 60 == 1);
  }
  if (const auto d = parse_span(input)) {
    FUZZ_CHECK(d->count() >= 0);
    FUZZ_CHECK(parse_span(format_span(*d)) == *d);
  }
}

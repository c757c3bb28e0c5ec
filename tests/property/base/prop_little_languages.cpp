#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {

// Names that collide in every way that matters: few prefixes, small numbers, mixed padding, some without a number.
std::vector<std::string> some_names() {
  return *rc::gen::container<std::vector<std::string>>(rc::gen::exec([] {
    const std::string prefix = *rc::gen::element<std::string>("n", "gpu", "r1-n", "r2-n", "", "x9y");
    const int number = *rc::gen::inRange(0, 120);
    const int width = *rc::gen::element(0, 0, 0, 2, 3);
    const std::string suffix = *rc::gen::element<std::string>("", "", "", "-ib", ".cluster");
    return fmt::format("{}{:0{}}{}", prefix, number, width, suffix);
  }));
}

}  // namespace

TEST_CASE("folding names and expanding them again gives the same names") {
  check_property("in order, with duplicates", [] {
    const auto names = some_names();
    const auto back = expand_hostlist(fold_hostlist_in_order(names));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == names);
  });
  check_property("sorted, without duplicates", [] {
    auto names = some_names();
    const auto back = expand_hostlist(fold_hostlist(names));
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return natural_less(a, b); });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == names);
  });
}

TEST_CASE("folding does not depend on the order of the names, and folding twice changes nothing") {
  check_property("order", [] {
    const auto names = some_names();
    auto reversed = names;
    std::reverse(reversed.begin(), reversed.end());
    const std::string once = fold_hostlist(names);
    RC_ASSERT(fold_hostlist(reversed) == once);
    RC_ASSERT(fold_hostlist(*expand_hostlist(once)) == once);
  });
}

TEST_CASE("natural order is a strict order") {
  check_property("asymmetric, transitive, total", [] {
    const auto text = rc::gen::container<std::string>(rc::gen::element('a', 'b', '0', '1', '9', '-'));
    const std::string a = *text, b = *text, c = *text;
    RC_ASSERT(!(natural_less(a, b) && natural_less(b, a)));
    RC_ASSERT(a == b || natural_less(a, b) || natural_less(b, a));
    if (natural_less(a, b) && natural_less(b, c)) RC_ASSERT(natural_less(a, c));
  });
}

TEST_CASE("expanding any text ends within the limit and never throws") {
  check_property("garbage", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('n', '[', ']', ',', '-', ':', '0', '1', '9', ' '));
    const auto got = expand_hostlist(text, 100);
    if (got) RC_ASSERT(got->size() <= 100u);
  });
}

TEST_CASE("a time printed reads back as the same time") {
  check_property("walltime", [] {
    const Duration d = seconds{*rc::gen::inRange<std::int64_t>(0, 86'400'000'000)};
    // The short form "5:00" is minutes and seconds both ways; the long form is the same time again.
    RC_ASSERT(*parse_walltime(format_walltime(d)) == std::optional<Duration>{d});
    RC_ASSERT(*parse_walltime(format_walltime_long(d)) == std::optional<Duration>{d});
  });
  check_property("span", [] {
    const Duration d{*rc::gen::inRange<std::int64_t>(0, 86'400'000'000'000'000)};
    RC_ASSERT(*parse_span(format_span(d)) == d);
  });
}

TEST_CASE("an amount of memory printed reads back as the same amount") {
  check_property("memory", [] {
    const Mebibytes m{*rc::gen::inRange<std::int64_t>(0, 2'000'000) << *rc::gen::inRange(0, 20)};
    RC_ASSERT(parse_memory(format_memory(m))->value == m.value);
  });
}

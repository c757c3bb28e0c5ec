// Text as a template argument, for tables of fields: T<"name"> is the function that prints the member "name".
#pragma once

#include <cstddef>
#include <string_view>

namespace sy::cli {

template <std::size_t n>
struct Text {
  char chars[n]{};
  constexpr Text(const char (&text)[n]) {
    for (std::size_t i = 0; i < n; ++i) chars[i] = text[i];
  }
};
// By the characters: through a conversion of Text to string_view, squeue built by clang 19 found no member of a job.
template <Text t>
constexpr std::string_view s{t.chars, sizeof(t.chars) - 1};

}  // namespace sy::cli

// Finds the quote or bracket that a YAML text opens and never closes: yaml-cpp lets an unclosed quote pass where the text ends
// with a line break, and tells an unclosed bracket as something else. Not a YAML reader: it looks at one value only.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sy::wire {

// Byte position of what is not closed in the value that begins at `from` (its anchor or tag may come first): a quote, or the
// innermost '[' or '{'. nullopt: the value is closed, or is neither quoted nor in brackets. Linear.
std::optional<std::size_t> unclosed_in(std::string_view text, std::size_t from);

}  // namespace sy::wire

// Characters that a terminal or a reader of lines would obey instead of showing: C0 and C1 control characters and DEL.
// Not a check of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sy::base {

// Where the first one begins; npos: the text is plain.
std::string_view::size_type find_control(std::string_view);
// Each as people write it: "\n", "\t", "\x1b".
std::string show_control(std::string_view);

}  // namespace sy::base

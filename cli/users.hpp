// Users as people name them: by login name or by number.
#pragma once

#include <string>
#include <string_view>

namespace sy::cli {
// "ann,1001" → "ann,bob": numbers that the machine knows become names, everything else stays.
std::string user_names(std::string_view list);
}  // namespace sy::cli

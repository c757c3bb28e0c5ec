// Users as people name them: by login name or by number.
#pragma once

#include <string>
#include <string_view>

namespace sy::cli {
// "ann,1001" → "ann,bob": numbers that the machine knows become names, everything else stays.
std::string user_names(std::string_view list);
// Is it the login name or number of an account on this machine?
bool user_exists(const std::string& user);
}  // namespace sy::cli

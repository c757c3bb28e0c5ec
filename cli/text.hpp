// Small words work that several commands share: splitting lists, case, trimming.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sy::cli {

// "a,b,,c" → {"a","b","c"}; blanks around parts are dropped.
std::vector<std::string> split_list(std::string_view text, char separator = ',');
std::string join(const std::vector<std::string>& parts, std::string_view separator = ",");
std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string_view trim(std::string_view text);
// Percent-encoded for a query.
std::string url_encode(std::string_view text);

}  // namespace sy::cli

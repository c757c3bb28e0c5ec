#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::cli {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    const auto part = trim(text.substr(0, end));
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

namespace {
template <class F>
std::string each(std::string_view text, F&& f) {
  std::string result{text};
  std::transform(result.begin(), result.end(), result.begin(), f);
  return result;
}
}  // namespace

std::string lower(std::string_view text) {
  return each(text, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}
std::string upper(std::string_view text) {
  return each(text, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
}

std::string url_encode(std::string_view text) {
  static constexpr std::string_view safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,";
  std::string result;
  for (const char c : text)
    if (safe.find(c) != std::string_view::npos) result += c;
    else result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return result;
}

}  // namespace sy::cli

#include "daemon/supervisor/fields.hpp"

#include <charconv>

namespace sy::supervisor {

std::optional<Fields> Fields::parse(std::string_view text) {
  Fields out;
  while (!text.empty()) {
    const auto line = text.find('\n');
    const auto space = text.find(' ');
    if (line == std::string_view::npos || space == std::string_view::npos || space > line) return std::nullopt;
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + space + 1, text.data() + line, size);
    if (error != std::errc{} || end != text.data() + line) return std::nullopt;
    const auto rest = text.size() - line - 1;
    if (size >= rest || text[line + 1 + size] != '\n') return std::nullopt;
    out.add(text.substr(0, space), text.substr(line + 1, size));
    text.remove_prefix(line + 1 + size + 1);
  }
  return out;
}

std::string Fields::text() const {
  std::string out;
  for (const auto& [key, value] : all_) {
    out += key;
    out += ' ';
    out += std::to_string(value.size());
    out += '\n';
    out += value;
    out += '\n';
  }
  return out;
}

bool Fields::has(std::string_view key) const {
  for (const auto& field : all_)
    if (field.first == key) return true;
  return false;
}

std::string Fields::get(std::string_view key) const {
  for (const auto& field : all_)
    if (field.first == key) return field.second;
  return {};
}

std::int64_t Fields::number(std::string_view key) const {
  const std::string text = get(key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

std::vector<std::string> Fields::all(std::string_view key) const {
  std::vector<std::string> out;
  for (const auto& field : all_)
    if (field.first == key) out.push_back(field.second);
  return out;
}

}  // namespace sy::supervisor

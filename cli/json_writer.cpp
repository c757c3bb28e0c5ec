#include "cli/json_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace sy::cli {

void JsonWriter::before_value() {
  if (!named_ && !first_) text_ += ',';
  named_ = false;
  first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  before_value();
  text_ += bracket;
  open_.push_back(bracket == '{' ? '}' : ']');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close() {
  text_ += open_.back();
  open_.pop_back();
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::name(std::string_view key) {
  value(key);
  text_ += ':';
  named_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::value(double n) {
  if (!std::isfinite(n)) return null();
  return raw(fmt::format("{}", n));
}

JsonWriter& JsonWriter::value(std::string_view s) {
  before_value();
  text_ += '"';
  for (const char c : s) {
    switch (c) {
      case '"': text_ += "\\\""; break;
      case '\\': text_ += "\\\\"; break;
      case '\n': text_ += "\\n"; break;
      case '\t': text_ += "\\t"; break;
      case '\r': text_ += "\\r"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20U) text_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

bool is_utf8(std::string_view s) {
  std::size_t i = 0;
  while (i < s.size()) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t more = c < 0x80U ? 0 : c >= 0xC2U && c < 0xE0U ? 1 : (c & 0xF0U) == 0xE0U ? 2 : c >= 0xF0U && c < 0xF5U ? 3 : 9;
    if (more == 9 || i + more >= s.size()) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(s[i + k]) & 0xC0U) != 0x80U) return false;
    if (more >= 2) {  // overlong forms, surrogates, beyond U+10FFFF
      const auto d = static_cast<unsigned char>(s[i + 1]);
      if ((c == 0xE0U && d < 0xA0U) || (c == 0xEDU && d > 0x9FU) || (c == 0xF0U && d < 0x90U) || (c == 0xF4U && d > 0x8FU)) return false;
    }
    i += more + 1;
  }
  return true;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t block = 0;
    for (std::size_t k = 0; k < 3; ++k) block = block << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : alphabet[block >> (18U - 6U * k) & 63U];
  }
  return text;
}

}  // namespace sy::cli

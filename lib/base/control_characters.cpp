#include "base/control_characters.hpp"

#include <fmt/format.h>

namespace sy::base {

namespace {

// How many bytes the control character at `at` has; 0: none is there. C1 is two bytes of UTF-8: C2 80 to C2 9F.
std::size_t control_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  if (byte != 0xC2 || at + 1 == text.size()) return 0;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0x80 && next < 0xA0 ? 2 : 0;
}

}  // namespace

std::string_view::size_type find_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (control_at(text, i) != 0) return i;
  return std::string_view::npos;
}

std::string show_control(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const auto bytes = control_at(text, i);
    if (bytes == 0) shown += text[i];
    else if (text[i] == '\n') shown += "\\n";
    else if (text[i] == '\t') shown += "\\t";
    else if (text[i] == '\r') shown += "\\r";
    else shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + bytes - 1]));
    i += bytes == 0 ? 1 : bytes;
  }
  return shown;
}

}  // namespace sy::base

#include "wire/json_text.hpp"

#include <array>
#include <charconv>

namespace sy::wire {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  const unsigned b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return follows(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    const bool ok = follows(1, b == 0xE0 ? 0xA0U : 0x80U, b == 0xED ? 0x9FU : 0xBFU) && follows(2);
    return ok ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    const bool ok = follows(1, b == 0xF0 ? 0x90U : 0x80U, b == 0xF4 ? 0x8FU : 0xBFU) && follows(2) && follows(3);
    return ok ? 4 : 0;
  }
  return 0;
}

namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default:
      out += "\\u00";
      out += digits[c >> 4U];
      out += digits[c & 15U];
  }
}

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

// value / 10^places without trailing zeros, exact.
void append_scaled(std::string& out, std::int64_t value, int places) {
  std::uint64_t scale = 1;
  for (int i = 0; i < places; ++i) scale *= 10;
  if (value < 0) out += '-';
  const std::uint64_t size = value < 0 ? 0U - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  append_number(out, size / scale);
  std::uint64_t rest = size % scale;
  if (rest == 0) return;
  out += '.';
  while (rest != 0) {
    scale /= 10;
    out += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // start of the run that needs no change
  std::size_t i = 0;
  const auto flush = [&] { out.append(text.data() + plain, i - plain); };
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
    } else if (c < 0x80) {
      flush();
      append_escape(out, c);
      plain = ++i;
    } else if (const std::size_t n = utf8_length(text, i); n != 0) {
      i += n;
    } else {
      flush();
      out += replacement;
      plain = ++i;
    }
  }
  flush();
  out += '"';
}

void append_integer(std::string& out, std::int64_t value) { append_number(out, value); }
void append_unsigned(std::string& out, std::uint64_t value) { append_number(out, value); }
void append_cpus(std::string& out, base::Cpus value) { append_scaled(out, value.value, 3); }

void append_seconds(std::string& out, base::Duration value) {
  if (value == base::Duration::max()) {
    out += "null";
  } else {
    append_scaled(out, value.count(), 6);
  }
}

}  // namespace sy::wire

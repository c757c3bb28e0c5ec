#include "base/digest.hpp"

#include <algorithm>

namespace sy::base {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

int value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<Digest> Digest::from_text(std::string_view hex) {
  Digest d;
  if (hex.empty()) return d;
  if (hex.size() != 2 * d.bytes_.size()) return std::nullopt;
  for (std::size_t i = 0; i < d.bytes_.size(); ++i) {
    const int high = value_of(hex[2 * i]), low = value_of(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    d.bytes_[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return d;
}

std::string Digest::text() const {
  if (std::all_of(bytes_.begin(), bytes_.end(), [](auto b) { return b == 0; })) return {};
  std::string out;
  out.reserve(2 * bytes_.size());
  for (const auto b : bytes_) {
    out += digits[b >> 4U];
    out += digits[b & 15U];
  }
  return out;
}

}  // namespace sy::base

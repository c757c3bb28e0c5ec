// A SHA-256 as its 32 bytes: a third of what its text takes, and every waiting job has two.
// Not the hashing of anything: daemon/runtime/crypto does that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sy::base {

class Digest {
 public:
  Digest() = default;                                            // of nothing: its text is empty
  static std::optional<Digest> from_text(std::string_view hex);  // 64 hex digits, or none at all
  std::string text() const;                                      // lower case
  bool operator==(const Digest&) const = default;

 private:
  std::array<std::uint8_t, 32> bytes_{};
};

}  // namespace sy::base

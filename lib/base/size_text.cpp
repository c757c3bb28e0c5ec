#include "base/size_text.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace sy::base {
namespace {

constexpr std::int64_t max_mebibytes = std::int64_t{1} << 40;  // 1024 PiB: sums over a cluster still fit 64 bits

struct Words {
  std::uint64_t number{};
  std::string_view suffix;
};

tl::unexpected<Error> bad(std::string_view text, std::string message, std::string hint) {
  return fail(Error{Code::invalid_argument, std::move(message), {}, {}, std::string(text.substr(0, 80)), std::move(hint)});
}
tl::unexpected<Error> too_large(std::string_view text, std::string message, std::string limit) {
  return fail(Error{Code::invalid_argument, std::move(message), {}, std::move(limit), std::string(text.substr(0, 80)), {}});
}

enum class NumberFault { none, missing, overflow };

// Digits, then whatever follows.
NumberFault read_number(std::string_view text, Words& out) {
  std::size_t at = 0;
  std::uint64_t v = 0;
  bool over = false;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    const auto d = static_cast<std::uint64_t>(text[at] - '0');
    over = over || v > (std::numeric_limits<std::uint64_t>::max() - d) / 10;
    if (!over) v = v * 10 + d;
    ++at;
  }
  if (at == 0) return NumberFault::missing;
  out = {v, text.substr(at)};
  return over ? NumberFault::overflow : NumberFault::none;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// "k", "KB", "kib" → 1; "M" → 2; … "P" → 5. nullopt: not a suffix of this kind.
std::optional<int> power_of(std::string_view suffix) {
  static constexpr std::string_view letters = "KMGTP";
  const auto p = suffix.empty() ? std::string_view::npos : letters.find(upper(suffix[0]));
  if (p == std::string_view::npos) return std::nullopt;
  const std::string_view tail = suffix.substr(1);
  const bool fine =
      tail.empty() || (tail.size() == 1 && upper(tail[0]) == 'B') || (tail.size() == 2 && upper(tail[0]) == 'I' && upper(tail[1]) == 'B');
  return fine ? std::optional<int>{static_cast<int>(p) + 1} : std::nullopt;
}

}  // namespace

Result<Mebibytes> parse_memory(std::string_view text) {
  static constexpr const char* hint = "write whole numbers with K, M, G or T, as in 1875M or 4G; without a letter they are MiB";
  if (text.empty()) return bad(text, "the amount of memory is empty", hint);
  Words w;
  const NumberFault fault = read_number(text, w);
  if (fault == NumberFault::missing) return bad(text, "the amount of memory can not be read", hint);
  const auto power = w.suffix.empty() ? std::optional<int>{2} : power_of(w.suffix);
  if (!power) return bad(text, "the amount of memory can not be read", hint);
  const int shift = (*power - 2) * 10;  // from MiB
  const auto most = static_cast<std::uint64_t>(max_mebibytes);
  if (fault == NumberFault::overflow) return too_large(text, "the amount of memory is too large", "1024P");
  const std::uint64_t mib = shift < 0 ? w.number / 1024 + (w.number % 1024 != 0 ? 1 : 0) : w.number;
  if (mib > (shift > 0 ? most >> shift : most)) return too_large(text, "the amount of memory is too large", "1024P");
  return Mebibytes{static_cast<std::int64_t>(shift > 0 ? mib << shift : mib)};
}

std::string format_memory(Mebibytes m) {
  if (m.value == 0) return "0";
  static constexpr std::string_view letters = "MGTP";
  std::int64_t v = m.value;
  std::size_t unit = 0;
  while (unit + 1 < letters.size() && v % 1024 == 0) {
    v /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", v, letters[unit]);
}

Result<std::int64_t> parse_count(std::string_view text) {
  static constexpr const char* hint = "write a whole number, with k, M, G or T for its multiples of 1024";
  Words w;
  const NumberFault fault = read_number(text, w);
  if (fault == NumberFault::missing) return bad(text, text.empty() ? "the count is empty" : "the count can not be read", hint);
  const auto power = w.suffix.empty() ? std::optional<int>{0} : w.suffix.size() == 1 ? power_of(w.suffix) : std::nullopt;
  if (!power || *power > 4) return bad(text, "the count can not be read", hint);
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> (*power * 10);
  if (fault == NumberFault::overflow || w.number > most)
    return too_large(text, "the count is too large", fmt::format("{}", std::numeric_limits<std::int64_t>::max()));
  return static_cast<std::int64_t>(w.number << (*power * 10));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr const char* hint = "write bytes as in 100, 64KiB, 4MiB or 1GiB";
  Words w;
  const NumberFault fault = read_number(text, w);
  if (fault == NumberFault::missing) return bad(text, text.empty() ? "the size is empty" : "the size can not be read", hint);
  int shift = -1;
  if (w.suffix.empty() || w.suffix == "B") shift = 0;
  if (w.suffix == "KiB") shift = 10;
  if (w.suffix == "MiB") shift = 20;
  if (w.suffix == "GiB") shift = 30;
  if (w.suffix == "TiB") shift = 40;
  if (shift < 0) return bad(text, "the size can not be read", hint);
  if (fault == NumberFault::overflow || w.number > std::numeric_limits<std::uint64_t>::max() >> shift)
    return too_large(text, "the size is too large", "16777215TiB");
  return w.number << shift;
}

}  // namespace sy::base

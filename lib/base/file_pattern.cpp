#include "base/file_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::base {
namespace {

constexpr std::size_t max_path_bytes = 4'096;
constexpr std::size_t max_padding = 10;  // as in Slurm

std::string safe(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

// What a letter stands for; false: it stands for nothing.
bool replace_letter(char letter, std::size_t padding, const FilePatternValues& v, std::string& out) {
  const auto number = [&](std::uint64_t n) { out += fmt::format("{:0{}}", n, padding); };
  switch (letter) {
    case 'j':
    case 'J':
    case 'A': number(v.job_id); return true;
    case 'n': number(v.node_rank); return true;
    case 't': number(v.task_rank); return true;
    case 'r': number(v.restarts); return true;
    case 'x': out += safe(v.job_name); return true;
    case 'u': out += safe(v.user); return true;
    case 'N': out += safe(v.node); return true;
    case 's': out += safe(v.step); return true;
    case '%': out += '%'; return true;
    default: return false;
  }
}

}  // namespace

Result<std::string> expand_file_pattern(std::string_view pattern, const FilePatternValues& values) {
  const auto too_long = [&] {
    return fail(Error{Code::invalid_argument,
                      "the file name is too long",
                      {},
                      fmt::format("{} bytes", max_path_bytes),
                      std::string(pattern.substr(0, 80)),
                      "use a shorter path or job name"});
  };
  if (pattern.size() > max_path_bytes) return too_long();
  if (pattern.find('\0') != std::string_view::npos)
    return fail(Code::invalid_argument, "a file name can not hold a NUL byte", {}, {}, "remove it");
  std::string out;
  if (pattern.find('\\') != std::string_view::npos) {
    std::remove_copy(pattern.begin(), pattern.end(), std::back_inserter(out), '\\');
    return out;
  }
  std::size_t at = 0;
  while (at < pattern.size()) {
    if (pattern[at] != '%') {
      out += pattern[at++];
      continue;
    }
    std::size_t letter = at + 1, padding = 0;
    while (letter < pattern.size() && pattern[letter] >= '0' && pattern[letter] <= '9') {
      padding = std::min(max_padding, padding * 10 + static_cast<std::size_t>(pattern[letter] - '0'));
      ++letter;
    }
    const bool known = letter < pattern.size() && replace_letter(pattern[letter], padding, values, out);
    const std::size_t end = std::min(letter + 1, pattern.size());
    if (!known) out += pattern.substr(at, end - at);
    at = end;
    if (out.size() > max_path_bytes) return too_long();
  }
  if (out.size() > max_path_bytes) return too_long();
  return out;
}

}  // namespace sy::base

// Reads the #SBATCH lines of a script as sbatch does (../shared/vectors/directives.md): words only, no meaning.
// Not the option table (option_table.hpp) and not a shell: nothing is expanded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::base {

struct DirectiveLine {
  std::size_t line{};                 // 1-based
  std::vector<std::string> words;     // quotes removed, comments dropped
};

struct Directives {
  std::vector<std::vector<DirectiveLine>> components{{}};  // split at "#SBATCH hetjob" / "packjob"
  std::vector<std::size_t> ignored_lines;                 // directives after the first command: warn
};

inline constexpr std::size_t max_script_bytes = 4 * 1024 * 1024;

// `marker` is "#SBATCH". Errors: unmatched quote (with its line). The script's own faults (no "#!", NUL, binary, empty, too
// large) are check_script's.
Result<Directives> read_directives(std::string_view script, std::string_view marker = "#SBATCH");

// Refuses an empty script, one without "#!", NUL bytes, more than max_script_bytes, DOS line ends in the "#!" line: each by name.
Result<void> check_script(std::string_view script);

// Words as in a shell: quotes, backslash, '#' begins a comment.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace sy::base

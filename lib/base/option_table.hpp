// Command-line options as GNU getopt reads them, driven by a table: unambiguous prefixes, "--a=b", "--a b", "-ab", "-a b".
// Serves command lines and #SBATCH lines alike. Not the meaning of an option: the caller maps names to fields.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sy::base {

struct OptionRule {
  enum class Argument : unsigned char { none, required, optional };  // optional: only as --name=value (or -xvalue)
  std::string_view name;            // "cpus-per-task"
  char letter{};                    // 'c'; 0: none
  Argument argument{Argument::required};
  std::string_view canonical;       // another name it is an alias of ("tasks-per-node" → "ntasks-per-node"); empty: itself
};

struct GivenOption {
  std::string name;                 // canonical
  std::string as_written;           // "--out", "-N": for messages
  std::string value;                // empty when none
  bool has_value{};
};

struct ParsedOptions {
  std::vector<GivenOption> options; // in the order written
  std::vector<std::string> rest;    // operands
};

// With stop_at_operand the first operand ends the options (sbatch: script and its arguments). "--" always does.
// Errors: unknown (hint: the nearest known), ambiguous (hint: the candidates), missing or unwanted argument, lone "=" as in
// "--time = 10" (hint: write --time=10). A negative number is an operand, not an option, after an option that takes a value.
Result<ParsedOptions> parse_options(std::span<const OptionRule> rules, const std::vector<std::string>& words, bool stop_at_operand);

// The candidate nearest to `word` by edit distance; else one that begins with it or begins it, word by word ("time" for "time_limit");
// empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sy::base

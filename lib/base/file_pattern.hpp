// Slurm's output file patterns: "%x-%j.out", "%4j", "%%".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sy::base {

struct FilePatternValues {
  std::uint64_t job_id{};         // %j %J %A (until arrays)
  std::string job_name;           // %x
  std::string user;               // %u
  std::string node;               // %N short host name
  std::uint32_t node_rank{};      // %n
  std::uint32_t task_rank{};      // %t
  std::string step;               // %s: "batch"
  std::uint32_t restarts{};       // %r
};

// Unknown letters stay as they are, as in Slurm; a backslash anywhere disables expansion (and is removed).
// Names are made safe: '/' in a job or user name becomes '_'. Refuses results over 4,096 bytes.
Result<std::string> expand_file_pattern(std::string_view pattern, const FilePatternValues&);

}  // namespace sy::base

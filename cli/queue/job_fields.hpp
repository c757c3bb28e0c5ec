// What squeue can show of a job: Slurm's names and letters, the members of the API each needs, and how it is written.
// Not which of them are shown: columns.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/calendar.hpp"
#include "cli/columns.hpp"
#include "cli/json.hpp"

namespace sy::cli {

struct JobView {
  TimeStyle times;
  std::string cluster;
  bool noconvert{};
};

struct JobField {
  FieldName name;
  std::string_view needs;  // members of the API, comma-joined
  void (*render)(std::string& out, Json job, const JobView&);
  std::int64_t (*number)(Json job);  // sorts by it; null: sorts by text
};

std::span<const JobField> job_fields();
std::span<const FieldName> job_field_names();

// The parts that scontrol and sy show too.
std::string job_reason_or_nodes(Json job);  // %R
std::string memory_text(std::int64_t mib, bool noconvert);
std::string job_memory(Json job, bool noconvert);                    // "4G", per node or per CPU; "0" when unset
std::string seconds_text(Json seconds, std::string_view when_null);  // "1:00:00"

}  // namespace sy::cli

// A job described in a file (`sy submit --spec FILE`, YAML or JSON): the options of `sy submit` as keys, and a tree of groups.
// Not the SPEC of the API, which is what comes out (wire/job_spec_json.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/submit/request.hpp"
#include "wire/fault.hpp"

namespace sy::cli {

// What the file says besides the job: where its script is.
struct SpecFile {
  std::optional<std::string> script, wrap;
  std::vector<std::string> args;
  bool has_groups{};         // groups inside groups: options about a single group have no place beside them
};

// Strict: unknown keys, wrong types and values are all told, each with file, line and nearest known key.
base::Result<SpecFile> read_spec_file(std::string_view text, const std::string& file, SubmitRequest&);
SpecFile read_spec_file(std::string_view text, SubmitRequest&, wire::Faults&);

// Does this option speak about the one group of a plain job (nodes, memory, placement), not about the job?
bool is_about_a_group(std::string_view option);

}  // namespace sy::cli

// From the words of a command line, the environment and the script's directives to one submission, strongest last.
// Not the sending of it (sbatch.cpp).
#pragma once

#include <string>
#include <vector>

#include "base/option_table.hpp"
#include "cli/command_table.hpp"
#include "cli/submit/request.hpp"

namespace sy::cli {

struct Submission {
  SubmitRequest request;
  std::string script;  // its text, complete
  std::vector<std::string> script_args;
  std::vector<std::string> warnings;  // sentences for standard error
};

// What an Error means before anything was sent; `socket`, `quiet` and --help are in the request even then.
base::Result<Submission> collect_submission(Context&, const Words&, bool ours);

// The #SBATCH lines of a script applied to a request. Shared with `sy topo try`, which has no script file.
base::Result<void> apply_directives(SubmitRequest&, std::string_view script, std::vector<std::string>& warnings);

// A first operand after an option whose value is optional ("--exclusive rack"): most likely that value. What to write instead, or "".
std::string glue_hint(const base::ParsedOptions&);

// The environment the job gets, by --export and --get-user-env.
base::Result<std::vector<std::string>> job_environment(Context&, const SubmitRequest&, std::vector<std::string>& warnings);

}  // namespace sy::cli

// Every option of sbatch and `sy submit`: how it is written, what became of it here, and what it does to a submission.
// The one table that parsing, --help and the messages about options share. Not the reading of words (base/option_table.hpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/option_table.hpp"
#include "cli/submit/request.hpp"

namespace sy::cli {

struct SubmitOption {
  enum class Standing : unsigned char {
    done,    // carried out
    stored,  // stored, shown, filterable; not enforced yet
    later,   // a known option that this release refuses by name
    plugin,  // of a site plugin that is not configured: refused by name
    ours     // `sy submit` only
  };
  base::OptionRule rule;
  Standing standing;
  base::Result<void> (*apply)(SubmitRequest&, const base::GivenOption&);  // null when refused
  std::string_view argument;                                              // for --help: "N[-M]"
  std::string_view help;
};

std::span<const SubmitOption> submit_options();
// The rules that sbatch (or `sy submit`) reads words with.
std::span<const base::OptionRule> submit_rules(bool ours);

// Applies options in order. Refused ones: Code::unsupported, naming the option as it was written.
base::Result<void> apply_options(SubmitRequest&, const std::vector<base::GivenOption>&, Source);

// SBATCH_* variables as the options they stand for.
std::vector<base::GivenOption> options_from_environment(const std::vector<std::string>& environment);

std::string submit_help(bool ours);

}  // namespace sy::cli

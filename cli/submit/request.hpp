// A submission while it is put together: the job's specification, and what only the submitting command needs to know.
// Not what is sent (spec_json.hpp) and not the table of options (option_table of submit/options.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/option_table.hpp"
#include "base/result.hpp"
#include "model/job_spec.hpp"

namespace sy::cli {

// Where an option was written; a later one wins over an earlier one.
enum class Source : unsigned char { nowhere, script, environment, command_line };

struct SubmitRequest {
  model::JobSpec spec;

  // Parts of the specification that several options share, put together by finish().
  std::vector<model::GresRequest> gres, gpus_per_node;
  std::optional<base::Mebibytes> memory_per_gpu;
  bool spread_segments{}, consolidate_segments{};
  std::optional<int> cpus_per_gpu;
  Source memory_from{Source::nowhere}, segments_from{Source::nowhere}, spread_from{Source::nowhere};

  std::optional<std::string> wrap;
  std::optional<std::string> script_path;   // absent: standard input
  std::optional<std::string> export_names;  // as written after --export
  std::optional<std::string> get_user_env;  // its argument, often empty
  std::string clusters;
  std::string spec_file;  // --spec
  bool groups_from_file{};  // it describes groups: options about one group have no place
  bool parsable{}, wait{}, test_only{}, json{}, quiet{};
  int verbose{};
  bool help{}, usage{}, version{};
  std::string socket;
  bool ours{};  // `sy submit`: also what Slurm's sbatch does not know

  Source now{Source::nowhere};  // of the option being applied
  std::string work_dir;         // of the submitting process, to make paths absolute

  model::Group& group() { return spec.groups.front(); }
};

// Joins what was given piece by piece; refuses what contradicts itself.
base::Result<void> finish(SubmitRequest&);

}  // namespace sy::cli

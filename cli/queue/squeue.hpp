// `squeue`: the queue in Slurm's formats.
#pragma once

#include "cli/command_table.hpp"
#include "cli/json.hpp"

namespace sy::cli {

int run_squeue(Context&, const Words&);

// The jobs as Slurm's data parser prints them for --json.
std::string squeue_json(const std::vector<Json>& jobs, std::string_view cluster, std::int64_t now_s);
// {"set":true,"infinite":false,"number":n} and its kin open every document: meta, errors, warnings.
class JsonWriter;
void write_meta(JsonWriter&, std::string_view command, std::string_view cluster);

}  // namespace sy::cli

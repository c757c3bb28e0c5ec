// A job's SPEC (docs/api-v1.md) as JSON and back: what clients send, what the store keeps, what the views show.
// Not whether it makes sense on this cluster: submission (core) decides that.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/job_spec.hpp"
#include "wire/json.hpp"

namespace sy::wire {

// One line of JSON; members at their defaults are left out, so equal specs give equal texts.
std::string job_spec_text(const model::JobSpec&);
void append_job_spec(std::string& out, const model::JobSpec&);
Json to_json(const model::JobSpec&);

// Strict: unknown members (the nearest is named), types, ranges, lengths; work_dir must be there and absolute.
// Faults are named below `path`: "spec.groups[0].nodes.min".
base::Result<model::JobSpec> job_spec_from_json(const Json&, std::string path = "spec");

// What the store kept: today's limits are not applied to yesterday's jobs.
base::Result<model::JobSpec> job_spec_from_stored_text(std::string_view);

}  // namespace sy::wire

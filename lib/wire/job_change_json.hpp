// A CHANGE of a waiting job (docs/api-v1.md, PATCH /v1/jobs/ID) from JSON: flat, strict, only what is given is changed.
// Not whether this job may be changed so: core decides that.
#pragma once

#include "base/result.hpp"
#include "core/command.hpp"
#include "wire/json.hpp"

namespace sy::wire {

// Refuses unknown members, wrong types, and a change of nothing.
base::Result<core::JobChange> job_change_from_json(const Json&);

}  // namespace sy::wire

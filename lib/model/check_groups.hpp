// Can a job's groups be meant at all: bounds on every number, names that are clear, affinities to groups that there are.
// Not whether a topology has the levels they name (sched/placement), nor whether any cluster could hold them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/job_spec.hpp"

namespace sy::model {

// The one group of a job: a plain one, or the one around all others. Error.field is the option, or the group's place and what in
// it: "groups[1].affinity".
base::Result<void> check_groups(const Group&);

// At most `limit` bytes and no control character: others are shown it. A line break would forge a row of theirs, an escape sequence
// speak to their terminals.
base::Result<void> plain_text(const char* field, const std::string& text, std::size_t limit);

}  // namespace sy::model

// Is this a request we can understand and could ever carry out? Shared by submission and update.
// Not who may ask (access.hpp).
#pragma once

#include "base/result.hpp"
#include "core/command.hpp"

namespace sy::core {

// Bounds on every number and string (design D7), and combinations that contradict each other.
Result<void> check_spec(const JobSpec&, const Principal&);
// A job that an affinity names by its number is the same user's, and has not ended. Only at submission: it may end later.
Result<void> check_jobs_named(const State&, const JobSpec&, Uid);
// The partitions asked for (the default one where none is), those the user may not use left out with a warning.
Result<std::vector<std::string>> resolve_partitions(const State&, const Principal&, const JobSpec&, std::vector<std::string>& warnings);
// Refused as impossible, saying what would fit, when no partition could hold it were the cluster idle and up.
// Warns of wishes that have no effect.
Result<void> check_possible(const State&, const JobSpec&, Uid, std::vector<std::string>& warnings);

}  // namespace sy::core

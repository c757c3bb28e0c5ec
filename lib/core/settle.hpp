// What follows from facts by itself: an attempt whose last node is clear has ended; a lost job whose nodes are all heard
// again is found. step applies these after the facts of a command, so that no verb can forget them.
#pragma once

#include "core/event.hpp"

namespace sy::core {

// Facts that follow for this job as it stands in State now; empty when none do.
std::vector<Fact> settle(const State&, JobId, Time now);
// The jobs that facts like this one may settle.
std::vector<JobId> concerned(const State&, const Fact&);

}  // namespace sy::core

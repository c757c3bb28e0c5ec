// May it run at all, before anybody looks at nodes: holds, times, and the limits of a partition. Each rule a verdict.
// Not who goes first (priority/) and not who may use the partition: that was decided at submission.
#pragma once

#include "model/verdict.hpp"
#include "sched/view.hpp"

namespace sy::sched {

Verdict job_is_eligible(const WaitingJob&, Time now);

// The partition's own limits: state, walltime, nodes. `never` where waiting alone can not change it.
Verdict within_partition(const Partition&, const JobSpec&, const Settings&);
// What a job waits for whose partition is not there any more.
Verdict partition_is_gone(const std::string& name);

}  // namespace sy::sched

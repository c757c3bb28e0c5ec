// One scheduling pass: which waiting jobs start now, where, and why the others wait.
// Pure. Not the application of its starts: that is core's ApplyPlan, which checks each again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/verdict.hpp"
#include "sched/view.hpp"

namespace sy::sched {

struct Start {
  JobId job;
  std::string partition;
  std::vector<NodeGrant> nodes;      // rank order; which GRES instances is decided when it is applied
  PlacementHandle placement;
};

// The forecast of one waiting job: never an event or a row (design T5).
struct Forecast {
  JobId job;
  std::shared_ptr<const Verdict> why;  // shared by the jobs that met the same; never null in a plan
  std::uint32_t ahead{};               // jobs before this one
  std::int64_t priority{};             // higher goes first; what squeue's PRIORITY column shows
  struct Planned {  // a start to come
    Time start;
    std::vector<NodeIndex> nodes;
  };
  base::Boxed<Planned> planned;

  Verdict verdict() const;             // why, with those ahead
};

struct Plan {
  Sequence snapshot;
  std::uint64_t policy_version{};
  std::vector<Start> starts;         // highest priority first
  std::vector<Forecast> forecasts;   // of those that do not start, by id
  std::uint64_t jobs_looked_at{}, nodes_looked_at{}, search_steps{};  // work counted, not timed
  bool search_ended{};               // some search ended before it was complete: a thorough pass may find more
  bool look_again{};                 // a job starts that others may want to be near to: they go in the next pass

  const Forecast* forecast_of(JobId) const;  // null: it starts, or did not wait
};

Plan plan_pass(const View&, Time now);

// Submission's question: could this job run on the configured cluster if everything were idle and up? `never` says what
// would fit. Also resolves nothing and starts nothing.
Verdict could_ever_run(const ClusterShape&, const Settings&, const JobSpec&, Uid);
// Can its wishes about the topology be understood in one of its partitions? The error names the option, the value, and the
// levels that are known. Warns of what has no effect there.
Result<void> check_wishes(const ClusterShape&, const JobSpec&, std::vector<std::string>& warnings);

}  // namespace sy::sched

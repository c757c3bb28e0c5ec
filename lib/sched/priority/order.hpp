// In which order waiting jobs are tried: partition tier, nice, time of submission, id. One entry per job and partition asked.
// Not fair share or ageing: those become terms of the same number.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/view.hpp"

namespace sy::sched {

struct QueueEntry {
  std::uint32_t job{};                 // position in View.waiting
  std::uint32_t partition{};           // position in ClusterShape.partitions; no_partition: it is not there any more
  std::uint32_t choice{};              // position in the job's own list of partitions
  std::int64_t priority{};
};
inline constexpr std::uint32_t no_partition = ~0U;

// What squeue's PRIORITY column shows: higher goes first, ties by submission.
std::int64_t priority_of(std::int32_t tier, std::int32_t nice);

// Best first.
void put_in_order(std::vector<QueueEntry>&, const std::vector<WaitingJob>&);

}  // namespace sy::sched

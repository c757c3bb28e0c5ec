#include "sched/priority/order.hpp"

#include <algorithm>
#include <tuple>

namespace sy::sched {

// Slurm's familiar number for a job of nice 0 in a partition of tier 1; a tier outweighs every nice.
std::int64_t priority_of(std::int32_t tier, std::int32_t nice) {
  constexpr std::int64_t base_priority = 4'294'901'760, tier_step = 10'000'000'000;
  return base_priority + (static_cast<std::int64_t>(tier) - 1) * tier_step - nice;
}

void put_in_order(std::vector<QueueEntry>& entries, const std::vector<WaitingJob>& jobs) {
  std::sort(entries.begin(), entries.end(), [&](const QueueEntry& a, const QueueEntry& b) {
    const WaitingJob& x = jobs[a.job];
    const WaitingJob& y = jobs[b.job];
    return std::tie(b.priority, x.submitted, x.id, a.choice) < std::tie(a.priority, y.submitted, y.id, b.choice);
  });
}

}  // namespace sy::sched

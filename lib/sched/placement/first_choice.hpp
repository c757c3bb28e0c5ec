// The simple choice of nodes: as few as hold the request, the tightest first, names last. Knows no topology: the engine
// beside it does. One function, so that it can be replaced.
#pragma once

#include <optional>
#include <vector>

#include "sched/feasible/fitting_nodes.hpp"

namespace sy::sched {

// What one node offers at the instant asked about; only nodes that can hold at least one slot are offered.
struct Offer {
  NodeIndex node;
  std::uint32_t slots{};
  std::int64_t spare{};              // thousandths of CPUs that would stay free: smaller is tighter
  std::uint32_t weight{1};
  std::uint32_t name_rank{};
  const Resources* free{};           // read for gres_per_job only
};

struct Taken {
  NodeIndex node;
  std::uint32_t tasks{};
  std::vector<GresRequest> job_gres;
};

// In rank order (by name); empty when these offers can not hold it.
std::optional<std::vector<Taken>> first_choice(const FittingNodes&, std::vector<Offer>);

}  // namespace sy::sched

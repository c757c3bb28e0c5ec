// How good placements are, measured afterwards: domains a job uses against the fewest that could hold it, what is free in one
// piece, what each domain's nodes do. Not the choice (engine) and not the fragmentation value (placement.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/topology_index.hpp"
#include "sched/view.hpp"

namespace sy::sched::placement {

struct JobQuality {
  std::uint32_t nodes{}, used{}, least{};   // leaf domains used, and the fewest that hold so many nodes when all is idle
  std::string level;                        // the narrowest on which one domain holds it whole; "any": none does
};
JobQuality quality_of(const model::TopologyIndex&, const std::vector<NodeIndex>& nodes);

struct LevelFree {
  std::string level, domain;
  std::uint32_t free{};                     // nodes without a job, in the domain that has most
};
std::vector<LevelFree> largest_free(const model::TopologyIndex&, std::span<const NodeNow>);

struct DomainUse {
  std::uint32_t nodes{}, free{}, busy{}, drained{}, down{};
};
std::vector<DomainUse> domain_uses(const model::TopologyIndex&, std::span<const NodeNow>);  // by domain; the implicit root is 0

}  // namespace sy::sched::placement

// What is kept and told about a placement (model/placement_record.hpp), made from the engine's answer.
// Not the grants: those come from what each node needs.
#pragma once

#include "model/placement_record.hpp"
#include "sched/placement/placement.hpp"

namespace sy::sched::placement {

// `order`: the nodes as they are granted, each once; parts of one node stand together in it. `version`: of the topology.
PlacementHandle make_record(const Answer&, const model::Group&, const model::TopologyIndex&, std::uint64_t version,
                            const std::vector<NodeIndex>& order);

}  // namespace sy::sched::placement

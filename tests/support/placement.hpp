// A placement with something in every member, for tests that carry one through a format.
#pragma once

#include <memory>

#include "model/placement_record.hpp"

namespace sy::test {

// The second worker of a gang: rack r2 of no spine, two tasks on `node`.
inline model::PlacementHandle placed_on(base::NodeIndex node) {
  model::PlacementRecord r;
  r.topology = "fabric";
  r.version = 3;
  r.levels = {"spine", "rack"};
  r.level = "rack";
  r.domains = {"r1"};
  r.leaves_used = 1;
  r.leaves_least = 1;
  r.fragmentation_growth = -2;
  r.beaten = {{"r2", 3, 2}};
  r.paths = {{"s1", "r1"}, {"", "r2"}};
  r.groups = {"leader", "workers"};
  r.segmented = true;
  r.closed = {node};
  r.parts = {{node, 2, 1, 1, 1, 1}};
  return model::PlacementHandle{std::make_shared<const model::PlacementRecord>(r)};
}

}  // namespace sy::test

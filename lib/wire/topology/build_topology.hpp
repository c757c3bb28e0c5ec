// From names to the scheduler's topology: checks everything that a file can contradict, merges the spines of a multi-spine
// fabric, numbers the levels. Not a reader of any format, and all or nothing: with one fault there is no topology.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "model/topology.hpp"
#include "wire/topology/topology_text.hpp"

namespace sy::wire {

// The cluster's nodes by name; nullopt: unknown.
using FindNode = std::function<std::optional<base::NodeIndex>(std::string_view)>;

struct BuildOptions {
  bool skip_unknown_nodes{};  // leave them out and say so, instead of refusing
  bool incomplete{};          // reading has found faults already: that nothing is left is no fault of its own
};

// Faults added: a name defined twice, a child that is defined nowhere, cycles (each by its members), a domain under two
// parents whose children differ, a node in two places, nodes that the cluster does not know, levels that are unknown or not
// narrower than the parent's, block sizes that are not the base × 2^k, nothing to place on. Domains come out in depth-first
// order. Linear in the size of the file.
std::optional<model::Topology> build_topology(const TopologyText&, const FindNode&, const BuildOptions&, ImportReport&, Faults&);

// A level's names as they were written. Faults: no name, one that requests use for something else, one that was there before.
struct LevelNames {
  const model::Level* level;
  FileMark mark;
};
void check_level_names(const std::vector<LevelNames>&, Faults&);

// Level names of an imported tree by height above the nodes: "leaf", "spine", "core", "tier4", …
std::string level_name_by_height(std::size_t height);
// One name for switches that became one domain: "spine1+spine2", or "spine1+7" when that would be long.
std::string joined_domain_name(std::vector<std::string> names);

}  // namespace sy::wire

// A partition: a set of nodes with limits and access rules, as Slurm means it. Partitions may overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/node_set.hpp"
#include "base/quantity.hpp"
#include "base/time.hpp"

namespace sy::model {

enum class PartitionState : std::uint8_t { up, down, drain, inactive };

struct Partition {
  std::string name;
  base::NodeSet nodes;
  bool all_nodes{};                             // declared as ALL: nodes that enrol later belong to it too
  bool is_default{};
  PartitionState state{PartitionState::up};
  std::optional<base::Duration> max_time;       // absent: no limit
  std::optional<base::Duration> default_time;   // absent: the cluster's, at most max_time
  std::uint32_t min_nodes{0};
  std::optional<std::uint32_t> max_nodes;
  std::int32_t priority_tier{1};
  bool exclusive_node{};                        // every job gets whole nodes
  bool hidden{};
  bool allow_root{};
  std::vector<std::string> allow_users, deny_users, allow_groups, deny_groups;  // sorted; empty allow: everyone
  std::string topology;                         // empty: the cluster's default
  bool topology_optional{};                     // default packing none
  bool weight_first{};                          // cheaper nodes before better topology; otherwise weights break ties
  std::optional<base::Mebibytes> default_memory_per_cpu, default_memory_per_node;
  bool operator==(const Partition&) const = default;
};

}  // namespace sy::model

// A network topology as the scheduler sees it: named levels, and a forest of domains over nodes (design §5).
// Not a file format (wire/topology_*.cpp) and not a placement (sched/placement).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/node_set.hpp"

namespace sy::model {

struct Level {
  std::string name;                  // "block", "rack", "leaf"
  std::vector<std::string> aliases;
  bool operator==(const Level&) const = default;
};

// One vertex: a switch, a block, a rack. Level 0 is the widest.
struct Domain {
  std::string name;
  std::uint32_t level{};
  std::int32_t parent{-1};               // index in Topology.domains; -1: a root
  std::vector<std::uint32_t> children;   // domain indices, in the file's order
  std::vector<base::NodeIndex> nodes;    // those that hang directly here, in the file's order
  bool virtual_group{};                  // an aligned group of blocks (BlockSizes)
  bool whole{true};                      // false: the last, incomplete group
  std::string link_speed{};              // as the file gives it; kept and shown, never computed with
  bool operator==(const Domain&) const = default;
};

struct Topology {
  enum class Kind : std::uint8_t { flat, tree, block };
  std::string name;
  Kind kind{Kind::flat};
  std::vector<Level> levels;             // without "node", which is always last
  std::vector<Domain> domains;           // parents before children
  bool joined{true};                     // false: several roots, and no job spans them
  std::vector<std::uint32_t> block_sizes;  // kind block, ascending; nodes
  std::uint64_t version{1};
  bool operator==(const Topology&) const = default;
};

}  // namespace sy::model

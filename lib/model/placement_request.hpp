// What a job asks of placement: a tree of groups, each with counts, resources and wishes about the topology (design §6).
// Not a placement: that is placement.hpp. Not what partitions add: the scheduler merges that in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/time.hpp"

namespace sy::model {

// GRES asked for: "gpu:a100:4". An empty type accepts any.
struct GresRequest {
  std::string name;
  std::string type;
  std::int64_t count{1};
  bool operator==(const GresRequest&) const = default;
};

// How many nodes: "2", "2-4", "4,8". `choices` non-empty means exactly one of them.
struct NodeRange {
  std::uint32_t min{1};
  std::uint32_t max{1};
  std::vector<std::uint32_t> choices;  // ascending
  bool operator==(const NodeRange&) const = default;
};

enum class Sharing : std::uint8_t { shared, exclusive_node, exclusive_user };
enum class Distribution : std::uint8_t { unset, block, cyclic, plane, arbitrary };

enum class PackOrder : std::uint8_t { automatic, own_first, parent_first, fullest, least_growth };
enum class PackFill : std::uint8_t { best_fit, pack_parents, least_free, balanced };

struct Rung {
  std::string level;               // a level's name or alias; "any" = the root and beyond
  std::uint32_t max_domains{1};
  base::Duration wait{};           // how long to insist before the next rung opens
  bool operator==(const Rung&) const = default;
};

struct Segment {
  enum class Remainder : std::uint8_t { forbid, shorter, elastic };
  std::string level;                // empty: the leaf level (on blocks: the base block)
  std::uint32_t size{};             // nodes (or tasks where the group counts tasks); 0 when sizes is used
  std::vector<std::uint32_t> sizes; // exact parts, largest first when placed
  Remainder remainder{Remainder::forbid};
  bool distinct{};                  // no two in one domain
  bool consolidate{};               // all near each other where possible
  bool operator==(const Segment&) const = default;
};

struct Spread {
  enum class Mode : std::uint8_t { require, prefer };
  std::string level;
  Mode mode{Mode::require};
  std::optional<std::uint32_t> max_per_domain;
  std::optional<std::uint32_t> max_share;      // per cent
  std::optional<std::uint32_t> min_domains;
  std::optional<std::uint32_t> max_skew;
  bool operator==(const Spread&) const = default;
};

struct Affinity {
  std::string level;
  std::string target;     // a group's name, or a job's
  bool require{true};
  bool operator==(const Affinity&) const = default;
};

struct PackWish {
  std::string prefer;     // level; empty: none
  std::string require;    // level; empty: none
  std::vector<Rung> ladder;
  PackOrder order{PackOrder::automatic};
  PackFill fill{PackFill::best_fit};
  bool operator==(const PackWish&) const = default;
};

struct Group {
  std::string name;                     // empty for the one group of a plain job
  NodeRange nodes;                      // asked by nodes …
  bool nodes_given{};                   // … when -N was written; otherwise nodes follow from tasks
  std::uint32_t tasks{1};               // total; meaningful when tasks_given
  bool tasks_given{};
  std::uint32_t min_tasks{};            // 0: = tasks; surplus above it is elastic
  std::uint32_t tasks_per_node{};       // 0: unset. With nodes: exact; without: a maximum
  base::Cpus cpus_per_task{1000};
  std::optional<base::Mebibytes> memory_per_node;  // 0 MiB: all of the node
  std::optional<base::Mebibytes> memory_per_cpu;
  std::vector<GresRequest> gres_per_node;
  std::vector<GresRequest> gres_per_task;
  std::vector<GresRequest> gres_per_job;
  std::string constraint;               // features, as written: "a100&ib|[rack1|rack2]*2"
  std::string nodelist;                 // -w
  std::string exclude;                  // -x
  Sharing sharing{Sharing::shared};
  std::string exclusive_level;          // --exclusive=topo or LEVEL; empty: none. "topo" = base block / leaf
  bool contiguous{};
  std::uint32_t replicas{1};
  std::uint32_t min_replicas{};         // 0: = replicas
  PackWish pack;
  std::vector<Segment> segments;        // widest first
  std::vector<Spread> spread;
  std::vector<Affinity> affinity;
  std::vector<Affinity> anti_affinity;
  std::optional<std::uint32_t> switches;         // --switches=n
  std::optional<base::Duration> switches_wait;   // @t; absent: 300 s
  Distribution distribution{Distribution::unset};
  std::uint32_t plane_size{};
  std::vector<Group> children;          // nested packs
  bool operator==(const Group&) const = default;
};

}  // namespace sy::model

// How an attempt was placed, as people, the API and the job itself are told: the rung, the domains of each rank, what was beaten.
// Kept with the attempt, so that a later version of the topology does not rewrite it. Not what is held (NodeGrant).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "model/verdict.hpp"

namespace sy::model {

// Tasks of one group, copy and segment on one node; their ranks follow those of the part before.
struct PlacedPart {
  base::NodeIndex node;
  std::uint32_t tasks{};
  std::uint32_t path{};                 // in PlacementRecord.paths
  std::uint32_t group{};                // in PlacementRecord.groups; 0 for a plain job
  std::uint32_t replica{};
  std::optional<std::uint32_t> segment; // absent where the group has none
  bool operator==(const PlacedPart&) const = default;
};

struct PlacementRecord {
  std::string topology;                 // empty: none is configured, all nodes are one domain
  std::uint64_t version{};
  std::vector<std::string> levels;      // those with domains of their own, widest first, without "node"
  std::string level;                    // the rung: "rack", "any"
  std::vector<std::string> domains;     // of that rung
  std::uint32_t leaves_used{}, leaves_least{};  // the fewest that could hold it were everything idle
  std::int64_t fragmentation_growth{};  // design P9
  std::vector<DomainCount> beaten;      // other domains of the rung that would have done
  std::vector<std::vector<std::string>> paths;  // one name a level, empty where the branch has none: {"spine1", "rack3"}
  std::vector<std::string> groups;      // names by number, depth-first; empty for a plain job
  bool segmented{};                     // some parts have segments
  std::vector<base::NodeIndex> closed;  // an exclusive domain: nodes that nobody else comes to while the job runs
  std::vector<PlacedPart> parts;        // in the order of ranks; those of one node stand together
  bool operator==(const PlacementRecord&) const = default;
};

// Shared and compared by value: most jobs have none, and copies of an attempt share theirs.
class PlacementHandle {
 public:
  using element_type = const PlacementRecord;
  PlacementHandle() = default;
  PlacementHandle(std::shared_ptr<const PlacementRecord> record) : record_(std::move(record)) {}
  PlacementHandle(std::shared_ptr<PlacementRecord> record) : record_(std::move(record)) {}
  explicit operator bool() const { return record_ != nullptr; }
  const PlacementRecord& operator*() const { return *record_; }
  const PlacementRecord* operator->() const { return record_.get(); }
  friend bool operator==(const PlacementHandle& a, const PlacementHandle& b) {
    return a.record_ == b.record_ || (a.record_ && b.record_ && *a.record_ == *b.record_);
  }

 private:
  std::shared_ptr<const PlacementRecord> record_;
};

}  // namespace sy::model

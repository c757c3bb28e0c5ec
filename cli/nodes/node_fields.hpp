// What sinfo can show of a group of nodes in a partition: Slurm's names and letters, how each is written, and whether it
// keeps nodes apart or is counted over them. Not the grouping itself: sinfo.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/calendar.hpp"
#include "cli/columns.hpp"
#include "cli/json.hpp"

namespace sy::cli {

struct NodeGroup {
  std::vector<Json> nodes;  // at least one, unless the partition is empty
  Json partition;           // null: partitions do not matter to the format
};

struct NodeView {
  TimeStyle times;
  std::string cluster;
};

struct NodeField {
  enum class Kind : unsigned char {
    key,        // nodes that differ in it are different lines
    partition,  // same, and the line is about a partition
    counted,    // over all nodes of the line
    least       // the smallest, with '+' when they differ; a key with --exact
  };
  FieldName name;
  Kind kind;
  void (*render)(std::string& out, const NodeGroup&, const NodeView&);
  std::string_view needs{};  // members of the API's node that it reads, by comma, besides name, state and contact
};

std::span<const NodeField> node_fields();
std::span<const FieldName> node_field_names();

// "mixed", "idle*", "drained": long or compact, with '*' for nodes that do not answer.
std::string node_state(Json node, bool compact);
// Slurm's order for sorting: bigger comes first by default.
int node_state_rank(Json node);
// "4/0/0/4": CPUs allocated, idle, other, all.
struct CpuCounts {
  std::int64_t allocated{}, idle{}, other{}, total{};
};
CpuCounts count_cpus(const std::vector<Json>& nodes);
// Who gave a reason, as the controller describes people ("uid 0 (root)") and itself (by its name alone; uid is empty).
struct Who {
  std::string_view name, uid;
};
Who who_of(std::string_view described);
// "infinite", "1-00:00:00"
std::string limit_text(Json seconds, std::string_view when_null);

}  // namespace sy::cli

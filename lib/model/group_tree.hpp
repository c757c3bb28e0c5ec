// A job's groups as a tree: the groups that ask for something are its leaves, with how many copies there are of each.
// Not their placement (sched/placement), and not what a single group may say (check_groups.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "model/job_spec.hpp"

namespace sy::model {

struct GroupLeaf {
  const Group* group{};
  std::int64_t copies{1};   // its own replicas times those of the groups around it
};

// Depth-first: the number of a leaf is the number of its group. A plain job is one leaf.
std::vector<GroupLeaf> leaves_of(const Group&);
inline bool has_groups(const Group& g) { return !g.children.empty(); }

// Groups written side by side become the children of one: they come together or not at all.
void join_groups(JobSpec&);

// What a group asks for, once: nodes (at least one), tasks.
std::int64_t nodes_of(const Group&);
std::int64_t tasks_of(const Group&);

}  // namespace sy::model

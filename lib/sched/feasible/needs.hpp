// One group's request, made ready for arithmetic: what a task takes, what a node takes, how many nodes and tasks.
// Not a choice of nodes (placement/) and not a test of who may run (eligible/).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/verdict.hpp"
#include "sched/view.hpp"

namespace sy::sched {

struct Needs {
  std::uint32_t min_nodes{1};
  std::uint32_t max_nodes{1};
  std::vector<std::uint32_t> choices;        // ascending; non-empty: one of these
  std::optional<std::uint32_t> tasks;        // total; absent: `tasks_on_each` on every node
  std::uint32_t tasks_on_each{1};            // where tasks is absent, or nodes and tasks per node were both given
  std::uint32_t most_tasks_per_node{};       // 0: as many as fit
  base::Cpus cpus_per_task{1000};
  base::Mebibytes memory_per_node{};         // whatever the number of tasks
  base::Mebibytes memory_per_task{};
  bool all_memory{};                         // --mem=0
  std::vector<GresRequest> gres_per_node, gres_per_task, gres_per_job;
  bool fewest{};                             // nodes were not asked for: as few as hold it
  bool whole_nodes{};                        // the job's wish or the partition's rule
  bool exclusive_user{};
  bool contiguous{};
  Uid uid;
};

Needs needs_of(const Group&, const Partition*, const Settings&, Uid);

// How many tasks could run on a node with this much free; 0: none. `total` matters to --mem=0 and whole nodes.
std::uint32_t slots(const Needs&, const Resources& total, const Resources& free);

// Which of CPUs, memory and GRES keeps slots at 0, on a node with this much.
Cause::Kind what_lacks(const Needs&, const Resources& total, const Resources& free);

// May this job come to the node beside those that are there? CPUs and memory apart.
bool may_join(const Needs&, const NodeNow&);

// The grant for `tasks` tasks: held and used, GRES with concrete types. `job_gres` is this node's part of gres_per_job.
NodeGrant make_grant(const Needs&, NodeIndex, const Resources& total, const Resources& free, std::uint32_t tasks,
                     const std::vector<GresRequest>& job_gres = {});

// Splits gres_per_job over the nodes chosen, as many as each has left after its other GRES; empty when it does not fit.
std::optional<std::vector<std::vector<GresRequest>>> split_job_gres(const Needs&, const std::vector<const Resources*>& free,
                                                                    const std::vector<std::uint32_t>& tasks);

}  // namespace sy::sched

#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.hpp"
#include "sched/feasible/fitting_kinds.hpp"

namespace sy::sched {

namespace {

using Counted = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // slots, nodes with so many

Counted kinds_that_fit(const ClusterShape& shape, std::size_t partition, const FittingKinds& f) {
  Counted out;
  for (std::size_t k = 0; k < shape.kinds.size(); ++k)
    if (f.idle_slots[k] > 0 && shape.kinds[k].in_partition[partition] > 0)
      out.emplace_back(f.idle_slots[k], shape.kinds[k].in_partition[partition]);
  std::sort(out.rbegin(), out.rend());
  return out;
}

// The largest number of nodes that may be taken of these.
std::uint64_t nodes_allowed(const Needs& n, std::uint64_t available) {
  if (n.choices.empty()) return std::min<std::uint64_t>(n.max_nodes, available);
  std::uint64_t best = 0;
  for (auto c : n.choices)
    if (c <= available) best = c;
  return best;
}

std::uint64_t tasks_held(const Counted& kinds, std::uint64_t nodes) {
  std::uint64_t tasks = 0;
  for (const auto& [slots, count] : kinds) {
    const auto n = std::min<std::uint64_t>(nodes, count);
    tasks += n * slots;
    nodes -= n;
  }
  return tasks;
}

std::string gres_text(const Group& g) {
  std::string out;
  for (const auto* list : {&g.gres_per_node, &g.gres_per_task, &g.gres_per_job})
    for (const auto& r : *list)
      out += fmt::format("{}{}{}{}:{}", out.empty() ? "" : ",", r.name, r.type.empty() ? "" : ":", r.type, r.count);
  return out;
}

// Why not one node of the partition can hold anything of it: what one node is asked for, and what the largest has.
std::string no_node_text(const ClusterShape& shape, std::size_t partition, const FittingKinds& f, const Group& g) {
  const std::string& p = shape.partitions[partition].name;
  const auto worst = std::max_element(f.causes.begin(), f.causes.end(), [](const Cause& a, const Cause& b) { return a.nodes < b.nodes; });
  if (worst == f.causes.end()) return fmt::format("partition {} has no nodes", p);
  Resources largest;
  std::int64_t gres = 0;
  for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
    if (shape.kinds[k].in_partition[partition] == 0) continue;
    const auto& total = shape.nodes[shape.kinds[k].example.value].total;
    largest.cpus = std::max(largest.cpus, total.cpus);
    largest.memory = std::max(largest.memory, total.memory);
    for (const auto& x : total.gres) gres = std::max(gres, x.count);
  }
  const std::int64_t tasks = f.needs.tasks ? 1 : f.needs.tasks_on_each;
  switch (worst->kind) {
    case Cause::Kind::cpus:
      return fmt::format("asks {} CPUs on one node, the largest node of partition {} has {}", cpu_count(f.needs.cpus_per_task * tasks), p,
                         cpu_count(largest.cpus));
    case Cause::Kind::memory:
      return fmt::format("asks {} of memory on one node, the largest node of partition {} has {}",
                         format_memory(f.needs.memory_per_node + f.needs.memory_per_task * tasks), p, format_memory(largest.memory));
    case Cause::Kind::gres:
      return gres == 0 ? fmt::format("asks {}, no node of partition {} has any GRES", gres_text(g), p)
                       : fmt::format("asks {} on one node, the most one node of partition {} has is {}", gres_text(g), p, gres);
    case Cause::Kind::feature: return fmt::format("no node of partition {} has the features {}", p, g.constraint);
    default: return fmt::format("no node of partition {} can hold it", p);
  }
}

}  // namespace

std::string not_together(const Group& g) {
  return !g.nodelist.empty()       ? "--nodelist " + g.nodelist
         : g.contiguous            ? std::string("--contiguous")
         : !g.gres_per_job.empty() ? "the job's GRES " + gres_text(g)
         : !g.constraint.empty()   ? "--constraint " + g.constraint
                                   : "--exclude " + g.exclude;
}

Verdict fits_when_idle(const ClusterShape& shape, std::size_t partition, const FittingKinds& f, const Group& g) {
  const std::string& name = shape.partitions[partition].name;
  const Counted kinds = kinds_that_fit(shape, partition, f);
  std::uint64_t available = 0;
  for (const auto& [slots, count] : kinds) available += count;

  Verdict v;
  v.kind = Verdict::Kind::never;
  v.reason = Reason::bad_constraints;
  v.causes = f.causes;
  v.offered = static_cast<std::uint32_t>(available);
  v.asked = f.needs.choices.empty() ? f.needs.min_nodes : f.needs.choices.front();
  if (available == 0) {
    v.detail = no_node_text(shape, partition, f, g);
    return v;
  }
  if (available < v.asked) {
    v.detail = fmt::format("asks {} nodes, {} of the {} in partition {} can hold it", v.asked, available, f.partition_nodes, name);
    return v;
  }
  if (f.needs.tasks) {
    const auto held = tasks_held(kinds, nodes_allowed(f.needs, available));
    if (held < *f.needs.tasks) {
      v.detail = fmt::format("asks {} tasks, {} fit on {} nodes of partition {} were they idle", *f.needs.tasks, held,
                             nodes_allowed(f.needs, available), name);
      return v;
    }
  }
  return {};
}

}  // namespace sy::sched

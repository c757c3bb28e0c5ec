#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"
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

std::string named(const GresRequest& r) { return r.type.empty() ? r.name : r.name + ":" + r.type; }

std::int64_t gres_of(const Resources& total, const GresRequest& r) {
  std::int64_t sum = 0;
  for (const auto& x : total.gres)
    if (x.name == r.name && (r.type.empty() || x.type == r.type)) sum += x.count;
  return sum;
}

// The larger of each, GRES by the names and types that are asked for.
void enlarge(Resources& largest, const Resources& total, const Group& g) {
  largest.cpus = std::max(largest.cpus, total.cpus);
  largest.memory = std::max(largest.memory, total.memory);
  for (const auto* list : {&g.gres_per_node, &g.gres_per_task})
    for (const auto& r : *list)
      if (const auto more = gres_of(total, r) - largest.gres_count(r.name, r.type); more > 0) largest.add_gres(r.name, r.type, more);
}

// What one node is asked for, and what `whose` has: "the largest node of partition p", or a node that is named.
std::string lack_text(Cause::Kind kind, const Needs& n, const Group& g, const std::string& whose, const Resources& has) {
  const std::int64_t tasks = n.tasks ? 1 : n.tasks_on_each;
  switch (kind) {
    case Cause::Kind::cpus:
      return fmt::format("asks {} CPUs on one node, {} has {}", cpu_count(n.cpus_per_task * tasks), whose, cpu_count(has.cpus));
    case Cause::Kind::memory:
      return fmt::format("asks {} of memory on one node, {} has {}", format_memory(n.memory_per_node + n.memory_per_task * tasks), whose,
                         format_memory(has.memory));
    case Cause::Kind::gres:
      for (const auto* list : {&g.gres_per_node, &g.gres_per_task})
        for (const auto& r : *list)
          if (const auto have = has.gres_count(r.name, r.type); have < r.count * (list == &g.gres_per_task ? tasks : 1))
            return fmt::format("asks {} on one node, {} has {}", gres_text(g), whose,
                               have == 0 ? "no " + named(r) : fmt::format("{}:{}", named(r), have));
      return fmt::format("asks {} on one node, which {} does not have", gres_text(g), whose);
    default: return {};
  }
}

// Why not one node of the partition can hold anything of it. Of those with the features, where there are any.
std::string no_node_text(const ClusterShape& shape, std::size_t partition, const FittingKinds& f, std::vector<Cause>& causes,
                         const Group& g) {
  const std::string& p = shape.partitions[partition].name;
  Resources largest;
  bool any = false;
  for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
    if (shape.kinds[k].in_partition[partition] == 0 || !f.featured[k]) continue;
    any = true;
    enlarge(largest, shape.nodes[shape.kinds[k].example.value].total, g);
  }
  if (causes.empty()) return fmt::format("partition {} has no nodes", p);
  if (!any) return fmt::format("no node of partition {} has the features {}", p, g.constraint);
  std::erase_if(causes, [](const Cause& c) { return c.kind == Cause::Kind::feature; });
  const auto worst = std::max_element(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.nodes < b.nodes; });
  const auto of = g.constraint.empty() ? std::string{} : fmt::format(" with the features {}", g.constraint);
  const auto text = worst == causes.end()
                        ? std::string{}
                        : lack_text(worst->kind, f.needs, g, fmt::format("the largest node of partition {}{}", p, of), largest);
  return text.empty() ? fmt::format("no node of partition {}{} can hold it", p, of) : text;
}

}  // namespace

std::string not_together(const Group& g) {
  return !g.nodelist.empty()       ? "--nodelist " + g.nodelist
         : g.contiguous            ? std::string("--contiguous")
         : !g.gres_per_job.empty() ? "the job's GRES " + gres_text(g)
         : !g.constraint.empty()   ? "--constraint " + g.constraint
                                   : "--exclude " + g.exclude;
}

Verdict named_nodes_suit(const ClusterShape& shape, const FittingKinds& f, const Group& g) {
  const auto names = expand_hostlist(g.nodelist);
  if (g.nodelist.empty() || !names) return {};
  // More names than nodes asked for, or than tasks: a list to choose from.
  if (g.nodes_given ? names->size() > g.nodes.max : g.tasks_given && names->size() > g.tasks) return {};
  for (const auto& name : *names) {
    const auto node = std::find_if(shape.nodes.begin(), shape.nodes.end(), [&](const auto& n) { return n.name == name && !n.removed; });
    if (node == shape.nodes.end() || f.idle_slots[node->kind] > 0) continue;
    Verdict v;
    v.kind = Verdict::Kind::never;
    v.reason = Reason::bad_constraints;
    v.asked = 1;
    const auto kind = f.featured[node->kind] ? what_lacks(f.needs, node->total, node->total) : Cause::Kind::feature;
    v.causes = {{kind, 1}};
    Resources has;
    enlarge(has, node->total, g);
    v.detail = kind == Cause::Kind::feature ? fmt::format("node {} does not have the features {}", name, g.constraint)
                                            : lack_text(kind, f.needs, g, "node " + name, has);
    return v;
  }
  return {};
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
    v.detail = no_node_text(shape, partition, f, v.causes, g);
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
  for (const auto& r : g.gres_per_job) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < shape.kinds.size(); ++k)
      if (f.idle_slots[k] > 0) sum += shape.kinds[k].in_partition[partition] * gres_of(shape.nodes[shape.kinds[k].example.value].total, r);
    if (sum >= r.count) continue;
    v.offered = 0;
    v.causes = {{Cause::Kind::gres, static_cast<std::uint32_t>(available)}};
    v.detail = fmt::format("asks {} for the job, the nodes of partition {} that could hold it have {} together", gres_text(g), name, sum);
    return v;
  }
  return {};
}

}  // namespace sy::sched

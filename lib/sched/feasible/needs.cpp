#include "sched/feasible/needs.hpp"

#include <algorithm>
#include <limits>

namespace sy::sched {

namespace {

constexpr std::uint32_t most_nodes = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t plenty = std::numeric_limits<std::uint32_t>::max();

base::Mebibytes per_task(base::Mebibytes per_cpu, base::Cpus cpus) { return base::Mebibytes{(per_cpu.value * cpus.value + 999) / 1000}; }

void set_memory(Needs& n, const Group& g, const Partition* p, const Settings& s) {
  if (g.memory_per_node) {
    n.memory_per_node = *g.memory_per_node;
    n.all_memory = g.memory_per_node->value == 0;
  } else if (g.memory_per_cpu) {
    n.memory_per_task = per_task(*g.memory_per_cpu, g.cpus_per_task);
  } else if (p != nullptr && p->default_memory_per_node) {
    n.memory_per_node = *p->default_memory_per_node;
  } else if (p != nullptr && p->default_memory_per_cpu) {
    n.memory_per_task = per_task(*p->default_memory_per_cpu, g.cpus_per_task);
  } else if (s.default_memory_per_cpu) {
    n.memory_per_task = per_task(*s.default_memory_per_cpu, g.cpus_per_task);
  }
}

void set_counts(Needs& n, const Group& g) {
  n.min_nodes = std::max(1U, g.nodes.min);
  n.max_nodes = std::max(n.min_nodes, g.nodes.max);
  n.choices = g.nodes.choices;
  if (!g.nodes_given) {
    n.choices.clear();
    n.min_nodes = 1;
    n.fewest = true;
    if (!g.tasks_given) {
      n.max_nodes = g.gres_per_job.empty() ? 1 : most_nodes;  // --gpus=8 takes as many nodes as that needs
      n.tasks_on_each = std::max(1U, g.tasks_per_node);
      return;
    }
    n.tasks = std::max(1U, g.tasks);
    n.max_nodes = *n.tasks;
    n.most_tasks_per_node = g.tasks_per_node;
    return;
  }
  if (!g.tasks_given) {
    n.tasks_on_each = std::max(1U, g.tasks_per_node);
    return;
  }
  n.tasks = std::max(1U, g.tasks);
  n.most_tasks_per_node = g.tasks_per_node;
  // Every node gets a task: more nodes than tasks are not taken.
  n.min_nodes = std::min(n.min_nodes, *n.tasks);
  n.max_nodes = std::min(n.max_nodes, *n.tasks);
}

std::int64_t offered(const Resources& free, const std::string& name, const std::string& type) {
  std::int64_t sum = 0;
  for (const auto& g : free.gres)
    if (g.name == name && (type.empty() || g.type == type)) sum += g.count;
  return sum;
}

std::int64_t asked(const std::vector<GresRequest>& list, const std::string& name, const std::string& type) {
  std::int64_t sum = 0;
  for (const auto& r : list)
    if (r.name == name && (type.empty() || r.type == type)) sum += r.count;
  return sum;
}

// Tasks that one pool of GRES can feed: a type by itself, or all types of a name together.
std::int64_t fed_by(const Needs& n, const Resources& free, const std::string& name, const std::string& type) {
  const std::int64_t left = offered(free, name, type) - asked(n.gres_per_node, name, type);
  if (left < 0) return 0;
  const std::int64_t each = asked(n.gres_per_task, name, type);
  return each == 0 ? plenty : left / each;
}

std::int64_t slots_by_gres(const Needs& n, const Resources& free) {
  std::int64_t most = plenty;
  for (const auto* list : {&n.gres_per_node, &n.gres_per_task})
    for (const auto& r : *list) {
      most = std::min(most, fed_by(n, free, r.name, {}));
      if (!r.type.empty()) most = std::min(most, fed_by(n, free, r.name, r.type));
    }
  return most;
}

std::int64_t slots_by_cpus(const Needs& n, const Resources& free) {
  return n.cpus_per_task.value <= 0 ? plenty : std::max<std::int64_t>(0, free.cpus.value / n.cpus_per_task.value);
}

std::int64_t slots_by_memory(const Needs& n, const Resources& total, const Resources& free) {
  if (n.all_memory) return free.memory == total.memory ? plenty : 0;
  const std::int64_t left = free.memory.value - n.memory_per_node.value;
  if (left < 0) return 0;
  return n.memory_per_task.value <= 0 ? plenty : left / n.memory_per_task.value;
}

// Typed first; untyped from whatever is left, types in order.
void take(Resources& held, const Resources& free, const std::string& name, const std::string& type, std::int64_t count) {
  for (const auto& g : free.gres) {
    if (count <= 0) return;
    if (g.name != name || (!type.empty() && g.type != type)) continue;
    const std::int64_t n = std::min(count, g.count - held.gres_count(g.name, g.type));
    if (n > 0) held.add_gres(g.name, g.type, n);
    count -= std::max<std::int64_t>(0, n);
  }
}

void take_all(Resources& held, const Resources& free, const std::vector<std::pair<const GresRequest*, std::int64_t>>& wanted) {
  for (const bool typed : {true, false})
    for (const auto& [r, count] : wanted)
      if (r->type.empty() != typed) take(held, free, r->name, r->type, count);
}

}  // namespace

Needs needs_of(const Group& g, const Partition* p, const Settings& s, Uid uid) {
  Needs n;
  n.uid = uid;
  n.cpus_per_task = g.cpus_per_task;
  n.gres_per_node = g.gres_per_node;
  n.gres_per_task = g.gres_per_task;
  n.gres_per_job = g.gres_per_job;
  n.whole_nodes = g.sharing == Sharing::exclusive_node || (p != nullptr && p->exclusive_node);
  n.exclusive_user = g.sharing == Sharing::exclusive_user;
  n.contiguous = g.contiguous;
  set_counts(n, g);
  set_memory(n, g, p, s);
  return n;
}

std::uint32_t slots(const Needs& n, const Resources& total, const Resources& free) {
  const Resources& from = n.whole_nodes ? total : free;
  std::int64_t most = std::min(slots_by_cpus(n, from), slots_by_memory(n, total, from));
  if (!n.gres_per_node.empty() || !n.gres_per_task.empty()) most = std::min(most, slots_by_gres(n, from));
  if (n.most_tasks_per_node != 0) most = std::min<std::int64_t>(most, n.most_tasks_per_node);
  if (!n.tasks) return most >= n.tasks_on_each ? n.tasks_on_each : 0;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(most, *n.tasks));
}

Cause::Kind what_lacks(const Needs& n, const Resources& total, const Resources& free) {
  const Resources& from = n.whole_nodes ? total : free;
  const std::int64_t wanted = n.tasks ? 1 : n.tasks_on_each;
  if (slots_by_cpus(n, from) < wanted) return Cause::Kind::cpus;
  if (slots_by_memory(n, total, from) < wanted) return Cause::Kind::memory;
  return Cause::Kind::gres;
}

bool may_join(const Needs& n, const NodeNow& node) {
  if (!node.usable || node.exclusive) return false;
  if (n.whole_nodes) return node.jobs == 0;
  if (n.exclusive_user || node.exclusive_user) return node.jobs == 0 || node.sole_user == n.uid;
  return true;
}

NodeGrant make_grant(const Needs& n, NodeIndex node, const Resources& total, const Resources& free, std::uint32_t tasks,
                     const std::vector<GresRequest>& job_gres) {
  NodeGrant g;
  g.node = node;
  g.tasks = tasks;
  Resources asked_for;
  asked_for.cpus = n.cpus_per_task * tasks;
  asked_for.memory = n.all_memory ? total.memory : n.memory_per_node + n.memory_per_task * tasks;
  if (n.whole_nodes) {
    // As in Slurm: all CPUs and GRES of the node, of memory what was asked; where nothing was asked, all of it.
    g.held = g.used = total;
    if (asked_for.memory.value > 0) g.used.memory = asked_for.memory;
    return g;
  }
  std::vector<std::pair<const GresRequest*, std::int64_t>> wanted;
  for (const auto& r : n.gres_per_node) wanted.emplace_back(&r, r.count);
  for (const auto& r : n.gres_per_task) wanted.emplace_back(&r, r.count * tasks);
  for (const auto& r : job_gres) wanted.emplace_back(&r, r.count);
  take_all(asked_for, free, wanted);
  g.held = g.used = std::move(asked_for);
  return g;
}

std::optional<std::vector<std::vector<GresRequest>>> split_job_gres(const Needs& n, const std::vector<const Resources*>& free,
                                                                    const std::vector<std::uint32_t>& tasks) {
  std::vector<std::vector<GresRequest>> parts(free.size());
  Needs without = n;
  without.gres_per_job.clear();
  without.whole_nodes = false;
  std::vector<Resources> left(free.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    left[i] = *free[i];
    left[i] -= make_grant(without, NodeIndex{}, *free[i], *free[i], tasks[i]).held;
  }
  for (const bool typed : {true, false})
    for (const auto& r : n.gres_per_job) {
      if (r.type.empty() == typed) continue;
      std::int64_t missing = r.count;
      for (std::size_t i = 0; i < free.size() && missing > 0; ++i) {
        const std::int64_t here = std::min(missing, offered(left[i], r.name, r.type));
        if (here <= 0) continue;
        parts[i].push_back({r.name, r.type, here});
        Resources taken;
        take(taken, left[i], r.name, r.type, here);
        left[i] -= taken;
        missing -= here;
      }
      if (missing > 0) return std::nullopt;
    }
  return parts;
}

}  // namespace sy::sched

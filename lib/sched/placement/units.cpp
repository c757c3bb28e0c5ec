#include <algorithm>

#include "sched/placement/board.hpp"

namespace sy::sched::placement {
namespace {

using model::Cause;

constexpr std::int64_t most_units = 65'536;  // per node, so that sums over a cluster stay in 32 bits

// Free instances of that name and type; an empty type counts all.
std::int64_t free_gres(const Resources& free, const model::GresRequest& r) {
  std::int64_t n = 0;
  for (const auto& g : free.gres)
    if (g.name == r.name && (r.type.empty() || g.type == r.type)) n += g.count;
  return n;
}

// The first cause that keeps the node from being looked at; other: none.
Cause::Kind shut_out(const Demand& d, const Filter& f, const ClusterShape::NodeInfo& info, const NodeNow& now) {
  if (f.constraint && !base::matches(*f.constraint, info.features)) return Cause::Kind::feature;
  if (info.removed || !now.usable) return now.drained ? Cause::Kind::drained : Cause::Kind::down;
  if (now.exclusive || (d.whole && now.jobs > 0)) return Cause::Kind::busy;
  if (now.jobs > 0 && (now.exclusive_user || d.exclusive_user) && now.sole_user != d.uid) return Cause::Kind::busy;
  return Cause::Kind::other;
}

}  // namespace

bool let_in(const Filter& f, NodeIndex node) {
  return (f.allowed == nullptr || f.allowed->contains(node)) && !f.excluded.contains(node) && (!f.among || f.among->contains(node));
}

std::uint32_t units_on(const Demand& d, const Filter& f, NodeIndex node, const ClusterShape::NodeInfo& info, const NodeNow& now,
                       Cause::Kind* cause) {
  if (let_in(f, node)) return units_on_such(d, f, info, now, cause);
  const bool outside = f.allowed != nullptr && !f.allowed->contains(node);
  if (cause != nullptr) *cause = outside ? Cause::Kind::not_in_partition : Cause::Kind::excluded;
  return 0;
}

std::uint32_t units_on_such(const Demand& d, const Filter& f, const ClusterShape::NodeInfo& info, const NodeNow& now, Cause::Kind* cause) {
  const auto no = [&](Cause::Kind kind) {
    if (cause != nullptr) *cause = kind;
    return 0U;
  };
  if (const auto kind = shut_out(d, f, info, now); kind != Cause::Kind::other) return no(kind);
  // What the node could never give has its own cause; what others hold is "busy".
  const auto lacking = [&](bool ever, Cause::Kind kind) { return no(ever ? Cause::Kind::busy : kind); };
  std::int64_t n = d.most == 0 ? most_units : d.most;
  if (d.cpus.value > 0) {
    n = std::min(n, now.free.cpus.value / d.cpus.value);
    if (n <= 0) return lacking(info.total.cpus >= d.cpus, Cause::Kind::cpus);
  }
  if (d.all_memory && now.free.memory < info.total.memory) return no(Cause::Kind::busy);
  if (now.free.memory < d.memory_node) return lacking(info.total.memory >= d.memory_node, Cause::Kind::memory);
  if (d.memory.value > 0) {
    n = std::min(n, (now.free.memory.value - d.memory_node.value) / d.memory.value);
    if (n <= 0) return lacking(info.total.memory >= d.memory + d.memory_node, Cause::Kind::memory);
  }
  for (const auto& g : d.gres_node)
    if (free_gres(now.free, g) < g.count) return lacking(free_gres(info.total, g) >= g.count, Cause::Kind::gres);
  for (const auto& g : d.gres) {
    if (g.count <= 0) continue;
    n = std::min(n, free_gres(now.free, g) / g.count);
    if (n <= 0) return lacking(free_gres(info.total, g) >= g.count, Cause::Kind::gres);
  }
  return static_cast<std::uint32_t>(n);
}

Resources taken(const Demand& d, std::uint32_t units, const ClusterShape::NodeInfo& info, const NodeNow& now) {
  if (d.whole) return info.total;
  Resources out;
  out.cpus = d.cpus * units;
  out.memory = d.all_memory ? now.free.memory : d.memory * units + d.memory_node;
  Resources left = now.free;
  const auto take = [&](const model::GresRequest& r, std::int64_t count) {
    for (auto& g : left.gres) {
      if (count <= 0) return;
      if (g.name != r.name || (!r.type.empty() && g.type != r.type) || g.count <= 0) continue;
      const auto some = std::min(count, g.count);
      out.add_gres(g.name, g.type, some);
      g.count -= some;
      count -= some;
    }
  };
  for (const auto& g : d.gres_node)
    if (!g.type.empty()) take(g, g.count);
  for (const auto& g : d.gres)
    if (!g.type.empty()) take(g, g.count * units);
  for (const auto& g : d.gres_node)
    if (g.type.empty()) take(g, g.count);
  for (const auto& g : d.gres)
    if (g.type.empty()) take(g, g.count * units);
  return out;
}

}  // namespace sy::sched::placement

// What the engine leaves out because it can tell the outcome: domains alike are judged once, leaves of like nodes without filling
// them on trial, and counts are kept while nodes change. Against the same engine made anew, with every trial made, on clusters large
// enough to have domains alike.
#include <fmt/format.h>

#include <functional>

#include "cases.hpp"

using namespace sy;
using namespace reference;
namespace placement = sy::sched::placement;

namespace {

// Regular at heart: so many children each, but for a leaf here and there that is smaller, or names that run across branches.
Case make_regular() {
  Case c;
  const bool blocks = one_in(3), shuffled = one_in(4);
  const int leaf = between(1, 6), depth = blocks ? 1 : between(1, 3);
  c.topology.kind = blocks ? model::Topology::Kind::block : model::Topology::Kind::tree;
  for (int l = 0; l < depth; ++l) c.topology.levels.push_back({fmt::format("l{}", l), {}});
  if (blocks)
    for (int size = leaf, n = between(1, 4); n > 0; --n, size *= 2) c.topology.block_sizes.push_back(static_cast<std::uint32_t>(size));
  int nodes = 0;
  const bool kinds = one_in(3);
  const auto hang = [&](model::Domain& d) {
    const int count = one_in(8) ? between(1, leaf) : leaf;
    for (int i = 0; i < count; ++i) {
      d.nodes.push_back(base::NodeIndex{static_cast<std::uint32_t>(nodes)});
      sched::ClusterShape::NodeInfo info;
      info.name = fmt::format("n{:03}", nodes++);
      info.weight = kinds && one_in(20) ? 2 : 1;
      info.total.cpus = base::whole_cpus(kinds && one_in(6) ? 2 : 4);
      c.shape.nodes.push_back(info);
    }
  };
  const std::function<void(int, std::int32_t)> grow = [&](int level, std::int32_t parent) {
    const int children = level == 0 ? between(1, blocks ? 20 : 4) : one_in(8) ? between(1, 4) : 3;
    for (int k = 0; k < children && nodes < 150; ++k) {
      model::Domain d;
      const auto at = c.topology.domains.size();
      d.name = fmt::format("d{:03}", shuffled ? between(0, 999) * 1000 + static_cast<int>(at) : static_cast<int>(at));
      d.level = static_cast<std::uint32_t>(level);
      d.parent = parent;
      if (level + 1 == depth) hang(d);
      c.topology.domains.push_back(d);
      if (parent >= 0) c.topology.domains[static_cast<std::size_t>(parent)].children.push_back(static_cast<std::uint32_t>(at));
      if (level + 1 < depth) grow(level + 1, static_cast<std::int32_t>(at));
    }
  };
  grow(0, -1);
  c.nodes = placement::idle_nodes(c.shape);
  return c;
}

// Nodes side by side become idle, or are used by a job in whole or in part; the first and how many.
std::pair<std::uint32_t, std::uint32_t> change(Case& c) {
  const auto all = static_cast<int>(c.nodes.size()), first = between(0, all - 1), count = std::min(between(1, 6), all - first);
  const bool idle = one_in(2);
  const int free = between(0, 4);
  for (auto n = static_cast<std::size_t>(first); n < static_cast<std::size_t>(first + count); ++n) {
    auto& now = c.nodes[n];
    now.jobs = idle ? 0 : 1;
    now.free = c.shape.nodes[n].total;
    if (!idle) now.free.cpus = std::min(now.free.cpus, base::whole_cpus(free));
  }
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
}

model::Group make_request(const Case& c, int nodes) {
  model::Group g;
  const auto n = static_cast<std::uint32_t>(between(1, one_in(2) ? 8 : std::max(nodes, 1)));
  if (one_in(2)) {
    g.nodes_given = true;
    g.nodes = {n, n + (one_in(4) ? static_cast<std::uint32_t>(between(0, 5)) : 0), {}};
    if (one_in(2)) g.sharing = model::Sharing::exclusive_node;
  } else {
    g.tasks_given = true;
    g.tasks = n * static_cast<std::uint32_t>(between(1, 4));
    g.cpus_per_task = base::whole_cpus(between(1, 3));
    if (one_in(4)) g.tasks_per_node = static_cast<std::uint32_t>(between(1, 2));
  }
  if (one_in(3)) {
    model::Segment s;
    s.size = static_cast<std::uint32_t>(between(1, 4));
    s.distinct = one_in(4);
    s.remainder = one_in(2) ? model::Segment::Remainder::elastic : model::Segment::Remainder::shorter;
    if (one_in(2)) s.level = level_name(c, between(0, static_cast<int>(c.topology.levels.size()) - 1));
    g.segments.push_back(s);
  }
  g.pack.fill = static_cast<model::PackFill>(between(0, 3));
  g.pack.order = one_in(2) ? model::PackOrder::automatic : static_cast<model::PackOrder>(between(0, 4));
  return g;
}

}  // namespace

TEST_CASE("a shortcut gives what every trial would have given, and what was kept is what would be counted anew") {
  std::uint64_t placed = 0, waits = 0, spared = 0;
  check_property("shortcuts", [&] {
    Case c = make_regular();
    c.cluster.levels = static_cast<int>(c.topology.levels.size());
    const auto t = c.index();
    const auto count = static_cast<int>(c.nodes.size());
    for (int k = one_in(3) ? 0 : between(0, count / (one_in(2) ? 2 : 16)); k > 0; --k) change(c);
    placement::Engine kept(c.shape, t, c.nodes);
    std::vector<model::Group> requests;
    for (int k = between(1, 3); k > 0; --k) requests.push_back(make_request(c, count));
    for (int k = between(1, 6); k > 0; --k) {
      const auto& g = requests[static_cast<std::size_t>(between(0, static_cast<int>(requests.size()) - 1))];
      placement::Options o;
      o.packing = one_in(5) ? placement::Packing::none : placement::Packing::narrowest;
      const auto quick = kept.place(g, o);
      o.shortcuts = false;
      const auto slow = placement::place(g, c.shape, t, c.nodes, o);
      RC_LOG() << fmt::format("{} nodes, {} domains, asked {} nodes {} tasks; {} {} against {} {}\n", count, t.domains().size(),
                              g.nodes_given ? g.nodes.min : 0, g.tasks_given ? g.tasks : 0, quick.level, quick.nodes.size(), slow.level,
                              slow.nodes.size());
      RC_ASSERT(quick.nodes == slow.nodes);
      RC_ASSERT(quick.verdict == slow.verdict);
      RC_ASSERT(quick.domains == slow.domains);
      RC_ASSERT(quick.fragmentation_growth == slow.fragmentation_growth);
      RC_ASSERT(quick.beaten == slow.beaten);
      ++(quick.placed() ? placed : waits);
      spared += quick.work.domains_looked_at < slow.work.domains_looked_at ? 1 : 0;
      for (int m = between(0, 2); m > 0; --m) {
        const auto [first, many] = change(c);
        for (auto n = first; n < first + many; ++n) kept.changed(base::NodeIndex{n});
      }
    }
  });
  fmt::print("shortcuts: {} placed, {} not; {} looked at fewer domains\n", placed, waits, spared);
  CHECK(placed > 0);
  CHECK(waits > 0);
  CHECK(spared > 0);
}

// The engine against the slow reference on generated clusters of at most 12 nodes: it finds a placement exactly when there is
// one on that rung, in the domain P4 names, in as few child domains as P12 promises. SWITCHYARD_CASES sets how many cases.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "sched/placement/placement.hpp"
#include "slow_placement.hpp"
#include "support/catch.hpp"

using namespace sy;
namespace placement = sy::sched::placement;

namespace {

int between(int a, int b) { return *rc::gen::inRange(a, b + 1); }

struct Case {
  reference::Cluster cluster;
  reference::Request request;
  sched::ClusterShape shape;
  model::Topology topology;
  std::vector<sched::NodeNow> nodes;
  model::Group group;
};

std::string level_name(int level) { return level < 0 ? "any" : fmt::format("l{}", level); }

void add_nodes(Case& c, int count) {
  for (int n = 0; n < count; ++n) {
    sched::ClusterShape::NodeInfo info;
    info.name = fmt::format("n{:02}", n);
    info.total.cpus = base::whole_cpus(1);
    c.shape.nodes.push_back(info);
    sched::NodeNow now;
    const bool free = between(0, 3) > 0;
    now.usable = true;
    now.jobs = free ? 0 : 1;
    if (free) now.free = info.total;
    c.nodes.push_back(now);
    c.cluster.free.push_back(free);
  }
}

// A random tree: each node goes to a random place at each level, below its parent; a branch may end early.
void make_tree(Case& c) {
  c.cluster.levels = between(1, 3);
  c.topology.kind = model::Topology::Kind::tree;
  for (int l = 0; l < c.cluster.levels; ++l) c.topology.levels.push_back({level_name(l), {}});
  std::map<std::vector<int>, std::uint32_t> domain_of;   // path so far → domain
  std::map<std::vector<int>, int> id_of;
  std::vector<int> next_id(static_cast<std::size_t>(c.cluster.levels), 0);
  const bool uneven = between(0, 4) == 0;
  for (std::uint32_t n = 0; n < c.shape.nodes.size(); ++n) {
    std::vector<int> path(static_cast<std::size_t>(c.cluster.levels), -1), key;
    std::int32_t parent = -1;
    const int depth = uneven && between(0, 3) == 0 ? between(1, c.cluster.levels) : c.cluster.levels;
    for (int l = 0; l < depth; ++l) {
      key.push_back(between(0, 2));
      const auto [at, fresh] = domain_of.try_emplace(key, static_cast<std::uint32_t>(c.topology.domains.size()));
      if (fresh) {
        model::Domain d;
        id_of[key] = next_id[static_cast<std::size_t>(l)]++;
        d.name = fmt::format("d{}-{:02}", l, id_of[key]);
        d.level = static_cast<std::uint32_t>(l);
        d.parent = parent;
        c.topology.domains.push_back(d);
        if (parent >= 0) c.topology.domains[static_cast<std::size_t>(parent)].children.push_back(at->second);
      }
      parent = static_cast<std::int32_t>(at->second);
      path[static_cast<std::size_t>(l)] = id_of[key];
    }
    c.topology.domains[static_cast<std::size_t>(parent)].nodes.push_back(base::NodeIndex{n});
    c.cluster.path.push_back(path);
  }
  for (const auto count : next_id) c.cluster.counts.emplace_back(static_cast<std::size_t>(count), true);
}

// Blocks of up to three nodes, in aligned pairs and fours.
void make_blocks(Case& c) {
  const int sizes = between(1, 3), base = between(1, 3);
  c.cluster.levels = sizes;
  c.topology.kind = model::Topology::Kind::block;
  c.topology.levels.push_back({"block", {}});
  for (int i = 0; i < sizes; ++i) c.topology.block_sizes.push_back(static_cast<std::uint32_t>(base << i));
  std::uint32_t n = 0;
  int block = 0;
  for (; n < c.shape.nodes.size(); ++block) {
    model::Domain d;
    d.name = fmt::format("b{:02}", block);
    for (int k = between(1, 3); k > 0 && n < c.shape.nodes.size(); --k, ++n) {
      d.nodes.push_back(base::NodeIndex{n});
      std::vector<int> path;
      for (int i = sizes - 1; i >= 0; --i) path.push_back(block >> i);
      c.cluster.path.push_back(path);
    }
    c.topology.domains.push_back(d);
  }
  for (int i = sizes - 1; i >= 0; --i) {
    const int groups = (block + (1 << i) - 1) >> i;
    c.cluster.counts.emplace_back(static_cast<std::size_t>(groups), true);
    if (block % (1 << i) != 0) c.cluster.counts.back().back() = false;
  }
}

void make_ladder(Case& c) {
  const int deepest = c.cluster.levels - 1;
  auto& r = c.request;
  const int first = between(-1, deepest), last = between(-1, first);
  const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
  c.group.pack.prefer = t.level_name(first);
  if (last >= 0) c.group.pack.require = t.level_name(last);
  for (int l = first; l >= last; --l) r.rungs.push_back(l);
  r.wish = true;
}

void make_segments(Case& c) {
  auto& r = c.request;
  const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
  const int kind = between(0, 4);
  if (kind <= 1) return;
  const int floor = c.group.pack.require.empty() ? -1 : static_cast<int>(*t.find_level(c.group.pack.require));
  const int widest = std::max({0, floor, static_cast<int>(*t.find_level(c.group.pack.prefer))});
  r.segment_level = between(widest, c.cluster.levels - 1);
  model::Segment s;
  s.level = t.level_name(r.segment_level);
  s.distinct = r.distinct = between(0, 2) == 0;
  if (kind == 4) {
    for (int left = r.least; left > 0;) {
      const int part = between(1, left);
      r.sizes.push_back(part);
      s.sizes.push_back(static_cast<std::uint32_t>(part));
      left -= part;
    }
    r.most = r.least;
  } else {
    const int parts = between(1, 3), size = between(1, 3);
    r.segment = size;
    r.least = r.most = size * parts;
    s.size = static_cast<std::uint32_t>(size);
  }
  c.group.segments.push_back(s);
  if (kind != 3 || r.segment_level + 1 >= c.cluster.levels || r.segment % 2 != 0) return;
  r.inner = r.segment / 2;
  r.inner_level = r.segment_level + 1;
  model::Segment inner;
  inner.level = t.level_name(r.inner_level);
  inner.size = static_cast<std::uint32_t>(r.inner);
  c.group.segments.push_back(inner);
}

Case make_case() {
  Case c;
  c.topology.name = "t";
  add_nodes(c, between(0, 5) == 0 ? between(10, 12) : between(1, 9));
  if (between(0, 2) == 0) make_blocks(c);
  else make_tree(c);
  c.group.sharing = model::Sharing::exclusive_node;
  c.request.least = between(1, std::min<int>(8, static_cast<int>(c.shape.nodes.size())));
  c.request.most = c.request.least + (between(0, 2) == 0 ? between(0, 3) : 0);
  make_ladder(c);
  make_segments(c);
  c.group.nodes = {static_cast<std::uint32_t>(c.request.least), static_cast<std::uint32_t>(c.request.most), {}};
  c.group.nodes_given = true;
  c.group.pack.order = model::PackOrder::own_first;
  return c;
}

std::string story(const Case& c) {
  std::string out = fmt::format("{} nodes, free ", c.shape.nodes.size());
  for (const bool f : c.cluster.free) out += f ? '1' : '0';
  for (const auto& p : c.cluster.path) out += fmt::format(" {}", fmt::join(p, "/"));
  out += fmt::format("; {}-{} nodes, near {} within {}", c.request.least, c.request.most, c.group.pack.prefer, c.group.pack.require);
  for (const auto& s : c.group.segments)
    out += fmt::format(", segment {} sizes [{}] at {} distinct {}", s.size, fmt::join(s.sizes, ","), s.level, s.distinct);
  return out;
}

using reference::Domain;
using reference::Set;

// Level by level: no more domains than the fewest that hold it, inside those of the level above.
void check_domains_used(const Case& c, const Domain& top, Set chosen) {
  if (!c.request.sizes.empty()) return;
  std::vector<Domain> level{top};
  const int n = std::popcount(chosen);
  const int stop = c.request.segment > 0 ? c.request.segment_level : c.cluster.levels - 1;
  bool deeper = true;
  while (deeper) {
    deeper = false;
    std::vector<Domain> next;
    for (const auto& d : level) {
      if (d.level >= stop) {
        next.push_back(d);
        continue;
      }
      for (const auto& child : reference::children_of(c.cluster, d)) next.push_back(child);
      deeper = true;
    }
    if (!deeper) return;
    std::vector<Domain> used;
    for (const auto& d : next)
      if ((d.nodes & chosen) != 0) used.push_back(d);
    RC_ASSERT(static_cast<int>(used.size()) == reference::fewest(c.cluster, c.request, next, n));
    level = used;
  }
}

void check_segments(const Case& c, const model::TopologyIndex& t, const placement::Answer& a) {
  if (c.group.segments.empty()) return;
  const auto& s = c.group.segments.front();
  std::map<std::uint32_t, std::vector<std::int32_t>> domains;
  for (const auto& n : a.nodes)
    domains[n.segment].push_back(t.ancestor(t.leaf_at(static_cast<std::uint32_t>(t.position_of(n.node.value))), *t.find_level(s.level)));
  for (const auto& [segment, where] : domains) {
    RC_ASSERT(where.size() == (s.sizes.empty() ? s.size : s.sizes.at(segment)));
    RC_ASSERT(std::set<std::int32_t>(where.begin(), where.end()).size() == 1U);
  }
}

}  // namespace

TEST_CASE("the engine places exactly when the slow reference can, in the domain P4 names, in the fewest domains") {
  std::uint64_t placed = 0, waits = 0, limits = 0;
  check_property("engine against reference", [&] {
    const Case c = make_case();
    RC_LOG() << story(c);
    const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
    RC_PRE(placement::check_request(c.group, t).has_value());
    const auto a = placement::place(c.group, c.shape, t, c.nodes);
    const auto expected = reference::first_rung(c.cluster, c.request);
    if (a.verdict.reason == model::Reason::search_limit) {
      ++limits;
      return;
    }
    RC_ASSERT(a.placed() == expected.has_value());
    if (!expected) {
      ++waits;
      return;
    }
    ++placed;
    Set chosen = 0;
    std::int32_t last = -1;
    for (const auto& n : a.nodes) {
      RC_ASSERT(c.cluster.free[n.node.value]);
      RC_ASSERT(!(chosen >> n.node.value & 1U));
      chosen |= 1U << n.node.value;
      const auto p = t.position_of(n.node.value);
      if (c.request.sizes.empty()) RC_ASSERT(p > last);  // ranks follow the paths
      last = p;
    }
    RC_ASSERT(std::popcount(chosen) == expected->nodes);
    RC_ASSERT(reference::allowed(c.cluster, c.request, chosen));
    // With segments, the engine leaves out rungs narrower than the segments' level: nothing new fits there.
    const auto home =
        std::find_if(expected->fitting.begin(), expected->fitting.end(), [&](const Domain& d) { return (chosen & ~d.nodes) == 0; });
    RC_ASSERT(home != expected->fitting.end());
    reference::Request fixed = c.request;
    if (fixed.sizes.empty())
      for (const auto& other : expected->fitting)
        RC_ASSERT(reference::own_first(c.cluster, fixed, *home) <= reference::own_first(c.cluster, fixed, other));
    check_domains_used(c, *home, chosen);
    check_segments(c, t, a);
    RC_ASSERT(a.fragmentation_growth == reference::fragmentation(c.cluster, chosen) - reference::fragmentation(c.cluster, 0));
  });
  fmt::print("oracle: {} placed, {} not, {} ended by the search budget\n", placed, waits, limits);
  CHECK(placed > 0);
  CHECK(waits > 0);
}

TEST_CASE("an order-preserving renaming changes nothing but names") {
  check_property("renaming", [] {
    Case c = make_case();
    const auto before =
        placement::place(c.group, c.shape, model::TopologyIndex::build(c.topology, placement::node_names(c.shape)), c.nodes);
    for (auto& n : c.shape.nodes) n.name = "host-" + n.name.substr(1) + "x";
    for (auto& d : c.topology.domains) d.name = "zz" + d.name;
    const auto after = placement::place(c.group, c.shape, model::TopologyIndex::build(c.topology, placement::node_names(c.shape)), c.nodes);
    RC_ASSERT(before.nodes == after.nodes);
    RC_ASSERT(before.level == after.level);
  });
}

TEST_CASE("more free nodes never turn placed into not placed") {
  check_property("monotone", [] {
    Case c = make_case();
    const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
    // About half of the cases are placed; the others have nothing to show here.
    const bool placed = placement::place(c.group, c.shape, t, c.nodes).placed();
    RC_CLASSIFY(placed);
    if (!placed) return;
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if (between(0, 1) == 1) c.nodes[n].jobs = 0, c.nodes[n].free = c.shape.nodes[n].total;
    RC_ASSERT(placement::place(c.group, c.shape, t, c.nodes).placed());
  });
}

TEST_CASE("an engine that is told of changes answers like one that starts afresh") {
  check_property("no trace", [] {
    Case c = make_case();
    const auto t = model::TopologyIndex::build(c.topology, placement::node_names(c.shape));
    placement::Engine engine(c.shape, t, c.nodes);
    const auto first = engine.place(c.group, {});
    for (const auto& n : first.nodes) {  // taken …
      c.nodes[n.node.value].jobs = 1;
      c.nodes[n.node.value].free = {};
      engine.changed(n.node);
    }
    RC_ASSERT(engine.place(c.group, {}).nodes == placement::place(c.group, c.shape, t, c.nodes).nodes);
    for (const auto& n : first.nodes) {  // … and given back
      c.nodes[n.node.value].jobs = 0;
      c.nodes[n.node.value].free = c.shape.nodes[n.node.value].total;
      engine.changed(n.node);
    }
    RC_ASSERT(engine.place(c.group, {}).nodes == first.nodes);
  });
}

#include "cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace reference {

using namespace sy;
namespace placement = sy::sched::placement;

Case& Case::operator=(const Case& o) {
  cluster = o.cluster;
  request = o.request;
  shape = o.shape;
  topology = o.topology;
  nodes = o.nodes;
  group = o.group;
  options = o.options;
  allowed = o.allowed;
  partition = o.partition;
  exclusive = o.exclusive;
  options.allowed = partition ? &allowed : nullptr;
  return *this;
}

model::TopologyIndex Case::index() const { return model::TopologyIndex::build(topology, placement::node_names(shape)); }

std::string level_name(const Case& c, int level) {
  if (level >= c.cluster.levels) return "node";
  return level < 0 ? "any" : c.index().level_name(level);
}

void add_nodes(Case& c, int count, int cpus, int share_busy) {
  for (int n = 0; n < count; ++n) {
    sched::ClusterShape::NodeInfo info;
    info.name = fmt::format("n{:02}", n);
    const int total = between(1, cpus), busy = one_in(share_busy) ? between(1, total) : 0;
    info.total.cpus = base::whole_cpus(total);
    info.total.memory = base::Mebibytes{4};
    if (cpus > 1 && one_in(2)) info.total.add_gres("gpu", "x", 2);
    sched::NodeNow now;
    now.free = info.total;
    now.usable = !one_in(15);
    now.drained = !now.usable;
    now.exclusive = now.usable && busy == 0 && one_in(25);  // in a domain that somebody has for himself
    if (busy > 0) {
      now.jobs = 1;
      now.free.cpus = base::whole_cpus(total - busy);
      now.free.memory = base::Mebibytes{between(0, 4)};
      if (!now.free.gres.empty()) now.free.gres[0].count = between(0, 2);
    }
    Node node;
    node.idle = now.usable && busy == 0 && !now.exclusive;
    node.cpus = now.usable ? total : 0;
    node.used = now.usable ? busy : 0;
    c.shape.nodes.push_back(info);
    c.nodes.push_back(now);
    c.cluster.nodes.push_back(node);
  }
}

namespace {

// Each node goes to a random place at each level, below its parent; a branch may end early or lack a level in the middle, and a
// node may hang nowhere.
void make_tree(Case& c) {
  c.cluster.levels = between(1, 3);
  c.topology.kind = model::Topology::Kind::tree;
  c.topology.joined = !one_in(4);
  for (int l = 0; l < c.cluster.levels; ++l) c.topology.levels.push_back({fmt::format("l{}", l), {}});
  std::map<std::vector<int>, std::uint32_t> domain_of;   // path so far → domain
  std::map<std::vector<int>, int> id_of;
  std::vector<int> next_id(static_cast<std::size_t>(c.cluster.levels), 0);
  const bool uneven = one_in(4), skips = one_in(5), strangers = one_in(5);
  int roots = 0;
  for (std::uint32_t n = 0; n < c.shape.nodes.size(); ++n) {
    Node& node = c.cluster.nodes[n];
    node.path.assign(static_cast<std::size_t>(c.cluster.levels), -1);
    std::vector<int> key;
    std::int32_t parent = -1;
    const int depth = n > 0 && strangers && one_in(4) ? 0 : uneven && one_in(3) ? between(1, c.cluster.levels) : c.cluster.levels;
    for (int l = 0; l < depth; ++l) {
      key.push_back(skips && l + 1 < depth && one_in(4) ? -1 : between(0, 2));
      if (key.back() < 0) continue;
      const auto [at, fresh] = domain_of.try_emplace(key, static_cast<std::uint32_t>(c.topology.domains.size()));
      if (fresh) {
        model::Domain d;
        id_of[key] = next_id[static_cast<std::size_t>(l)]++;
        d.name = fmt::format("d{}-{:02}", l, id_of[key]);
        d.level = static_cast<std::uint32_t>(l);
        d.parent = parent;
        roots += parent < 0 ? 1 : 0;
        c.topology.domains.push_back(d);
        if (parent >= 0) c.topology.domains[static_cast<std::size_t>(parent)].children.push_back(at->second);
      }
      parent = static_cast<std::int32_t>(at->second);
      node.path[static_cast<std::size_t>(l)] = id_of[key];
    }
    if (parent >= 0) c.topology.domains[static_cast<std::size_t>(parent)].nodes.push_back(base::NodeIndex{n});
    else node.reachable = c.topology.joined;
  }
  c.cluster.joined = c.topology.joined || roots == 1;
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
  const bool strangers = one_in(6);
  for (; n < c.shape.nodes.size(); ++block) {
    model::Domain d;
    d.name = fmt::format("b{:02}", block);
    for (int k = between(1, 3); k > 0 && n < c.shape.nodes.size(); --k, ++n) {
      auto& node = c.cluster.nodes[n];
      if (n > 0 && strangers && one_in(5)) {
        node.path.assign(static_cast<std::size_t>(sizes), -1);
        node.reachable = false;
        continue;
      }
      d.nodes.push_back(base::NodeIndex{n});
      for (int i = sizes - 1; i >= 0; --i) node.path.push_back(block >> i);
    }
    c.topology.domains.push_back(d);
  }
  for (int i = sizes - 1; i >= 0; --i) {
    const int groups = (block + (1 << i) - 1) >> i;
    c.cluster.counts.emplace_back(static_cast<std::size_t>(groups), true);
    if (block % (1 << i) != 0) c.cluster.counts.back().back() = false;
  }
}

}  // namespace

void make_topology(Case& c) {
  c.topology.name = "t";
  if (one_in(3)) make_blocks(c);
  else make_tree(c);
}

namespace {

// What a unit takes, in words of CPUs, memory and GPUs, and how many of them each node holds.
void make_units(Case& c, const Plain& p) {
  auto& g = c.group;
  const bool slots = p.tasks || p.sums;
  const bool whole = !slots || one_in(4);
  if (whole) g.sharing = model::Sharing::exclusive_node;
  int cpus = 1, memory = 0, gpus = 0, most = slots ? 100 : 1;
  if (slots) {
    cpus = between(1, 2);
    memory = one_in(4) ? between(1, 2) : 0;
    gpus = p.gpus && one_in(5) ? 1 : 0;
    if (p.tasks && one_in(3)) g.tasks_per_node = static_cast<std::uint32_t>(most = between(1, 3));
  }
  g.cpus_per_task = base::whole_cpus(cpus);
  if (memory > 0) g.memory_per_cpu = base::Mebibytes{memory};
  if (gpus > 0) g.gres_per_task.push_back({"gpu", one_in(2) ? "x" : "", gpus});
  c.request.cpus_each = cpus;
  c.request.whole = !slots;
  for (std::size_t n = 0; n < c.nodes.size(); ++n) {
    const auto& now = c.nodes[n];
    if (!now.usable || now.exclusive || (whole && now.jobs > 0)) continue;
    int units = std::min<int>(most, static_cast<int>(now.free.cpus.value / 1000) / cpus);
    if (memory > 0) units = std::min(units, static_cast<int>(now.free.memory.value) / (memory * cpus));
    if (gpus > 0) units = std::min(units, now.free.gres.empty() ? 0 : static_cast<int>(now.free.gres[0].count) / gpus);
    c.cluster.nodes[n].units = units;
  }
}

void make_counts(Case& c, const Plain& p) {
  auto& r = c.request;
  r.least = between(1, std::min<int>(8, static_cast<int>(c.shape.nodes.size()) + (p.tasks ? 3 : 0)));
  r.most = r.least + (one_in(3) ? between(0, 3) : 0);
  if (p.sums) {  // at least one task on every node
    c.group.tasks_given = true;
    c.group.tasks = static_cast<std::uint32_t>(between(r.least, 2 * r.most + 2));
    r.most = std::min(r.most, static_cast<int>(c.group.tasks));
    return;
  }
  if (!p.tasks && one_in(6)) {
    r.choices.push_back(r.least);
    if (r.most > r.least) r.choices.push_back(r.most);
    if (one_in(2)) r.choices.push_back(r.most = r.most + 2);
  }
}

void make_rungs(Case& c, const Plain& p) {
  const int deepest = c.cluster.levels - 1, narrowest = p.tasks ? c.cluster.levels : deepest;
  const bool blocks = c.topology.kind == model::Topology::Kind::block;
  auto& r = c.request;
  r.wish = true;
  const int how = between(0, 5);
  if (how <= 2) {
    const int first = between(-1, one_in(4) ? narrowest : deepest), last = between(-1, first);
    c.group.pack.prefer = level_name(c, first);
    if (last >= 0) c.group.pack.require = level_name(c, r.within = last);
    for (int l = first; l >= last; --l) r.rungs.push_back({l, 1});
  } else if (how == 3 && p.several_domains) {
    int level = between(-1, deepest);
    do {
      r.rungs.push_back({level, level < 0 ? 1 : between(1, 3)});
      c.group.pack.ladder.push_back({level_name(c, level), static_cast<std::uint32_t>(r.rungs.back().max_domains), {}});
      level -= between(1, 2);
    } while (level >= -1 && !one_in(3));
    // What --within requires ends the ladder, and what is in several domains is inside one of it.
    const auto& widest = r.rungs.back();
    if (const int last = widest.max_domains > 1 ? widest.level - 1 : widest.level; last >= 0 && one_in(2))
      c.group.pack.require = level_name(c, r.within = between(0, last));
  } else if (how == 4 && p.several_domains && !blocks) {
    r.rungs = {{deepest, between(1, 3)}, {-1, 1}};
    c.group.switches = static_cast<std::uint32_t>(r.rungs[0].max_domains);
    const int last = r.rungs[0].max_domains > 1 ? deepest - 1 : deepest;
    if (last >= 0 && one_in(2)) c.group.pack.require = level_name(c, r.rungs[1].level = r.within = between(0, last));
    if (r.rungs[1].level == deepest) r.rungs.pop_back();
  } else if (!blocks || p.tasks) {
    r.wish = blocks;
    for (int l = narrowest; l >= -1; --l) r.rungs.push_back({l, 1});
  } else {  // the smallest size that holds the least, to the one that holds the most
    const auto holding = [&](int n) {
      for (int l = deepest; l >= 0; --l)
        if (static_cast<int>(c.topology.block_sizes[static_cast<std::size_t>(deepest - l)]) >= n) return l;
      return -1;
    };
    for (int l = holding(r.least); l >= holding(r.most); --l) r.rungs.push_back({l, 1});
  }
}

void make_segments(Case& c, const Plain& p) {
  auto& r = c.request;
  // The rungs of default block sizes follow from segments in a way of their own (P10); a list of counts has no minimum.
  if (!r.choices.empty() || one_in(2)) return;
  if (c.topology.kind == model::Topology::Kind::block && c.group.pack.prefer.empty() && c.group.pack.ladder.empty()) return;
  int widest = 0;
  // A rung narrower than the segments' level is refused where it was asked for, and left out where it is the default.
  const bool by_default = c.group.pack.prefer.empty() && c.group.pack.ladder.empty() && !c.group.switches;
  if (!by_default) widest = std::max(0, r.rungs.front().level);
  const int narrowest = p.tasks && !one_in(3) ? c.cluster.levels : c.cluster.levels - 1;
  if (widest > narrowest) return;
  Layer layer{between(widest, narrowest), between(1, 3)};
  if (layer.level == c.cluster.levels) layer.size = between(2, 3);  // one task on one node is no segment
  if (by_default) std::erase_if(r.rungs, [&](const Rung& rung) { return rung.level > layer.level; });
  model::Segment s;
  s.level = level_name(c, layer.level);
  const bool on_node = layer.level == c.cluster.levels;
  s.distinct = r.distinct = !on_node && one_in(3);
  const bool wish = r.wish;
  r.wish = true;
  if (!on_node && one_in(4)) {
    for (int left = r.least; left > 0;) {
      const int part = between(1, left);
      r.sizes.push_back(part);
      s.sizes.push_back(static_cast<std::uint32_t>(part));
      left -= part;
    }
    r.most = r.least;
    layer.size = 1;
    r.layers = {layer};
    c.group.segments = {s};
    return;
  }
  const int kind = between(0, 3);
  if (kind == 1 && !on_node && layer.size < r.least) {
    r.remainder = Remainder::shorter;
    s.remainder = model::Segment::Remainder::shorter;
  } else if (kind == 2 && layer.size < r.least) {
    r.remainder = Remainder::elastic;
    s.remainder = model::Segment::Remainder::elastic;
    r.wish = wish;  // as many as there are
  } else {
    r.least = r.most = layer.size * between(1, 3);
  }
  s.size = static_cast<std::uint32_t>(layer.size);
  r.layers = {layer};
  c.group.segments.push_back(s);
  if (kind == 3 && layer.level + 1 <= narrowest && layer.size % 2 == 0) {
    r.layers.push_back({layer.level + 1, layer.size / 2});
    model::Segment inner;
    inner.level = level_name(c, layer.level + 1);
    inner.size = static_cast<std::uint32_t>(layer.size / 2);
    c.group.segments.push_back(inner);
  }
}

// -w, -x and the partition.
void make_lists(Case& c, const Plain& p) {
  auto& r = c.request;
  const auto close = [&](std::size_t n) { c.cluster.nodes[n].units = 0; };
  std::vector<std::string> names;
  std::vector<std::size_t> listed;
  if (one_in(6))
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if (one_in(4)) names.push_back(c.shape.nodes[n].name), close(n);
  c.group.exclude = fmt::format("{}", fmt::join(names, ","));
  names.clear();
  if (one_in(6)) {
    c.partition = true;
    for (std::uint32_t n = 0; n < c.nodes.size(); ++n)
      if (one_in(5)) close(n);
      else c.allowed.insert(base::NodeIndex{n});
    c.options.allowed = &c.allowed;
  }
  if (!one_in(5)) return;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    if (one_in(4)) names.push_back(c.shape.nodes[n].name), listed.push_back(n);
  c.group.nodelist = fmt::format("{}", fmt::join(names, ","));
  const auto count = static_cast<int>(listed.size());
  if (count > r.most) {  // a list to choose from
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      if (std::find(listed.begin(), listed.end(), n) == listed.end()) close(n);
    return;
  }
  for (const auto n : listed) c.cluster.nodes[n].required = true;
  // All of them are in: the minimum is no smaller, and neither is the block size that holds it.
  const bool by_size = c.topology.kind == model::Topology::Kind::block && c.group.pack.prefer.empty() && c.group.pack.ladder.empty();
  if (p.tasks || !by_size || count <= r.least) return;
  std::erase_if(r.rungs, [&](const Rung& rung) {
    return rung.level >= 0 && static_cast<int>(c.topology.block_sizes[static_cast<std::size_t>(c.cluster.levels - 1 - rung.level)]) < count;
  });
  if (r.rungs.empty()) r.rungs.push_back({-1, 1});
}

void make_orders(Case& c, const Plain& p) {
  auto& r = c.request;
  auto& pack = c.group.pack;
  switch (between(0, 5)) {
    case 0: r.order = Order::parent_first, pack.order = model::PackOrder::parent_first; break;
    case 1: r.order = Order::least_growth, pack.order = model::PackOrder::least_growth; break;
    case 2:
      if (c.group.memory_per_cpu || !c.group.gres_per_task.empty()) break;  // one resource: what is full is beyond doubt
      if (!p.tasks && std::any_of(c.cluster.nodes.begin(), c.cluster.nodes.end(), [](const Node& n) { return n.cpus > 1; })) break;
      r.order = Order::fullest, pack.order = model::PackOrder::fullest;
      break;
    case 3: r.order = Order::own_first, pack.order = model::PackOrder::own_first; break;
    default: break;
  }
  if (pack.order == model::PackOrder::automatic) {  // own_first, and least_growth for jobs of one node
    r.order = !p.tasks && r.most == 1 ? Order::least_growth : Order::own_first;
    r.growth_on_one_node = true;
  }
  switch (between(0, 5)) {
    case 0: r.fill = Fill::pack_parents, pack.fill = model::PackFill::pack_parents; break;
    case 1: r.fill = Fill::least_free, pack.fill = model::PackFill::least_free; break;
    case 2:
      if (r.order == Order::least_growth || r.growth_on_one_node) break;  // nodes of a balanced fill have no order of their own
      r.fill = Fill::balanced, pack.fill = model::PackFill::balanced;
      break;
    default: break;
  }
}

// Domains that others are in are closed to a job that wants one for itself; a node without such a domain is closed too.
void make_exclusive(Case& c) {
  if (!one_in(5)) return;
  c.exclusive = between(0, c.cluster.levels);
  c.group.exclusive_level = level_name(c, c.exclusive);
  const auto domain = [&](std::size_t n) {
    return c.exclusive == c.cluster.levels ? static_cast<int>(n) : c.cluster.nodes[n].path[static_cast<std::size_t>(c.exclusive)];
  };
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    for (std::size_t other = 0; other < c.nodes.size(); ++other)
      if (domain(n) < 0 || (domain(other) == domain(n) && c.nodes[other].jobs > 0)) c.cluster.nodes[n].units = 0;
}

void make_weights(Case& c) {
  if (!one_in(3)) return;
  for (std::size_t n = 0; n < c.nodes.size(); ++n)
    c.shape.nodes[n].weight = static_cast<std::uint32_t>(c.cluster.nodes[n].weight = between(1, 3));
  c.options.weight_first = c.request.weight_first = one_in(2);
}

// Other jobs somewhere, perhaps nowhere; the wishes stand behind what is required, first near then away, as the engine reads them.
void make_near(Case& c) {
  if (!one_in(3)) return;
  for (const bool together : {true, false})
    for (int i = between(0, 2); i > 0; --i) {
      Request::Near near{between(0, c.cluster.levels), 0, together, one_in(2)};
      const auto target = fmt::format("job:{}", c.request.near.size() + 1);
      for (int k = between(0, 3); k > 0; --k) {
        const auto n = static_cast<std::uint32_t>(between(0, static_cast<int>(c.nodes.size()) - 1));
        if (!c.cluster.nodes[n].reachable) continue;
        near.of |= 1U << n;
        c.options.members.push_back({target, base::NodeIndex{n}, 1});
      }
      if (near.of == 0 && !near.required) continue;  // nothing to be near to or away from
      (together ? c.group.affinity : c.group.anti_affinity).push_back({level_name(c, near.level), target, near.required});
      c.request.near.push_back(near);
    }
}

// A partition that packs only who asks: no rung but the widest, and F grows least.
void make_unpacked(Case& c, const Plain& p) {
  const auto& pack = c.group.pack;
  if (!one_in(4) || !pack.prefer.empty() || !pack.require.empty() || !pack.ladder.empty() || c.group.switches) return;
  if (!p.tasks && c.topology.kind == model::Topology::Kind::block) return;  // block sizes are a wish
  c.options.packing = placement::Packing::none;
  c.request.rungs = {{-1, 1}};
  c.request.unpacked = c.request.layers.empty() && !c.request.contiguous;
  // One node is chosen as if it were packed, F first.
  if (c.group.pack.order == model::PackOrder::automatic && c.request.layers.empty()) c.request.order = Order::least_growth;
}

}  // namespace

Case make_case(const Plain& p) {
  Case c;
  // Few enough ways to take units from nodes that all can be tried.
  const int count = p.tasks     ? between(1, 6)
                    : p.sums    ? between(1, 9)
                    : one_in(6) ? between(10, p.most_nodes)
                                : between(1, std::min(9, p.most_nodes));
  add_nodes(c, count, p.tasks || p.sums ? 3 : 1);
  make_topology(c);
  make_units(c, p);
  make_counts(c, p);
  make_rungs(c, p);
  if (p.segments) make_segments(c, p);
  if (p.lists) make_lists(c, p);
  if (p.orders) make_orders(c, p);
  else c.group.pack.order = model::PackOrder::own_first;
  if (p.more) {
    make_exclusive(c);
    make_weights(c);
    if (c.request.layers.empty() && one_in(5)) c.group.contiguous = c.request.contiguous = true;
    make_unpacked(c, p);
  }
  if (p.near) make_near(c);
  auto& r = c.request;
  auto& g = c.group;
  if (p.tasks) {
    g.tasks_given = true;
    g.tasks = static_cast<std::uint32_t>(r.most);
    g.min_tasks = r.least == r.most ? 0 : static_cast<std::uint32_t>(r.least);
  } else {
    g.nodes_given = true;
    g.nodes = {static_cast<std::uint32_t>(r.least), static_cast<std::uint32_t>(r.most), {}};
    for (const auto n : r.choices) g.nodes.choices.push_back(static_cast<std::uint32_t>(n));
  }
  if (r.remainder == Remainder::elastic && !r.layers.empty()) {  // fewer segments: at least one, of a range at least the minimum
    const int size = r.layers[0].size;
    r.least = r.least == r.most ? size : (r.least + size - 1) / size * size;
    r.most = r.most / size * size;
  }
  return c;
}

std::string story(const Case& c) {
  std::string out = fmt::format("{} nodes", c.shape.nodes.size());
  for (std::size_t n = 0; n < c.cluster.nodes.size(); ++n) {
    const auto& node = c.cluster.nodes[n];
    out += fmt::format(" {}:{}{}{}{}", fmt::join(node.path, "/"), node.units, node.idle ? "" : "b", node.required ? "w" : "",
                       node.reachable ? "" : "?");
    if (node.weight != 1) out += fmt::format("${}", node.weight);
  }
  const auto& g = c.group;
  out += fmt::format("; joined {}; {}-{} [{}] units of {} CPUs; rungs", c.topology.joined, c.request.least, c.request.most,
                     fmt::join(c.request.choices, ","), c.request.cpus_each);
  for (const auto& r : c.request.rungs) out += fmt::format(" {}x{}", r.level, r.max_domains);
  out += fmt::format("; wish {} order {} fill {}", c.request.wish, static_cast<int>(g.pack.order), static_cast<int>(g.pack.fill));
  if (c.request.weight_first) out += ", weight first";
  for (const auto& near : c.request.near)
    out +=
        fmt::format(", {} {:b} at {}{}", near.together ? "near" : "away from", near.of, near.level, near.required ? "" : " if it can be");
  if (c.request.contiguous) out += ", contiguous";
  if (c.request.unpacked) out += ", unpacked";
  if (c.exclusive != -2) out += fmt::format(", exclusive {}", c.group.exclusive_level);
  for (const auto& s : g.segments)
    out += fmt::format(", segment {} sizes [{}] at {} distinct {} remainder {}", s.size, fmt::join(s.sizes, ","), s.level, s.distinct,
                       static_cast<int>(s.remainder));
  return out;
}

}  // namespace reference

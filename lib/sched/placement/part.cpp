#include "sched/placement/part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"

namespace sy::sched::placement {
namespace {

using model::Group;
using model::PackFill;
using model::PackOrder;
using model::Segment;
using model::TopologyIndex;

constexpr Duration default_switch_wait = std::chrono::seconds{300};

std::vector<model::GresRequest> times(std::vector<model::GresRequest> gres, std::uint32_t n) {
  for (auto& g : gres) g.count *= n;
  return gres;
}

void add(std::vector<model::GresRequest>& to, const std::vector<model::GresRequest>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::uint32_t divide_up(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>((a + b - 1) / std::max<std::uint64_t>(b, 1));
}

void count_units(const Group& g, const ClusterShape& shape, const Options& o, Part& p) {
  // GRES of the job is a sum over nodes; segments, gangs and what is kept apart share it out evenly instead.
  const bool sums = g.segments.empty() && !o.parts_of_a_gang && !spreads_itself(g);
  if (sums) p.gres_job = g.gres_per_job;
  // A partition that limits nodes asks for the tasks on the fewest.
  const bool limited = o.max_nodes > 0 && g.tasks > o.max_nodes && g.min_tasks == 0 && sums;
  p.by_tasks = g.tasks_given && !g.nodes_given && p.gres_job.empty() && !limited;
  if (p.by_tasks) {
    p.max = g.tasks;
    p.min = g.min_tasks == 0 ? g.tasks : g.min_tasks;
    p.demand.most = g.tasks_per_node;
    return;
  }
  p.min = g.nodes.min;
  p.max = g.nodes.max;
  p.choices = g.nodes.choices;
  if (!g.nodes_given) {  // as many nodes as the job's GRES or its tasks need
    p.fewest = !p.gres_job.empty() || (limited && g.tasks_given);
    p.min = 1;
    p.max = !p.fewest ? 1 : g.tasks_given ? std::max(g.tasks, 1U) : static_cast<std::uint32_t>(shape.nodes.size());
    if (o.max_nodes > 0) p.max = std::min(p.max, o.max_nodes);
    p.choices.clear();
    p.sum_tasks = p.fewest && g.tasks_given;
  }
  if (g.tasks_given) {  // every node gets a task: more nodes than tasks are not taken
    p.total_tasks = g.tasks;
    p.min = std::min(p.min, std::max(g.tasks, 1U));
    p.max = std::min(p.max, std::max(g.tasks, 1U));
    if (g.nodes_given) {
      if (g.tasks_per_node != 0) {  // beside a number of tasks it is the most
        const auto least = divide_up(g.tasks, g.tasks_per_node);
        p.min = std::min(std::max(p.min, least), p.max);
        std::erase_if(p.choices, [&](std::uint32_t n) { return n < least; });
        if (p.choices.empty() && !g.nodes.choices.empty()) p.max = 0;
      }
      (g.segments.empty() ? p.sum_tasks : p.even_tasks) = p.min < g.tasks;
    }
  }
  p.tasks_each = g.tasks_given ? divide_up(g.tasks, std::max(p.min, 1U)) : std::max(g.tasks_per_node, 1U);
}

Demand demand_for(const Group& g, const Options& o, std::uint32_t tasks, bool by_tasks) {
  Demand d;
  d.whole = o.whole_nodes || g.sharing == model::Sharing::exclusive_node;
  d.exclusive_user = g.sharing == model::Sharing::exclusive_user;
  d.uid = o.uid;
  d.cpus = g.cpus_per_task * tasks;
  if (g.memory_per_node) {
    d.all_memory = g.memory_per_node->value == 0;
    d.memory_node = *g.memory_per_node;
  } else if (g.memory_per_cpu) {
    d.memory = *g.memory_per_cpu * base::cpu_count(d.cpus);
  }
  d.gres = times(g.gres_per_task, tasks);
  d.gres_node = g.gres_per_node;
  if (!by_tasks) {
    add(d.gres_node, d.gres);
    d.gres.clear();
    d.most = 1;
  }
  return d;
}

void demand_of(const Group& g, const Options& o, Part& p) {
  const auto most = p.demand.most;
  p.demand = demand_for(g, o, p.by_tasks ? 1 : p.tasks_each, p.by_tasks);
  if (p.by_tasks) p.demand.most = most;
  if (p.sum_tasks || p.even_tasks) {
    p.one_task = demand_for(g, o, 1, true);
    p.one_task.most = g.tasks_per_node != 0 ? std::min(g.tasks_per_node, p.total_tasks) : p.total_tasks;
  }
  if (!p.gres_job.empty()) return;
  for (auto job : g.gres_per_job) {
    p.evenly |= p.max > 1;
    job.count = divide_up(static_cast<std::uint64_t>(job.count), p.max);
    (p.by_tasks ? p.demand.gres : p.demand.gres_node).push_back(job);
  }
}

Result<NodeSet> named(const std::string& list, const ClusterShape& shape, const char* field, std::vector<NodeIndex>& in_order) {
  NodeSet out;
  if (list.empty()) return out;
  const auto names = base::expand_hostlist(list);
  if (!names) return base::fail(names.error());
  std::map<std::string_view, std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < shape.nodes.size(); ++i)
    if (!shape.nodes[i].removed) wanted.emplace(shape.nodes[i].name, i);
  for (const auto& name : *names) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) return base::fail(base::Code::invalid_argument, "there is no such node", field, name);
    if (!out.contains(NodeIndex{found->second})) in_order.push_back(NodeIndex{found->second});
    out.insert(NodeIndex{found->second});
  }
  return out;
}

Result<void> filter_of(const Group& g, const ClusterShape& shape, const TopologyIndex& t, const Options& o, Part& p) {
  p.filter.allowed = o.allowed;
  if (!g.constraint.empty()) {
    auto f = base::parse_features(g.constraint);
    if (!f) return base::fail(f.error());
    p.filter.constraint = std::move(*f);
  }
  std::vector<NodeIndex> listed, excluded;
  auto nodes = named(g.nodelist, shape, "--nodelist", listed);
  if (!nodes) return base::fail(nodes.error());
  auto without = named(g.exclude, shape, "--exclude", excluded);
  if (!without) return base::fail(without.error());
  p.filter.excluded = std::move(*without);
  if (!listed.empty()) {
    // Naming more nodes than are asked, or than there are tasks for, means a list to choose from; otherwise all named nodes are in (P10).
    if (!p.by_tasks && !g.nodes_given && !g.tasks_given) p.max = std::max(p.max, static_cast<std::uint32_t>(listed.size()));
    if (p.max < listed.size()) p.filter.among = std::move(*nodes);
    else p.required = listed;
    if (!p.by_tasks && p.min < listed.size() && !p.required.empty()) p.min = static_cast<std::uint32_t>(listed.size());
    if (!p.by_tasks && p.max == listed.size())
      p.filter.among = NodeSet(), [&] {
        for (auto n : listed) p.filter.among->insert(n);
      }();
  }
  if (!g.exclusive_level.empty()) {
    const auto level = t.find_level(g.exclusive_level);
    if (!level) return base::fail(t.unknown_level("--exclusive", g.exclusive_level));
    p.exclusive_level = *level;
  }
  p.contiguous = g.contiguous;
  return {};
}

Result<void> layers_of(const Group& g, const TopologyIndex& t, Part& p) {
  for (const auto& s : g.segments) {
    Layer layer;
    layer.size = std::min(s.size, p.max);
    layer.distinct = s.distinct;
    layer.level = t.narrowest_level();
    if (!s.level.empty()) layer.level = *t.find_level(s.level);
    else if (t.kind() == model::Topology::Kind::block && s.sizes.empty()) layer.level = t.level_holding(layer.size).value_or(0);
    p.shorter |= s.remainder == Segment::Remainder::shorter;
    p.elastic |= s.remainder == Segment::Remainder::elastic;
    if (!s.sizes.empty()) {
      p.sizes = s.sizes;
      p.min = p.max = 0;
      for (const auto size : s.sizes) p.max += size;
      p.min = p.max;
    }
    if (layer.level == t.node_level() && s.sizes.empty()) p.demand.multiple = std::max(layer.size, 1U);
    else p.layers.push_back(layer);
  }
  const bool one_count = p.min == p.max;
  // Counts come in whole segments.
  const std::uint32_t size = !p.sizes.empty() ? 0 : !p.layers.empty() ? p.layers.front().size : p.demand.multiple;
  if (size > 0 && !p.shorter && p.choices.empty()) {
    p.max = p.max / size * size;
    // One count and elastic: fewer segments will do. Of a range the minimum says how few.
    p.min = p.elastic && one_count ? std::min(p.max, size) : divide_up(p.min, size) * size;
  }
  if (size > 1 && !p.choices.empty()) std::erase_if(p.choices, [&](std::uint32_t n) { return n % size != 0; });
  return {};
}

// Levels from narrow to wide, both included.
void climb(Part& p, std::int32_t from, std::int32_t to) {
  for (auto l = from; l >= to; --l) p.rungs.push_back({l, 1, {}});
}

// Block sizes require the smallest size that holds the job; above the largest, the fewest aligned groups (P10).
void block_rungs(const TopologyIndex& t, Part& p) {
  const auto least = t.level_holding(p.min), most = t.level_holding(p.max);
  if (!least) return climb(p, TopologyIndex::any_level, TopologyIndex::any_level);
  climb(p, *least, most.value_or(TopologyIndex::any_level));
}

void rungs_of(const Group& g, const TopologyIndex& t, const Options& o, Part& p) {
  const bool blocks = t.kind() == model::Topology::Kind::block;
  const bool consolidate = std::any_of(g.segments.begin(), g.segments.end(), [](const Segment& s) { return s.consolidate; });
  const bool tree_switches = g.switches && t.kind() == model::Topology::Kind::tree;
  const bool named = !g.pack.prefer.empty() || !g.pack.require.empty() || consolidate;
  // Elastic segments ask for as many as there are, not for the narrowest rung that holds the fewest (P11).
  p.wish = named || !g.pack.ladder.empty() || tree_switches || (!p.elastic && (!g.segments.empty() || blocks));
  const auto last = g.pack.require.empty() ? TopologyIndex::any_level : *t.find_level(g.pack.require);
  p.within = g.pack.require.empty() ? no_level : last;
  const bool packs = o.packing == Packing::narrowest || named;
  if (!g.pack.ladder.empty()) {
    for (const auto& r : g.pack.ladder) p.rungs.push_back({*t.find_level(r.level), r.max_domains, r.wait});
  } else if (tree_switches) {
    if (last <= t.narrowest_level())
      p.rungs.push_back({t.narrowest_level(), std::max(*g.switches, 1U), g.switches_wait.value_or(default_switch_wait)});
    p.rungs.push_back({last, 1, {}});  // the required level ends the climb
  } else if (blocks && !p.by_tasks && !named && g.segments.empty()) {
    block_rungs(t, p);
  } else if (packs) {
    const auto first = !g.pack.prefer.empty() ? *t.find_level(g.pack.prefer) : p.by_tasks ? t.node_level() : t.narrowest_level();
    climb(p, std::max(first, last), last);
  } else {
    p.rungs.push_back({TopologyIndex::any_level, 1, {}});
    if (g.segments.empty()) p.fill = Fill::loosest;
  }
  // A rung narrower than the segments' own level can hold nothing that the segments' level does not.
  if (!p.layers.empty())
    for (auto& r : p.rungs)
      if (r.level > p.layers.front().level) r.level = p.layers.front().level;
  const auto same = [](const PartRung& a, const PartRung& b) { return a.level == b.level; };
  p.rungs.erase(std::unique(p.rungs.begin(), p.rungs.end(), same), p.rungs.end());
}

// Which levels to climb where the request says nothing: all of them; the widest at once where it wants to be everywhere.
Group with_rungs(Group g, const TopologyIndex& t, const Options& o) {
  const bool everywhere = std::any_of(g.spread.begin(), g.spread.end(), [](const model::Spread& s) { return !has_rule(s); });
  if (g.pack.prefer.empty() && g.pack.ladder.empty() && !g.switches && (o.packing == Packing::narrowest || !g.pack.require.empty())) {
    const auto require = g.pack.require.empty() ? TopologyIndex::any_level : *t.find_level(g.pack.require);
    g.pack.prefer = t.level_name(everywhere ? require : std::max(t.narrowest_level(), require));
  }
  return g;
}

void apart_of(const Group& g, const TopologyIndex& t, Part& p) {
  if (!spreads_itself(g)) return;
  for (const auto& s : g.spread) {
    Apart a{*t.find_level(s.level),    s.max_per_domain.value_or(0), s.max_share.value_or(0),
            s.min_domains.value_or(0), s.max_skew.value_or(0),       s.mode == model::Spread::Mode::prefer};
    p.apart.push_back(a);
  }
}

void preferences_of(const Group& g, Part& p) {
  if (p.fill != Fill::loosest) switch (g.pack.fill) {
      case PackFill::best_fit: p.fill = Fill::best_fit; break;
      case PackFill::pack_parents: p.fill = Fill::pack_parents; break;
      case PackFill::least_free: p.fill = Fill::least_free; break;
      case PackFill::balanced: p.fill = Fill::balanced; break;
    }
  const bool one_node = !p.by_tasks && p.max == 1;
  p.order = g.pack.order != PackOrder::automatic  ? g.pack.order
            : one_node || p.fill == Fill::loosest ? PackOrder::least_growth
                                                  : PackOrder::automatic;
}

// Bytes, not words: it is made for every question.
std::string key_of(const Group& g, const Part& p, const Demand& d) {
  std::string out;
  const auto number = [&](std::int64_t n) { out.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const auto text = [&](const std::string& s) {
    number(static_cast<std::int64_t>(s.size()));
    out += s;
  };
  out.reserve(256);
  number((d.whole ? 1 : 0) + (d.exclusive_user ? 2 : 0) + (d.all_memory ? 4 : 0) + (p.filter.among ? 8 : 0) + (p.single_nodes ? 16 : 0));
  number(d.exclusive_user || !d.whole ? d.uid.value : 0);
  for (const auto n : {d.cpus.value, d.memory.value, d.memory_node.value, std::int64_t{d.most}, std::int64_t{d.multiple}}) number(n);
  for (const auto* list : {&d.gres, &d.gres_node}) {
    number(static_cast<std::int64_t>(list->size()));
    for (const auto& r : *list) text(r.name), text(r.type), number(r.count);
  }
  number(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.filter.allowed)));
  text(g.constraint);
  text(p.filter.among ? g.nodelist : std::string());
  text(g.exclude);
  return out;
}

}  // namespace

bool counts_features(const Group& g) {
  if (g.constraint.empty() || !g.children.empty()) return false;
  const auto f = base::parse_features(g.constraint);
  using Op = base::FeatureExpression::Op;
  return f &&
         (f->op == Op::counted || std::any_of(f->operands.begin(), f->operands.end(), [](const auto& o) { return o.op == Op::counted; }));
}

bool asks_to_be_near(const Group& g, const TopologyIndex& t) {
  const bool own = t.kind() == model::Topology::Kind::block || !g.pack.prefer.empty() || !g.pack.require.empty() ||
                   !g.pack.ladder.empty() || g.switches || std::any_of(g.segments.begin(), g.segments.end(), [](const Segment& s) {
                     return s.remainder != Segment::Remainder::elastic || s.consolidate;
                   });
  return own || std::any_of(g.children.begin(), g.children.end(), [&](const Group& child) { return asks_to_be_near(child, t); });
}

bool has_rule(const model::Spread& s) { return s.max_per_domain || s.max_share || s.min_domains || s.max_skew; }

bool spreads_itself(const Group& g) { return g.children.empty() && g.replicas <= 1 && !g.spread.empty(); }

Result<Part> make_part(const Group& g, const ClusterShape& shape, const TopologyIndex& t, const Options& o) {
  Part p;
  p.name = g.name;
  p.shortcuts = o.shortcuts;
  count_units(g, shape, o, p);
  demand_of(g, o, p);
  if (const auto ok = filter_of(g, shape, t, o, p); !ok) return base::fail(ok.error());
  if (const auto ok = layers_of(g, t, p); !ok) return base::fail(ok.error());
  apart_of(g, t, p);
  rungs_of(p.apart.empty() ? g : with_rungs(g, t, o), t, o, p);
  if (!p.apart.empty()) p.wish = !g.pack.prefer.empty() || !g.pack.require.empty() || !g.pack.ladder.empty() || g.switches;
  preferences_of(g, p);
  p.single_nodes = p.by_tasks || std::any_of(p.rungs.begin(), p.rungs.end(), [&](const PartRung& r) { return r.level == t.node_level(); });
  p.key = key_of(g, p, p.demand);
  if (p.sum_tasks || p.even_tasks) p.one_task_key = key_of(g, p, p.one_task);
  return p;
}

}  // namespace sy::sched::placement

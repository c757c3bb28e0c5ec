// A cluster on the table: a topology, nodes with free task slots (one CPU each), and questions to the engine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hostlist.hpp"
#include "sched/placement/placement.hpp"
#include "tests/support/catch.hpp"

namespace lab {

using namespace sy;
using model::Group;

struct Lab {
  sched::ClusterShape shape;
  model::Topology topology;
  std::vector<sched::NodeNow> nodes;
  std::map<std::string, std::uint32_t> domain_at;

  static Lab tree(std::vector<std::string> levels) {
    Lab l;
    l.topology.name = "t";
    l.topology.kind = model::Topology::Kind::tree;
    for (auto& name : levels) l.topology.levels.push_back({name, {}});
    return l;
  }
  static Lab blocks(std::vector<std::uint32_t> sizes) {
    Lab l = tree({"block"});
    l.topology.kind = model::Topology::Kind::block;
    l.topology.block_sizes = std::move(sizes);
    return l;
  }
  static Lab flat() {
    Lab l = tree({});
    l.topology.kind = model::Topology::Kind::flat;
    return l;
  }

  // parent "": a root.
  Lab& domain(const std::string& name, const std::string& parent = "") {
    model::Domain d;
    d.name = name;
    if (!parent.empty()) {
      d.parent = static_cast<std::int32_t>(domain_at.at(parent));
      d.level = topology.domains[domain_at.at(parent)].level + 1;
      topology.domains[domain_at.at(parent)].children.push_back(static_cast<std::uint32_t>(topology.domains.size()));
    }
    domain_at[name] = static_cast<std::uint32_t>(topology.domains.size());
    topology.domains.push_back(d);
    return *this;
  }
  // A node with so many thousandths of CPU free of so many.
  Lab& node_cpu(const std::string& domain_name, const std::string& name, std::int64_t free, std::int64_t total) {
    const auto index = base::NodeIndex{static_cast<std::uint32_t>(shape.nodes.size())};
    sched::ClusterShape::NodeInfo info;
    info.name = name;
    info.total.cpus = base::Cpus{total};
    shape.nodes.push_back(info);
    sched::NodeNow now;
    now.free.cpus = base::Cpus{free};
    now.usable = true;
    now.jobs = free == total ? 0 : 1;
    nodes.push_back(now);
    if (!domain_name.empty()) topology.domains[domain_at.at(domain_name)].nodes.push_back(index);
    return *this;
  }
  // Free slots per node, named DOMAIN-1, DOMAIN-2, …; each could hold ten more.
  Lab& slots(const std::string& domain_name, std::vector<int> free) {
    int i = 0;
    for (const int f : free) node_cpu(domain_name, domain_name + "-" + std::to_string(++i), f * 1000, (f + 10) * 1000);
    return *this;
  }
  // A rack that is one node wide per slot count: domain below parent with nodes.
  Lab& rack(const std::string& name, const std::string& parent, std::vector<int> free) {
    return domain(name, parent).slots(name, std::move(free));
  }
  // Whole one-CPU nodes, free (1) or busy (0).
  Lab& wholes(const std::string& domain_name, const std::string& prefix, int from, int count) {
    for (int i = from; i < from + count; ++i) node_cpu(domain_name, prefix + std::to_string(i), 1000, 1000);
    return *this;
  }
  std::uint32_t index(const std::string& name) const {
    for (std::uint32_t i = 0; i < shape.nodes.size(); ++i)
      if (shape.nodes[i].name == name) return i;
    FAIL("no node " << name);
    return 0;
  }
  Lab& busy(const std::string& hostlist) {
    const auto names = base::expand_hostlist(hostlist);
    REQUIRE(names);
    for (const auto& name : *names) {
      auto& n = nodes[index(name)];
      n.free.cpus = base::Cpus{0};
      n.jobs = 1;
    }
    return *this;
  }

  model::TopologyIndex dense() const {
    const auto faults = model::check_topology(topology, shape.nodes.size());
    INFO((faults.empty() ? "" : faults.front()));
    REQUIRE(faults.empty());
    return model::TopologyIndex::build(topology, sched::placement::node_names(shape));
  }
  sched::placement::Answer ask(const Group& g, const sched::placement::Options& o = {}) const {
    const auto t = dense();
    return sched::placement::place(g, shape, t, nodes, o);
  }
  // "A-1:2 A-2:1" in rank order; the verdict's word when it is not placed.
  std::string where(const Group& g, const sched::placement::Options& o = {}) const {
    const auto a = ask(g, o);
    if (!a.placed()) return a.verdict.kind == model::Verdict::Kind::never ? "never" : "not now";
    std::string out;
    std::map<std::string, std::uint32_t> tasks;
    std::vector<std::string> order;
    for (const auto& n : a.nodes) {
      const auto& name = shape.nodes[n.node.value].name;
      if (tasks.emplace(name, 0).second) order.push_back(name);
      tasks[name] += n.tasks;
    }
    for (const auto& name : order) out += (out.empty() ? "" : " ") + name + ":" + std::to_string(tasks[name]);
    return out;
  }
  std::string hosts(const Group& g, const sched::placement::Options& o = {}) const {
    const auto a = ask(g, o);
    if (!a.placed()) return a.verdict.kind == model::Verdict::Kind::never ? "never" : "not now";
    std::vector<std::string> names;
    for (const auto& n : a.nodes) names.push_back(shape.nodes[n.node.value].name);
    return base::fold_hostlist(names);
  }
};

inline Group tasks(std::uint32_t n, std::int64_t cpus = 1) {
  Group g;
  g.tasks = n;
  g.tasks_given = true;
  g.cpus_per_task = base::whole_cpus(cpus);
  return g;
}
inline Group whole(std::uint32_t n) {
  Group g;
  g.nodes = {n, n, {}};
  g.nodes_given = true;
  g.sharing = model::Sharing::exclusive_node;
  return g;
}
inline Group require(Group g, const std::string& level) {  // Kueue's required: prefer the same, require it
  g.pack.prefer = g.pack.require = level;
  return g;
}
inline Group prefer(Group g, const std::string& level) {
  g.pack.prefer = level;
  return g;
}
inline Group with_segment(Group g, std::uint32_t size, const std::string& level) {
  g.segments.push_back({level, size, {}, model::Segment::Remainder::forbid, false, false});
  return g;
}

}  // namespace lab

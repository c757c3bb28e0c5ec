// Random clusters and requests, each told twice: to the engine, and to the slow reference.
#pragma once

#include <string>

#include "sched/placement/placement.hpp"
#include "slow_placement.hpp"
#include "support/catch.hpp"

namespace reference {

struct Case {
  Cluster cluster;
  Request request;
  sy::sched::ClusterShape shape;
  sy::model::Topology topology;
  std::vector<sy::sched::NodeNow> nodes;
  sy::model::Group group;
  sy::sched::placement::Options options;
  sy::base::NodeSet allowed;               // what options.allowed points at, where the partition has not all nodes
  bool partition{};
  int exclusive{-2};                       // level; -2: not asked

  Case() = default;
  Case(const Case& o) { *this = o; }
  Case& operator=(const Case&);

  sy::model::TopologyIndex index() const;
};

// Whatever RapidCheck's size: small cases are no easier to read here, and shrinking finds them anyway.
inline int between(int a, int b) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(a, b + 1)); }
inline bool one_in(int n) { return between(1, n) == 1; }

struct Plain {
  bool sums{};                             // a number of nodes with a number of tasks: Cluster::Node::units are task slots
  bool tasks{};                            // units are tasks, of CPUs, memory and GPUs
  bool gpus{true}, segments{true}, lists{true}, orders{true}, several_domains{true};
  bool near{};                             // affinity to other jobs
  bool more{true};                         // weights, exclusive domains, neighbours, default packing none
  int most_nodes{12};
};
Case make_case(const Plain&);

// A cluster alone: some nodes, and a tree, forest or blocks over them. `cpus`: of the largest node; `busy`: one in how many is.
void add_nodes(Case&, int count, int cpus, int busy = 3);
void make_topology(Case&);
std::string level_name(const Case&, int level);
std::string story(const Case&);

}  // namespace reference

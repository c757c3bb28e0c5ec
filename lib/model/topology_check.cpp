#include <algorithm>
#include <map>
#include <set>

#include "model/topology_index.hpp"

namespace sy::model {
namespace {

void check_shape(const Topology& t, std::vector<std::string>& faults) {
  std::set<std::string> names;
  for (const auto& l : t.levels)
    for (const auto* name : {&l.name}) {
      if (name->empty()) faults.push_back("a level has no name");
      else if (!names.insert(*name).second) faults.push_back("level " + *name + " is given twice");
    }
  for (const auto& l : t.levels)
    for (const auto& alias : l.aliases)
      if (!names.insert(alias).second) faults.push_back("alias " + alias + " of level " + l.name + " is taken already");
  for (std::size_t i = 0; i < t.domains.size(); ++i) {
    const auto& d = t.domains[i];
    if (d.name.empty()) faults.push_back("a domain has no name");
    if (d.level >= t.levels.size() && !(t.kind == Topology::Kind::block && t.levels.empty()))
      faults.push_back("domain " + d.name + " is at level " + std::to_string(d.level) + ", but there are " +
                       std::to_string(t.levels.size()));
    if (d.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(d.parent);
    if (parent >= i) faults.push_back("domain " + d.name + " comes before its parent, or is part of a cycle");
    else if (t.domains[parent].level >= d.level)
      faults.push_back("domain " + d.name + " is not narrower than its parent " + t.domains[parent].name);
  }
}

void check_blocks(const Topology& t, std::vector<std::string>& faults) {
  if (t.kind != Topology::Kind::block) return;
  for (std::size_t i = 1; i < t.block_sizes.size(); ++i) {
    const auto base = t.block_sizes[0], size = t.block_sizes[i];
    const bool multiple = base != 0 && size % base == 0;
    const auto times = multiple ? size / base : 0;
    if (!multiple || (times & (times - 1)) != 0 || size <= t.block_sizes[i - 1])
      faults.push_back("block size " + std::to_string(size) + " is not the base size " + std::to_string(base) +
                       " times a power of two, ascending");
  }
  if (!t.block_sizes.empty() && t.block_sizes[0] == 0) faults.push_back("the base block size is 0");
}

}  // namespace

std::vector<std::string> check_topology(const Topology& t, std::size_t known_nodes) {
  std::vector<std::string> faults;
  check_shape(t, faults);
  check_blocks(t, faults);
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> domain_named;
  std::vector<std::int32_t> holder(known_nodes, -1);
  for (std::size_t i = 0; i < t.domains.size(); ++i) {
    const auto& d = t.domains[i];
    if (!domain_named.emplace(std::pair{d.level, d.name}, i).second) faults.push_back("two domains of one level are called " + d.name);
    for (const auto n : d.nodes) {
      if (n.value >= known_nodes) {
        faults.push_back("domain " + d.name + " lists a node that the cluster does not know (number " + std::to_string(n.value) + ")");
        continue;
      }
      if (holder[n.value] >= 0)
        faults.push_back("node number " + std::to_string(n.value) + " is listed under " +
                         t.domains[static_cast<std::size_t>(holder[n.value])].name + " and under " + d.name);
      else holder[n.value] = static_cast<std::int32_t>(i);
    }
  }
  return faults;
}

}  // namespace sy::model

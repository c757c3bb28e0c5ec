// Imports a text and tells what came of it as a few lines, so that a test reads like the file it is about.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/hostlist.hpp"
#include "wire/topology/import_topology.hpp"

namespace sy::test {

struct TopologyCase {
  std::optional<wire::Imported> imported;
  wire::Faults faults{"f"};
  std::vector<std::string> names;  // by NodeIndex

  bool refused() const { return !imported; }
  const model::Topology& only() const { return imported->topologies.at(0); }

  // "f:12: …": columns are left out, they would only make the tests hard to read.
  std::string fault_text() const {
    std::string out;
    for (auto f : faults.list()) {
      f.mark.column = 0;
      out += to_text(f) + "\n";
    }
    return out;
  }
  std::string report() const {
    std::string out;
    for (const auto& l : report_lines(imported->report, "f")) out += l + "\n";
    return out;
  }
  // "root: s0 s1" / "  s0 [leaf]: n[1-2]": the domains by depth.
  std::string tree(std::size_t which = 0) const {
    const auto& t = imported->topologies.at(which);
    std::string out;
    for (const auto& d : t.domains) {
      std::size_t depth = 0;
      for (auto p = d.parent; p >= 0; p = t.domains[static_cast<std::size_t>(p)].parent) ++depth;
      std::vector<std::string> nodes;
      for (const auto n : d.nodes) nodes.push_back(names.at(n.value));
      out += std::string(depth * 2, ' ') + d.name + " [" + t.levels.at(d.level).name + "]";
      if (!nodes.empty()) out += " " + base::fold_hostlist_in_order(nodes);
      out += "\n";
    }
    return out;
  }
};

// `cluster`: a hostlist of known nodes; empty: whatever the file names.
inline TopologyCase import_text(std::string_view text, const std::string& cluster = {}, wire::ImportRequest request = {}) {
  TopologyCase c;
  wire::ClusterNodes nodes;
  if (!cluster.empty()) {
    c.names = *base::expand_hostlist(cluster);
    nodes.find = [&c](std::string_view name) -> std::optional<base::NodeIndex> {
      for (std::uint32_t i = 0; i < c.names.size(); ++i)
        if (c.names[i] == name) return base::NodeIndex{i};
      return std::nullopt;
    };
    nodes.all = [&c] {
      std::vector<wire::KnownNode> all;
      for (const auto& n : c.names) all.push_back({n, {}});
      return all;
    };
  }
  request.text = text;
  c.imported = wire::import_topologies(request, nodes, c.faults);
  if (c.imported && cluster.empty()) c.names = c.imported->node_names;
  return c;
}

}  // namespace sy::test

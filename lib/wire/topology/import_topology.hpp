// One import from text to topologies: finds the format, reads, builds, and reports; the difference to what is in force.
// All or nothing: with any fault there is no topology. Not the storing of it (core's ImportTopologies).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/topology.hpp"
#include "wire/topology/build_topology.hpp"
#include "wire/topology/read_topology.hpp"

namespace sy::wire {

struct ImportRequest {
  std::string_view text;
  std::string format;    // a format's name; empty: found by content
  std::string topology;  // the one wanted where the file holds several; empty: all
  std::string name;      // what to call a topology that the file does not name
  bool skip_unknown_nodes{};
};

// The cluster's nodes. Without `find` the file is taken at its word: its nodes are numbered in natural order.
struct ClusterNodes {
  FindNode find;
  KnownNodes all;
};

struct Imported {
  TopologyFormat format{TopologyFormat::yaml};
  std::vector<model::Topology> topologies;  // in the file's order
  std::size_t cluster_default{};            // which of them
  std::vector<std::string> node_names;      // by NodeIndex; only where no cluster was given
  std::vector<LabelLevel> label_levels;     // a file of level names only, and no cluster to apply them to
  ImportReport report;
};

std::optional<Imported> import_topologies(const ImportRequest&, const ClusterNodes&, Faults&);

// "topology.conf:3: leaf s4 has no node", one line a note, and the nodes that were left out.
std::vector<std::string> report_lines(const ImportReport&, const std::string& file);

// Equal but for the version: importing it would change nothing.
bool same_topology(const model::Topology&, const model::Topology&);

// What an import would change, for people: "+ leaf rack3 under core1: n[1-4]", "~ rack2: + n5, - n7", "levels: …".
// `names` by NodeIndex. Empty when same_topology.
std::vector<std::string> topology_diff(const model::Topology& in_force, const model::Topology& wanted,
                                       const std::vector<std::string>& names);

}  // namespace sy::wire

// Reads every topology format that Switchyard knows into TopologyText, collecting all faults with their lines.
// Not the check against the cluster's nodes and not the merge into a tree: build_topology.hpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/topology/topology_text.hpp"

namespace sy::wire {

enum class TopologyFormat : std::uint8_t {
  yaml,           // Switchyard's own
  slurm,          // topology.conf: tree or block
  slurm_yaml,     // topology.yaml: several topologies
  topograph,      // model (switches and blocks) or graph (instances); its Slurm outputs are the two above
  ibnetdiscover,  // text of ibnetdiscover
  hypernode,      // Volcano's HyperNode resources
  labels,         // nodes with labels and an ordered list of keys
  kai,            // KAI's Topology resource: levels and aliases, no nodes
  netq            // known and refused
};

std::string_view format_name(TopologyFormat);  // "slurm-yaml"
std::optional<TopologyFormat> format_from_name(std::string_view);
const std::vector<std::string>& format_names();  // for messages
// By content; nullopt when nothing fits.
std::optional<TopologyFormat> detect_format(std::string_view text);

// A node of the cluster with what its agent reports, for formats that select nodes by pattern or label.
struct KnownNode {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
};

// The nodes that patterns and labels may select from. An empty function: no cluster is known.
using KnownNodes = std::function<std::vector<KnownNode>()>;

TopologyFile read_topology(std::string_view text, TopologyFormat, const KnownNodes&, Faults&);

// One reader per format; read_topology calls them.
TopologyFile read_switchyard_yaml(std::string_view text, Faults&);
TopologyFile read_slurm_conf(std::string_view text, Faults&);
TopologyFile read_slurm_yaml(std::string_view text, Faults&);
TopologyFile read_topograph(std::string_view text, Faults&);
TopologyFile read_ibnetdiscover(std::string_view text, Faults&);
TopologyFile read_hypernodes(std::string_view text, const KnownNodes&, Faults&);
TopologyFile read_labels(std::string_view text, const KnownNodes&, Faults&);
TopologyFile read_kai_levels(std::string_view text, Faults&);

// The tree that node labels describe: `levels` widest first. Nodes without a label at a level go to a domain "unknown"
// there, and the report names them.
TopologyText topology_from_labels(const std::vector<LabelLevel>& levels, const std::vector<KnownNode>&, ImportReport&);

// The names of Faults.budget are used up.
void refuse_more_names(FileMark, std::string field, Faults&);
// Appends the names of a hostlist, or a fault at `mark` with `field`.
void add_hostlist(std::string_view text, FileMark mark, const std::string& field, std::vector<NamedMark>& out, Faults&);

}  // namespace sy::wire

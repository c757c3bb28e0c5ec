// What the subcommands of `sy topo` read: files, a cluster's nodes, the topology in force; and how they tell faults.
// Not the formats themselves (wire/topology).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/option_table.hpp"
#include "cli/command_table.hpp"
#include "wire/cluster_file.hpp"
#include "wire/topology/import_topology.hpp"

namespace sy::cli {

inline constexpr std::size_t max_topology_file = 64U << 20U;

// "-": standard input. Error names the file and why.
base::Result<std::string> read_whole_file(Context&, const std::string& path);

// The options of one subcommand, read; prints the error or the help and then answers nullopt with the exit code set.
struct TopoOptions {
  std::map<std::string, std::string> values;  // by name; present without a value: ""
  std::vector<std::string> rest;
  bool has(const std::string& name) const { return values.count(name) != 0; }
  std::string value(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string{} : found->second;
  }
};
std::optional<TopoOptions> read_topo_options(Context&, const Words&, std::span<const base::OptionRule>, std::string_view help,
                                             int& exit_code);

// A file's topologies. Faults go to standard error, one a line, notes after "warning: "; nullopt then.
struct TopologyInput {
  std::string path, text;
  wire::Imported imported;
  std::vector<std::string> names;              // nodes, by NodeIndex
  std::vector<wire::ClusterFileNode> cluster;  // of --cluster; empty: none given
};
struct TopologyQuestion {
  std::string path;  // of the topology file
  std::string format;
  std::string topology;      // its name in the file
  std::string cluster_path;  // of --cluster; empty: the file's own nodes
  bool skip_unknown_nodes{};
  bool quiet{};                       // no notes
  bool json{};                        // refusals as JSON too
  std::optional<std::string> text{};  // read from path already: standard input can be read once
};
std::optional<TopologyInput> load_topology(Context&, const TopologyQuestion&);

// To standard error: "PROGRAM: error: …", every line of it; returns 1. With `json` to standard output as well:
// {"verdict":{"kind":"refused","text"},"faults":[{"file","line","column","field","message","value","limit","hint"}]}, null where
// there is nothing to say. `parts`: what the error is made of, where that is known.
int print_error(Context&, const base::Error&, bool json = false, const wire::Faults* parts = nullptr);
int print_faults(Context&, const wire::Faults&, bool json = false);

// Its name as given. Else, with a domain: the one that has it. Else the default partition's, else the cluster's, else the
// first in force; where there are several, a note on standard error says which one and how to choose.
base::Result<std::string> name_in_force(Context&, const std::string& given, const std::string& domain = {});

// The topology in force by name (empty: as above), through the API.
struct TopologyInForce {
  model::Topology topology;
  std::vector<std::string> names;  // by the NodeIndex used in it
  std::uint64_t version{};
};
base::Result<TopologyInForce> fetch_topology(Context&, const std::string& name, const std::string& domain = {});

}  // namespace sy::cli

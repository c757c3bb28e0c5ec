// What every topology fuzzer does with an input: imports it as one format over a small cluster and checks what came out.
// One program a format (fuzz_topology_*.cpp), so that the engine learns each language by itself.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "model/topology_index.hpp"
#include "wire/topology/export_topology.hpp"
#include "wire/topology/import_topology.hpp"

namespace sy::fuzz {

inline const std::vector<std::string>& topology_nodes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (int i = 1; i <= 32; ++i) out.push_back("n" + std::to_string(i));
    return out;
  }();
  return names;
}

inline wire::ClusterNodes topology_cluster() {
  wire::ClusterNodes nodes;
  nodes.find = [](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto& names = topology_nodes();
    for (std::uint32_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return base::NodeIndex{i};
    return std::nullopt;
  };
  nodes.all = [] {
    std::vector<wire::KnownNode> all;
    for (const auto& n : topology_nodes()) all.push_back({n, {{"rack", "r" + n.substr(1, 1)}, {"zone", "z"}}});
    return all;
  };
  return nodes;
}

inline void check_topology_sound(const model::Topology& t, const std::vector<std::string>& names) {
  for (const auto& fault : model::check_topology(t, names.size())) fail(fault.c_str(), __FILE__, __LINE__);
  const auto index = model::TopologyIndex::build(t, names);
  FUZZ_CHECK(index.size() <= names.size());
  const auto text = wire::export_topology(t, names, "yaml");
  FUZZ_CHECK(text.has_value());
  wire::Faults faults("f");
  wire::ImportRequest request;
  request.text = *text;
  request.format = "yaml";
  request.name = t.name;
  wire::ClusterNodes nodes;
  std::unordered_map<std::string_view, base::NodeIndex> by_name;
  for (std::uint32_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], base::NodeIndex{i});
  nodes.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::nullopt : std::optional{found->second};
  };
  const auto back = wire::import_topologies(request, nodes, faults);
  FUZZ_CHECK(back.has_value());
  FUZZ_CHECK(wire::same_topology(back->topologies.at(0), t));
}

// With the cluster known (unknown nodes skipped), and taken at its word.
inline void import_as(std::string_view format, std::string_view input) {
  for (const bool known : {true, false}) {
    wire::Faults faults("f");
    wire::ImportRequest request;
    request.text = input;
    request.format = format;
    request.name = "t";
    request.skip_unknown_nodes = known;
    const auto imported = wire::import_topologies(request, known ? topology_cluster() : wire::ClusterNodes{}, faults);
    FUZZ_CHECK(imported.has_value() == faults.empty());
    if (!imported) continue;
    for (const auto& t : imported->topologies) check_topology_sound(t, known ? topology_nodes() : imported->node_names);
    FUZZ_PLANT(std::ranges::any_of(imported->topologies, [](const model::Topology& t) {
      const auto odd = [](const auto& x) { return unusual(x.name); };
      return odd(t) || std::ranges::any_of(t.levels, odd) || std::ranges::any_of(t.domains, odd);
    }));
  }
}

}  // namespace sy::fuzz

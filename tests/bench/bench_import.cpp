// Import of 100,000 nodes from text to the scheduler's topology, for each format that can hold them. Prints seconds; asserts
// nothing.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/topology_index.hpp"
#include "wire/topology/export_topology.hpp"
#include "wire/topology/import_topology.hpp"

using namespace sy;

namespace {

constexpr std::uint32_t node_count = 100'000, per_leaf = 40, per_spine = 25;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

model::Topology fabric() {
  model::Topology t;
  t.name = "fabric";
  t.kind = model::Topology::Kind::tree;
  t.levels = {{"core", {}}, {"spine", {}}, {"leaf", {}}};
  t.domains.push_back({"core", 0, -1, {}, {}, false, true});
  for (std::uint32_t first = 0, leaf = 0, spine = 0; first < node_count; first += per_leaf, ++leaf) {
    if (leaf % per_spine == 0) {
      spine = static_cast<std::uint32_t>(t.domains.size());
      t.domains[0].children.push_back(spine);
      t.domains.push_back({fmt::format("spine{}", leaf / per_spine), 1, 0, {}, {}, false, true});
    }
    const auto self = static_cast<std::uint32_t>(t.domains.size());
    t.domains[spine].children.push_back(self);
    model::Domain d{fmt::format("leaf{}", leaf), 2, static_cast<std::int32_t>(spine), {}, {}, false, true};
    for (std::uint32_t n = first; n < first + per_leaf && n < node_count; ++n) d.nodes.push_back(base::NodeIndex{n});
    t.domains.push_back(std::move(d));
  }
  return t;
}

std::string labels_text(const model::Topology& t, const std::vector<std::string>& names) {
  std::string out = "levels: [spine, leaf]\nnodes:\n";
  for (const auto& d : t.domains)
    for (const auto n : d.nodes)
      out += fmt::format("- {{names: {}, labels: {{spine: {}, leaf: {}}}}}\n", names[n.value],
                         t.domains[static_cast<std::size_t>(d.parent)].name, d.name);
  return out;
}

}  // namespace

int main() {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < node_count; ++i) names.push_back(fmt::format("node{:06}", i));
  std::unordered_map<std::string_view, base::NodeIndex> by_name;
  for (std::uint32_t i = 0; i < node_count; ++i) by_name.emplace(names[i], base::NodeIndex{i});
  wire::ClusterNodes cluster;
  cluster.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::nullopt : std::optional{found->second};
  };
  const auto wanted = fabric();
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto* format : {"slurm-tree", "slurm-yaml", "topograph", "yaml"})
    files.emplace_back(format, *wire::export_topology(wanted, names, format));
  files.emplace_back("labels", labels_text(wanted, names));
  std::printf("%-12s %10s %10s %10s\n", "format", "bytes", "import s", "index s");
  for (const auto& [format, text] : files) {
    auto start = std::chrono::steady_clock::now();
    wire::Faults faults(format);
    wire::ImportRequest request;
    request.text = text;
    const auto imported = wire::import_topologies(request, cluster, faults);
    const double import_seconds = seconds_since(start);
    if (!imported) {
      std::printf("%s: %s\n", format.c_str(), to_text(faults.list().front()).c_str());
      return 1;
    }
    start = std::chrono::steady_clock::now();
    const auto index = model::TopologyIndex::build(imported->topologies[0], names);
    std::printf("%-12s %10zu %10.3f %10.3f   (index: %zu nodes, %.1f MB)\n", format.c_str(), text.size(), import_seconds,
                seconds_since(start), index.size(), static_cast<double>(index.memory_bytes()) / 1e6);
  }
  return 0;
}

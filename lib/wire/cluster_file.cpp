#include "wire/cluster_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/hostlist.hpp"
#include "base/size_text.hpp"
#include "wire/config_words.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

model::NodeShape read_shape(YamlMap& m, std::uint32_t cpus, Faults& faults) {
  model::NodeShape shape;
  shape.cpus = read_count(m, "cpus", 0, 1 << 20).value_or(cpus);
  shape.memory = m.parsed("mem", [](std::string_view text) { return base::parse_memory(text); }).value_or(base::Mebibytes{});
  shape.gres = read_gres(m, "gres", faults).value_or(std::vector<model::GresInstance>{});
  shape.sockets = 1;
  shape.cores_per_socket = std::max(1U, shape.cpus);
  return shape;
}

base::Resources read_used(YamlMap& m, Faults& faults) {
  const auto* n = m.child("used");
  if (n == nullptr) return {};
  base::Resources used;
  if (n->is_scalar()) {
    used.cpus = base::whole_cpus(m.integer("used", 0, 1 << 20).value_or(0));
    return used;
  }
  YamlMap inner(*n, m.path_of("used"), faults);
  used = model::total_of(read_shape(inner, 0, faults));
  inner.finish();
  return used;
}

void read_entry(const YamlNode& n, const std::string& path, std::vector<ClusterFileNode>& out, std::unordered_set<std::string>& seen,
                Faults& faults) {
  YamlMap m(n, path, faults);
  m.require("names");
  const auto lists = m.text_list("names").value_or(std::vector<std::string>{});
  ClusterFileNode node;
  node.shape = read_shape(m, 1, faults);
  node.features = m.text_list("features").value_or(std::vector<std::string>{});
  std::sort(node.features.begin(), node.features.end());
  node.weight = read_count(m, "weight", 0, 1'000'000).value_or(1);
  node.used = read_used(m, faults);
  m.each_entry("labels", [&](const YamlNode& label, const std::string&) { node.labels.emplace_back(label.key, label.scalar); });
  if (!node.used.fits_in(model::total_of(node.shape))) m.refuse("used", "more is used than the nodes have");
  m.finish();
  for (const auto& list : lists) {
    const auto names = base::expand_hostlist(list);
    if (!names) {
      m.refuse("names", names.error());
      continue;
    }
    for (const auto& name : *names) {
      if (!seen.insert(name).second) {
        m.refuse("names", "a node is named twice", name);
        continue;
      }
      node.name = name;
      out.push_back(node);
    }
  }
}

}  // namespace

std::vector<ClusterFileNode> read_cluster_file(std::string_view text, Faults& faults) {
  std::vector<ClusterFileNode> out;
  const auto document = read_yaml_document(text, faults);
  if (!document) return out;
  YamlMap m(*document, "", faults);
  std::unordered_set<std::string> seen;
  m.require("nodes");
  m.each("nodes", [&](const YamlNode& n, const std::string& path) { read_entry(n, path, out, seen, faults); });
  m.finish();
  return out;
}

}  // namespace sy::wire

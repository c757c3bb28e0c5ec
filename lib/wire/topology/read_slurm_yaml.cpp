// Slurm's topology.yaml: a list of topologies, each of exactly one kind, as its manual page describes it.
#include <fmt/format.h>

#include <set>

#include "wire/topology/read_topology.hpp"
#include "wire/topology/topology_remark.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

const std::vector<std::string> kinds{"tree", "block", "flat", "ring", "torus3d"};

void read_switches(YamlMap& tree, TopologyText& t, Faults& faults) {
  tree.require("switches");
  tree.each("switches", [&](const YamlNode& n, const std::string& path) {
    YamlMap m(n, path, faults);
    m.require("switch");
    DomainText d{m.text("switch").value_or(""), m.mark(), {}, {}, {}};
    if (const auto list = m.text("children")) add_hostlist(*list, m.mark_of("children"), m.path_of("children"), d.children, faults);
    if (const auto list = m.text("nodes")) add_hostlist(*list, m.mark_of("nodes"), m.path_of("nodes"), d.nodes, faults);
    m.finish();
    t.domains.push_back(std::move(d));
  });
  tree.finish();
}

void read_blocks(YamlMap& block, TopologyText& t, Faults& faults) {
  if (const auto sizes = block.integer_list("block_sizes", 1, 1'000'000)) t.block_sizes.assign(sizes->begin(), sizes->end());
  t.block_sizes_mark = block.mark_of("block_sizes");
  block.require("blocks");
  block.each("blocks", [&](const YamlNode& n, const std::string& path) {
    YamlMap m(n, path, faults);
    m.require("block");
    DomainText d{m.text("block").value_or(""), m.mark(), {}, {}, {}};
    if (const auto list = m.text("nodes")) add_hostlist(*list, m.mark_of("nodes"), m.path_of("nodes"), d.nodes, faults);
    m.finish();
    t.domains.push_back(std::move(d));
  });
  block.finish();
}

// Which kind this entry is; empty with a fault when it names none or several.
std::string kind_of(YamlMap& m) {
  std::vector<std::string> given;
  for (const auto& k : kinds)
    if (m.has(k)) given.push_back(k);
  for (const auto& k : kinds) m.ignore(k);
  if (given.size() == 1) return given.front();
  if (given.empty()) m.refuse("topology", "the topology has no kind", {}, fmt::format("add one of {}", fmt::join(kinds, ", ")));
  else m.refuse(given[1], "a topology has one kind", fmt::format("{}", fmt::join(given, ", ")), "keep one of them");
  return {};
}

void read_kind(YamlMap& m, const std::string& kind, TopologyText& t, Faults& faults) {
  if (kind == "tree") {
    t.kind = model::Topology::Kind::tree;
    if (const auto* n = m.child("tree")) {
      YamlMap tree(*n, m.path_of("tree"), faults);
      read_switches(tree, t, faults);
    }
  } else if (kind == "block") {
    t.kind = model::Topology::Kind::block;
    if (const auto* n = m.child("block")) {
      YamlMap block(*n, m.path_of("block"), faults);
      read_blocks(block, t, faults);
    }
  } else if (kind == "flat") {
    t.kind = model::Topology::Kind::flat;
    const auto* n = m.child("flat");
    if (n != nullptr && !n->is_mapping() && m.boolean("flat") == false)
      m.refuse("flat", "flat: false gives the topology no kind", {}, "write flat: true");
  } else {
    m.refuse(
        kind,
        base::Error{
            base::Code::unsupported, fmt::format("topologies of kind {} are not carried out yet", kind), {}, "tree, block, flat", {}, {}});
  }
}

}  // namespace

TopologyFile read_slurm_yaml(std::string_view text, Faults& faults) {
  TopologyFile file;
  const auto document = read_yaml_document(text, faults);
  if (!document) return file;
  if (!document->is_sequence()) {
    faults.add(document->mark, "a list of topologies belongs here", {}, {}, "start each with \"- topology: NAME\"");
    return file;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < document->items.size(); ++i) {
    YamlMap m(document->items[i], fmt::format("[{}]", i), faults);
    TopologyText t;
    t.mark = m.mark();
    m.require("topology");
    t.name = m.text("topology").value_or("");
    t.cluster_default = m.boolean("cluster_default").value_or(false);
    if (!t.name.empty() && !names.insert(t.name).second) m.refuse("topology", "two topologies have this name", t.name);
    const auto kind = kind_of(m);
    if (!kind.empty()) read_kind(m, kind, t, faults);
    m.finish();
    apply_remarks(text, t);
    file.topologies.push_back(std::move(t));
  }
  return file;
}

}  // namespace sy::wire

// NVIDIA Topograph: its model (switches, and blocks of nodes below a switch with the accelerator domain they share) and its
// graph (one entry per instance with its switches from the nearest up). Its Slurm outputs are Slurm's own formats.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "wire/topology/build_topology.hpp"
#include "wire/topology/read_topology.hpp"
#include "wire/topology/topology_remark.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

// Domains by name, in the order first met.
class DomainTable {
 public:
  explicit DomainTable(TopologyText& t) : t_(t) {}
  DomainText& at(const std::string& name, FileMark mark) {
    const auto [found, fresh] = index_.emplace(name, t_.domains.size());
    if (fresh) t_.domains.push_back({name, mark, {}, {}, {}});
    return t_.domains[found->second];
  }
  bool has(const std::string& name) const { return index_.count(name) != 0; }

 private:
  TopologyText& t_;
  std::unordered_map<std::string, std::size_t> index_;
};

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// "…/domain" and "…/sub-domain" of the block's annotations, whatever the vendor's prefix.
struct Accelerator {
  std::string domain, sub_domain;
};
Accelerator accelerator_of(const YamlNode* annotations) {
  Accelerator a;
  if (annotations == nullptr) return a;
  for (const auto& n : annotations->items) {
    if (ends_with(n.key, "/sub-domain")) a.sub_domain = n.scalar;
    else if (ends_with(n.key, "/domain") || ends_with(n.key, "/accelerator") || ends_with(n.key, "/gpu.clique")) a.domain = n.scalar;
  }
  return a;
}

// Nodes of one accelerator domain, perhaps with sub-domains. Without sub-domains they are blocks, with them a tree.
class AcceleratorTopology {
 public:
  void add(const Accelerator& a, const std::vector<NamedMark>& nodes, FileMark mark) {
    if (a.domain.empty()) return;
    auto& domain = blocks_.at(a.domain, mark);
    domain.nodes.insert(domain.nodes.end(), nodes.begin(), nodes.end());
    if (a.sub_domain.empty()) {
      all_nested_ = false;
      return;
    }
    any_nested_ = true;
    const bool fresh = !nested_.has("sub:" + a.sub_domain);
    auto& inner = nested_.at("sub:" + a.sub_domain, mark);
    inner.nodes.insert(inner.nodes.end(), nodes.begin(), nodes.end());
    auto& outer = nested_.at(a.domain, mark);
    if (fresh) outer.children.push_back({"sub:" + a.sub_domain, mark});
  }
  // nullopt: the file tells no accelerator domains.
  std::optional<TopologyText> finish() {
    if (blocks_text_.domains.empty()) return std::nullopt;
    if (!any_nested_ || !all_nested_) {
      blocks_text_.kind = model::Topology::Kind::block;
      return std::move(blocks_text_);
    }
    nested_text_.kind = model::Topology::Kind::tree;
    nested_text_.joined = true;
    nested_text_.levels = {{"domain", {"block"}}, {"sub-domain", {}}};
    for (auto& d : nested_text_.domains) {
      const bool inner = d.name.rfind("sub:", 0) == 0;
      d.level = inner ? "sub-domain" : "domain";
      if (inner) d.name.erase(0, 4);
      for (auto& c : d.children) c.name.erase(0, 4);
    }
    return std::move(nested_text_);
  }

 private:
  TopologyText blocks_text_, nested_text_;
  DomainTable blocks_{blocks_text_}, nested_{nested_text_};
  bool any_nested_{}, all_nested_{true};
};

void read_model_switches(YamlMap& m, TopologyText& tree, DomainTable& table, Faults& faults) {
  m.each_entry("switches", [&](const YamlNode& n, const std::string& path) {
    YamlMap s(n, path, faults);
    const auto children = s.text_list("switches").value_or(std::vector<std::string>{});
    std::vector<NamedMark> nodes, names;
    for (const auto& list : children) add_hostlist(list, s.mark_of("switches"), s.path_of("switches"), names, faults);
    if (const auto lists = s.text_list("nodes"))
      for (const auto& list : *lists) add_hostlist(list, s.mark_of("nodes"), s.path_of("nodes"), nodes, faults);
    for (const auto* known : {"labels", "annotations", "metadata", "name"}) s.ignore(known);
    s.finish();
    auto& d = table.at(n.key, n.key_mark);
    d.children = std::move(names);
    d.nodes = std::move(nodes);
  });
  tree.mark = m.mark();
}

TopologyFile read_model(YamlMap& m, Faults& faults) {
  TopologyFile file;
  TopologyText tree;
  tree.kind = model::Topology::Kind::tree;
  DomainTable table(tree);
  AcceleratorTopology accelerators;
  read_model_switches(m, tree, table, faults);
  m.each("blocks", [&](const YamlNode& n, const std::string& path) {
    YamlMap b(n, path, faults);
    const auto name = b.text("switch").value_or("");
    std::vector<NamedMark> nodes;
    if (const auto lists = b.text_list("nodes"))
      for (const auto& list : *lists) add_hostlist(list, b.mark_of("nodes"), b.path_of("nodes"), nodes, faults);
    auto accelerator = accelerator_of(b.child("annotations"));
    if (accelerator.domain.empty()) accelerator = accelerator_of(b.child("labels"));
    for (const auto* known : {"name", "type", "labels", "annotations"}) b.ignore(known);
    b.finish();
    accelerators.add(accelerator, nodes, b.mark());
    if (name.empty()) return;
    auto& d = table.at(name, b.mark());
    d.nodes.insert(d.nodes.end(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  });
  for (const auto* known : {"nodes", "metadata", "name", "instances"}) m.ignore(known);
  m.finish();
  // A slot of the rack row that holds no rack is listed by its switch and described nowhere: an empty leaf, not a fault.
  std::vector<NamedMark> empty;
  for (const auto& d : tree.domains)
    for (const auto& c : d.children)
      if (!table.has(c.name)) empty.push_back(c);
  for (const auto& e : empty) table.at(e.name, e.mark);
  if (!tree.domains.empty()) file.topologies.push_back(std::move(tree));
  if (auto blocks = accelerators.finish()) file.topologies.push_back(std::move(*blocks));
  return file;
}

TopologyFile read_graph(YamlMap& m, Faults& faults) {
  TopologyFile file;
  TopologyText tree;
  tree.kind = model::Topology::Kind::tree;
  tree.mark = m.mark();
  DomainTable table(tree);
  std::unordered_map<std::string, std::string> parent;
  AcceleratorTopology accelerators;
  m.each("instances", [&](const YamlNode& n, const std::string& path) {
    YamlMap i(n, path, faults);
    i.require("id");
    const NamedMark node{i.text("id").value_or(""), i.mark()};
    const auto layers = i.text_list("network_layers").value_or(std::vector<std::string>{});
    accelerators.add(accelerator_of(i.child("labels")), {node}, i.mark());
    for (const auto* known : {"labels", "type", "annotations", "name"}) i.ignore(known);
    i.finish();
    for (std::size_t k = 0; k < layers.size(); ++k) {
      auto& d = table.at(layers[k], i.mark());
      if (k == 0) d.nodes.push_back(node);
      if (k + 1 == layers.size()) continue;
      table.at(layers[k + 1], i.mark());
      const auto [up, fresh] = parent.emplace(layers[k], layers[k + 1]);
      if (fresh) table.at(layers[k + 1], i.mark()).children.push_back({layers[k], i.mark()});
      else if (up->second != layers[k + 1])
        faults.add(i.mark(), fmt::format("switch {} is under {} here and under {} elsewhere: this is not a tree", layers[k], layers[k + 1],
                                         up->second));
    }
  });
  m.finish();
  if (!tree.domains.empty()) file.topologies.push_back(std::move(tree));
  if (auto blocks = accelerators.finish()) file.topologies.push_back(std::move(*blocks));
  return file;
}

}  // namespace

TopologyFile read_topograph(std::string_view text, Faults& faults) {
  const auto document = read_yaml_document(text, faults);
  if (!document) return {};
  YamlMap m(*document, "", faults);
  const bool graph = m.has("instances") && !m.has("switches") && !m.has("blocks");
  auto file = graph ? read_graph(m, faults) : read_model(m, faults);
  if (file.topologies.empty() && faults.empty())
    faults.add(document->mark, "the file describes no switch and no accelerator domain: nothing to place on");
  if (file.topologies.size() == 1) apply_remarks(text, file.topologies.front());
  for (auto& t : file.topologies)
    if (t.name.empty()) t.name = t.kind == model::Topology::Kind::tree && t.levels.empty() ? "tree" : "block";
  return file;
}

}  // namespace sy::wire

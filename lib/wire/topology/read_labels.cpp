// A topology from node labels: an ordered list of keys, widest first, and the nodes with their labels (from the file, or as
// their agents report them). KAI's Topology resource gives the keys and their aliases.
//
//   levels: [{key: topology.kubernetes.io/zone, name: zone}, {key: rack}]
//   nodes:                       # absent: the cluster's own
//     - {names: "n[1-4]", labels: {topology.kubernetes.io/zone: a, rack: r1}}
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hostlist.hpp"
#include "wire/topology/read_topology.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

std::string_view label_of(const KnownNode& n, const std::string& key) {
  for (const auto& [k, v] : n.labels)
    if (k == key) return v;
  return {};
}

// "topology.kubernetes.io/rack" makes a poor level name: what follows the last slash is what people say.
std::string short_name(const std::string& key) { return key.substr(key.rfind('/') + 1); }

// A label's value may hold what a name can not.
std::string as_name(std::string_view label) {
  std::string value(label);
  for (auto& c : value)
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || std::string_view{"\"\\,[]#="}.find(c) != std::string_view::npos) c = '_';
  return value;
}

bool is_node_level(const LabelLevel& l) { return l.key == "kubernetes.io/hostname" || l.key == "node"; }

// One level of a list: a key, and a name where its text gives one (`name_key`: how it is called there).
void take_level(const YamlNode& n, const std::string& path, const char* key_key, const char* name_key, std::vector<LabelLevel>& out,
                Faults& faults) {
  YamlMap l(n, path, faults);
  l.require(key_key);
  const auto key = l.text(key_key);
  const auto name = l.text(name_key);
  l.finish();
  if (key && key->empty()) l.refuse(key_key, "a node label's key belongs here");
  if (!key || key->empty()) return;
  LabelLevel level{*key, name.value_or(short_name(*key)), l.mark()};
  if (level.name == "node" && !is_node_level(level))
    return l.refuse(name_key, "this level is always there and can not be given", level.name, "leave it out, or call it something else");
  out.push_back(std::move(level));
}

}  // namespace

TopologyText topology_from_labels(const std::vector<LabelLevel>& levels, const std::vector<KnownNode>& nodes, ImportReport& report) {
  TopologyText t;
  t.kind = model::Topology::Kind::tree;
  t.joined = true;
  std::vector<const LabelLevel*> used;
  for (const auto& l : levels) {
    if (is_node_level(l)) continue;  // always there
    used.push_back(&l);
    model::Level level{l.name, {}};
    if (l.key != l.name && l.key.find_first_of(",/@=|: ") == std::string::npos) level.aliases.push_back(l.key);
    t.levels.push_back(std::move(level));
    t.level_marks.push_back(l.mark);
  }
  // The same value under two parents is two domains: each is known by its whole path, and named by it where that is needed.
  std::map<std::vector<std::string>, std::size_t> by_path;
  std::set<std::string> taken;
  std::map<std::string, std::vector<std::string>> without;
  std::vector<std::string> path;
  for (const auto& n : nodes) {
    path.clear();
    std::size_t parent = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
      auto value = as_name(label_of(n, used[i]->key));
      if (value.empty()) {
        without[used[i]->name].push_back(n.name);
        value = "unknown";
      }
      path.push_back(value);
      const auto [found, fresh] = by_path.try_emplace(path, t.domains.size());
      if (fresh) {
        const bool shared = i > 0 && value == "unknown";  // every parent may have one
        auto name = !shared && taken.count(value) == 0 ? value : fmt::format("{}", fmt::join(path, "."));
        while (!taken.insert(name).second) name += '+';
        t.domains.push_back({name, used[i]->mark, {}, {}, used[i]->name});
        if (i > 0) t.domains[parent].children.push_back({name, used[i]->mark});
      }
      parent = found->second;
    }
    if (!used.empty()) t.domains[parent].nodes.push_back({n.name, used.back()->mark});
  }
  for (auto& [level, names] : without) {
    const auto count = names.size();
    report.note({},
                fmt::format("{} without a label for level {}: put into the domain unknown: {}",
                            count == 1 ? "1 node is" : fmt::format("{} nodes are", count), level, base::fold_hostlist(std::move(names))));
  }
  return t;
}

TopologyFile read_labels(std::string_view text, const KnownNodes& known, Faults& faults) {
  TopologyFile file;
  const auto document = read_yaml_document(text, faults);
  if (!document) return file;
  YamlMap m(*document, "", faults);
  std::vector<LabelLevel> levels;
  const auto name = m.text("name").value_or("");
  m.require("levels");
  m.each("levels", [&](const YamlNode& n, const std::string& path) {
    if (!n.is_scalar()) return take_level(n, path, "key", "name", levels, faults);
    if (n.scalar.empty()) faults.add(n.mark, "a node label's key belongs here", path);
    else levels.push_back({n.scalar, short_name(n.scalar), n.mark});
  });
  std::vector<KnownNode> nodes;
  m.each("nodes", [&](const YamlNode& n, const std::string& path) {
    YamlMap entry(n, path, faults);
    entry.require("names");
    std::vector<NamedMark> names;
    if (const auto list = entry.text("names")) add_hostlist(*list, entry.mark_of("names"), entry.path_of("names"), names, faults);
    KnownNode node;
    entry.each_entry("labels", [&](const YamlNode& label, const std::string& label_path) {
      if (label.is_scalar() || label.is_null()) node.labels.emplace_back(label.key, label.scalar);
      else faults.add(label.mark, "a text belongs here", label_path);
    });
    entry.finish();
    for (auto& listed : names) nodes.push_back({std::move(listed.name), node.labels});
  });
  const bool own_nodes = m.has("nodes");
  m.finish();
  if (!own_nodes && known) nodes = known();
  if (!own_nodes && !known)
    faults.add(document->mark, "the file lists no nodes and no cluster is known", "nodes", {},
               "list the nodes with their labels, or give --cluster");
  auto t = topology_from_labels(levels, nodes, file.report);
  t.name = name;
  t.mark = document->mark;
  file.topologies.push_back(std::move(t));
  return file;
}

TopologyFile read_kai_levels(std::string_view text, Faults& faults) {
  TopologyFile file;
  for (const auto& document : read_yaml(text, faults)) {
    const auto* kind = document.find("kind");
    if (kind == nullptr || kind->scalar != "Topology") continue;  // jobs and pod groups may stand beside it
    const auto* spec = document.find("spec");
    if (spec == nullptr) {
      faults.add(document.mark, "the Topology has no spec");
      continue;
    }
    YamlMap m(*spec, "spec", faults);
    m.require("levels");
    m.each("levels",
           [&](const YamlNode& n, const std::string& path) { take_level(n, path, "nodeLabel", "alias", file.label_levels, faults); });
    m.finish();
  }
  if (file.label_levels.empty() && faults.empty()) faults.add({}, "the file has no Topology with levels");
  return file;
}

}  // namespace sy::wire

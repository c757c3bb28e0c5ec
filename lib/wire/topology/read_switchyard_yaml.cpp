// Switchyard's own format (docs/topology.md):
//
//   name: fabric
//   kind: tree                       # tree (default), block, flat
//   joined: false                    # several roots that no job spans; default true
//   levels: [core, {name: rack, aliases: [leaf]}]     # widest first; "node" is implied
//   block_sizes: [18, 36]            # kind block
//   domains:
//     - {name: core1, level: core}
//     - {name: rack1, level: rack, parent: core1, nodes: "n[1-16]", link_speed: 400G}
#include <fmt/format.h>

#include <unordered_map>

#include "wire/topology/read_topology.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {
namespace {

class SwitchyardReader {
 public:
  SwitchyardReader(TopologyText& t, Faults& faults) : t_(t), faults_(faults) {}

  void read(const YamlNode& document) {
    YamlMap m(document, "", faults_);
    t_.mark = m.mark();
    t_.name = m.text("name").value_or("");
    m.ignore("version");
    const auto kind = m.word("kind", {"tree", "block", "flat"});
    t_.kind = !kind || *kind == "tree" ? model::Topology::Kind::tree
              : *kind == "block"       ? model::Topology::Kind::block
                                       : model::Topology::Kind::flat;
    t_.joined = m.boolean("joined").value_or(true);
    m.each("levels", [&](const YamlNode& n, const std::string& path) { read_level(n, path); });
    if (const auto sizes = m.integer_list("block_sizes", 1, 1'000'000)) {
      t_.block_sizes_mark = m.mark_of("block_sizes");
      t_.block_sizes.assign(sizes->begin(), sizes->end());
      if (!sizes->empty() && t_.kind != model::Topology::Kind::block)
        m.refuse("block_sizes", "only a topology of kind block has block sizes");
    }
    m.each("domains", [&](const YamlNode& n, const std::string& path) { read_domain(n, path); });
    m.finish();
    link_parents();
  }

 private:
  void read_level(const YamlNode& n, const std::string& path) {
    if (n.is_scalar()) return take_level({n.scalar, {}}, n.mark);
    YamlMap m(n, path, faults_);
    m.require("name");
    const auto name = m.text("name");
    auto aliases = m.text_list("aliases").value_or(std::vector<std::string>{});
    m.finish();
    if (name) take_level({*name, std::move(aliases)}, m.mark());
  }

  void take_level(model::Level level, FileMark mark) {
    t_.levels.push_back(std::move(level));
    t_.level_marks.push_back(mark);
  }

  void read_domain(const YamlNode& n, const std::string& path) {
    YamlMap m(n, path, faults_);
    DomainText d;
    d.mark = m.mark();
    m.require("name");
    d.name = m.text("name").value_or("");
    d.level = m.text("level").value_or("");
    d.link_speed = m.text("link_speed").value_or("");
    parents_.push_back({m.text("parent").value_or(""), m.mark_of("parent")});
    if (const auto lists = m.text_list("nodes"))
      for (const auto& list : *lists) add_hostlist(list, m.mark_of("nodes"), m.path_of("nodes"), d.nodes, faults_);
    m.finish();
    t_.domains.push_back(std::move(d));
  }

  void link_parents() {
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < t_.domains.size(); ++i) by_name.emplace(t_.domains[i].name, i);
    for (std::size_t i = 0; i < t_.domains.size(); ++i) {
      if (parents_[i].name.empty()) continue;
      const auto found = by_name.find(parents_[i].name);
      if (found == by_name.end())
        faults_.add(parents_[i].mark,
                    fmt::format("domain {} names the parent {}, which is defined nowhere", t_.domains[i].name, parents_[i].name));
      else t_.domains[found->second].children.push_back({t_.domains[i].name, t_.domains[i].mark});
    }
  }

  TopologyText& t_;
  Faults& faults_;
  std::vector<NamedMark> parents_;  // by domain
};

}  // namespace

TopologyFile read_switchyard_yaml(std::string_view text, Faults& faults) {
  TopologyFile file;
  const auto document = read_yaml_document(text, faults);
  if (!document) return file;
  TopologyText t;
  SwitchyardReader(t, faults).read(*document);
  file.topologies.push_back(std::move(t));
  return file;
}

}  // namespace sy::wire

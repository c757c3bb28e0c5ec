#include "wire/topology/export_topology.hpp"

#include <fmt/format.h>

#include "base/hostlist.hpp"
#include "base/option_table.hpp"
#include "wire/topology/topology_remark.hpp"

namespace sy::wire {
namespace {

using model::Domain;
using model::Topology;

class Exporter {
 public:
  Exporter(const Topology& t, const std::vector<std::string>& names) : t_(t), names_(names) {}

  std::string slurm_tree() const {
    auto out = write_remark(t_, false);
    for (const auto& d : t_.domains) {
      out += "SwitchName=" + d.name;
      if (!d.children.empty()) out += " Switches=" + children(d);
      if (!d.nodes.empty()) out += " Nodes=" + nodes(d);
      if (!d.link_speed.empty()) out += " LinkSpeed=" + (d.link_speed.find(' ') == std::string::npos ? d.link_speed : quoted(d.link_speed));
      out += '\n';
    }
    return out;
  }

  std::string slurm_block() const {
    auto out = write_remark(t_, true);
    for (const auto& d : t_.domains) {
      if (d.virtual_group) continue;
      out += "BlockName=" + d.name;
      if (!d.nodes.empty()) out += " Nodes=" + nodes(d);
      out += '\n';
    }
    if (!t_.block_sizes.empty()) out += fmt::format("BlockSizes={}\n", fmt::join(t_.block_sizes, ","));
    return out;
  }

  std::string slurm_yaml() const {
    auto out = write_remark(t_, true);
    out += fmt::format("---\n- topology: {}\n  cluster_default: true\n", quoted(t_.name.empty() ? "default" : t_.name));
    switch (t_.kind) {
      case Topology::Kind::flat: return out + "  flat: true\n";
      case Topology::Kind::tree:
        out += "  tree:\n    switches:\n";
        for (const auto& d : t_.domains) {
          out += fmt::format("      - switch: {}\n", quoted(d.name));
          if (!d.children.empty()) out += fmt::format("        children: {}\n", quoted(children(d)));
          if (!d.nodes.empty()) out += fmt::format("        nodes: {}\n", quoted(nodes(d)));
        }
        return out;
      case Topology::Kind::block:
        out += "  block:\n";
        if (!t_.block_sizes.empty()) {
          out += "    block_sizes:\n";
          for (const auto s : t_.block_sizes) out += fmt::format("      - {}\n", s);
        }
        out += "    blocks:\n";
        for (const auto& d : t_.domains) {
          if (d.virtual_group) continue;
          out += fmt::format("      - block: {}\n", quoted(d.name));
          if (!d.nodes.empty()) out += fmt::format("        nodes: {}\n", quoted(nodes(d)));
        }
        return out;
    }
    return out;
  }

  std::string topograph() const {
    auto out = write_remark(t_, true);
    if (t_.kind == Topology::Kind::tree) {
      out += "switches:\n";
      for (const auto& d : t_.domains) {
        out += fmt::format("  {}:\n", quoted(d.name));
        if (!d.children.empty()) out += "    switches:\n";
        for (const auto c : d.children) out += fmt::format("    - {}\n", quoted(t_.domains[c].name));
      }
    }
    out += "blocks:\n";
    for (const auto& d : t_.domains) {
      if (d.virtual_group || (t_.kind == Topology::Kind::tree && d.nodes.empty())) continue;
      const auto list = fmt::format("nodes: [{}]\n", d.nodes.empty() ? std::string{} : quoted(nodes(d)));
      if (t_.kind == Topology::Kind::tree) out += fmt::format("- switch: {}\n  {}", quoted(d.name), list);
      else out += fmt::format("- {}  annotations:\n    accelerator.switchyard/domain: {}\n", list, quoted(d.name));
    }
    return out;
  }

  std::string yaml() const {
    std::string out;
    if (!t_.name.empty()) out += fmt::format("name: {}\n", quoted(t_.name));
    out += fmt::format("kind: {}\n", t_.kind == Topology::Kind::tree ? "tree" : t_.kind == Topology::Kind::block ? "block" : "flat");
    if (!t_.joined) out += "joined: false\n";
    if (!t_.levels.empty()) out += "levels:\n";
    for (const auto& l : t_.levels) {
      std::vector<std::string> aliases;
      for (const auto& a : l.aliases) aliases.push_back(quoted(a));
      out += aliases.empty() ? fmt::format("- {}\n", quoted(l.name))
                             : fmt::format("- {{name: {}, aliases: [{}]}}\n", quoted(l.name), fmt::join(aliases, ", "));
    }
    if (!t_.block_sizes.empty()) out += fmt::format("block_sizes: [{}]\n", fmt::join(t_.block_sizes, ", "));
    if (!t_.domains.empty()) out += "domains:\n";
    for (const auto& d : t_.domains) {
      if (d.virtual_group) continue;
      out += fmt::format("- {{name: {}, level: {}", quoted(d.name), quoted(t_.levels[d.level].name));
      if (d.parent >= 0 && t_.kind == Topology::Kind::tree)
        out += fmt::format(", parent: {}", quoted(t_.domains[static_cast<std::size_t>(d.parent)].name));
      if (!d.nodes.empty()) out += fmt::format(", nodes: {}", quoted(nodes(d)));
      if (!d.link_speed.empty()) out += fmt::format(", link_speed: {}", quoted(d.link_speed));
      out += "}\n";
    }
    return out;
  }

 private:
  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  }
  std::string nodes(const Domain& d) const {
    std::vector<std::string> words;
    words.reserve(d.nodes.size());
    for (const auto n : d.nodes) words.push_back(names_.at(n.value));
    return base::fold_hostlist_in_order(words);
  }
  std::string children(const Domain& d) const {
    std::vector<std::string> words;
    for (const auto c : d.children) words.push_back(t_.domains[c].name);
    return base::fold_hostlist_in_order(words);
  }

  const Topology& t_;
  const std::vector<std::string>& names_;
};

}  // namespace

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> all{"slurm-tree", "slurm-block", "slurm-yaml", "topograph", "yaml"};
  return all;
}

base::Result<std::string> export_topology(const Topology& t, const std::vector<std::string>& names, std::string_view format) {
  const Exporter e(t, names);
  const auto wrong_kind = [&](std::string_view kind, std::string_view instead) {
    return base::fail(base::Code::invalid_argument, fmt::format("the topology {} is not of kind {}", t.name, kind), "--format",
                      std::string(format), fmt::format("use {} or yaml", instead));
  };
  if (format == "yaml") return e.yaml();
  if (format == "slurm-yaml") return e.slurm_yaml();
  if (format == "slurm-tree")
    return t.kind == Topology::Kind::tree ? base::Result<std::string>(e.slurm_tree()) : wrong_kind("tree", "slurm-block");
  if (format == "slurm-block")
    return t.kind == Topology::Kind::block ? base::Result<std::string>(e.slurm_block()) : wrong_kind("block", "slurm-tree");
  if (format == "topograph")
    return t.kind != Topology::Kind::flat ? base::Result<std::string>(e.topograph()) : wrong_kind("tree or block", "slurm-yaml");
  const auto near = base::nearest(format, export_formats());
  return base::fail(base::Error{base::Code::invalid_argument, "this format is not known", "--format",
                                fmt::format("{}", fmt::join(export_formats(), ", ")), std::string(format),
                                near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
}

}  // namespace sy::wire

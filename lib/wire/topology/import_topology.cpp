#include "wire/topology/import_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/hostlist.hpp"
#include "base/option_table.hpp"

namespace sy::wire {
namespace {

std::optional<TopologyFormat> format_of(const ImportRequest& request, Faults& faults) {
  if (!request.format.empty()) {
    if (const auto f = format_from_name(request.format)) return f;
    const auto near = base::nearest(request.format, format_names());
    faults.add({}, base::Error{base::Code::invalid_argument, "this format is not known", "format",
                               fmt::format("{}", fmt::join(format_names(), ", ")), request.format,
                               near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
    return std::nullopt;
  }
  if (const auto f = detect_format(request.text)) return f;
  const bool blank = request.text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  bool only_comments = true;
  for (std::size_t at = 0; at < request.text.size() && only_comments;) {
    const auto end = std::min(request.text.find('\n', at), request.text.size());
    const auto first = request.text.find_first_not_of(" \t\r", at);
    only_comments = first >= end || request.text[first] == '#';
    at = end + 1;
  }
  if (blank || only_comments) faults.add({}, "the file is empty: nothing to place on");
  else
    faults.add({}, base::Error{base::Code::invalid_argument,
                               "the content is of no format that is known",
                               {},
                               fmt::format("{}", fmt::join(format_names(), ", ")),
                               {},
                               "name it with --format"});
  return std::nullopt;
}

// Keeps the topology asked for; a fault when there is none of that name. One that stands alone without a name gets it.
void choose(const std::string& wanted, TopologyFile& file, Faults& faults) {
  if (wanted.empty() || (file.topologies.empty() && !file.label_levels.empty())) return;
  std::vector<std::string> names;
  for (auto& t : file.topologies) {
    if (t.name == wanted || (t.name.empty() && file.topologies.size() == 1)) {
      TopologyText kept = std::move(t);
      kept.name = wanted;
      file.topologies.clear();
      file.topologies.push_back(std::move(kept));
      return;
    }
    names.push_back(t.name);
  }
  faults.add({}, base::Error{base::Code::not_found,
                             "the file has no topology of this name",
                             "--topology-name",
                             fmt::format("{}", fmt::join(names, ", ")),
                             wanted,
                             {}});
}

// As building the topology would, had there been nodes to build it of.
void check_label_levels(const std::vector<LabelLevel>& levels, Faults& faults) {
  ImportReport unused;
  const auto text = topology_from_labels(levels, {}, unused);
  std::vector<LevelNames> names;
  for (std::size_t i = 0; i < text.levels.size(); ++i) names.push_back({&text.levels[i], text.level_marks[i]});
  check_level_names(names, faults);
}

std::vector<std::string> all_names(const TopologyFile& file) {
  std::vector<std::string> names;
  for (const auto& t : file.topologies)
    for (const auto& d : t.domains)
      for (const auto& n : d.nodes) names.push_back(n.name);
  std::sort(names.begin(), names.end(), base::natural_less);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::optional<Imported> import_topologies(const ImportRequest& request, const ClusterNodes& cluster, Faults& faults) {
  const auto format = format_of(request, faults);
  if (!format) return std::nullopt;
  const auto before = faults.count();
  auto file = read_topology(request.text, *format, cluster.all, faults);
  if (!file.label_levels.empty() && cluster.all)
    file.topologies.push_back(topology_from_labels(file.label_levels, cluster.all(), file.report));
  else check_label_levels(file.label_levels, faults);
  choose(request.topology, file, faults);

  Imported out;
  out.format = *format;
  out.report = std::move(file.report);
  FindNode find = cluster.find;
  std::unordered_map<std::string_view, base::NodeIndex> index;
  if (!find) {
    out.node_names = all_names(file);
    for (std::uint32_t i = 0; i < out.node_names.size(); ++i) index.emplace(out.node_names[i], base::NodeIndex{i});
    find = [&index](std::string_view name) -> std::optional<base::NodeIndex> {
      const auto found = index.find(name);
      if (found == index.end()) return std::nullopt;
      return found->second;
    };
  }
  const BuildOptions options{request.skip_unknown_nodes, faults.count() != before};
  bool has_default = false;
  for (auto& text : file.topologies) {
    if (text.name.empty()) text.name = request.name;
    if (text.cluster_default && !std::exchange(has_default, true)) out.cluster_default = out.topologies.size();
    if (auto t = build_topology(text, find, options, out.report, faults)) out.topologies.push_back(std::move(*t));
  }
  if (faults.count() != before) return std::nullopt;
  if (out.topologies.empty()) out.label_levels = std::move(file.label_levels);
  return out;
}

std::vector<std::string> report_lines(const ImportReport& report, const std::string& file) {
  std::vector<std::string> out;
  for (const auto& [mark, text] : report.notes) out.push_back(mark.line == 0 ? text : fmt::format("{}:{}: {}", file, mark.line, text));
  return out;
}

bool same_topology(const model::Topology& a, const model::Topology& b) {
  model::Topology c = a;
  c.version = b.version;
  return c == b;
}

std::vector<std::string> topology_diff(const model::Topology& old, const model::Topology& wanted, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  if (same_topology(old, wanted)) return out;
  const auto level_text = [](const model::Topology& t) {
    std::vector<std::string> words;
    for (const auto& l : t.levels) words.push_back(l.aliases.empty() ? l.name : fmt::format("{} ({})", l.name, fmt::join(l.aliases, ", ")));
    return fmt::format("{}", fmt::join(words, " > "));
  };
  const auto kind_text = [](const model::Topology& t) {
    return t.kind == model::Topology::Kind::tree ? "tree" : t.kind == model::Topology::Kind::block ? "block" : "flat";
  };
  const auto node_text = [&](const std::vector<base::NodeIndex>& nodes) {
    std::vector<std::string> words;
    for (const auto n : nodes) words.push_back(n.value < names.size() ? names[n.value] : fmt::format("#{}", n.value));
    return base::fold_hostlist(std::move(words));
  };
  if (old.name.empty() && old.domains.empty()) {  // nothing is in force under this name
    out.push_back(fmt::format("+ {}: {}{}", wanted.name, kind_text(wanted), wanted.levels.empty() ? "" : ", " + level_text(wanted)));
  } else {
    if (old.kind != wanted.kind) out.push_back(fmt::format("~ kind: {} → {}", kind_text(old), kind_text(wanted)));
    if (old.levels != wanted.levels) out.push_back(fmt::format("~ levels: {} → {}", level_text(old), level_text(wanted)));
    if (old.joined != wanted.joined) out.push_back(fmt::format("~ joined: {} → {}", old.joined, wanted.joined));
    if (old.block_sizes != wanted.block_sizes)
      out.push_back(fmt::format("~ block sizes: {} → {}", fmt::join(old.block_sizes, ","), fmt::join(wanted.block_sizes, ",")));
  }
  const auto parent_of = [](const model::Topology& t, const model::Domain& d) {
    return d.parent < 0 ? std::string{} : t.domains[static_cast<std::size_t>(d.parent)].name;
  };
  std::unordered_map<std::string_view, const model::Domain*> was, is;
  for (const auto& d : old.domains) was.emplace(d.name, &d);
  for (const auto& d : wanted.domains) is.emplace(d.name, &d);
  for (const auto& d : old.domains)
    if (is.count(d.name) == 0) out.push_back(fmt::format("- {}{}", d.name, d.nodes.empty() ? "" : ": " + node_text(d.nodes)));
  std::size_t moved = 0;
  for (const auto& d : wanted.domains) {
    const auto found = was.find(d.name);
    const auto parent = parent_of(wanted, d);
    if (found == was.end()) {
      out.push_back(
          fmt::format("+ {}{}{}", d.name, parent.empty() ? "" : " under " + parent, d.nodes.empty() ? "" : ": " + node_text(d.nodes)));
      continue;
    }
    const auto& o = *found->second;
    if (parent_of(old, o) != parent)
      out.push_back(fmt::format("~ {}: parent {} → {}", d.name, parent_of(old, o).empty() ? "none" : parent_of(old, o),
                                parent.empty() ? "none" : parent));
    if (o.nodes != d.nodes) {
      auto before = o.nodes, after = d.nodes;
      const auto less = [](auto a, auto b) { return a.value < b.value; };
      std::sort(before.begin(), before.end(), less);
      std::sort(after.begin(), after.end(), less);
      std::vector<base::NodeIndex> gone, come;
      std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(gone), less);
      std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(come), less);
      std::string line = "~ " + d.name + ":";
      if (!come.empty()) line += " + " + node_text(come);
      if (!gone.empty()) line += " - " + node_text(gone);
      if (come.empty() && gone.empty()) line += " the same nodes in another order";
      out.push_back(std::move(line));
    }
    if (o.link_speed != d.link_speed)
      out.push_back(fmt::format("~ {}: link speed {} → {}", d.name, o.link_speed.empty() ? "none" : o.link_speed,
                                d.link_speed.empty() ? "none" : d.link_speed));
    if (o.level != d.level && old.levels == wanted.levels)
      out.push_back(fmt::format("~ {}: level {} → {}", d.name, old.levels[o.level].name, wanted.levels[d.level].name));
    ++moved;
  }
  if (out.empty() && moved != 0) out.emplace_back("~ the domains stand in another order");
  return out;
}

}  // namespace sy::wire

#include "wire/topology/read_topology.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/hostlist.hpp"

namespace sy::wire {
namespace {

struct FormatName {
  TopologyFormat format;
  std::string_view name;
};
constexpr std::array<FormatName, 9> names{{{TopologyFormat::yaml, "yaml"},
                                           {TopologyFormat::slurm, "slurm"},
                                           {TopologyFormat::slurm_yaml, "slurm-yaml"},
                                           {TopologyFormat::topograph, "topograph"},
                                           {TopologyFormat::ibnetdiscover, "ibnetdiscover"},
                                           {TopologyFormat::hypernode, "hypernode"},
                                           {TopologyFormat::labels, "labels"},
                                           {TopologyFormat::kai, "kai"},
                                           {TopologyFormat::netq, "netq"}}};

bool starts_with_word(std::string_view line, std::string_view word) {
  if (line.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(line[i])) != word[i]) return false;
  return true;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

// The first line that is neither blank nor a comment decides, and words that only one format has.
class Content {
 public:
  explicit Content(std::string_view text) : text_(text) {}
  bool has(std::string_view needle) const { return text_.find(needle) != std::string_view::npos; }
  // A line that starts (after blanks, in any letter case) with `word`.
  bool line_starts(std::string_view word) const {
    for (std::size_t at = 0; at < text_.size();) {
      const auto end = std::min(text_.find('\n', at), text_.size());
      if (starts_with_word(trimmed(text_.substr(at, end - at)), word)) return true;
      at = end + 1;
    }
    return false;
  }
  char first() const {
    for (std::size_t at = 0; at < text_.size();) {
      const auto end = std::min(text_.find('\n', at), text_.size());
      const auto line = trimmed(text_.substr(at, end - at));
      if (!line.empty() && line.front() != '#') return line.front();
      at = end + 1;
    }
    return '\0';
  }

 private:
  std::string_view text_;
};

}  // namespace

std::string_view format_name(TopologyFormat f) {
  for (const auto& n : names)
    if (n.format == f) return n.name;
  return "";
}

std::optional<TopologyFormat> format_from_name(std::string_view name) {
  for (const auto& n : names)
    if (n.name == name) return n.format;
  // What Topograph and `sy topo export` call the two halves of topology.conf.
  if (name == "slurm-tree" || name == "slurm-block") return TopologyFormat::slurm;
  return std::nullopt;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const auto& n : names) out.emplace_back(n.name);
    return out;
  }();
  return all;
}

std::optional<TopologyFormat> detect_format(std::string_view text) {
  const Content c(text);
  if (c.line_starts("switchguid=") || c.line_starts("caguid=") || c.line_starts("vendid=")) return TopologyFormat::ibnetdiscover;
  if (c.line_starts("switchname") || c.line_starts("blockname") || c.line_starts("blocksizes")) return TopologyFormat::slurm;
  if (c.line_starts("kind: hypernode")) return TopologyFormat::hypernode;
  if (c.line_starts("kind: topology") && c.has("apiVersion:")) return TopologyFormat::kai;
  const char first = c.first();
  if (first == '\0') return std::nullopt;
  if ((first == '[' || first == '{') && c.has("\"compounded_links\"")) return TopologyFormat::netq;
  if (c.has("\"instances\"") || c.line_starts("instances:")) return TopologyFormat::topograph;
  if (c.line_starts("- topology:")) return TopologyFormat::slurm_yaml;
  if (c.line_starts("domains:") || c.line_starts("kind: flat")) return TopologyFormat::yaml;
  if (c.line_starts("switches:") || c.line_starts("blocks:")) return TopologyFormat::topograph;
  if (c.line_starts("levels:") && c.line_starts("nodes:")) return TopologyFormat::labels;
  if (c.line_starts("kind:") || c.line_starts("levels:") || c.line_starts("name:")) return TopologyFormat::yaml;
  return std::nullopt;
}

TopologyFile read_topology(std::string_view text, TopologyFormat format, const KnownNodes& nodes, Faults& faults) {
  switch (format) {
    case TopologyFormat::yaml: return read_switchyard_yaml(text, faults);
    case TopologyFormat::slurm: return read_slurm_conf(text, faults);
    case TopologyFormat::slurm_yaml: return read_slurm_yaml(text, faults);
    case TopologyFormat::topograph: return read_topograph(text, faults);
    case TopologyFormat::ibnetdiscover: return read_ibnetdiscover(text, faults);
    case TopologyFormat::hypernode: return read_hypernodes(text, nodes, faults);
    case TopologyFormat::labels: return read_labels(text, nodes, faults);
    case TopologyFormat::kai: return read_kai_levels(text, faults);
    case TopologyFormat::netq:
      faults.add({}, base::Error{base::Code::unsupported,
                                 "a NetQ topology graph is not a source of topologies yet",
                                 {},
                                 {},
                                 {},
                                 "export the fabric with ibnetdiscover or Topograph"});
      return {};
  }
  return {};
}

void refuse_more_names(FileMark mark, std::string field, Faults& faults) {
  faults.add(mark, base::Error{base::Code::too_large, "the file names more hosts than may be read from one", std::move(field), {}, {}, {}});
}

void add_hostlist(std::string_view text, FileMark mark, const std::string& field, std::vector<NamedMark>& out, Faults& faults) {
  auto& left = faults.budget.names;
  if (left == 0) return;  // told already
  auto names_listed = base::expand_hostlist(text, std::min(left, base::max_hostlist_names));
  if (!names_listed) {
    auto e = names_listed.error();
    if (e.code == base::Code::too_large && left < base::max_hostlist_names) {
      left = 0;
      return refuse_more_names(mark, field, faults);
    }
    e.field = field;
    faults.add(mark, std::move(e));
    return;
  }
  left -= names_listed->size();
  if (left == 0) refuse_more_names(mark, field, faults);
  out.reserve(out.size() + names_listed->size());
  for (auto& n : *names_listed) out.push_back({std::move(n), mark});
}

}  // namespace sy::wire

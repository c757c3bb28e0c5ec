// `sy topo check FILE`: reads a file as an import would, tells every fault with its line, or what the file holds.
#include <fmt/format.h>

#include <array>

#include "cli/json_writer.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
constexpr std::array<base::OptionRule, 5> rules{{{"format", 'f', Argument::required, {}},
                                                 {"topology-name", 0, Argument::required, {}},
                                                 {"cluster", 0, Argument::required, {}},
                                                 {"skip-unknown-nodes", 0, Argument::none, {}},
                                                 {"json", 0, Argument::none, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo check FILE [--format FORMAT] [--cluster FILE] [--skip-unknown-nodes] [--topology-name NAME] [--json]
FILE may be Switchyard YAML, Slurm's topology.conf or topology.yaml, Topograph's model or graph, ibnetdiscover's text,
Volcano's HyperNodes, node labels, or KAI's Topology; "-" is standard input. Without --cluster the file's own nodes count
as known. Exit code 0: it can be imported; 1: it can not, every fault is told.
)";

std::string_view kind_name(model::Topology::Kind k) {
  switch (k) {
    case model::Topology::Kind::tree: return "tree";
    case model::Topology::Kind::block: return "block";
    case model::Topology::Kind::flat: return "flat";
  }
  return "";
}

std::size_t nodes_in(const model::Topology& t) {
  std::size_t n = 0;
  for (const auto& d : t.domains) n += d.nodes.size();
  return n;
}

std::vector<std::string> level_names(const model::Topology& t) {
  std::vector<std::string> out;
  for (const auto& l : t.levels) out.push_back(l.name);
  return out;
}

void print_json(Context& context, const TopologyInput& input) {
  JsonWriter w;
  w.object()
      .name("verdict")
      .object()
      .member("kind", "accepted")
      .close()
      .member("file", input.path)
      .member("format", std::string(format_name(input.imported.format)));
  w.name("topologies").array();
  for (const auto& t : input.imported.topologies) {
    w.object().member("name", t.name).member("kind", std::string(kind_name(t.kind))).list("levels", level_names(t));
    w.member("joined", t.joined).member("domains", t.domains.size()).member("nodes", nodes_in(t));
    w.list("block_sizes", t.block_sizes).close();
  }
  w.close();
  w.name("label_levels").array();
  for (const auto& l : input.imported.label_levels) w.object().member("key", l.key).member("name", l.name).close();
  w.close();
  w.list("warnings", wire::report_lines(input.imported.report, input.path));
  w.list("skipped_nodes", input.imported.report.skipped_nodes);
  w.close();
  context.out.line(w.text());
}

}  // namespace

int run_topo_check(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (options->rest.size() != 1)
    return print_error(context, {base::Code::invalid_argument, "one file belongs here", {}, {}, {}, "sy topo check FILE"});
  const bool json = options->has("json");
  const auto input = load_topology(context, {options->rest[0], options->value("format"), options->value("topology-name"),
                                             options->value("cluster"), options->has("skip-unknown-nodes"), json, json});
  if (!input) return 1;
  if (json) return print_json(context, *input), 0;
  context.out.line(fmt::format("{}: {}", input->path, format_name(input->imported.format)));
  for (const auto& t : input->imported.topologies) {
    auto line = fmt::format("{}: {}", t.name.empty() ? "topology" : t.name, kind_name(t.kind));
    if (!t.levels.empty()) line += fmt::format(", {}", fmt::join(level_names(t), " > "));
    if (!t.domains.empty()) line += fmt::format(", {} domains, {} nodes", t.domains.size(), nodes_in(t));
    if (!t.block_sizes.empty()) line += fmt::format(", block sizes {}", fmt::join(t.block_sizes, ","));
    if (!t.joined) line += ", not joined";
    context.out.line(line);
  }
  for (const auto& l : input->imported.label_levels) context.out.line(fmt::format("level from node labels: {} (label {})", l.name, l.key));
  return 0;
}

}  // namespace sy::cli

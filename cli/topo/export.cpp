// `sy topo export`: what is in force, or a file, in another format.
#include <array>

#include "cli/api.hpp"
#include "cli/text.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"
#include "wire/topology/export_topology.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
constexpr std::array<base::OptionRule, 3> rules{
    {{"format", 'f', Argument::required, {}}, {"topology-name", 0, Argument::required, {}}, {"cluster", 0, Argument::required, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo export [FILE] --format slurm-tree|slurm-block|slurm-yaml|topograph|yaml [--topology-name NAME]
Without FILE: the topology in force. With FILE: that file, needing no daemon. Importing the result gives the same topology.
)";

}  // namespace

int run_topo_export(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (options->rest.size() > 1)
    return print_error(context, {base::Code::invalid_argument, "at most one file belongs here", {}, {}, options->rest[1], {}});
  const auto format = options->has("format") ? options->value("format") : std::string("yaml");
  model::Topology topology;
  std::vector<std::string> names;
  if (options->rest.empty()) {
    auto in_force = fetch_topology(context, options->value("topology-name"));
    if (!in_force) return print_error(context, in_force.error());
    topology = std::move(in_force->topology);
    names = std::move(in_force->names);
  } else {
    auto input = load_topology(context, {options->rest[0], {}, options->value("topology-name"), options->value("cluster"), false, false});
    if (!input) return 1;
    auto& all = input->imported.topologies;
    if (all.empty())
      return print_error(context,
                         {base::Code::invalid_argument, "the file gives level names only: there is nothing to export", {}, {}, {}, {}});
    if (all.size() > 1 && !options->has("topology-name")) {
      std::vector<std::string> known;
      for (const auto& t : all) known.push_back(t.name);
      context.err.line("note: the file holds several topologies (" + join(known, ", ") +
                       "): exporting the default; --topology-name chooses");
    }
    topology = std::move(all[input->imported.cluster_default]);
    names = std::move(input->names);
  }
  const auto text = wire::export_topology(topology, names, format);
  if (!text) return print_error(context, text.error());
  context.out << *text;
  return 0;
}

}  // namespace sy::cli

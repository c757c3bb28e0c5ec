// `sy topo import FILE`: the difference to the version in force, then all or nothing, through the API: a file with several
// topologies is one transaction.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/api.hpp"
#include "cli/json_writer.hpp"
#include "cli/text.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
constexpr std::array<base::OptionRule, 7> rules{{{"format", 'f', Argument::required, {}},
                                                 {"name", 0, Argument::required, {}},
                                                 {"topology-name", 0, Argument::required, {}},
                                                 {"against", 0, Argument::required, {}},
                                                 {"dry-run", 'n', Argument::none, {}},
                                                 {"skip-unknown-nodes", 0, Argument::none, {}},
                                                 {"json", 0, Argument::none, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo import FILE [--format FORMAT] [--dry-run] [--skip-unknown-nodes] [--topology-name NAME] [--name NAME]
Shows the difference to the version in force, then imports all of FILE or nothing. --name: what to call a topology that the
file does not name (default). --topology-name: only this one of the file; what to call the one that stands there without a name. --dry-run --against FILE needs no daemon: the
difference to that file is shown.
)";

// Needs no daemon: both sides are files, and their nodes are whatever they name.
int compare_files(Context& context, const TopoOptions& options) {
  auto wanted = load_topology(context, {options.rest[0], options.value("format"), options.value("topology-name"), {}, false, false});
  auto old = load_topology(context, {options.value("against"), {}, options.value("topology-name"), {}, false, true});
  if (!wanted || !old) return 1;
  // One numbering for both: the nodes of the two files together.
  std::vector<std::string> names = old->names;
  names.insert(names.end(), wanted->names.begin(), wanted->names.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto renumber = [&](model::Topology& t, const std::vector<std::string>& from) {
    for (auto& d : t.domains)
      for (auto& n : d.nodes)
        n = base::NodeIndex{static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), from[n.value]) - names.begin())};
  };
  if (wanted->imported.topologies.empty() || old->imported.topologies.empty())
    return print_error(context, {base::Code::invalid_argument, "a file of level names only can not be compared", {}, {}, {}, {}});
  auto& a = old->imported.topologies[old->imported.cluster_default];
  auto& b = wanted->imported.topologies[wanted->imported.cluster_default];
  renumber(a, old->names);
  renumber(b, wanted->names);
  if (a.name.empty() || b.name.empty()) a.name = b.name;
  const auto lines = wire::topology_diff(a, b, names);
  for (const auto& l : lines) context.out.line(l);
  if (lines.empty()) context.out.line("no difference");
  return 0;
}

std::string body_of(const TopoOptions& options, const TopologyInput& input, bool dry_run) {
  JsonWriter w;
  w.object().member("format", std::string(format_name(input.imported.format))).member("file", input.path).member("text", input.text);
  if (options.has("topology-name")) w.member("topology", options.value("topology-name"));
  if (options.has("name")) w.member("name", options.value("name"));
  w.member("dry_run", dry_run).member("skip_unknown_nodes", options.has("skip-unknown-nodes")).close();
  return w.take();
}

base::Result<JsonDocument> put(Context& context, const std::string& name, std::string body) {
  Request request{"PUT", name.empty() ? std::string("/v1/topologies") : "/v1/topologies/" + url_encode(name), std::move(body), {}, 120};
  return call(context, std::move(request));
}

void print_part(Context& context, Json part, bool dry_run) {
  part["changes"].for_each([&](Json line) { context.out.line(line.text()); });
  const auto name = part["name"].text();
  if (part["changes"].size() == 0) context.out.line(fmt::format("topology {}: nothing to change", name));
  else if (dry_run) context.out.line(fmt::format("topology {}: nothing was imported (--dry-run)", name));
  else context.out.line(fmt::format("topology {}: version {} is in force", name, part["version"].integer()));
}

}  // namespace

int run_topo_import(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (options->rest.size() != 1)
    return print_error(context, {base::Code::invalid_argument, "one file belongs here", {}, {}, {}, "sy topo import FILE"});
  if (options->has("against")) {
    if (!options->has("dry-run"))
      return print_error(context, {base::Code::invalid_argument, "two files can only be compared", "--against", {}, {}, "add --dry-run"});
    return compare_files(context, *options);
  }
  // Read here first: a broken file is told without asking anybody. Patterns and labels need the cluster's nodes, so formats
  // that have them are left to the controller.
  auto text = read_whole_file(context, options->rest[0]);
  if (!text) return print_error(context, text.error());
  const auto format = options->has("format") ? wire::format_from_name(options->value("format")) : wire::detect_format(*text);
  TopologyInput input;
  // Empty: the text names it, or --topology-name does.
  std::string name = options->has("name") ? options->value("name") : options->has("topology-name") ? std::string() : std::string("default");
  const bool selects = format && (*format == wire::TopologyFormat::hypernode || *format == wire::TopologyFormat::labels ||
                                  *format == wire::TopologyFormat::kai);
  if (selects) {
    input.path = options->rest[0];
    input.text = std::move(*text);
    input.imported.format = *format;
  } else {
    auto loaded = load_topology(
        context, {options->rest[0], options->value("format"), options->value("topology-name"), {}, false, true, false, *text});
    if (!loaded) return 1;
    input = std::move(*loaded);
    const auto& all = input.imported.topologies;
    if (all.size() > 1 || options->has("topology-name")) name.clear();
    else if (!all.front().name.empty() && !options->has("name")) name = all.front().name;
  }
  const bool dry_run = options->has("dry-run");
  const auto answer = put(context, name, body_of(*options, input, dry_run));
  if (!answer) return print_error(context, answer.error());
  if (options->has("json")) return context.out.line(answer->root().raw()), 0;
  answer->root()["notes"].for_each([&](Json line) { context.err.line(fmt::format("warning: {}", line.text())); });
  if (!name.empty()) return print_part(context, answer->root(), dry_run), 0;
  answer->root()["topologies"].for_each([&](Json part) { print_part(context, part, dry_run); });
  return 0;
}

}  // namespace sy::cli

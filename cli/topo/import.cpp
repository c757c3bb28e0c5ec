// `sy topo import FILE`: the difference to the version in force, then all or nothing, through the API. A file with several
// topologies is tried as a whole first, so that none is taken when another is refused.
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
file does not name (default). --topology-name: only this one of the file. --dry-run --against FILE needs no daemon: the
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

struct Part {
  std::string name;
  std::string in_file;  // its name there; empty: the file holds one
};

std::string body_of(const TopoOptions& options, const TopologyInput& input, const Part& part, bool dry_run) {
  JsonWriter w;
  w.object().member("format", std::string(format_name(input.imported.format))).member("file", input.path).member("text", input.text);
  if (!part.in_file.empty()) w.member("topology", part.in_file);
  w.member("dry_run", dry_run).member("skip_unknown_nodes", options.has("skip-unknown-nodes")).close();
  return w.take();
}

base::Result<JsonDocument> put(Context& context, const Part& part, std::string body) {
  Request request{"PUT", "/v1/topologies/" + url_encode(part.name), std::move(body), {}, 120};
  return call(context, std::move(request));
}

void print_answer(Context& context, const Part& part, Json answer, bool dry_run) {
  answer["notes"].for_each([&](Json line) { context.err.line(fmt::format("warning: {}", line.text())); });
  answer["changes"].for_each([&](Json line) { context.out.line(line.text()); });
  const bool changed = answer["changes"].size() > 0;
  if (!changed) context.out.line(fmt::format("topology {}: nothing to change", part.name));
  else if (dry_run) context.out.line(fmt::format("topology {}: nothing was imported (--dry-run)", part.name));
  else context.out.line(fmt::format("topology {}: version {} is in force", part.name, answer["version"].integer()));
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
  std::vector<Part> parts;
  const auto fallback = options->has("name") ? options->value("name") : std::string("default");
  const bool selects = format && (*format == wire::TopologyFormat::hypernode || *format == wire::TopologyFormat::labels ||
                                  *format == wire::TopologyFormat::kai);
  if (selects) {
    input.path = options->rest[0];
    input.text = std::move(*text);
    input.imported.format = *format;
    parts.push_back({fallback, {}});
  } else {
    auto loaded =
        load_topology(context, {options->rest[0], options->value("format"), options->value("topology-name"), {}, false, true, *text});
    if (!loaded) return 1;
    input = std::move(*loaded);
    const bool several = input.imported.topologies.size() > 1 || options->has("topology-name");
    for (const auto& t : input.imported.topologies)
      parts.push_back({options->has("name") && !several ? options->value("name")
                       : t.name.empty()                 ? fallback
                                                        : t.name,
                       several ? t.name : std::string{}});
  }
  const bool dry_run = options->has("dry-run");
  for (const bool trial : {true, false}) {
    if (trial && parts.size() < 2 && !dry_run) continue;
    if (!trial && dry_run) continue;
    for (const auto& part : parts) {
      const auto answer = put(context, part, body_of(*options, input, part, trial));
      if (!answer) return print_error(context, answer.error());
      if (trial && !dry_run) continue;
      if (options->has("json")) context.out.line(answer->root().raw());
      else print_answer(context, part, answer->root(), dry_run);
    }
  }
  return 0;
}

}  // namespace sy::cli

// `sy topo try`: where would this request go, on this topology, with these nodes busy? The same engine as the controller's,
// without any daemon. Exit code 0: placed; 2: not now; 3: never; 1: the question itself is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/hostlist.hpp"
#include "cli/json_writer.hpp"
#include "cli/offline/trial_cluster.hpp"
#include "cli/submit/collect.hpp"
#include "cli/submit/options.hpp"
#include "cli/submit/spec_file.hpp"
#include "cli/text.hpp"
#include "cli/topo/topo.hpp"
#include "model/check_groups.hpp"
#include "model/verdict_text.hpp"
#include "wire/topology/topology_param.hpp"
#include "wire/views.hpp"

namespace sy::cli {
namespace {

namespace placement = sched::placement;
using Argument = base::OptionRule::Argument;

constexpr int exit_not_now = 2, exit_never = 3;
constexpr std::array<base::OptionRule, 9> rules{{{"topology", 't', Argument::required, {}},
                                                 {"topology-name", 0, Argument::required, {}},
                                                 {"format", 'f', Argument::required, {}},
                                                 {"cluster", 0, Argument::required, {}},
                                                 {"busy", 0, Argument::required, {}},
                                                 {"down", 0, Argument::required, {}},
                                                 {"topology-param", 0, Argument::required, {}},
                                                 {"weights", 0, Argument::required, {}},
                                                 {"json", 0, Argument::none, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo try --topology FILE [--topology-name NAME] [--busy HOSTLIST] [--down HOSTLIST] [--cluster FILE]
                   [--topology-param TopoOptional|FILE] [--weights first] [--json] -- REQUEST OPTIONS
REQUEST OPTIONS are those of sbatch and sy submit: -N8, --switches=2, --segment=4, --within rack, --spec FILE, …
Prints the nodes as one host list and ends with 0; or the verdict, ending with 2 for "not now" and 3 for "never".
--cluster FILE: YAML, nodes: [{names, cpus, mem, gres, features, weight, used}]; without it a node has one CPU.
--topology-param FILE: a slurm.conf, of which the last TopologyParam line counts.
--weights first: as in a partition that takes the cheapest nodes that hold a job, before the best place for it.
)";

// `faults`: of the file of --spec, one by one.
base::Result<SubmitRequest> read_request(Context& context, const Words& words, wire::Faults& faults) {
  SubmitRequest request;
  request.ours = true;
  request.work_dir = context.work_dir;
  const auto line = base::parse_options(submit_rules(true), words, true);
  if (!line) return base::fail(line.error());
  if (!line->rest.empty()) {
    const auto hint = glue_hint(*line);
    return base::fail(base::Code::invalid_argument, "request options belong here, without a script", {}, line->rest.front(),
                      hint.empty() ? "leave it out" : hint);
  }
  for (const auto& option : line->options) {
    if (option.name != "spec") continue;
    const auto text = read_whole_file(context, option.value);
    if (!text) return base::fail(text.error());
    request.spec_file = option.value;
    faults = wire::Faults(option.value);
    request.groups_from_file = read_spec_file(*text, request, faults).has_groups;
    if (!faults.empty()) return base::fail(faults.to_error());
  }
  if (auto done = apply_options(request, line->options, Source::command_line); !done) return base::fail(done.error());
  if (request.groups_from_file) return request;
  if (auto done = finish(request); !done) return base::fail(done.error());
  return request;
}

void print_json(Context& context, const TrialCluster& c, const placement::Answer& a) {
  std::string text;
  wire::append_answer(text, a, c.shape, c.topology, placement::fragmentation(c.topology, c.nodes) + a.fragmentation_growth);
  context.out.line(text);
}

void print_verdict(Context& context, const placement::Answer& a) {
  const bool never = a.verdict.kind == model::Verdict::Kind::never;
  context.out.line(fmt::format("{}: {}", never ? "never" : "not now", to_text(a.verdict)));
  for (const auto& line : model::rung_lines(a.verdict)) context.out.line("  within " + line);
  for (const auto& l : a.layers) context.out.line(fmt::format("  segments of {} on {}: {} of {}", l.size, l.level, l.offered, l.asked));
}

// The cluster with what the options say is busy or down.
std::optional<TrialCluster> set_up(Context& context, const TopoOptions& options, bool json) {
  const auto input = load_topology(context, {options.value("topology"), options.value("format"), options.value("topology-name"),
                                             options.value("cluster"), false, true, json});
  if (!input) return std::nullopt;
  const auto& all = input->imported.topologies;
  const auto refuse = [&](const base::Error& error) { return print_error(context, error, json), std::nullopt; };
  if (all.empty())
    return refuse(
        {base::Code::invalid_argument, "the file gives level names only", "--topology", {}, {}, "give node labels with --cluster"});
  auto cluster = make_trial_cluster(*input, all[input->imported.cluster_default]);
  if (!cluster) return refuse(cluster.error());
  for (const auto& [name, down] : {std::pair{"busy", false}, std::pair{"down", true}})
    if (options.has(name))
      if (const auto taken = take_nodes(*cluster, options.value(name), fmt::format("--{}", name), down); !taken)
        return refuse(taken.error());
  return std::move(*cluster);
}

// The words of slurm.conf's TopologyParam, or a slurm.conf that has them.
base::Result<void> take_topology_param(Context& context, const std::string& given, placement::Options& how) {
  auto param = wire::read_topology_param(given);
  std::string where;
  if (!param.unknown.empty()) {
    const auto text = read_whole_file(context, given);
    if (!text)
      return base::fail(base::Error{base::Code::invalid_argument, "this word is not known, and there is no such file to read",
                                    "--topology-param", "TopoOptional", param.unknown[0],
                                    "give TopoOptional, or the slurm.conf with a TopologyParam line"});
    param = wire::read_topology_param(*text);
    where = " in " + given;
  }
  if (!param.unknown.empty())
    return base::fail(base::Error{
        base::Code::invalid_argument, "this word is not known" + where, "--topology-param", "TopoOptional", param.unknown[0], {}});
  for (const auto& word : param.ignored) context.err.line(fmt::format("warning: TopologyParam={}{} has no effect here", word, where));
  if (param.topo_optional) how.packing = placement::Packing::none;
  return {};
}

base::Result<void> take_weights(const std::string& given, placement::Options& how) {
  how.weight_first = given == "first";
  if (how.weight_first || given == "break_ties") return {};
  return base::fail(base::Error{base::Code::invalid_argument, "this word is not known", "--weights", "break_ties, first", given, {}});
}

}  // namespace

int run_topo_try(Context& context, const Words& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  int exit_code = 0;
  const auto options = read_topo_options(context, Words(words.begin(), dashes), rules, help_text, exit_code);
  if (!options) return exit_code;
  const bool json = options->has("json");
  const auto refuse = [&](const base::Error& error, int code = 1) { return print_error(context, error, json), code; };
  if (!options->rest.empty())
    return refuse({base::Code::invalid_argument,
                   "this word has no place before --",
                   {},
                   {},
                   options->rest[0],
                   "sy topo try --topology FILE -- REQUEST OPTIONS"});
  if (!options->has("topology"))
    return refuse({base::Code::invalid_argument, "a topology file is needed", "--topology", {}, {}, "--topology FILE"});
  wire::Faults spec_faults("");
  const auto request = read_request(context, dashes == words.end() ? Words{} : Words(dashes + 1, words.end()), spec_faults);
  if (!request) return print_error(context, request.error(), json, &spec_faults);
  placement::Options how;
  if (options->has("topology-param"))
    if (const auto ok = take_topology_param(context, options->value("topology-param"), how); !ok) return refuse(ok.error());
  if (options->has("weights"))
    if (const auto ok = take_weights(options->value("weights"), how); !ok) return refuse(ok.error());
  const auto cluster = set_up(context, *options, json);
  if (!cluster) return 1;

  const auto& group = request->spec.groups.front();
  if (const auto sound = model::check_groups(group); !sound) return refuse(sound.error(), exit_never);
  if (const auto sound = placement::check_request(group, cluster->topology); !sound) return refuse(sound.error(), exit_never);
  for (const auto& w : placement::warnings(group, cluster->topology)) context.err.line("warning: " + w);
  const auto answer = placement::place(group, cluster->shape, cluster->topology, cluster->nodes, how);
  if (json) {
    print_json(context, *cluster, answer);
  } else if (answer.placed()) {
    std::vector<std::string> names;
    for (const auto& n : answer.nodes) names.push_back(cluster->shape.nodes[n.node.value].name);
    context.out.line(base::fold_hostlist(std::move(names)));
  } else {
    print_verdict(context, answer);
  }
  switch (answer.verdict.kind) {
    case model::Verdict::Kind::fits: return 0;
    case model::Verdict::Kind::not_now: return exit_not_now;
    case model::Verdict::Kind::never: return exit_never;
  }
  return 1;
}

}  // namespace sy::cli

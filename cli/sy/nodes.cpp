#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"
#include "base/size_text.hpp"
#include "cli/api.hpp"
#include "cli/calendar.hpp"
#include "cli/command_options.hpp"
#include "cli/json_writer.hpp"
#include "cli/nodes/node_fields.hpp"
#include "cli/sy/commands.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

struct Options : CommonOptions {
  std::string reason;
  bool yes{};
};
constexpr CommandOption<Options> list_table[] = {{"all", 'a', option::none, nullptr, "", ""}};
constexpr CommandOption<Options> drain_table[] = {
    {"reason", 'r', option::required, option::keep<&Options::reason>, "TEXT", "why; others will ask"}};
constexpr CommandOption<Options> fence_table[] = {{"yes", 'y', option::none, option::set<&Options::yes>, "", "do not ask"}};

std::string amount(Json held, Json total) { return fmt::format("{:g}/{:g}", held.number(), total.number()); }

// Expanded names of nodes, in the order given.
base::Result<std::vector<std::string>> node_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const auto& word : words) {
    auto expanded = base::expand_hostlist(word);
    if (!expanded) return base::fail(expanded.error());
    names.insert(names.end(), expanded->begin(), expanded->end());
  }
  return names;
}

int each_node(Context& context, const std::vector<std::string>& words, std::string_view verb, std::string_view done,
              const std::string& body, bool json) {
  auto names = node_names(words);
  if (!names) return complain_to_people(context, names.error());
  int code = 0;
  for (const auto& name : *names) {
    auto answer = call_again(context, post(fmt::format("/v1/nodes/{}/{}", url_encode(name), verb), body));
    if (!answer) code = complain_to_people(context, answer.error());
    else if (json) context.out.line(answer->root().raw());
    else context.out.line(fmt::format("Node {} {}.", name, done));
  }
  return code;
}

}  // namespace

int run_nodes(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(list_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Options>(context, list_table, options, "sy nodes [NAMES …]")) return *code;
  auto wanted = node_names(*operands);
  if (!wanted) return complain_to_people(context, wanted.error());
  auto list = call(context, get("/v1/nodes"));
  if (!list) return complain_to_people(context, list.error());
  if (options.json) return context.out.line(list->root()["nodes"].raw()), 0;
  const TimeStyle times = TimeStyle::of(context);
  Table result{{"NODE", "STATE", "CPUS", "MEMORY", "GRES", "JOBS", "PARTITIONS", "REASON"}, {}, 7};
  list->root()["nodes"].for_each([&](Json node) {
    if (!wanted->empty() && std::find(wanted->begin(), wanted->end(), node["name"].text()) == wanted->end()) return;
    std::vector<std::string> partitions;
    node["partitions"].for_each([&](Json p) { partitions.emplace_back(p.text()); });
    std::string reason{node["reason"].text()};
    if (!reason.empty() && node["reason_at_us"].is_number())
      reason += fmt::format(" ({}, {})", node["reason_by"].text(), times.text(node["reason_at_us"].integer() / 1'000'000));
    if (reason.empty() && !node["enrolled"].boolean(true)) reason = fmt::format("not enrolled: sy node enrol {}", node["name"].text());
    result.rows.push_back({{std::string{node["name"].text()}, {}},
                           {node_state(node, false), state_colour(node["state"].text())},
                           {amount(node["cpus_held"], node["cpus"]), {}},
                           {fmt::format("{}/{}", base::format_memory(base::Mebibytes{node["memory_held_mib"].integer()}),
                                        base::format_memory(base::Mebibytes{node["memory_mib"].integer()})),
                            {}},
                           {std::string{node["gres_text"].text()}, {}},
                           {std::to_string(node["jobs"].size()), {}},
                           {join(partitions), {}},
                           {std::move(reason), {}}});
  });
  if (result.rows.empty()) return context.out.line("No nodes."), wanted->empty() ? 0 : 1;
  result.print(context.out);
  return 0;
}

int run_drain(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(drain_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Options>(context, drain_table, options, "sy drain NODES --reason TEXT")) return *code;
  if (operands->empty()) return complain_to_people(context, "name the nodes: sy drain n[1-2] --reason \"new fans\"");
  if (options.reason.empty()) return complain_to_people(context, "a reason is needed: --reason \"new fans\"");
  JsonWriter w;
  return each_node(context, *operands, "drain", "takes no new jobs", w.object().member("reason", options.reason).close().take(),
                   options.json);
}

int run_resume(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(list_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Options>(context, list_table, options, "sy resume NODES")) return *code;
  if (operands->empty()) return complain_to_people(context, "name the nodes: sy resume n[1-2]");
  return each_node(context, *operands, "resume", "takes jobs again", "{}", options.json);
}

// Fencing declares everything that ran there ended: wrong when the node still runs, so a person confirms it.
int run_fence(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(fence_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Options>(context, fence_table, options, "sy fence NODES [--yes]")) return *code;
  if (operands->empty()) return complain_to_people(context, "name the nodes: sy fence n1");
  if (!options.yes) {
    context.out.line(fmt::format("Fencing says that nothing runs any more on {}: its jobs may start elsewhere at once.", join(*operands)));
    context.out.line("Do this only when the machine is off or cut off from its file systems.");
    context.out << "Fence it? [y/N] ";
    context.out.flush();
    const auto answer = context.read_line();
    if (!answer || (lower(*answer) != "y" && lower(*answer) != "yes")) return complain_to_people(context, "nothing was done");
  }
  return each_node(context, *operands, "fence", "is fenced", "{}", options.json);
}

// sy node enrol NAME
int run_node(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(list_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<Options>(context, list_table, options, "sy node enrol NAME")) return *code;
  if (operands->size() != 2 || (operands->front() != "enrol" && operands->front() != "enroll"))
    return complain_to_people(context, "write: sy node enrol NAME");
  const std::string& name = operands->back();
  auto answer = call(context, post(fmt::format("/v1/nodes/{}/enrol", url_encode(name))));
  if (!answer) return complain_to_people(context, answer.error());
  const Json root = answer->root();
  if (options.json) return context.out.line(root.raw()), 0;
  if (!context.out.tty()) return context.out.line(root["token"].text()), 0;
  const TimeStyle times = TimeStyle::of(context);
  context.out.line(fmt::format("On {}, as root, until {} and once:\n", name, times.text(root["expires_us"].integer() / 1'000'000)));
  context.out.line(fmt::format("  switchyard-agent --enrol {}\n", root["token"].text()));
  context.out.line(fmt::format("The controller's key has the fingerprint {}.", root["fingerprint"].text()));
  return 0;
}

}  // namespace sy::cli

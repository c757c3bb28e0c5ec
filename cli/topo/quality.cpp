// `sy topo quality`: how well running jobs are placed (domains used against the fewest that could have held them, level
// crossed), and how fragmented the machine is (the fragmentation value; the largest free piece on each level).
#include <fmt/format.h>

#include <array>

#include "cli/api.hpp"
#include "cli/text.hpp"
#include "cli/topo/topo.hpp"
#include "cli/topo/topology_input.hpp"

namespace sy::cli {
namespace {

using Argument = base::OptionRule::Argument;
constexpr std::array<base::OptionRule, 2> rules{{{"topology-name", 0, Argument::required, {}}, {"json", 0, Argument::none, {}}}};
constexpr std::string_view help_text =
    R"(Usage: sy topo quality [--topology-name NAME] [--json]
Per running job: nodes, leaf domains used, the fewest that could have held it, the level that holds it whole. For the topology: its
fragmentation value and the largest number of free nodes in one domain of each level.
)";

void print(Context& context, Json q) {
  context.out.line(fmt::format("{}: fragmentation value {}", q["topology"].text(), q["fragmentation"].integer()));
  q["largest_free"].for_each([&](Json f) {
    const auto free = fmt::format("{} node{}", f["free"].integer(), f["free"].integer() == 1 ? "" : "s");
    if (f["level"].text() == "any") return context.out.line("free in all: " + free);
    context.out.line(fmt::format("largest free in one {}: {}{}", f["level"].text(), free,
                                 f["domain"].text().empty() ? std::string{} : fmt::format(" in {}", f["domain"].text())));
  });
  if (q["jobs"].size() == 0) return context.out.line("no job is running");
  context.out.line(fmt::format("{:>10} {:<12} {:>6} {:>8} {:>6}  {}", "JOBID", "USER", "NODES", "DOMAINS", "LEAST", "WITHIN"));
  q["jobs"].for_each([&](Json j) {
    context.out.line(fmt::format("{:>10} {:<12} {:>6} {:>8} {:>6}  {}", j["id"].integer(), j["user"].text(), j["nodes"].integer(),
                                 j["domains"].integer(), j["least"].integer(), j["level"].text()));
  });
}

}  // namespace

int run_topo_quality(Context& context, const Words& words) {
  int exit_code = 0;
  const auto options = read_topo_options(context, words, rules, help_text, exit_code);
  if (!options) return exit_code;
  if (!options->rest.empty())
    return print_error(context, {base::Code::invalid_argument, "this word has no place here", {}, {}, options->rest[0], {}});
  const auto name = name_in_force(context, options->value("topology-name"));
  if (!name) return print_error(context, name.error());
  const auto answer = call(context, get("/v1/topologies/" + url_encode(*name) + "/quality"));
  if (!answer) return print_error(context, answer.error());
  if (options->has("json")) context.out.line(answer->root().raw());
  else print(context, answer->root());
  return 0;
}

}  // namespace sy::cli

#include "cli/command_table.hpp"

#include <fmt/format.h>

#include "cli/accounting/sacct.hpp"
#include "cli/cancel/scancel.hpp"
#include "cli/control/scontrol.hpp"
#include "cli/nodes/sinfo.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/submit/sbatch.hpp"
#include "cli/sy/commands.hpp"
#include "cli/topo/topo.hpp"

namespace sy::cli {

namespace {

int run_help(Context& context, const Words& words) {
  if (!words.empty()) return run_command(context, {"sy", words.front(), "--help"});
  context.out << "Usage: sy COMMAND [options]\n\nCommands:\n";
  for (const auto& entry : command_table())
    if (entry.kind == CommandEntry::Kind::subcommand) context.out.line(fmt::format("  {:<10} {}", entry.name, entry.summary));
  context.out << "\nAlso under Slurm's names, with Slurm's options and formats:";
  for (const auto& entry : command_table())
    if (entry.kind == CommandEntry::Kind::slurm_name) context.out << " " << entry.name;
  context.out << "\nEvery command: --help, --usage, --version, --json where it prints data, --socket PATH.\n";
  return 0;
}

int run_version(Context& context, const Words&) {
  context.out.line(fmt::format("switchyard {}", version));
  return 0;
}

constexpr auto sub = CommandEntry::Kind::subcommand;

constexpr auto slurm = CommandEntry::Kind::slurm_name;

constexpr CommandEntry table[] = {
    {"submit", sub, run_submit, "submit a batch script"},
    {"queue", sub, run_queue, "jobs that wait and run, with the reason"},
    {"show", sub, run_show, "all about a job, and why it waits"},
    {"cancel", sub, run_scancel, "end jobs"},
    {"update", sub, run_update, "change a waiting job"},
    {"hold", sub, run_hold, "keep a waiting job from starting"},
    {"release", sub, run_release, "let a held job start"},
    {"requeue", sub, run_requeue, "put a job back in the queue"},
    {"history", sub, run_history, "what jobs used"},
    {"nodes", sub, run_nodes, "nodes, and what is held on them"},
    {"drain", sub, run_drain, "no new jobs on nodes"},
    {"resume", sub, run_resume, "jobs on nodes again"},
    {"fence", sub, run_fence, "declare that nothing runs on nodes any more"},
    {"topo", sub, run_topo, "topologies: see, check, try, import, export"},
    {"node", sub, run_node, "enrol a node: sy node enrol NAME"},
    {"sbatch", slurm, run_sbatch, ""},
    {"squeue", slurm, run_squeue, ""},
    {"scancel", slurm, run_scancel, ""},
    {"sinfo", slurm, run_sinfo, ""},
    {"sacct", slurm, run_sacct, ""},
    {"scontrol", slurm, run_scontrol, ""},
    {"help", sub, run_help, "this list; with a command: its options"},
    {"version", sub, run_version, "the version of this program"},
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::span<const CommandEntry> command_table() { return table; }

int run_command(Context& context, const Words& words) {
  const std::string_view program = words.empty() ? std::string_view{"sy"} : base_name(words.front());
  for (const auto& entry : command_table())
    if (entry.kind == CommandEntry::Kind::slurm_name && entry.name == program) {
      context.program = program;
      return entry.run(context, Words(words.begin() + 1, words.end()));
    }
  if (words.size() < 2) return run_help(context, {}), 1;
  if (words[1] == "--as" && words.size() > 2) return run_command(context, Words(words.begin() + 2, words.end()));  // where no links exist
  std::string_view name = words[1];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version" || name == "-V") name = "version";
  for (const auto& entry : command_table())
    if (entry.name == name) {
      context.program = entry.kind == CommandEntry::Kind::slurm_name ? std::string{name} : fmt::format("sy {}", name);
      return entry.run(context, Words(words.begin() + 2, words.end()));
    }
  context.err.line(fmt::format("sy: error: there is no command \"{}\"; `sy help` lists them", name));
  return 1;
}

}  // namespace sy::cli

#include "cli/command_table.hpp"

#include <fmt/format.h>

#include "cli/nodes/sinfo.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/submit/sbatch.hpp"

namespace sy::cli {

namespace {

int run_help(Context& context, const Words&) {
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
    {"sbatch", slurm, run_sbatch, ""},
    {"squeue", slurm, run_squeue, ""},
    {"sinfo", slurm, run_sinfo, ""},
    {"help", sub, run_help, "this list"},
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

// Every command this program answers to, under its own name (`sy queue`) or Slurm's (a link named squeue).
// Adding one is a line in command_table.cpp and its file. Not the options of a command: those are its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.hpp"

namespace sy::cli {

using Words = std::vector<std::string>;

struct CommandEntry {
  enum class Kind : unsigned char { subcommand, slurm_name };
  std::string_view name;
  Kind kind;
  int (*run)(Context&, const Words&);  // words: without the program and the subcommand; returns the exit code
  std::string_view summary;
};

std::span<const CommandEntry> command_table();

// Chooses by the program's base name (a link named "squeue"), else by the first word. Words[0] is the program.
int run_command(Context&, const Words& words);

inline constexpr std::string_view version = "0.1.0";
// What Slurm's version commands print first, so that tools which compare versions keep working.
inline constexpr std::string_view slurm_version = "26.05.3";

}  // namespace sy::cli

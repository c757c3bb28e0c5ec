// Options of a command as a table: how each is written and what it does to the command's settings. Parsing, --help and
// --version come from the table. Not for submissions, whose table says more (submit/options.hpp).
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/option_table.hpp"
#include "cli/command_table.hpp"

namespace sy::cli {

// What every command understands.
struct CommonOptions {
  bool help{}, usage{}, version{}, json{};
  std::string socket;
};

template <class Target>
struct CommandOption {
  std::string_view name;
  char letter;
  base::OptionRule::Argument argument;
  base::Result<void> (*apply)(Target&, const base::GivenOption&);  // null: accepted, and means nothing here
  std::string_view value;                                          // for --help: "LIST"
  std::string_view help;                                           // empty: not shown
};

namespace option {
inline constexpr auto none = base::OptionRule::Argument::none;
inline constexpr auto required = base::OptionRule::Argument::required;
inline constexpr auto optional = base::OptionRule::Argument::optional;
using Given = base::GivenOption;
using Done = base::Result<void>;

// Stores a flag or a text.
template <auto member>
Done set(auto& target, const Given&) {
  return target.*member = true, Done{};
}
template <auto member>
Done keep(auto& target, const Given& given) {
  return target.*member = given.value, Done{};
}
// A list given twice is one list.
template <auto member>
Done add(auto& target, const Given& given) {
  auto& list = target.*member;
  if (!list.empty()) list += ',';
  list += given.value;
  return {};
}

inline tl::unexpected<base::Error> refuse_by_name(const Given& given, std::string why) {
  return base::fail(base::Error{base::Code::unsupported, std::move(why), given.as_written, {}, given.value, "leave it out"});
}
template <class Target>
Done later(Target&, const Given& given) {
  return refuse_by_name(given, "this option is known, but this release does not carry it out");
}
}  // namespace option

// The rows every command's table ends with.
template <class Target>
constexpr CommandOption<Target> common_rows[] = {
    {"help", 'h', option::none, option::set<&CommonOptions::help>, "", "this text"},
    {"usage", 0, option::none, option::set<&CommonOptions::usage>, "", "one line"},
    {"version", 'V', option::none, option::set<&CommonOptions::version>, "", "the version"},
    {"json", 0, option::optional, option::set<&CommonOptions::json>, "", "print JSON"},
    {"socket", 0, option::required, option::keep<&CommonOptions::socket>, "PATH", "the controller's socket"},
};

// Applies the words; returns the operands. Letters already taken by the command's own rows win over the common ones.
template <class Target>
base::Result<std::vector<std::string>> read_options(std::span<const CommandOption<Target>> table, const Words& words, Target& target) {
  std::vector<CommandOption<Target>> rows(table.begin(), table.end());
  for (const auto& row : common_rows<Target>) {
    auto common = row;
    bool named = false;
    for (const auto& own : table) {
      if (own.letter == common.letter) common.letter = 0;
      named = named || own.name == common.name;
    }
    if (!named) rows.push_back(common);
  }
  std::vector<base::OptionRule> rules;
  for (const auto& row : rows) rules.push_back({row.name, row.letter, row.argument, {}});
  auto parsed = base::parse_options(rules, words, false);
  if (!parsed) return base::fail(parsed.error());
  for (const auto& given : parsed->options)
    for (const auto& row : rows)
      if (row.name == given.name && row.apply != nullptr)
        if (auto done = row.apply(target, given); !done) return base::fail(done.error());
  return std::move(parsed->rest);
}

template <class Target>
std::string help_text(std::span<const CommandOption<Target>> table, std::string_view usage) {
  std::string text = fmt::format("Usage: {}\n\nOptions:\n", usage);
  const auto add = [&](const CommandOption<Target>& row) {
    if (row.help.empty()) return;
    std::string left = row.letter != 0 ? fmt::format("  -{}, --{}", row.letter, row.name) : fmt::format("      --{}", row.name);
    if (!row.value.empty()) left += row.argument == option::optional ? fmt::format("[={}]", row.value) : fmt::format("={}", row.value);
    text += fmt::format("{:<34} {}\n", left, row.help);
  };
  for (const auto& row : table) add(row);
  for (auto row : common_rows<Target>) {
    bool named = false;
    for (const auto& own : table) {
      if (own.letter == row.letter) row.letter = 0;
      named = named || own.name == row.name;
    }
    if (!named) add(row);
  }
  return text;
}

// --help, --usage, --version: printed here; the exit code when one of them was given. Takes --socket over.
template <class Target>
std::optional<int> answer_common(Context& context, std::span<const CommandOption<Target>> table, const Target& target,
                                 std::string_view usage) {
  if (!target.socket.empty()) context.socket = target.socket;
  if (target.help) return context.out << help_text(table, usage), 0;
  if (target.usage) return context.out.line(fmt::format("Usage: {}", usage)), 0;
  if (target.version) return context.out.line(fmt::format("slurm {} (switchyard {})", slurm_version, version)), 0;
  return std::nullopt;
}

}  // namespace sy::cli

#include "cli/submit/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/directives.hpp"
#include "cli/submit/options.hpp"
#include "cli/submit/spec_file.hpp"

namespace sy::cli {

namespace {

using base::Code;

// Reads at most what the check of its size needs. By small pieces: clearing the largest buffer costs more than the submission.
base::Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (!file) return base::fail(base::Error{Code::not_found, "Unable to open file", {}, {}, {}, "name a script that you may read"});
  constexpr std::size_t piece = 16 * 1024;
  std::string text;
  while (text.size() <= base::max_script_bytes) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    text.resize(before + std::fread(text.data() + before, 1, piece, file.get()));
    if (text.size() < before + piece) break;
  }
  if (std::ferror(file.get()) != 0)
    return base::fail(base::Error{Code::invalid_argument, "Unable to read file", {}, {}, {}, "name a script, not a folder"});
  return text;
}

std::string with_lines(const std::vector<std::size_t>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < 20; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", lines[i]);
  return lines.size() > 20 ? text + ", …" : text;
}

bool readable(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             [](std::FILE* f) { return f ? std::fclose(f) : 0; });
  return file != nullptr;
}

// A name without a slash is looked for here, then along PATH.
std::string find_script(Context& context, const std::string& name) {
  if (name.find('/') != std::string::npos || readable(name)) return name;
  const std::string path = context.env("PATH").value_or("");
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/" + name;
    if (end > at && readable(candidate)) return candidate;
    at = end + 1;
  }
  return name;
}

bool given(const base::ParsedOptions& options, std::string_view name) {
  return std::any_of(options.options.begin(), options.options.end(), [&](const auto& o) { return o.name == name; });
}

std::string absolute(const std::string& work_dir, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : work_dir + "/" + path;
}

base::Result<void> read_script(Context& context, const base::ParsedOptions& line, const SpecFile& file, Submission& submission) {
  auto& request = submission.request;
  auto& spec = request.spec;
  const bool named = !spec.name.empty();  // in the file of --spec
  if (given(line, "wrap")) {
    if (!line.rest.empty())
      return base::fail(base::Error{Code::invalid_argument,
                                    "Script arguments not permitted with --wrap option",
                                    {},
                                    {},
                                    line.rest.front(),
                                    "put them inside --wrap"});
    std::string command;
    for (const auto& option : line.options)
      if (option.name == "wrap") command = option.value;
    submission.script = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + command + "\n";
    if (!named) spec.name = "wrap";
    return base::check_script(submission.script);
  }
  if (line.rest.empty() && file.wrap) {
    submission.script = "#!/bin/sh\n" + *file.wrap + "\n";
    if (!named) spec.name = "wrap";
    return base::check_script(submission.script);
  }
  std::vector<std::string> words = line.rest;
  if (words.empty() && file.script) {
    words = file.args;
    words.insert(words.begin(), *file.script);
  }
  if (words.empty()) {
    submission.script = context.read_stdin();
    if (!named) spec.name = "sbatch";
  } else {
    request.script_path = absolute(context.work_dir, find_script(context, words.front()));
    auto text = read_file(*request.script_path);
    if (!text) {
      base::Error error = text.error();
      error.message += " " + words.front();
      if (error.hint.empty()) error.hint = glue_hint(line);
      return base::fail(std::move(error));
    }
    submission.script = std::move(*text);
    spec.script_name = *request.script_path;
    if (!named) spec.name = words.front().substr(words.front().rfind('/') + 1);
    spec.script_args.assign(words.begin() + 1, words.end());
  }
  if (auto fine = base::check_script(submission.script); !fine) return fine;
  return apply_directives(request, submission.script, submission.warnings);
}

}  // namespace

std::string glue_hint(const base::ParsedOptions& line) {
  if (line.rest.empty() || line.options.empty()) return {};
  const auto& last = line.options.back();
  const auto& rules = submit_rules(true);
  const auto rule = std::ranges::find(rules, last.name, &base::OptionRule::name);
  if (last.has_value || rule == rules.end() || rule->argument != base::OptionRule::Argument::optional) return {};
  return fmt::format("the value of {0} is written without a space: {0}{1}{2}", last.as_written,
                     last.as_written.starts_with("--") ? "=" : "", line.rest.front());
}

base::Result<void> apply_directives(SubmitRequest& request, std::string_view script, std::vector<std::string>& warnings) {
  auto directives = base::read_directives(script);
  if (!directives) return base::fail(directives.error());
  if (directives->components.size() > 1)
    return base::fail(base::Error{Code::unsupported,
                                  "heterogeneous jobs are known, but this release does not carry them out",
                                  "#SBATCH hetjob",
                                  {},
                                  {},
                                  "submit the components as jobs of their own"});
  std::vector<base::GivenOption> options;
  for (const auto& line : directives->components.front()) {
    auto parsed = base::parse_options(submit_rules(request.ours), line.words, false);
    if (!parsed) {
      base::Error error = parsed.error();
      error.field = fmt::format("line {}: {}", line.line, error.field);
      return base::fail(std::move(error));
    }
    for (auto& option : parsed->options) {
      option.as_written = fmt::format("line {}: {}", line.line, option.as_written);
      options.push_back(std::move(option));
    }
    for (const auto& word : parsed->rest)
      warnings.push_back(fmt::format("line {}: \"{}\" is not an option and has no effect", line.line, word));
  }
  if (!directives->ignored_lines.empty())
    warnings.push_back(fmt::format("directives after the first command are ignored: line{} {}",
                                   directives->ignored_lines.size() == 1 ? "" : "s", with_lines(directives->ignored_lines)));
  return apply_options(request, options, Source::script);
}

base::Result<Submission> collect_submission(Context& context, const Words& words, bool ours) {
  Submission submission;
  auto& request = submission.request;
  request.ours = ours;
  request.work_dir = context.work_dir;
  request.spec.work_dir = context.work_dir;
  request.spec.submit_host = context.host;

  auto line = base::parse_options(submit_rules(ours), words, true);
  if (!line) return base::fail(line.error());
  for (const auto& option : line->options) {
    if (option.name == "help") request.help = true;
    if (option.name == "usage") request.usage = true;
    if (option.name == "version") request.version = true;
  }
  if (request.help || request.usage || request.version) return submission;
  if (!line->rest.empty() && line->rest.front() == ":")
    return base::fail(base::Error{Code::unsupported,
                                  "heterogeneous jobs are known, but this release does not carry them out",
                                  ":",
                                  {},
                                  {},
                                  "submit the components as jobs of their own"});

  SpecFile file;
  for (const auto& option : line->options)
    if (option.name == "spec") request.spec_file = option.value;
  if (!request.spec_file.empty()) {
    auto text = request.spec_file == "-" ? base::Result<std::string>(context.read_stdin()) : read_file(request.spec_file);
    if (!text) {
      base::Error error = text.error();
      error.field = "--spec";
      error.value = request.spec_file;
      return base::fail(std::move(error));
    }
    auto read = read_spec_file(*text, request.spec_file, request);
    if (!read) return base::fail(read.error());
    file = std::move(*read);
    request.groups_from_file = file.has_groups;
  }

  // A mistake on the command line is told before the script is read.
  {
    SubmitRequest trial = request;
    if (auto done = apply_options(trial, line->options, Source::command_line); !done) return base::fail(done.error());
  }
  if (auto done = read_script(context, *line, file, submission); !done) return base::fail(done.error());
  if (auto done = apply_options(request, options_from_environment(context.environment), Source::environment); !done)
    return base::fail(done.error());
  if (auto done = apply_options(request, line->options, Source::command_line); !done) return base::fail(done.error());
  if (request.spec.work_dir.empty())
    return base::fail(base::Error{Code::not_found,
                                  "your current folder is gone, and the job would run there",
                                  "--chdir",
                                  {},
                                  {},
                                  "go to another folder, or name one with --chdir=FOLDER"});
  if (!request.groups_from_file)
    if (auto done = finish(request); !done) return base::fail(done.error());
  return submission;
}

}  // namespace sy::cli

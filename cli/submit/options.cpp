#include "cli/submit/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/submit/spec_file.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

std::vector<base::OptionRule> rules_for(bool ours) {
  std::vector<base::OptionRule> rules;
  for (const auto& option : submit_options())
    if (ours || option.standing != SubmitOption::Standing::ours) rules.push_back(option.rule);
  return rules;
}

const SubmitOption* find_option(std::string_view name) {
  for (const auto& option : submit_options())
    if (option.rule.name == name) return &option;
  return nullptr;
}

// Where an option that is about one group belongs, when groups are described in a file.
std::string hint_for_groups(const base::GivenOption& given) {
  if (given.name != "exclusive") return "write it there, in the group that it is about";
  if (given.value.empty()) return "write exclusive: true there, in the group that it is about";
  if (lower(given.value) == "user") return "leave it out: a job of groups can not be exclusive for its user";
  return fmt::format("write exclusive: {} there, beside the outermost groups", given.value);
}

base::Result<void> apply_one(SubmitRequest& request, const base::GivenOption& given) {
  const SubmitOption* option = find_option(given.name);
  if (option == nullptr) return base::fail(base::Code::internal, "an option without a meaning", given.as_written);
  using Standing = SubmitOption::Standing;
  if (option->standing == Standing::later)
    return base::fail(base::Error{base::Code::unsupported,
                                  "this option is known, but this release does not carry it out",
                                  given.as_written,
                                  {},
                                  given.value,
                                  "leave it out"});
  if (option->standing == Standing::plugin)
    return base::fail(base::Error{base::Code::unsupported,
                                  "this is an option of a site plugin, and no such plugin is configured",
                                  given.as_written,
                                  {},
                                  given.value,
                                  "leave it out, or ask your administrator"});
  if (request.groups_from_file && is_about_a_group(given.name))
    return base::fail(base::Error{base::Code::invalid_argument,
                                  fmt::format("the groups of this job are described in {}", request.spec_file),
                                  given.as_written,
                                  {},
                                  given.value,
                                  hint_for_groups(given)});
  return option->apply(request, given);
}

// Environment variable → option, in the order of sbatch's manual page.
constexpr std::array<std::pair<std::string_view, std::string_view>, 58> variables{{
    {"SBATCH_ACCOUNT", "account"},
    {"SBATCH_ACCTG_FREQ", "acctg-freq"},
    {"SBATCH_ARRAY_INX", "array"},
    {"SBATCH_BATCH", "batch"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SBATCH_CLUSTERS", "clusters"},
    {"SBATCH_COMMENT", "comment"},
    {"SBATCH_CONSTRAINT", "constraint"},
    {"SBATCH_CONTAINER", "container"},
    {"SBATCH_CONTAINER_ID", "container-id"},
    {"SBATCH_CORE_SPEC", "core-spec"},
    {"SBATCH_CPUS_PER_GPU", "cpus-per-gpu"},
    {"SBATCH_DELAY_BOOT", "delay-boot"},
    {"SBATCH_DISTRIBUTION", "distribution"},
    {"SBATCH_ERROR", "error"},
    {"SBATCH_EXCLUSIVE", "exclusive"},
    {"SBATCH_EXPORT", "export"},
    {"SBATCH_GET_USER_ENV", "get-user-env"},
    {"SBATCH_GPUS", "gpus"},
    {"SBATCH_GPU_BIND", "gpu-bind"},
    {"SBATCH_GPU_FREQ", "gpu-freq"},
    {"SBATCH_GPUS_PER_NODE", "gpus-per-node"},
    {"SBATCH_GPUS_PER_TASK", "gpus-per-task"},
    {"SBATCH_GRES", "gres"},
    {"SBATCH_GRES_FLAGS", "gres-flags"},
    {"SLURM_HINT", "hint"},
    {"SBATCH_HINT", "hint"},
    {"SBATCH_INPUT", "input"},
    {"SBATCH_JOB_NAME", "job-name"},
    {"SBATCH_MEM_BIND", "mem-bind"},
    {"SBATCH_MEM_PER_CPU", "mem-per-cpu"},
    {"SBATCH_MEM_PER_GPU", "mem-per-gpu"},
    {"SBATCH_MEM_PER_NODE", "mem"},
    {"SBATCH_NETWORK", "network"},
    {"SBATCH_NO_KILL", "no-kill"},
    {"SBATCH_NO_REQUEUE", "no-requeue"},
    {"SBATCH_OPEN_MODE", "open-mode"},
    {"SBATCH_OUTPUT", "output"},
    {"SBATCH_OVERCOMMIT", "overcommit"},
    {"SBATCH_PARTITION", "partition"},
    {"SBATCH_POWER", "power"},
    {"SBATCH_PROFILE", "profile"},
    {"SBATCH_QOS", "qos"},
    {"SBATCH_REQ_SWITCH", "switches"},
    {"SBATCH_REQUEUE", "requeue"},
    {"SBATCH_RESERVATION", "reservation"},
    {"SBATCH_SIGNAL", "signal"},
    {"SBATCH_SPREAD_JOB", "spread-job"},
    {"SBATCH_STEPMGR", "stepmgr"},
    {"SBATCH_THREAD_SPEC", "thread-spec"},
    {"SBATCH_THREADS_PER_CORE", "threads-per-core"},
    {"SBATCH_TIMELIMIT", "time"},
    {"SBATCH_TRES_BIND", "tres-bind"},
    {"SBATCH_TRES_PER_TASK", "tres-per-task"},
    {"SBATCH_USE_MIN_NODES", "use-min-nodes"},
    {"SBATCH_WAIT", "wait"},
    {"SBATCH_WAIT_ALL_NODES", "wait-all-nodes"},
    {"SBATCH_WCKEY", "wckey"},
}};

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& pair : environment)
    if (pair.size() > name.size() && pair[name.size()] == '=' && pair.compare(0, name.size(), name) == 0)
      return pair.substr(name.size() + 1);
  return {};
}

bool is_set(const std::vector<std::string>& environment, std::string_view name) {
  return std::any_of(environment.begin(), environment.end(), [&](const std::string& pair) {
    return pair.size() > name.size() && pair[name.size()] == '=' && pair.compare(0, name.size(), name) == 0;
  });
}

}  // namespace

std::span<const base::OptionRule> submit_rules(bool ours) {
  static const std::vector<base::OptionRule> slurm = rules_for(false);
  static const std::vector<base::OptionRule> all = rules_for(true);
  return ours ? all : slurm;
}

base::Result<void> apply_options(SubmitRequest& request, const std::vector<base::GivenOption>& options, Source source) {
  request.now = source;
  for (const auto& given : options)
    if (auto done = apply_one(request, given); !done) return done;
  return {};
}

std::vector<base::GivenOption> options_from_environment(const std::vector<std::string>& environment) {
  std::vector<base::GivenOption> options;
  for (const auto& [variable, name] : variables) {
    if (!is_set(environment, variable)) continue;
    base::GivenOption given{std::string{name}, std::string{variable}, value_of(environment, variable), true};
    const SubmitOption* option = find_option(name);
    const bool takes_value = option != nullptr && option->rule.argument != base::OptionRule::Argument::none;
    if (!takes_value) given.has_value = false, given.value.clear();
    else if (given.value.empty() && option->rule.argument == base::OptionRule::Argument::required) continue;
    else if (given.value.empty()) given.has_value = false;
    options.push_back(std::move(given));
  }
  // The wait of --switches has a variable of its own.
  if (const std::string wait = value_of(environment, "SBATCH_WAIT4SWITCH"); !wait.empty())
    for (auto& given : options)
      if (given.name == "switches" && given.value.find('@') == std::string::npos) given.value += "@" + wait;
  if (is_set(environment, "SBATCH_DEBUG")) options.push_back({"verbose", "SBATCH_DEBUG", {}, false});
  return options;
}

std::string submit_help(bool ours) {
  std::string text = fmt::format("Usage: {} [options] [script [arguments]]\n\nOptions:\n", ours ? "sy submit" : "sbatch");
  using Standing = SubmitOption::Standing;
  for (const auto& option : submit_options()) {
    if (option.help.empty() || (option.standing == Standing::ours && !ours)) continue;
    std::string left = option.rule.letter != 0 ? fmt::format("  -{}, --{}", option.rule.letter, option.rule.name)
                                               : fmt::format("      --{}", option.rule.name);
    if (option.rule.argument == base::OptionRule::Argument::optional) left += fmt::format("[={}]", option.argument);
    else if (!option.argument.empty()) left += fmt::format("={}", option.argument);
    text += fmt::format("{:<36}{}{}\n", left + " ", option.help, option.standing == Standing::stored ? " (stored, not enforced yet)" : "");
  }
  std::vector<std::string> refused;
  for (const auto& option : submit_options())
    if (option.standing == Standing::later) refused.push_back(std::string{option.rule.name});
  std::sort(refused.begin(), refused.end());
  text += "\nKnown, but refused by this release:\n";
  std::string line = " ";
  for (const auto& name : refused) {
    if (line.size() + name.size() > 76) text += line + "\n", line = " ";
    line += " " + name;
  }
  return text + line + "\n";
}

}  // namespace sy::cli

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "cli/json_writer.hpp"
#include "cli/submit/collect.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

using Environment = std::vector<std::string>;

std::string_view name_of(std::string_view pair) { return pair.substr(0, pair.find('=')); }

void put(Environment& environment, std::string pair) {
  const std::string name{name_of(pair)};
  std::erase_if(environment, [&](const std::string& other) { return name_of(other) == name; });
  environment.push_back(std::move(pair));
}

// What a login gives everybody: enough for a script that says the rest itself.
Environment bare_environment(Context& context) {
  Environment environment{"PATH=/usr/local/bin:/usr/bin:/bin"};
  if (const passwd* entry = ::getpwuid(context.uid); entry != nullptr) {
    environment.push_back(fmt::format("HOME={}", entry->pw_dir));
    environment.push_back(fmt::format("SHELL={}", entry->pw_shell));
    environment.push_back(fmt::format("USER={}", entry->pw_name));
    environment.push_back(fmt::format("LOGNAME={}", entry->pw_name));
  }
  return environment;
}

// Submitted from inside a job, the outer job's own variables would describe the wrong job.
bool belongs_to_outer_job(std::string_view name) {
  static constexpr std::array<std::string_view, 6> inputs{"SLURM_CONF",       "SLURM_TIME_FORMAT", "SLURM_CLUSTERS",
                                                          "SLURM_EXIT_ERROR", "SLURM_HINT",        "SLURM_DEBUG_FLAGS"};
  if (name.rfind("SLURM_", 0) != 0 && name.rfind("SLURMD_", 0) != 0 && name.rfind("SWITCHYARD_", 0) != 0) return false;
  return name != "SWITCHYARD_SOCKET" && std::find(inputs.begin(), inputs.end(), name) == inputs.end();
}

std::string read_until_closed(int from, int timeout_ms, bool& in_time) {
  std::string text;
  std::array<char, 16384> piece;
  in_time = false;
  while (text.size() < 4'000'000) {
    pollfd ready{from, POLLIN, 0};
    if (::poll(&ready, 1, timeout_ms) <= 0) return text;
    const ssize_t n = ::read(from, piece.data(), piece.size());
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  in_time = true;
  return text;
}

// The user's own login shell, run now and as the user: nothing here needs privileges.
base::Result<Environment> login_environment(Context& context) {
  const auto trouble = [](std::string why) {
    return base::fail(
        base::Error{base::Code::unavailable, std::move(why), "--get-user-env", {}, {}, "leave the option out, or mend the login files"});
  };
  Environment bare = bare_environment(context);
  std::string shell = "/bin/sh";
  for (const auto& pair : bare)
    if (name_of(pair) == "SHELL" && pair.size() > 6) shell = pair.substr(6);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return trouble("no pipe could be made");
  std::array<std::string, 4> words{shell, "-l", "-c", "env -0"};
  std::array<char*, 5> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  std::vector<char*> envp;
  for (auto& pair : bare) envp.push_back(pair.data());
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, shell.c_str(), &actions, nullptr, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) return ::close(ends[0]), trouble(fmt::format("the login shell {} can not be started", shell));
  bool in_time = false;
  const std::string text = read_until_closed(ends[0], 8000, in_time);
  ::close(ends[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!in_time) return trouble("the login shell did not answer within 8 s");
  Environment environment;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\0', at), text.size());
    std::string pair = text.substr(at, end - at);
    if (pair.find('=') != std::string::npos && name_of(pair) != "_" && name_of(pair) != "SHLVL" && name_of(pair) != "PWD")
      environment.push_back(std::move(pair));
    at = end + 1;
  }
  return environment.empty() ? bare : environment;
}

// "ALL,A=b", "A,B=c", "NONE"
void choose(Context& context, const std::vector<std::string>& words, const Environment& mine, Environment& environment) {
  for (const auto& word : words) {
    if (word == "ALL" || word == "NONE" || word == "NIL") continue;
    if (word.find('=') != std::string::npos) put(environment, word);
    else if (auto value = context.env(word)) put(environment, fmt::format("{}={}", word, *value));
  }
  for (const auto& pair : mine)
    if (name_of(pair).rfind("SLURM_", 0) == 0) put(environment, pair);
}

}  // namespace

base::Result<std::vector<std::string>> job_environment(Context& context, const SubmitRequest& request, std::vector<std::string>& warnings) {
  const bool inside_a_job = context.env("SLURM_JOB_ID").has_value();
  Environment mine;
  for (const auto& pair : context.environment)
    if (const auto name = name_of(pair);
        !name.empty() && name.size() < pair.size() && !(inside_a_job && belongs_to_outer_job(name)) && name.rfind("SBATCH_", 0) != 0)
      mine.push_back(pair);

  const auto words = split_list(request.export_names.value_or("ALL"));
  const bool everything = std::find(words.begin(), words.end(), "ALL") != words.end() || (words.empty() && !request.export_names);
  Environment environment;
  if (request.get_user_env) {
    auto login = login_environment(context);
    if (!login) return base::fail(login.error());
    environment = std::move(*login);
    if (everything && request.export_names)
      for (const auto& pair : mine) put(environment, pair);
  } else {
    environment = everything ? mine : bare_environment(context);
  }
  choose(context, words, mine, environment);
  put(environment, fmt::format("SLURM_SUBMIT_DIR={}", context.work_dir));
  put(environment, fmt::format("SLURM_SUBMIT_HOST={}", context.host));
  std::erase_if(environment, [](const std::string& pair) { return pair.rfind("SLURM_RLIMIT_", 0) == 0 || name_of(pair) == "SLURM_UMASK"; });
  if (context.look_up_limits)
    for (auto& pair : context.look_up_limits()) environment.push_back(std::move(pair));

  std::erase_if(environment, [&](const std::string& pair) {
    if (is_utf8(pair)) return false;
    warnings.push_back(fmt::format("the variable {} is left out: its value is not UTF-8", name_of(pair)));
    return true;
  });
  return environment;
}

}  // namespace sy::cli

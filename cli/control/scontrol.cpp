#include "cli/control/scontrol.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/hostlist.hpp"
#include "base/time_text.hpp"
#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/control/change.hpp"
#include "cli/filters.hpp"
#include "cli/json_writer.hpp"
#include "cli/text.hpp"

namespace sy::cli {

std::string_view match_word(std::string_view word, std::initializer_list<std::string_view> words) {
  std::string_view found;
  for (const auto candidate : words)
    if (word.size() >= 3 && candidate.substr(0, word.size()) == word) {
      if (!found.empty()) return {};
      found = candidate;
    }
  return found;
}

namespace {

using base::Code;

constexpr std::string_view usage = "scontrol [options] COMMAND [arguments]";
constexpr std::string_view commands =
    "\nCommands:\n"
    "  show job [ID] | node [NAME] | partition [NAME] | hostnames [LIST] | hostlist NAMES | config\n"
    "  update JobId=ID Key=Value … | NodeName=NAMES State=DRAIN|DOWN|RESUME Reason=TEXT\n"
    "  hold IDS, release IDS, requeue IDS, requeuehold IDS\n"
    "  ping, version, reconfigure, completing, wait_job ID, write batch_script ID [FILE|-]\n";

struct Options : CommonOptions, ScontrolOptions {
  using ScontrolOptions::json;
  std::string clusters;
};

// Words that no controller is asked about.
bool offline(const Words& words) {
  const auto starts = [&](std::size_t i, std::string_view with) { return words.size() > i && words[i].rfind(with, 0) == 0; };
  return starts(0, "version") || (starts(0, "sh") && (starts(1, "hostn") || starts(1, "hostl")));
}

option::Done one_line(Options& o, const option::Given&) { return o.one_line = true, option::Done{}; }
option::Done all(Options& o, const option::Given&) { return o.all = true, option::Done{}; }
option::Done hide(Options& o, const option::Given&) { return o.all = false, option::Done{}; }
option::Done details(Options& o, const option::Given&) { return o.details = true, option::Done{}; }
option::Done quiet(Options& o, const option::Given&) { return o.quiet = true, option::Done{}; }
option::Done json(Options& o, const option::Given&) { return o.ScontrolOptions::json = true, option::Done{}; }

// clang-format off
constexpr CommandOption<Options> table[] = {
    {"all", 'a', option::none, all, "", "hidden partitions and their jobs as well"},
    {"cluster", 'M', option::required, option::keep<&Options::clusters>, "NAME", "this cluster's name"},
    {"clusters", 0, option::required, option::keep<&Options::clusters>, "", ""},
    {"details", 'd', option::none, details, "", "say more"},
    {"federation", 0, option::none, nullptr, "", ""},
    {"future", 'F', option::none, nullptr, "", ""},
    {"hide", 0, option::none, hide, "", "no hidden partitions (the default)"},
    {"json", 0, option::optional, json, "", "print JSON"},
    {"local", 0, option::none, nullptr, "", ""},
    {"oneliner", 'o', option::none, one_line, "", "one line for each record"},
    {"quiet", 'Q', option::none, quiet, "", "only errors"},
    {"sibling", 0, option::none, nullptr, "", ""},
    {"verbose", 'v', option::none, nullptr, "", ""},
    {"yaml", 0, option::optional, option::later<Options>, "", ""},
};
// clang-format on

int complain(Context& context, std::string_view what) {
  context.err.line(what);
  return 1;
}

std::string load_refusal(const base::Error& error) {
  return error.code == Code::not_found ? std::string{"Invalid job id specified"} : slurm_contact_text(error);
}

// A refusal: Slurm's words where scripts look for them, and what we know about it.
std::string refusal(const base::Error& error, const std::string& id) {
  if (error.code == Code::not_found) return fmt::format("Invalid job id specified for job {}", id);
  if (error.code == Code::forbidden) return fmt::format("Access/permission denied for job {}: {}", id, base::to_text(error));
  if (error.field != "job") return fmt::format("job {}: {}", id, slurm_contact_text(error));
  base::Error plain = error;  // such messages name the job themselves
  plain.field.clear();
  plain.value.clear();
  return slurm_contact_text(plain);
}

std::vector<std::string> id_words(const Words& words) {
  std::vector<std::string> ids;
  for (const auto& word : words)
    for (auto id : split_list(word)) {
      if (const auto equals = id.find('='); equals != std::string::npos) id.erase(0, equals + 1);
      ids.push_back(std::move(id));
    }
  return ids;
}

// hold, release, requeue: one request a job; all are tried.
int each_job(Context& context, std::string_view verb, std::string_view api_verb, const Words& words, const std::string& body) {
  const auto ids = id_words(words);
  if (ids.empty()) return complain(context, fmt::format("too few arguments for keyword:{}", verb));
  int code = 0;
  for (const auto& id : ids) {
    if (id.find_first_not_of("0123456789") != std::string::npos || id.empty()) {
      code = complain(context, fmt::format("Invalid job id {} for {}", id, verb));
      continue;
    }
    const auto answer = call_again(context, post(fmt::format("/v1/jobs/{}/{}", id, api_verb), body));
    if (!answer) code = complain(context, refusal(answer.error(), id));
  }
  return code;
}

int ping(Context& context) {
  const auto answer = call_text(context, get("/livez"));
  context.out.line(fmt::format("Slurmctld(primary) at {} is {}", context.host, answer ? "UP" : "DOWN"));
  if (!answer) context.err.line(fmt::format("scontrol: {}", slurm_contact_text(answer.error())));
  return answer ? 0 : 1;
}

// TimeLimit=+30: the limit in force, and then some.
base::Result<std::string> with_time_step(Context& context, const std::string& id, const JobChangeText& change) {
  if (change.time_step.empty()) return change.body;
  auto job = call(context, get("/v1/jobs/" + id));
  if (!job) return base::fail(job.error());
  const Json limit = job->root()["time_limit_s"];
  if (!limit.is_number())
    return base::fail(base::Error{Code::invalid_argument, "the job has no time limit to add to", "TimeLimit", {}, change.time_step, {}});
  const std::int64_t step = base::to_seconds(**base::parse_walltime(std::string_view{change.time_step}.substr(1)));
  const std::int64_t seconds = limit.integer() + (change.time_step[0] == '-' ? -step : step);
  if (seconds <= 0)
    return base::fail(
        base::Error{Code::invalid_argument, "nothing would be left of the time limit", "TimeLimit", {}, change.time_step, {}});
  std::string body = change.body.empty() ? "{}" : change.body;
  body.insert(1, fmt::format("\"time_limit_s\":{}{}", seconds, body.size() > 2 ? "," : ""));
  return body;
}

int update_jobs(Context& context, const std::string& ids, const std::vector<Assignment>& assignments) {
  auto change = job_change(assignments);
  if (!change) return complain(context, fmt::format("scontrol: error: {}", base::to_text(change.error())));
  int code = 0;
  for (const auto& id : split_list(ids)) {
    if (id.find_first_not_of("0123456789") != std::string::npos) {
      code = complain(context, fmt::format("Invalid job id specified for job {}", id));
      continue;
    }
    auto body = with_time_step(context, id, *change);
    if (!body) {
      code = complain(context, refusal(body.error(), id));
      continue;
    }
    if (!body->empty()) {
      const auto answer = call_again(context, Request{"PATCH", "/v1/jobs/" + id, *body, {}, 60});
      if (!answer) code = complain(context, refusal(answer.error(), id));
      else
        answer->root()["warnings"].for_each([&](Json warning) { context.err.line(fmt::format("scontrol: warning: {}", warning.text())); });
    }
    if (change->hold)
      if (auto answer = call_again(context, post(fmt::format("/v1/jobs/{}/hold", id))); !answer)
        code = complain(context, refusal(answer.error(), id));
  }
  return code;
}

int update_nodes(Context& context, const std::string& list, const std::vector<Assignment>& assignments) {
  std::string state, reason;
  for (const auto& [key, value] : assignments) {
    const std::string name = lower(key);
    if (name == "state") state = lower(value);
    else if (name == "reason") reason = value;
    else
      return complain(
          context,
          fmt::format("scontrol: error: {}: this release changes State and Reason of nodes; the rest is in the configuration file", key));
  }
  if (reason.size() > 1 && (reason.front() == '"' || reason.front() == '\'') && reason.back() == reason.front())
    reason = reason.substr(1, reason.size() - 2);
  std::string_view verb = state == "drain"                                             ? "drain"
                          : state == "down"                                            ? "down"
                          : state == "resume" || state == "undrain" || state == "idle" ? "resume"
                                                                                       : "";
  if (verb.empty()) return complain(context, fmt::format("Invalid input: State={}; write DRAIN, DOWN or RESUME\nRequest aborted", state));
  if (verb != "resume" && reason.empty())
    return complain(
        context, fmt::format("You must specify a reason when {}. Request denied", verb == "drain" ? "DRAINING a node" : "DOWNING a node"));
  auto names = base::expand_hostlist(list);
  if (!names) return complain(context, base::to_text(names.error()));
  JsonWriter w;
  w.object();
  if (verb != "resume") w.member("reason", reason);
  const std::string body = w.close().take();
  int code = 0;
  for (const auto& name : *names)
    if (auto answer = call_again(context, post(fmt::format("/v1/nodes/{}/{}", url_encode(name), verb), body)); !answer) {
      const bool unknown = answer.error().code == Code::not_found;
      code = complain(context, fmt::format("slurm_update error: {}", unknown ? fmt::format("Invalid node name specified: {}", name)
                                                                             : slurm_contact_text(answer.error())));
    }
  return code;
}

int update(Context& context, const Words& words) {
  auto assignments = parse_assignments(words);
  if (!assignments) return complain(context, fmt::format("scontrol: error: {}", base::to_text(assignments.error())));
  std::string jobs, nodes;
  std::vector<Assignment> rest;
  for (auto& each : *assignments) {
    const std::string key = lower(each.first);
    if (key == "jobid" || key == "job") jobs = each.second;
    else if (key == "nodename" || key == "node") nodes = each.second;
    else if (key == "partitionname" || key == "reservationname")
      return complain(context, fmt::format("scontrol: error: {}: {}", each.first,
                                           key[0] == 'p' ? "partitions are changed in the configuration file; then: scontrol reconfigure"
                                                         : "reservations are not carried out by this release"));
    else rest.push_back(std::move(each));
  }
  if (!jobs.empty()) return update_jobs(context, jobs, rest);
  if (!nodes.empty()) return update_nodes(context, nodes, rest);
  return complain(context, "No valid entity in update command\nInput line must include \"JobId\" or \"NodeName\".");
}

int write_script(Context& context, const Words& words) {
  if (words.size() < 2 || match_word(lower(words[0]), {"batch_script"}).empty())
    return complain(context, "scontrol: error: write batch_script JOBID [FILE|-]");
  auto script = call_text(context, get(fmt::format("/v1/jobs/{}/script", url_encode(words[1]))));
  if (!script) return complain(context, fmt::format("scontrol: error: job script retrieval failed: {}", load_refusal(script.error())));
  if (words.size() > 2 && words[2] == "-") return context.out << *script, 0;
  const std::string path = words.size() > 2 ? words[2] : fmt::format("slurm-{}.sh", words[1]);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), std::fclose);
  if (!file || std::fwrite(script->data(), 1, script->size(), file.get()) != script->size())
    return complain(context, fmt::format("scontrol: error: failed to write the script to {}", path));
  context.out.line(fmt::format("batch script for job {} written to {}", words[1], path));
  return 0;
}

// Until the job has its nodes.
int wait_job(Context& context, const Words& words) {
  if (words.size() != 1) return complain(context, "scontrol: error: wait_job JOBID");
  while (true) {
    auto job = call_again(context, get(fmt::format("/v1/jobs/{}?wait=30&for=started", url_encode(words[0]))));
    if (!job) return complain(context, fmt::format("slurm_load_jobs error: {}", load_refusal(job.error())));
    if (const auto state = job->root()["state"].text(); state == "ended")
      return complain(context, fmt::format("job {} has ended", words[0]));
    else if (state != "pending" && state != "starting") return 0;
  }
}

// The controller reads its own file; what is wrong with it is told here.
int reconfigure(Context& context) {
  const auto answer = call_again(context, post("/v1/reconfigure"));
  if (!answer) return complain(context, fmt::format("slurm_reconfigure error: {}", slurm_contact_text(answer.error())));
  answer->root()["warnings"].for_each([&](Json warning) { context.err.line(fmt::format("scontrol: warning: {}", warning.text())); });
  return 0;
}

int run_command_words(Context& context, const Options& options, const Words& words) {
  const std::string verb = lower(words.front());
  const Words rest(words.begin() + 1, words.end());
  if (verb == "show" || verb == "list") return scontrol_show(context, options, rest);
  if (verb == "update") return update(context, rest);
  if (verb == "hold" || verb == "uhold") return each_job(context, verb, "hold", rest, "{}");
  if (verb == "release") return each_job(context, verb, "release", rest, "{}");
  if (verb == "requeue") return each_job(context, verb, "requeue", rest, R"({"hold":false})");
  if (verb == "requeuehold") return each_job(context, verb, "requeue", rest, R"({"hold":true})");
  if (verb == "ping") return ping(context);
  if (verb == "version") return context.out.line(fmt::format("slurm {} (switchyard {})", slurm_version, version)), 0;
  if (verb == "write") return write_script(context, rest);
  if (verb == "wait_job") return wait_job(context, rest);
  if (verb == "help") return context.out << help_text<Options>(table, usage) << commands, 0;
  if (verb == "completing") return 0;
  if (verb == "reconfigure") return reconfigure(context);
  for (const std::string_view later : {"create",
                                       "delete",
                                       "suspend",
                                       "resume",
                                       "top",
                                       "notify",
                                       "reboot",
                                       "cancel_reboot",
                                       "takeover",
                                       "shutdown",
                                       "token",
                                       "listpids",
                                       "pidinfo",
                                       "setdebug",
                                       "setdebugflags",
                                       "schedloglevel",
                                       "abort",
                                       "errnumstr",
                                       "fsdampeningfactor",
                                       "power"})
    if (verb == later)
      return complain(context, fmt::format("scontrol: error: {}: this command is known, but this release does not carry it out", verb));
  return complain(context, fmt::format("invalid keyword: {}", words.front()));
}

}  // namespace

int run_scontrol(Context& context, const Words& words) {
  Options options;
  auto operands = read_options<Options>(table, words, options);
  if (!operands) return complain(context, fmt::format("scontrol: error: {}", base::to_text(operands.error())));
  if (options.help) return context.out << help_text<Options>(table, usage) << commands, 0;
  if (auto code = answer_common<Options>(context, table, options, usage)) return *code;
  if (operands->empty()) return complain(context, fmt::format("Usage: {}{}", usage, commands));
  if (!offline(*operands))
    if (const auto here = this_cluster(context, options.clusters); !here)
      return complain(context, here.error().code == Code::not_found ? fmt::format("scontrol: error: {}", here.error().message)
                                                                    : slurm_contact_text(here.error()));
  return run_command_words(context, options, *operands);
}

}  // namespace sy::cli

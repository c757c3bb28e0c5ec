#include <fmt/format.h>

#include "cli/api.hpp"
#include "cli/command_options.hpp"
#include "cli/control/change.hpp"
#include "cli/sy/commands.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

struct VerbOptions : CommonOptions {
  bool hold{};
};
constexpr CommandOption<VerbOptions> plain_table[] = {{"verbose", 'v', option::none, nullptr, "", ""}};
constexpr CommandOption<VerbOptions> requeue_table[] = {
    {"hold", 'H', option::none, option::set<&VerbOptions::hold>, "", "back in the queue, but held"}};

int each_job(Context& context, const Words& words, std::string_view verb, std::string_view done,
             std::span<const CommandOption<VerbOptions>> table) {
  VerbOptions options;
  auto operands = read_options<VerbOptions>(table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<VerbOptions>(context, table, options, fmt::format("sy {} JOB …", verb))) return *code;
  if (operands->empty()) return complain_to_people(context, fmt::format("name a job: sy {} 42", verb));
  int code = 0;
  for (const auto& word : *operands)
    for (const auto& id : split_list(word)) {
      if (id.find_first_not_of("0123456789") != std::string::npos) {
        code = complain_to_people(context, fmt::format("\"{}\" is not the number of a job", id));
        continue;
      }
      const std::string body = verb == "requeue" ? fmt::format("{{\"hold\":{}}}", options.hold) : "{}";
      auto answer = call_again(context, post(fmt::format("/v1/jobs/{}/{}", id, verb), body));
      if (!answer) code = complain_to_people(context, answer.error());
      else if (options.json) context.out.line(answer->root().raw());
      else context.out.line(fmt::format("Job {} {}.", id, done));
    }
  return code;
}

}  // namespace

int run_hold(Context& context, const Words& words) { return each_job(context, words, "hold", "is held", plain_table); }
int run_release(Context& context, const Words& words) { return each_job(context, words, "release", "is released", plain_table); }
int run_requeue(Context& context, const Words& words) {
  return each_job(context, words, "requeue", "goes back to the queue", requeue_table);
}

// sy update 42 TimeLimit=1:00:00 Comment=text
int run_update(Context& context, const Words& words) {
  VerbOptions options;
  auto operands = read_options<VerbOptions>(plain_table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<VerbOptions>(context, plain_table, options, "sy update JOB Key=Value …")) return *code;
  if (operands->size() < 2) return complain_to_people(context, "name a job and what to change: sy update 42 TimeLimit=1:00:00");
  const std::string id = operands->front();
  if (id.find_first_not_of("0123456789") != std::string::npos)
    return complain_to_people(context, fmt::format("\"{}\" is not the number of a job", id));
  auto assignments = parse_assignments({operands->begin() + 1, operands->end()});
  if (!assignments) return complain_to_people(context, assignments.error());
  auto change = job_change(*assignments);
  if (!change) return complain_to_people(context, change.error());
  if (change->hold) return complain_to_people(context, "sy hold holds a job, and sy release lets it go");
  if (!change->time_step.empty())
    return complain_to_people(context, "a time limit is written in full here, as in TimeLimit=1:30:00; scontrol update takes +10 and -10");
  auto answer = call_again(context, Request{"PATCH", "/v1/jobs/" + id, change->body, {}, 60});
  if (!answer) return complain_to_people(context, answer.error());
  answer->root()["warnings"].for_each([&](Json warning) { context.err.line(fmt::format("sy: warning: {}", warning.text())); });
  context.out.line(options.json ? std::string{answer->root().raw()} : fmt::format("Job {} is changed.", id));
  return 0;
}

}  // namespace sy::cli

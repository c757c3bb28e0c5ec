#include "cli/submit/sbatch.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/api.hpp"
#include "cli/calendar.hpp"
#include "cli/json_writer.hpp"
#include "cli/placement_text.hpp"
#include "cli/submit/collect.hpp"
#include "cli/submit/options.hpp"
#include "cli/text.hpp"
#include "model/annotation_names.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/json_text.hpp"

namespace sy::cli {

namespace {

std::string body_of(const Submission& submission, const std::vector<std::string>& environment) {
  std::string body = "{\"spec\":";
  wire::append_job_spec(body, submission.request.spec);
  if (is_utf8(submission.script)) {
    body += ",\"script\":";
    wire::append_quoted(body, submission.script);
  } else {
    body += fmt::format(",\"script_base64\":\"{}\"", base64(submission.script));
  }
  body += ",\"environment\":[";
  for (std::size_t i = 0; i < environment.size(); ++i) {
    if (i > 0) body += ',';
    wire::append_quoted(body, environment[i]);
  }
  body += submission.request.test_only ? "],\"dry_run\":true}" : "]}";
  return body;
}

// A script tells by SLURM_EXIT_ERROR its own exit codes from those of an error here.
int error_code(const Context& context) {
  const std::string text = context.env("SLURM_EXIT_ERROR").value_or("");
  int code = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), code);
  return fault == std::errc{} && end == text.data() + text.size() && code > 0 && code < 256 ? code : 1;
}

// The API speaks of members of the SPEC, who submits of options: "spec.name is too long" is about --job-name.
void speak_of_options(base::Error& error, const SubmitRequest& request) {
  static constexpr std::pair<std::string_view, std::string_view> options[] = {
      {"spec.name", "--job-name"},     {"spec.partitions", "--partition"},
      {"spec.time_limit_s", "--time"}, {"spec.time_min_s", "--time-min"},
      {"spec.work_dir", "--chdir"},    {"spec.std_in", "--input"},
      {"spec.std_out", "--output"},    {"spec.std_err", "--error"},
      {"spec.script_name", "script"},  {"spec.script_args", "script"},
      {"spec.nice", "--nice"}};
  const std::string before = error.field;
  for (const auto& [member, option] : options)
    if (before == member) error.field = option;
  for (const auto& [member, unused] : model::annotation_names)
    if (before == fmt::format("spec.annotations.{}", member)) error.field = "--" + model::option_of_annotation(member);
  if (before == "--gres" && request.gres.empty() && !request.gpus_per_node.empty()) error.field = "--gpus-per-node";
  if (error.message.starts_with(before + " ")) error.message.erase(0, before.size() + 1);
  if (error.message == "is too long" && error.hint.empty()) error.hint = "write a shorter one";
}

int report_failure(Context& context, base::Error error, const SubmitRequest& request) {
  speak_of_options(error, request);
  for (const auto& line : split_list(slurm_contact_text(error), '\n'))
    context.err.line(fmt::format("{}: error: Batch job submission failed: {}", context.program, line));
  return error_code(context);
}

// "allocation failure: …" keeps the words that tools look for, with our verdict behind them.
int report_dry_run(Context& context, const SubmitRequest& request, Json answer) {
  if (request.json) return context.out.line(answer.raw()), 0;
  const Json verdict = answer["verdict"];
  if (verdict["kind"].text() == "never") {
    context.err.line(fmt::format("{}: error: allocation failure: {}", context.program,
                                 verdict["text"].text("Requested node configuration is not available")));
    return error_code(context);
  }
  const auto start = answer["start_us"];
  if (start.is_number())
    context.err.line(fmt::format("{}: Job {} to start at {} using {} processors on nodes {} in partition {}", context.program,
                                 answer["id"].integer(), TimeStyle::of(context).text(start.integer() / 1'000'000),
                                 answer["processors"].integer(), answer["nodes"].text(), answer["partition"].text()));
  else
    context.err.line(fmt::format("{}: Job {} to start at an unknown time: {}", context.program, answer["id"].integer(),
                                 verdict["text"].text("nothing is planned for it yet")));
  return 0;
}

// The job's exit code; 1 when a signal or anything but its script ended it.
int wait_for_end(Context& context, std::int64_t id) {
  const Request request = get(fmt::format("/v1/jobs/{}?wait=30&for=ended", id));
  constexpr int patience = 300;  // a controller may be down for some minutes; the job goes on without it
  for (int failures = 0;;) {
    auto answer = call_again(context, request);
    if (!answer && answer.error().code == base::Code::unavailable && ++failures < patience) {
      context.sleep_ms(2000);
      continue;
    }
    if (!answer) {
      context.err.line(
          fmt::format("{}: error: job {} can no longer be followed: {}", context.program, id, slurm_contact_text(answer.error())));
      return error_code(context);
    }
    const Json job = answer->root();
    if (job["state"].text() != "ended") continue;
    if (job["exit_signal"].integer() != 0) return 1;
    const auto code = static_cast<int>(job["exit_code"].integer());
    return code == 0 && job["outcome"].text() != "completed" ? 1 : code;
  }
}

// For people, and complete: where each rank would go now, or what is in the way on each rung.
int report_trial(Context& context, const SubmitRequest& request, Json answer) {
  if (request.json) return context.out.line(answer.raw()), 0;
  const Json verdict = answer["verdict"];
  const TimeStyle times = TimeStyle::of(context);
  const auto start = answer["start_us"];
  if (verdict["kind"].text() == "fits" && answer["partition"].text() != "") {
    const auto cpus = answer["processors"].integer();
    context.out.line(fmt::format("would start now in partition {}: {} processor{} on {}", answer["partition"].text(), cpus,
                                 cpus == 1 ? "" : "s", answer["nodes"].text()));
    const Json placed = answer["placement"];
    if (!placed || placed.is_null()) return 0;
    context.out.line("placed: " + placed_summary(placed));
    if (const auto beaten = beaten_text(placed); !beaten.empty()) context.out.line("preferred to " + beaten);
    for (const auto& line : rank_lines(placed, SIZE_MAX)) context.out.line(line);
    return 0;
  }
  context.out.line(fmt::format("would wait: {} ({})", verdict["text"].text(), verdict["reason"].text()));
  for (const auto& line : rung_lines(verdict, times)) context.out.line("within " + line);
  if (start.is_number()) context.out.line("planned start " + times.text(start.integer() / 1'000'000));
  return 0;
}

// Only this cluster is known; its name is asked for when one is given.
base::Result<std::string> check_clusters(Context& context, const SubmitRequest& request) {
  if (request.clusters.empty() || lower(request.clusters) == "all") return std::string{};
  auto config = call(context, get("/v1/config"));
  if (!config) return base::fail(config.error());
  std::string name{config->root()["cluster_name"].text()};
  for (const auto& asked : split_list(request.clusters))
    if (asked == name) return name;
  return base::fail(base::Error{base::Code::not_found, "No cluster of this name is known", "--clusters", name, request.clusters,
                                "other clusters can not be reached by this release"});
}

int submit(Context& context, const Words& words, bool ours) {
  auto submission = collect_submission(context, words, ours);
  if (!submission) {
    context.err.line(fmt::format("{}: error: {}", context.program, base::to_text(submission.error())));
    return error_code(context);
  }
  auto& request = submission->request;
  if (request.help) return context.out << submit_help(ours), 0;
  if (request.usage)
    return context.out.line(fmt::format(
               "Usage: {} [-A account] [-c cpus] [-N nodes] [-n tasks] [-p partition] [-t time] … [script [arguments]]", context.program)),
           0;
  if (request.version) return context.out.line(fmt::format("slurm {} (switchyard {})", slurm_version, version)), 0;
  if (!request.socket.empty()) context.socket = request.socket;

  auto cluster = check_clusters(context, request);
  if (!cluster) return report_failure(context, cluster.error(), request);
  auto environment = job_environment(context, request, submission->warnings);
  if (!environment) return report_failure(context, environment.error(), request);
  if (!request.quiet)
    for (const auto& warning : submission->warnings) context.err.line(fmt::format("{}: warning: {}", context.program, warning));

  Request message = post("/v1/jobs", body_of(*submission, *environment));
  message.headers.emplace_back("Idempotency-Key", random_key());
  auto answer = call_again(context, message);
  if (!answer) return report_failure(context, answer.error(), request);
  if (request.test_only) return ours ? report_trial(context, request, answer->root()) : report_dry_run(context, request, answer->root());

  const std::int64_t id = answer->root()["id"].integer();
  if (!request.quiet)
    answer->root()["warnings"].for_each(
        [&](Json warning) { context.err.line(fmt::format("{}: warning: {}", context.program, warning.text())); });
  if (request.json) context.out.line(answer->root().raw());
  else if (request.parsable) context.out.line(cluster->empty() ? fmt::format("{}", id) : fmt::format("{};{}", id, *cluster));
  else if (!request.quiet)
    context.out.line(fmt::format("Submitted batch job {}", id) + (cluster->empty() ? "" : fmt::format(" on cluster {}", *cluster)));
  context.out.flush();
  context.err.flush();
  return request.wait ? wait_for_end(context, id) : 0;
}

}  // namespace

int run_sbatch(Context& context, const Words& words) { return submit(context, words, false); }
int run_submit(Context& context, const Words& words) { return submit(context, words, true); }

}  // namespace sy::cli

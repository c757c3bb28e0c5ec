#include <fmt/format.h>

#include <algorithm>

#include "base/control_characters.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/api.hpp"
#include "cli/calendar.hpp"
#include "cli/command_options.hpp"
#include "cli/placement_text.hpp"
#include "cli/queue/job_fields.hpp"
#include "cli/sy/commands.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "model/annotation_names.hpp"

namespace sy::cli {

namespace {

// "Label      text" lines.
class Sheet {
 public:
  explicit Sheet(Output& out) : out_(out) {}
  void line(std::string_view label, std::string_view text) {
    if (!text.empty()) out_.line(fmt::format("  {:<11} {}", label, base::show_control(text)));
  }

 private:
  Output& out_;
};

std::string when(const TimeStyle& times, Json us) { return us.is_number() ? times.text(us.integer() / 1'000'000) : std::string{}; }

void why_it_waits(Context& context, Sheet& sheet, Json job, const TimeStyle& times) {
  const Json verdict = job["verdict"];
  std::string text{verdict["text"].text(job["reason_text"].text())};
  if (const auto ahead = verdict["ahead"].integer(); ahead > 0 && text.find("before") == std::string::npos)
    text += fmt::format("; {} job{} before it", ahead, ahead == 1 ? " is" : "s are");
  sheet.line("waits:", fmt::format("{} ({})", text, job["reason"].text()));
  for (const auto& line : rung_lines(verdict, times)) sheet.line("within", line);
  if (const Json start = job["planned_start_us"]; start.is_number()) {
    const auto wait = start.integer() / 1'000'000 - times.now_s();
    std::string plan = when(times, start);
    if (wait > 0) plan += fmt::format(" (in about {})", span_words(wait));
    if (!job["planned_nodes"].text().empty()) plan += fmt::format(" on {}", job["planned_nodes"].text());
    sheet.line("planned:", plan);
  } else {
    sheet.line("planned:", job["held_by_user"].boolean() || job["held_by_admin"].boolean()
                               ? fmt::format("not while it is held; sy release {}", job["id"].integer())
                               : std::string{"not yet"});
  }
  static_cast<void>(context);
}

bool wishes_switches(Json group) {
  bool wishes = group["switches"].integer() > 0;
  group["children"].for_each([&](Json child) { wishes = wishes || wishes_switches(child); });
  return wishes;
}

// Where the partition's topology is no tree of switches, --switches says nothing. Asked only about jobs that have it.
bool switches_count(Context& context, Json job, Json group) {
  if (!wishes_switches(group)) return true;
  const auto partition = call(context, get("/v1/partitions/" + url_encode(job["partition"].text())));
  if (!partition) return true;
  const std::string_view name = partition->root()["topology"].text();
  const auto topology = call(context, get("/v1/topologies/" + (name.empty() ? "default" : url_encode(name))));
  return topology ? topology->root()["kind"].text() == "tree" : topology.error().code != base::Code::not_found;
}

std::string asked_for(Json job, Json group, bool counts) {
  std::string text = fmt::format("{} node{}, {} task{}", job["node_count"].integer(), job["node_count"].integer() == 1 ? "" : "s",
                                 job["tasks"].integer(1), job["tasks"].integer(1) == 1 ? "" : "s");
  if (group["children"].size() > 0) return text + " in groups" + wishes_text(group, counts);  // each asks for its own
  text += fmt::format(", {:g} CPU{} a task", job["cpus_per_task"].number(1), job["cpus_per_task"].number(1) == 1 ? "" : "s");
  if (const Json m = job["memory_per_node_mib"]; m.is_number())
    text += m.integer() == 0 ? ", all memory" : fmt::format(", {} memory a node", base::format_memory(base::Mebibytes{m.integer()}));
  else if (const Json c = job["memory_per_cpu_mib"]; c.is_number())
    text += fmt::format(", {} memory a CPU", base::format_memory(base::Mebibytes{c.integer()}));
  if (!job["gres"].text().empty()) text += fmt::format(", {}", job["gres"].text());
  if (job["sharing"].text() == "exclusive_node") text += ", whole nodes";
  if (job["sharing"].text() == "exclusive_user") text += ", shared with own jobs only";
  if (!job["constraint"].text().empty()) text += fmt::format(", features {}", job["constraint"].text());
  if (!job["nodelist"].text().empty()) text += fmt::format(", on {}", job["nodelist"].text());
  if (!job["exclude"].text().empty()) text += fmt::format(", not on {}", job["exclude"].text());
  return text + wishes_text(group, counts);
}

std::string how_it_ended(Json job) {
  std::string text = lower(job["slurm_state"].text());
  if (job["exit_signal"].integer() != 0) text += fmt::format(", signal {}", job["exit_signal"].integer());
  else if (job["exit_code"].is_number()) text += fmt::format(", exit code {}", job["exit_code"].integer());
  const std::string_view why = job["end_reason"].text();
  if (!why.empty() && !text.ends_with(why)) text += fmt::format(": {}", why);
  return text;
}

void show_job(Context& context, Json job, const TimeStyle& times, bool all) {
  Sheet sheet(context.out);
  const std::string_view state = job["slurm_state"].text();
  context.out.line(fmt::format("Job {} {}: {}", job["id"].integer(), base::show_control(job["name"].text()),
                               painted(context.out, state_colour(state), lower(state))));
  sheet.line("user:", fmt::format("{} ({})", job["user"].text(), job["group"].text()));
  sheet.line("partition:", job["partition"].text());
  Json group;
  job["spec"]["groups"].for_each([&](Json g) { group = g; });
  const bool counts = switches_count(context, job, group);
  sheet.line("asks for:", asked_for(job, group, counts));
  for (const auto& line : group_lines(group, counts, all ? SIZE_MAX : 16)) sheet.line("group", line);
  const Json limit = job["time_limit_s"];
  sheet.line("limit:", limit.is_number() ? base::format_walltime(base::Duration{base::seconds{limit.integer()}}) : std::string{"none"});
  sheet.line("submitted:", when(times, job["submitted_us"]));
  if (state == "PENDING") {
    why_it_waits(context, sheet, job, times);
  } else {
    std::string ran = when(times, job["started_us"]);  // empty: it never did
    if (job["elapsed_s"].is_number() && !ran.empty()) ran += fmt::format(", {} so far", span_words(job["elapsed_s"].integer()));
    if (job["ended_us"].is_number() && !ran.empty())
      ran = fmt::format("{} to {} ({})", when(times, job["started_us"]), when(times, job["ended_us"]),
                        span_words(job["elapsed_s"].integer()));
    sheet.line("ran:", ran);
    sheet.line("nodes:", job["nodes"].text());
    if (const Json placed = job["placed"]; placed && !placed.is_null()) {
      sheet.line("placed:", placed_summary(placed));
      sheet.line("before:", beaten_text(placed));
      for (const auto& line : rank_lines(placed, all ? SIZE_MAX : 16)) sheet.line("", line);
    }
    if (job["state"].text() == "ended") sheet.line("ended:", how_it_ended(job));
    else sheet.line("note:", job["reason_text"].text());
    if (job["cpu_time_s"].is_number()) {
      const auto mib = job["peak_memory_mib"].integer();
      sheet.line("used:", fmt::format("{:.1f} s of CPU, {} memory at most on one node", job["cpu_time_s"].number(),
                                      base::format_memory(base::Mebibytes{mib})));
    }
  }
  if (job["restarts"].integer() > 0) sheet.line("restarts:", std::to_string(job["restarts"].integer()));
  sheet.line("folder:", job["work_dir"].text());
  sheet.line("output:", job["std_out"].text());
  if (job["std_err"].text() != job["std_out"].text()) sheet.line("errors:", job["std_err"].text());
  for (const auto& [name, member] : model::annotation_names)
    sheet.line(fmt::format("{}:", model::option_of_annotation(name)), job[name].text());
}

struct ShowOptions : CommonOptions {
  bool all{};
};
constexpr CommandOption<ShowOptions> table[] = {
    {"all", 'a', option::none, option::set<&ShowOptions::all>, "", "every rank and group of a large job"}};

}  // namespace

int run_show(Context& context, const Words& words) {
  ShowOptions options;
  auto operands = read_options<ShowOptions>(table, words, options);
  if (!operands) return complain_to_people(context, operands.error());
  if (auto code = answer_common<ShowOptions>(context, table, options, "sy show JOB …")) return *code;
  if (operands->empty()) return complain_to_people(context, "name a job: sy show 42");
  const TimeStyle times = TimeStyle::of(context);
  int code = 0;
  for (const auto& id : *operands) {
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) {
      code = complain_to_people(context, fmt::format("\"{}\" is not the number of a job", id));
      continue;
    }
    // A job that has left the queue is still known to the accounting.
    auto job = call(context, get("/v1/jobs/" + id));
    Json row = job ? job->root() : Json{};
    base::Result<JsonDocument> past = base::fail(base::Code::not_found, "");
    if (!job && job.error().code == base::Code::not_found) {
      past = call(context, get("/v1/accounting?id=" + id));
      if (past) past->root()["attempts"].for_each([&](Json attempt) { row = attempt; });
    }
    if (!row)
      code = complain_to_people(context, !job && job.error().code != base::Code::not_found
                                             ? job.error()
                                             : base::Error{base::Code::not_found, fmt::format("there is no job {}", id), {}, {}, {}, {}});
    else if (options.json) context.out.line(row.raw());
    else show_job(context, row, times, options.all);
  }
  return code;
}

}  // namespace sy::cli

#include "cli/accounting/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/text.hpp"
#include "cli/text_argument.hpp"

namespace sy::cli {

namespace {

using Out = std::string&;
using Row = const AccountingRow&;
using View = const AccountingView&;

// A member as text, of jobs and steps; of jobs only; as a number; a fixed text.
template <Text t>
void T(Out out, Row row, View) {
  out += row.job[s<t>].text();
}
template <Text t>
void J(Out out, Row row, View) {
  if (!row.batch_step) out += row.job[s<t>].text();
}
template <Text t>
void I(Out out, Row row, View) {
  out += std::to_string(row.job[s<t>].integer());
}
template <Text t>
void JI(Out out, Row row, View) {
  if (!row.batch_step) out += std::to_string(row.job[s<t>].integer());
}
template <Text t>
void A(Out out, Row, View) {
  out += s<t>;
}
template <Text t>
void W(Out out, Row row, View view) {
  const Json at = row.job[s<t>];
  out += view.times.micros(at.is_number() ? std::optional{at.integer()} : std::nullopt, "Unknown");
}

std::string hms(std::int64_t seconds) { return base::format_walltime_long(base::Duration{base::seconds{seconds}}); }
// "00:01.500": below an hour Slurm writes processor time in minutes and thousandths.
std::string cpu_time_text(double seconds) {
  const auto ms = std::llround(seconds * 1000);
  if (ms >= 3'600'000) return hms(ms / 1000);
  return fmt::format("{:02}:{:02}.{:03}", ms / 60'000, ms / 1000 % 60, ms % 1000);
}

std::string size(std::int64_t kib, View view, char usual) {
  static constexpr std::string_view units = "KMGTP";
  if (view.unit != 0) {
    double amount = static_cast<double>(kib);
    for (std::size_t i = 0; i < units.find(view.unit); ++i) amount /= 1024;
    return view.unit == 'K' ? fmt::format("{}K", kib) : fmt::format("{:.2f}{}", amount, view.unit);
  }
  if (usual == 'K') return fmt::format("{}K", kib);
  return view.noconvert ? fmt::format("{}M", kib / 1024) : base::format_memory(base::Mebibytes{kib / 1024});
}

std::int64_t batch_cpus(Json job) {
  const auto nodes = std::max<std::int64_t>(1, job["node_count"].integer());
  return (job["cpus"].integer() + nodes - 1) / nodes;
}
bool was_started(Json job) { return job["started_us"].is_number() || !job["nodes"].text().empty(); }

void job_id(Out out, Row row, View) {
  out += std::to_string(row.job["id"].integer());
  if (row.batch_step) out += ".batch";
}
void job_name(Out out, Row row, View) { out += row.batch_step ? std::string_view{"batch"} : row.job["name"].text(); }
void alloc_cpus(Out out, Row row, View) {
  out += std::to_string(row.batch_step ? batch_cpus(row.job) : was_started(row.job) ? row.job["cpus"].integer() : 0);
}
void alloc_nodes(Out out, Row row, View) {
  out += std::to_string(row.batch_step ? 1 : was_started(row.job) ? row.job["node_count"].integer() : 0);
}
void node_count(Out out, Row row, View) { out += std::to_string(row.batch_step ? 1 : row.job["node_count"].integer()); }
void cpu_count(Out out, Row row, View) { out += std::to_string(row.batch_step ? batch_cpus(row.job) : row.job["cpus"].integer()); }
void task_count(Out out, Row row, View) {
  if (row.batch_step) out += "1";
}
void node_list(Out out, Row row, View) {
  const auto list = row.batch_step ? row.job["batch_host"].text() : row.job["nodes"].text();
  out += list.empty() ? std::string_view{"None assigned"} : list;
}
// "CANCELLED by 1000": who is told in the reason of the end.
void state(Out out, Row row, View) {
  const std::string_view name = row.job["slurm_state"].text();
  out += row.batch_step && name == "TIMEOUT" ? std::string_view{"CANCELLED"} : name;  // the limit is the job's
  if (name != "CANCELLED" || row.batch_step) return;
  const std::string_view why = row.job["end_reason"].text();
  constexpr std::string_view mark = "by uid ";
  const auto at = why.find(mark);
  if (at == std::string_view::npos) return;
  const auto digits = why.substr(at + mark.size());
  out += fmt::format(" by {}", digits.substr(0, digits.find_first_not_of("0123456789")));
}
void exit_code(Out out, Row row, View) {
  // Killed for memory shows as 0:125, as in Slurm, whatever the script itself said; the signal that ended a job from outside
  // is its batch step's.
  const std::string_view name = row.job["slurm_state"].text();
  if (name == "OUT_OF_MEMORY") out += "0:125";
  else if (!row.batch_step && (name == "CANCELLED" || name == "TIMEOUT")) out += fmt::format("{}:0", row.job["exit_code"].integer());
  else out += fmt::format("{}:{}", row.job["exit_code"].integer(), row.job["exit_signal"].integer());
}
void derived_exit(Out out, Row row, View) {
  if (!row.batch_step) out += fmt::format("{}:0", row.job["exit_code"].integer());
}
void elapsed(Out out, Row row, View) { out += hms(row.job["elapsed_s"].integer()); }
void elapsed_raw(Out out, Row row, View) { out += std::to_string(row.job["elapsed_s"].integer()); }
std::int64_t cpu_seconds(Row row) {
  return row.job["elapsed_s"].integer() * (row.batch_step ? batch_cpus(row.job) : row.job["cpus"].integer());
}
void cpu_time(Out out, Row row, View) { out += hms(cpu_seconds(row)); }
void cpu_time_raw(Out out, Row row, View) { out += std::to_string(cpu_seconds(row)); }
void total_cpu(Out out, Row row, View) { out += cpu_time_text(row.job["cpu_time_s"].number()); }
void max_rss(Out out, Row row, View view) {
  if (row.batch_step && row.job["peak_memory_mib"].is_number()) out += size(row.job["peak_memory_mib"].integer() * 1024, view, 'K');
}
void max_rss_node(Out out, Row row, View) {
  if (row.batch_step) out += row.job["batch_host"].text();
}
void req_mem(Out out, Row row, View view) {
  if (!row.batch_step) out += size(row.job["memory_mib"].integer() * 1024, view, 'M');
}
void alloc_tres(Out out, Row row, View) {
  if (was_started(row.job)) out += row.job["tres"].text();
}
void time_limit(Out out, Row row, View) {
  if (row.batch_step) return;
  const Json limit = row.job["time_limit_s"];
  out += limit.is_number() ? hms(limit.integer()) : std::string{"UNLIMITED"};
}
void time_limit_raw(Out out, Row row, View) {
  if (row.batch_step) return;
  const Json limit = row.job["time_limit_s"];
  out += limit.is_number() ? std::to_string(limit.integer() / 60) : std::string{"UNLIMITED"};
}
std::int64_t planned_s(Json job, View view) {
  const auto from = job["eligible_us"].integer(job["submitted_us"].integer());
  const auto to = job["started_us"].integer(job["ended_us"].integer(view.times.now_s() * 1'000'000));
  return std::max<std::int64_t>(0, (to - from) / 1'000'000);
}
void planned(Out out, Row row, View view) {
  if (!row.batch_step) out += hms(planned_s(row.job, view));
}
void planned_cpu(Out out, Row row, View view) {
  if (!row.batch_step) out += hms(planned_s(row.job, view) * row.job["cpus"].integer());
}
void cluster(Out out, Row, View view) { out += view.cluster; }
void std_err(Out out, Row row, View) {
  if (!row.batch_step) out += row.job["std_err"].text().empty() ? row.job["std_out"].text() : row.job["std_err"].text();
}
void start_time(Out out, Row row, View view) {
  const Json at = row.job["started_us"].is_number() ? row.job["started_us"] : Json{};
  out += view.times.micros(at.is_number() ? std::optional{at.integer()} : std::nullopt,
                           row.job["state"].text() == "ended" ? "None" : "Unknown");
}
void nothing(Out, Row, View) {}

// clang-format off
constexpr AccountingField table[] = {
    {"Account", 10, T<"account">},
    {"AdminComment", 19, nothing},
    {"AllocCPUS", 10, alloc_cpus},
    {"AllocNodes", 10, alloc_nodes},
    {"AllocTRES", 10, alloc_tres},
    {"AssocID", 7, JI<"">},
    {"AveCPU", 10, nothing},
    {"AveCPUFreq", 10, nothing},
    {"AveDiskRead", 14, nothing},
    {"AveDiskWrite", 14, nothing},
    {"AvePages", 10, nothing},
    {"AveRSS", 10, max_rss},
    {"AveVMSize", 10, nothing},
    {"BlockID", 16, nothing},
    {"Cluster", 10, cluster},
    {"Comment", 14, J<"comment">},
    {"Constraints", 15, J<"constraint">},
    {"ConsumedEnergy", 14, nothing},
    {"ConsumedEnergyRaw", 17, nothing},
    {"Container", 20, nothing},
    {"CpuBind", 15, J<"cpu_bind">},
    {"CPUTime", 10, cpu_time},
    {"CPUTimeRAW", 10, cpu_time_raw},
    {"DBIndex", 10, JI<"id">},
    {"DerivedExitCode", 15, derived_exit},
    {"Distribution", 15, J<"distribution">},
    {"Elapsed", 10, elapsed},
    {"ElapsedRaw", 10, elapsed_raw},
    {"Eligible", 19, W<"eligible_us">},
    {"End", 19, W<"ended_us">},
    {"ExitCode", 8, exit_code},
    {"Extra", 20, nothing},
    {"FailedNode", 15, nothing},
    {"Flags", 20, A<"">},
    {"GID", 6, JI<"gid">},
    {"Group", 9, J<"group">},
    {"Hint", 15, J<"hint">},
    {"JobID", -12, job_id},
    {"JobIDRaw", -12, job_id},
    {"JobName", 10, job_name},
    {"Layout", 9, nothing},
    {"Licenses", 10, nothing},
    {"MailType", 15, J<"mail_type">},
    {"MailUser", 20, J<"mail_user">},
    {"MaxDiskRead", 12, nothing},
    {"MaxDiskReadNode", 15, nothing},
    {"MaxDiskReadTask", 15, nothing},
    {"MaxDiskWrite", 12, nothing},
    {"MaxDiskWriteNode", 16, nothing},
    {"MaxDiskWriteTask", 16, nothing},
    {"MaxPages", 8, nothing},
    {"MaxPagesNode", 12, nothing},
    {"MaxPagesTask", 14, nothing},
    {"MaxRSS", 10, max_rss},
    {"MaxRSSNode", 10, max_rss_node},
    {"MaxRSSTask", 10, nothing},
    {"MaxVMSize", 10, nothing},
    {"MaxVMSizeNode", 14, nothing},
    {"MaxVMSizeTask", 14, nothing},
    {"McsLabel", 10, nothing},
    {"MemBind", 15, J<"mem_bind">},
    {"MinCPU", 10, nothing},
    {"MinCPUNode", 10, nothing},
    {"MinCPUTask", 10, nothing},
    {"NCPUS", 10, cpu_count},
    {"NNodes", 8, node_count},
    {"NodeList", 15, node_list},
    {"NTasks", 8, task_count},
    {"Partition", 10, J<"partition">},
    {"Planned", 10, planned},
    {"PlannedCPU", 10, planned_cpu},
    {"PlannedCPURAW", 13, nothing},
    {"Priority", 10, JI<"priority">},
    {"QOS", 10, J<"qos">},
    {"QOSRAW", 10, nothing},
    {"QOSREQ", 10, J<"qos">},
    {"Reason", 22, J<"reason">},
    {"ReqCPUFreq", 10, nothing},
    {"ReqCPUFreqGov", 13, nothing},
    {"ReqCPUFreqMax", 13, nothing},
    {"ReqCPUFreqMin", 13, nothing},
    {"ReqCPUS", 8, cpu_count},
    {"ReqMem", 10, req_mem},
    {"ReqNodes", 8, node_count},
    {"ReqTRES", 10, J<"tres">},
    {"Reservation", 20, nothing},
    {"ReservationId", 13, nothing},
    {"Reserved", 10, planned},
    {"Restarts", 8, JI<"restarts">},
    {"SLUID", 14, JI<"id">},
    {"Start", 19, start_time},
    {"State", 10, state},
    {"StdErr", 20, std_err},
    {"StdIn", 20, J<"std_in">},
    {"StdOut", 20, J<"std_out">},
    {"Submit", 19, W<"submitted_us">},
    {"SubmitLine", 20, nothing},
    {"Suspended", 10, A<"00:00:00">},
    {"SystemComment", 20, nothing},
    {"SystemCPU", 10, A<"00:00.000">},
    {"Timelimit", 10, time_limit},
    {"TimelimitRaw", 12, time_limit_raw},
    {"TotalCPU", 10, total_cpu},
    {"TRESUsageInAve", 14, nothing},
    {"TRESUsageInMax", 14, nothing},
    {"TRESUsageInMaxNode", 18, nothing},
    {"TRESUsageInMaxTask", 18, nothing},
    {"TRESUsageInMin", 14, nothing},
    {"TRESUsageInMinNode", 18, nothing},
    {"TRESUsageInMinTask", 18, nothing},
    {"TRESUsageInTot", 14, nothing},
    {"TRESUsageOutAve", 15, nothing},
    {"TRESUsageOutMax", 15, nothing},
    {"TRESUsageOutMaxNode", 19, nothing},
    {"TRESUsageOutMaxTask", 19, nothing},
    {"TRESUsageOutMin", 15, nothing},
    {"TRESUsageOutMinNode", 19, nothing},
    {"TRESUsageOutMinTask", 19, nothing},
    {"TRESUsageOutTot", 15, nothing},
    {"UID", 6, JI<"uid">},
    {"User", 9, J<"user">},
    {"UserCPU", 10, total_cpu},
    {"WCKey", 10, J<"wckey">},
    {"WCKeyID", 8, nothing},
    {"WorkDir", 20, J<"work_dir">},
};
// clang-format on

}  // namespace

std::span<const AccountingField> accounting_fields() { return table; }

const AccountingField* find_accounting_field(std::string_view name) {
  const std::string wanted = lower(name);
  for (const auto& field : table)
    if (lower(field.name) == wanted) return &field;
  return nullptr;
}

}  // namespace sy::cli

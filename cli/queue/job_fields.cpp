#include "cli/queue/job_fields.hpp"

#include <fmt/format.h>

#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/state_names.hpp"
#include "cli/text_argument.hpp"

namespace sy::cli {

std::string memory_text(std::int64_t mib, bool noconvert) {
  return noconvert ? fmt::format("{}M", mib) : base::format_memory(base::Mebibytes{mib});
}

std::string job_memory(Json job, bool noconvert) {
  if (const Json per_cpu = job["memory_per_cpu_mib"]; per_cpu.is_number()) return memory_text(per_cpu.integer(), noconvert);
  return memory_text(job["memory_per_node_mib"].integer(), noconvert);
}

std::string seconds_text(Json seconds, std::string_view when_null) {
  if (!seconds.is_number()) return std::string{when_null};
  return base::format_walltime(base::Duration{base::seconds{seconds.integer()}});
}

std::string job_reason_or_nodes(Json job) {
  const std::string_view nodes = job["nodes"].text();
  const std::string_view state = job["slurm_state"].text();
  if (!nodes.empty() &&
      (state == "RUNNING" || state == "COMPLETING" || state == "CONFIGURING" || state == "SUSPENDED" || state == "COMPLETED"))
    return std::string{nodes};
  return fmt::format("({})", job["reason"].text("None"));
}

namespace {

using Out = std::string&;
using View = const JobView&;

void or_null(Out out, Json value) { out += value.text().empty() ? std::string_view{"(null)"} : value.text(); }
void whole(Out out, Json value) { fmt::format_to(std::back_inserter(out), "{}", value.integer()); }
std::optional<std::int64_t> point(Json value) { return value.is_number() ? std::optional{value.integer()} : std::nullopt; }

// A member of the API as text, as text or "(null)", as a number, a fixed text, the number to sort by, a point in time.
template <Text t>
void T(Out out, Json job, View) {
  out += job[s<t>].text();
}
template <Text t>
void N(Out out, Json job, View) {
  or_null(out, job[s<t>]);
}
template <Text t>
void I(Out out, Json job, View) {
  whole(out, job[s<t>]);
}
template <Text t>
void A(Out out, Json, View) {
  out += s<t>;
}
template <Text t>
std::int64_t K(Json job) {
  return job[s<t>].integer();
}
template <Text t>
void W(Out out, Json job, View view) {
  out += view.times.micros(point(job[s<t>]), "N/A");
}

std::optional<std::int64_t> start_of(Json job) {
  if (auto started = point(job["started_us"])) return started;
  return point(job["planned_start_us"]);
}
std::optional<std::int64_t> end_of(Json job) {
  if (auto ended = point(job["ended_us"])) return ended;
  const auto start = start_of(job);
  if (!start || !job["time_limit_s"].is_number()) return std::nullopt;
  return *start + job["time_limit_s"].integer() * 1'000'000;
}

void start_time(Out out, Json job, View view) { out += view.times.micros(start_of(job), "N/A"); }
void end_time(Out out, Json job, View view) { out += view.times.micros(end_of(job), "N/A"); }
std::int64_t start_key(Json job) { return start_of(job).value_or(INT64_MAX); }
std::int64_t end_key(Json job) { return end_of(job).value_or(INT64_MAX); }
void time_used(Out out, Json job, View) { out += seconds_text(job["elapsed_s"], "0:00"); }
void time_limit(Out out, Json job, View) { out += seconds_text(job["time_limit_s"], "UNLIMITED"); }
std::int64_t limit_key(Json job) { return job["time_limit_s"].integer(INT64_MAX); }
std::int64_t left_s(Json job) {
  const Json limit = job["time_limit_s"];
  return limit.is_number() ? std::max<std::int64_t>(0, limit.integer() - job["elapsed_s"].integer()) : INT64_MAX;
}
void time_left(Out out, Json job, View) {
  const std::int64_t left = left_s(job);
  out += left == INT64_MAX ? "UNLIMITED" : base::format_walltime(base::Duration{base::seconds{left}});
}
void pending_time(Out out, Json job, View view) {
  const std::int64_t until = point(job["started_us"]).value_or(view.times.now_s() * 1'000'000);
  fmt::format_to(std::back_inserter(out), "{}", (until - job["submitted_us"].integer()) / 1'000'000);
}
void memory(Out out, Json job, View view) { out += job_memory(job, view.noconvert); }
std::int64_t memory_key(Json job) { return job["memory_per_cpu_mib"].integer(job["memory_per_node_mib"].integer()); }
void reason(Out out, Json job, View) { out += job["reason"].text("None"); }
void reason_list(Out out, Json job, View) { out += job_reason_or_nodes(job); }
void batch_host(Out out, Json job, View) { out += job["batch_host"].text().empty() ? std::string_view{"n/a"} : job["batch_host"].text(); }
void gres(Out out, Json job, View) {
  const std::string_view list = job["gres"].text();
  if (list.empty()) {
    out += "N/A";
    return;
  }
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    fmt::format_to(std::back_inserter(out), "{}gres/{}", at == 0 ? "" : ",", list.substr(at, end - at));
    at = end + 1;
  }
}
void over_subscribe(Out out, Json job, View) {
  const std::string_view sharing = job["sharing"].text();
  out += sharing == "exclusive_node" ? "NO" : sharing == "exclusive_user" ? "USER" : "OK";
}
void contiguous(Out out, Json job, View) { out += job["contiguous"].boolean() ? '1' : '0'; }
void requeue(Out out, Json job, View) { out += job["requeue"].boolean() ? '1' : '0'; }
void priority_share(Out out, Json job, View) {
  fmt::format_to(std::back_inserter(out), "{:.14f}", job["priority"].number() / 4294967295.0);
}
std::int64_t state_key(Json job) { return state_rank(job["slurm_state"].text()); }
void exit_code(Out out, Json job, View) {
  fmt::format_to(std::back_inserter(out), "{}:{}", job["exit_code"].integer(), job["exit_signal"].integer());
}
void cluster(Out out, Json, View view) { out += view.cluster.empty() ? std::string_view{"N/A"} : view.cluster; }
void stderr_pattern(Out out, Json job, View) { out += job["std_err"].text().empty() ? job["std_out"].text() : job["std_err"].text(); }
void tasks_per_node(Out out, Json job, View) {
  if (job["tasks_per_node"].integer() == 0) out += "N/A";
  else whole(out, job["tasks_per_node"]);
}
void switches(Out out, Json job, View) { whole(out, job["switches"]); }

constexpr std::string_view limits = "started_us,planned_start_us,time_limit_s,ended_us";
constexpr std::string_view where = "slurm_state,nodes,reason";

// clang-format off
constexpr JobField table[] = {
    {{"Account", 'a', "ACCOUNT"}, "account", N<"account">, nullptr},
    {{"JobID", 'A', "JOBID"}, "id", I<"id">, K<"id">},
    {{"JobArrayID", 'i', "JOBID"}, "id", I<"id">, K<"id">},
    {{"ArrayJobID", 'F', "ARRAY_JOB_ID"}, "id", I<"id">, K<"id">},
    {{"ArrayTaskID", 'K', "ARRAY_TASK_ID"}, "id", A<"N/A">, nullptr},
    {{"tres-per-node", 'b', "TRES_PER_NODE"}, "gres", gres, nullptr},
    {{"Gres", 0, "TRES_PER_NODE"}, "gres", gres, nullptr},
    {{"BatchHost", 'B', "EXEC_HOST"}, "batch_host", batch_host, nullptr},
    {{"MinCpus", 'c', "MIN_CPUS"}, "cpus_per_task", I<"cpus_per_task">, K<"cpus_per_task">},
    {{"NumCPUs", 'C', "CPUS"}, "cpus", I<"cpus">, K<"cpus">},
    {{"MinTmpDisk", 'd', "MIN_TMP_DISK"}, "id", A<"0">, nullptr},
    {{"NumNodes", 'D', "NODES"}, "node_count", I<"node_count">, K<"node_count">},
    {{"EndTime", 'e', "END_TIME"}, limits, end_time, end_key},
    {{"Dependency", 'E', "DEPENDENCY"}, "id", A<"(null)">, nullptr},
    {{"Feature", 'f', "FEATURES"}, "constraint", N<"constraint">, nullptr},
    {{"GroupName", 'g', "GROUP"}, "group", T<"group">, nullptr},
    {{"GroupID", 'G', "GROUP"}, "gid", I<"gid">, K<"gid">},
    {{"OverSubscribe", 'h', "OVER_SUBSCRIBE"}, "sharing", over_subscribe, nullptr},
    {{"Sockets", 'H', "SOCKETS_PER_NODE"}, "id", A<"*">, nullptr},
    {{"Cores", 'I', "CORES_PER_SOCKET"}, "id", A<"*">, nullptr},
    {{"Name", 'j', "NAME"}, "name", T<"name">, nullptr},
    {{"Threads", 'J', "THREADS_PER_CORE"}, "id", A<"*">, nullptr},
    {{"Comment", 'k', "COMMENT"}, "comment", N<"comment">, nullptr},
    {{"TimeLimit", 'l', "TIME_LIMIT"}, "time_limit_s", time_limit, limit_key},
    {{"TimeLeft", 'L', "TIME_LEFT"}, "time_limit_s,elapsed_s", time_left, left_s},
    {{"MinMemory", 'm', "MIN_MEMORY"}, "memory_per_node_mib,memory_per_cpu_mib", memory, memory_key},
    {{"TimeUsed", 'M', "TIME"}, "elapsed_s", time_used, K<"elapsed_s">},
    {{"ReqNodes", 'n', "REQ_NODES"}, "nodelist", T<"nodelist">, nullptr},
    {{"NodeList", 'N', "NODELIST"}, "nodes", T<"nodes">, nullptr},
    {{"Nodes", 0, "NODELIST"}, "nodes", T<"nodes">, nullptr},
    {{"Command", 'o', "COMMAND"}, "command", T<"command">, nullptr},
    {{"Contiguous", 'O', "CONTIGUOUS"}, "contiguous", contiguous, nullptr},
    {{"Priority", 'p', "PRIORITY"}, "priority", priority_share, K<"priority">},
    {{"Partition", 'P', "PARTITION"}, "partition", T<"partition">, nullptr},
    {{"QOS", 'q', "QOS"}, "qos", N<"qos">, nullptr},
    {{"PriorityLong", 'Q', "PRIORITY"}, "priority", I<"priority">, K<"priority">},
    {{"Reason", 'r', "REASON"}, "reason", reason, nullptr},
    {{"ReasonList", 'R', "NODELIST(REASON)"}, where, reason_list, nullptr},
    {{"StartTime", 'S', "START_TIME"}, "started_us,planned_start_us", start_time, start_key},
    {{"SelectJobInfo", 's', "SELECT_JOBINFO"}, "id", A<"">, nullptr},
    {{"StateCompact", 't', "ST"}, "slurm_state,slurm_state_compact", T<"slurm_state_compact">, state_key},
    {{"State", 'T', "STATE"}, "slurm_state", T<"slurm_state">, state_key},
    {{"UserName", 'u', "USER"}, "user", T<"user">, nullptr},
    {{"UserID", 'U', "USER"}, "uid", I<"uid">, K<"uid">},
    {{"Reservation", 'v', "RESERVATION"}, "id", A<"(null)">, nullptr},
    {{"SubmitTime", 'V', "SUBMIT_TIME"}, "submitted_us", W<"submitted_us">, K<"submitted_us">},
    {{"WCKey", 'w', "WCKEY"}, "wckey", N<"wckey">, nullptr},
    {{"Licenses", 'W', "LICENSES"}, "id", A<"(null)">, nullptr},
    {{"ExcNodes", 'x', "EXC_NODES"}, "exclude", T<"exclude">, nullptr},
    {{"CoreSpec", 'X', "CORE_SPEC"}, "id", A<"N/A">, nullptr},
    {{"Nice", 'y', "NICE"}, "nice", I<"nice">, K<"nice">},
    {{"SchedNodes", 'Y', "SCHEDNODES"}, "planned_nodes", N<"planned_nodes">, nullptr},
    {{"SCT", 'z', "S:C:T"}, "id", A<"*:*:*">, nullptr},
    {{"WorkDir", 'Z', "WORK_DIR"}, "work_dir", T<"work_dir">, nullptr},
    // by name only
    {{"AccrueTime", 0, "ACCRUE_TIME"}, "eligible_us", W<"eligible_us">, K<"eligible_us">},
    {{"admin_comment", 0, "ADMIN_COMMENT"}, "id", A<"(null)">, nullptr},
    {{"AllocNodes", 0, "ALLOC_NODES"}, "nodes", N<"nodes">, nullptr},
    {{"AllocSID", 0, "ALLOC_SID"}, "id", A<"N/A">, nullptr},
    {{"AssocID", 0, "ASSOC_ID"}, "id", A<"0">, nullptr},
    {{"BatchFlag", 0, "BATCH_FLAG"}, "id", A<"1">, nullptr},
    {{"BoardsPerNode", 0, "BOARDS_PER_NODE"}, "id", A<"N/A">, nullptr},
    {{"BurstBuffer", 0, "BURST_BUFFER"}, "id", A<"N/A">, nullptr},
    {{"BurstBufferState", 0, "BURST_BUFFER_STATE"}, "id", A<"N/A">, nullptr},
    {{"Cluster", 0, "CLUSTER"}, "id", cluster, nullptr},
    {{"ClusterFeature", 0, "CLUSTER_FEATURES"}, "id", A<"(null)">, nullptr},
    {{"Container", 0, "CONTAINER"}, "id", A<"(null)">, nullptr},
    {{"CpuBind", 0, "CPU_BIND"}, "cpu_bind", N<"cpu_bind">, nullptr},
    {{"CPUFreq", 0, "CPU_FREQ"}, "id", A<"N/A">, nullptr},
    {{"cpus-per-task", 0, "CPUS_PER_TASK"}, "cpus_per_task", I<"cpus_per_task">, K<"cpus_per_task">},
    {{"cpus-per-tres", 0, "CPUS_PER_TRES"}, "id", A<"N/A">, nullptr},
    {{"Deadline", 0, "DEADLINE"}, "id", A<"N/A">, nullptr},
    {{"DelayBoot", 0, "DELAY_BOOT"}, "id", A<"N/A">, nullptr},
    {{"DerivedEC", 0, "DERIVED_EC"}, "exit_code,exit_signal", exit_code, nullptr},
    {{"Distribution", 0, "DISTRIBUTION"}, "distribution", N<"distribution">, nullptr},
    {{"EligibleTime", 0, "ELIGIBLE_TIME"}, "eligible_us", W<"eligible_us">, K<"eligible_us">},
    {{"exit_code", 0, "EXIT_CODE"}, "exit_code,exit_signal", exit_code, nullptr},
    {{"HetJobID", 0, "HET_JOB_ID"}, "id", A<"N/A">, nullptr},
    {{"HetJobIDSet", 0, "HET_JOB_ID_SET"}, "id", A<"N/A">, nullptr},
    {{"HetJobOffset", 0, "HET_JOB_OFFSET"}, "id", A<"N/A">, nullptr},
    {{"Hint", 0, "HINT"}, "hint", N<"hint">, nullptr},
    {{"LastSchedEval", 0, "LAST_SCHED_EVAL"}, "id", A<"N/A">, nullptr},
    {{"LicensesAlloc", 0, "LICENSES_ALLOC"}, "id", A<"(null)">, nullptr},
    {{"MailType", 0, "MAIL_TYPE"}, "mail_type", N<"mail_type">, nullptr},
    {{"MailUser", 0, "MAIL_USER"}, "mail_user", N<"mail_user">, nullptr},
    {{"MaxCPUs", 0, "MAX_CPUS"}, "id", A<"0">, nullptr},
    {{"MaxNodes", 0, "MAX_NODES"}, "max_nodes", I<"max_nodes">, K<"max_nodes">},
    {{"MCSLabel", 0, "MCSLABEL"}, "id", A<"N/A">, nullptr},
    {{"MemBind", 0, "MEM_BIND"}, "mem_bind", N<"mem_bind">, nullptr},
    {{"mem-per-tres", 0, "MEM_PER_TRES"}, "id", A<"N/A">, nullptr},
    {{"MinTime", 0, "MIN_TIME"}, "id", A<"0:00">, nullptr},
    {{"Network", 0, "NETWORK"}, "id", A<"(null)">, nullptr},
    {{"NTPerBoard", 0, "NTASKS_PER_BOARD"}, "id", A<"N/A">, nullptr},
    {{"NTPerCore", 0, "NTASKS_PER_CORE"}, "id", A<"N/A">, nullptr},
    {{"NTPerNode", 0, "NTASKS_PER_NODE"}, "tasks_per_node", tasks_per_node, K<"tasks_per_node">},
    {{"NTPerSocket", 0, "NTASKS_PER_SOCKET"}, "id", A<"N/A">, nullptr},
    {{"NumTasks", 0, "TASKS"}, "tasks", I<"tasks">, K<"tasks">},
    {{"Origin", 0, "ORIGIN"}, "id", A<"N/A">, nullptr},
    {{"OriginRaw", 0, "ORIGIN_RAW"}, "id", A<"0">, nullptr},
    {{"OverTimeLimit", 0, "OVERTIME_LIMIT"}, "id", A<"NONE">, nullptr},
    {{"PendingTime", 0, "PENDING_TIME"}, "submitted_us,started_us", pending_time, nullptr},
    {{"PreemptTime", 0, "PREEMPT_TIME"}, "id", A<"N/A">, nullptr},
    {{"Prefer", 0, "PREFER"}, "id", A<"(null)">, nullptr},
    {{"Profile", 0, "PROFILE"}, "id", A<"None">, nullptr},
    {{"Reboot", 0, "REBOOT"}, "id", A<"0">, nullptr},
    {{"ReqSwitch", 0, "REQ_SWITCH"}, "switches", switches, K<"switches">},
    {{"Requeue", 0, "REQUEUE"}, "requeue", requeue, nullptr},
    {{"ResizeTime", 0, "RESIZE_TIME"}, "id", A<"N/A">, nullptr},
    {{"RestartCnt", 0, "RESTART_COUNT"}, "restarts", I<"restarts">, K<"restarts">},
    {{"ResvPort", 0, "RESV_PORTS"}, "id", A<"N/A">, nullptr},
    {{"STDERR", 0, "STDERR"}, "std_err,std_out", stderr_pattern, nullptr},
    {{"STDIN", 0, "STDIN"}, "std_in", T<"std_in">, nullptr},
    {{"STDOUT", 0, "STDOUT"}, "std_out", T<"std_out">, nullptr},
    {{"system_comment", 0, "SYSTEM_COMMENT"}, "id", A<"(null)">, nullptr},
    {{"tres-alloc", 0, "TRES_ALLOC"}, "tres", T<"tres">, nullptr},
    {{"tres-bind", 0, "TRES_BIND"}, "id", A<"N/A">, nullptr},
    {{"tres-freq", 0, "TRES_FREQ"}, "id", A<"N/A">, nullptr},
    {{"tres-per-job", 0, "TRES_PER_JOB"}, "id", A<"N/A">, nullptr},
    {{"tres-per-socket", 0, "TRES_PER_SOCKET"}, "id", A<"N/A">, nullptr},
    {{"tres-per-step", 0, "TRES_PER_STEP"}, "id", A<"N/A">, nullptr},
    {{"tres-per-task", 0, "TRES_PER_TASK"}, "id", A<"N/A">, nullptr},
    {{"Wait4Switch", 0, "WAIT4SWITCH"}, "id", A<"0">, nullptr},
};
// clang-format on

}  // namespace

std::span<const JobField> job_fields() { return table; }

std::span<const FieldName> job_field_names() {
  static const std::vector<FieldName> names = [] {
    std::vector<FieldName> list;
    for (const auto& field : table) list.push_back(field.name);
    return list;
  }();
  return names;
}

}  // namespace sy::cli

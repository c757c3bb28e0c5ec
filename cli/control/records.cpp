#include "cli/control/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/control_characters.hpp"
#include "base/hostlist.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/nodes/node_fields.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

// Lines of Key=Value: "\n   " between, or one blank with --oneliner.
class Record {
 public:
  explicit Record(bool one_line) : one_line_(one_line) {}
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (!text_.empty()) text_ += one_line_ ? " " : "\n   ";
    text_ += base::show_control(fmt::format(format, std::forward<Args>(args)...));
  }
  std::string take() { return std::move(text_) + (one_line_ ? "\n" : "\n\n"); }

 private:
  bool one_line_;
  std::string text_;
};

std::string_view or_null(Json value) { return value.text().empty() ? std::string_view{"(null)"} : value.text(); }
std::optional<std::int64_t> point(Json value) { return value.is_number() ? std::optional{value.integer()} : std::nullopt; }
std::string span(Json seconds, std::string_view when_null) {
  return seconds.is_number() ? base::format_walltime_long(base::Duration{base::seconds{seconds.integer()}}) : std::string{when_null};
}
std::string memory(std::int64_t mib) { return base::format_memory(base::Mebibytes{mib}); }

std::string tres_per_node(Json job) {
  const auto gres = split_list(job["gres"].text());
  return gres.empty() ? std::string{} : "gres/" + join(gres, ",gres/");
}

// n1: "gpu:a100:2(IDX:0-1)"
std::string gres_on_node(Json entry) {
  std::map<std::string, std::vector<std::string>> indices;
  entry["gres"].for_each([&](Json g) {
    std::string name{g["name"].text()};
    if (!g["type"].text().empty()) name += fmt::format(":{}", g["type"].text());
    indices[name].push_back(std::to_string(g["index"].integer()));
  });
  std::string text;
  for (const auto& [name, list] : indices) {
    std::string folded = base::fold_hostlist(list);
    if (folded.size() > 1 && folded.front() == '[') folded = folded.substr(1, folded.size() - 2);
    text += fmt::format("{}{}:{}(IDX:{})", text.empty() ? "" : ",", name, list.size(), folded);
  }
  return text;
}

// "Hint=nomultithread CpuBind=cores": what was given of it.
std::string bindings(Json job) {
  std::string text;
  for (const auto& [key, member] :
       {std::pair{"Hint", "hint"}, {"Distribution", "distribution"}, {"CpuBind", "cpu_bind"}, {"MemBind", "mem_bind"}})
    if (!job[member].text().empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, job[member].text());
  return text;
}

void job_details(Record& record, Json job) {
  job["placement"].for_each([&](Json grant) {
    std::string gres;
    job["gres_detail"].for_each([&](Json entry) {
      if (entry["node"].text() == grant["node"].text()) gres = gres_on_node(entry);
    });
    record.line("  Nodes={} CPUs={:g} Tasks={} GRES={}", grant["node"].text(), grant["cpus"].number(), grant["tasks"].integer(), gres);
  });
}

void job_times(Record& record, Json job, const TimeStyle& times) {
  const auto started = point(job["started_us"]);
  const auto start = started ? started : point(job["planned_start_us"]);
  auto end = point(job["ended_us"]);
  if (!end && start && job["time_limit_s"].is_number()) end = *start + job["time_limit_s"].integer() * 1'000'000;
  record.line("RunTime={} TimeLimit={} TimeMin=N/A", span(job["elapsed_s"], "00:00:00"), span(job["time_limit_s"], "UNLIMITED"));
  record.line("SubmitTime={} EligibleTime={}", times.micros(point(job["submitted_us"]), "Unknown"),
              times.micros(point(job["eligible_us"]), "Unknown"));
  record.line("AccrueTime={}", times.micros(point(job["eligible_us"]), "Unknown"));
  record.line("StartTime={} EndTime={} Deadline=N/A", times.micros(start, "Unknown"), times.micros(end, "Unknown"));
  record.line("SuspendTime=None SecsPreSuspend=0 LastSchedEval=Unknown Scheduler=Main");
}

void job_resources(Record& record, Json job) {
  record.line("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={:g} ReqB:S:C:T=0:0:*:*", job["node_count"].integer(), job["cpus"].integer(),
              job["tasks"].integer(), job["cpus_per_task"].number(1));
  record.line("ReqTRES={}", or_null(job["tres"]));
  record.line("AllocTRES={}", job["nodes"].text().empty() ? std::string_view{"(null)"} : or_null(job["tres"]));
  const auto per_node = job["tasks_per_node"].integer();
  record.line("Socks/Node=* NtasksPerN:B:S:C={}:0:*:* CoreSpec=*", per_node);
  const auto cpus = std::max<std::int64_t>(1, per_node) * std::max<std::int64_t>(1, job["cpus_per_task"].integer());
  if (job["memory_per_cpu_mib"].is_number())
    record.line("MinCPUsNode={} MinMemoryCPU={} MinTmpDiskNode=0", cpus, memory(job["memory_per_cpu_mib"].integer()));
  else record.line("MinCPUsNode={} MinMemoryNode={} MinTmpDiskNode=0", cpus, memory(job["memory_per_node_mib"].integer()));
  const std::string_view sharing = job["sharing"].text();
  record.line("Features={} DelayBoot=00:00:00", or_null(job["constraint"]));
  record.line("OverSubscribe={} Contiguous={} Licenses=(null) Network=(null)",
              sharing == "exclusive_node"   ? "NO"
              : sharing == "exclusive_user" ? "USER"
                                            : "OK",
              job["contiguous"].boolean() ? 1 : 0);
}

}  // namespace

std::string job_record(Json job, const RecordStyle& style) {
  Record record(style.one_line);
  record.line("JobId={} JobName={}", job["id"].integer(), job["name"].text());
  record.line("UserId={}({}) GroupId={}({}) MCS_label=N/A", job["user"].text(), job["uid"].integer(), job["group"].text(),
              job["gid"].integer());
  record.line("Priority={} Nice={} Account={} QOS={} WCKey={}", job["priority"].integer(), job["nice"].integer(), or_null(job["account"]),
              or_null(job["qos"]), or_null(job["wckey"]));
  record.line("JobState={} Reason={} Dependency=(null)", job["slurm_state"].text(), job["reason"].text("None"));
  if (!job["reason_text"].text().empty()) record.line("ReasonText=\"{}\"", job["reason_text"].text());
  record.line("Requeue={} Restarts={} BatchFlag=1 Reboot=0 ExitCode={}:{}", job["requeue"].boolean() ? 1 : 0, job["restarts"].integer(),
              job["exit_code"].integer(), job["exit_signal"].integer());
  if (style.details) record.line("DerivedExitCode={}:{}", job["exit_code"].integer(), job["exit_signal"].integer());
  job_times(record, job, style.times);
  record.line("Partition={} AllocNode:Sid={}:0", job["partition"].text(), job["spec"]["submit_host"].text("N/A"));
  record.line("ReqNodeList={} ExcNodeList={}", or_null(job["nodelist"]), or_null(job["exclude"]));
  record.line("NodeList={}{}", or_null(job["nodes"]),
              job["planned_nodes"].text().empty() ? std::string{} : fmt::format(" SchedNodeList={}", job["planned_nodes"].text()));
  if (!job["batch_host"].text().empty()) record.line("BatchHost={}", job["batch_host"].text());
  job_resources(record, job);
  if (style.details) job_details(record, job);
  record.line("Command={}", or_null(job["command"]));
  record.line("WorkDir={}", job["work_dir"].text());
  if (!job["comment"].text().empty()) record.line("Comment={}", job["comment"].text());
  if (const std::string bound = bindings(job); !bound.empty()) record.line("{}", bound);
  record.line("StdErr={}", job["std_err"].text().empty() ? job["std_out"].text() : job["std_err"].text());
  record.line("StdIn={}", job["std_in"].text());
  record.line("StdOut={}", job["std_out"].text());
  if (job["switches"].is_number()) record.line("Switches={}", job["switches"].integer());
  if (job["segment_size"].is_number()) record.line("SegmentSize={}", job["segment_size"].integer());
  if (const std::string tres = tres_per_node(job); !tres.empty()) record.line("TresPerNode={}", tres);
  if (!job["mail_type"].text().empty() || !job["mail_user"].text().empty())
    record.line("MailUser={} MailType={}", job["mail_user"].text().empty() ? job["user"].text() : job["mail_user"].text(),
                job["mail_type"].text().empty() ? "NONE" : job["mail_type"].text());
  return record.take();
}

namespace {

std::string node_state_words(Json node) {
  const std::string_view state = node["state"].text();
  const bool held = node["cpus_held"].number() > 0;
  const bool full = node["cpus_held"].number() >= node["cpus"].number();
  std::string word = state == "down" || state == "fenced" ? "DOWN"
                     : state == "unknown"                 ? "UNKNOWN"
                     : !held                              ? "IDLE"
                     : full                               ? "ALLOCATED"
                                                          : "MIXED";
  if (node["drained"].boolean() || state == "drained" || state == "draining") word += "+DRAIN";
  if (node["contact"].text("up") != "up") word += word == "UNKNOWN" ? "*" : "+NOT_RESPONDING";
  return word;
}

std::string node_tres(std::int64_t cpus, std::int64_t mib, std::string_view gres) {
  if (cpus == 0 && mib == 0) return {};
  std::string text = fmt::format("cpu={},mem={},billing={}", cpus, memory(mib), cpus);
  std::map<std::string, std::int64_t> counts;
  for (const auto& part : split_list(gres)) {
    const auto paren = part.substr(0, part.find('('));
    const auto colon = paren.rfind(':');
    if (colon != std::string::npos) counts[paren.substr(0, paren.find(':'))] += std::strtoll(paren.c_str() + colon + 1, nullptr, 10);
  }
  for (const auto& [name, count] : counts)
    if (count > 0) text += fmt::format(",gres/{}={}", name, count);
  return text;
}

std::string words_of(Json list) {
  std::vector<std::string> words;
  list.for_each([&](Json word) { words.emplace_back(word.text()); });
  return join(words);
}

}  // namespace

std::string node_record(Json node, const RecordStyle& style) {
  Record record(style.one_line);
  const auto held = static_cast<std::int64_t>(node["cpus_held"].number() + 0.999);
  const std::string features = words_of(node["features"]);
  const std::string_view address = node["address"].text().empty() ? node["name"].text() : node["address"].text();
  record.line("NodeName={} Arch=x86_64 CoresPerSocket={} ", node["name"].text(), node["cores_per_socket"].integer(1));
  record.line("CPUAlloc={} CPUEfctv={} CPUTot={} CPULoad=N/A", held, node["cpus"].integer(), node["cpus"].integer());
  record.line("AvailableFeatures={}", features.empty() ? "(null)" : features);
  record.line("ActiveFeatures={}", features.empty() ? "(null)" : features);
  record.line("Gres={}", or_null(node["gres_text"]));
  if (style.details) record.line("GresUsed={}", or_null(node["gres_used_text"]));
  record.line("NodeAddr={} NodeHostName={} Port={} Version={}", address, node["name"].text(), node["port"].integer(),
              or_null(node["version"]));
  record.line("OS=Linux ");
  record.line("RealMemory={} AllocMem={} FreeMem=N/A Sockets={} Boards=1", node["memory_mib"].integer(), node["memory_held_mib"].integer(),
              node["sockets"].integer(1));
  record.line("State={} ThreadsPerCore={} TmpDisk=0 Weight={} Owner=N/A MCS_label=N/A", node_state_words(node),
              node["threads_per_core"].integer(1), node["weight"].integer(1));
  record.line("Partitions={} ", words_of(node["partitions"]));
  record.line("BootTime={} SlurmdStartTime={}", style.times.micros(point(node["boot_time_us"]), "None"),
              style.times.micros(point(node["registered_at_us"]), "None"));
  record.line("CfgTRES={}", node_tres(node["cpus"].integer(), node["memory_mib"].integer(), node["gres_text"].text()));
  record.line("AllocTRES={}", node_tres(held, node["memory_held_mib"].integer(), node["gres_used_text"].text()));
  record.line("CurrentWatts=n/s AveWatts=n/s");
  if (!node["reason"].text().empty())
    record.line("Reason={} [{}@{}]", node["reason"].text(), who_of(node["reason_by"].text()).name,
                style.times.micros(point(node["reason_at_us"]), "Unknown"));
  return record.take();
}

std::string partition_record(Json partition, const RecordStyle& style) {
  Record record(style.one_line);
  const std::string groups = words_of(partition["allow_groups"]);
  const bool exclusive = partition["exclusive_node"].boolean();
  record.line("PartitionName={}", partition["name"].text());
  record.line("AllowGroups={} AllowAccounts=ALL AllowQos=ALL", groups.empty() ? "ALL" : groups);
  if (const auto users = words_of(partition["allow_users"]); !users.empty()) record.line("AllowUsers={}", users);
  record.line("AllocNodes=ALL Default={} QoS=N/A", partition["default"].boolean() ? "YES" : "NO");
  record.line("DefaultTime={} DisableRootJobs={} ExclusiveUser=NO ExclusiveTopo=NO GraceTime=0 Hidden={}",
              span(partition["default_time_s"], "NONE"), partition["allow_root"].boolean(true) ? "NO" : "YES",
              partition["hidden"].boolean() ? "YES" : "NO");
  const Json most = partition["max_nodes"];
  record.line("MaxNodes={} MaxTime={} MinNodes={} LLN=NO MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED",
              most.is_number() ? std::to_string(most.integer()) : "UNLIMITED", span(partition["max_time_s"], "UNLIMITED"),
              partition["min_nodes"].integer());
  record.line("Nodes={}", or_null(partition["nodes"]));
  record.line("PriorityJobFactor=1 PriorityTier={} RootOnly=NO ReqResv=NO OverSubscribe={}", partition["priority_tier"].integer(1),
              exclusive ? "EXCLUSIVE" : "NO");
  record.line("OverTimeLimit=NONE PreemptMode=OFF");
  record.line("State={} TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE", upper(partition["state"].text("up")),
              partition["cpus"].integer(), partition["node_count"].integer());
  record.line("JobDefaults=(null)");
  const Json per_cpu = partition["default_memory_per_cpu_mib"], per_node = partition["default_memory_per_node_mib"];
  record.line("DefMemPer{}={} MaxMemPerNode=UNLIMITED", per_cpu.is_number() ? "CPU" : "Node",
              per_cpu.is_number()    ? std::to_string(per_cpu.integer())
              : per_node.is_number() ? std::to_string(per_node.integer())
                                     : "UNLIMITED");
  if (!partition["topology"].text().empty()) record.line("Topology={}", partition["topology"].text());
  record.line("TRES=cpu={},node={},billing={}", partition["cpus"].integer(), partition["node_count"].integer(),
              partition["cpus"].integer());
  return record.take();
}

}  // namespace sy::cli

#include "daemon/agent/job_environment.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace sy::daemon {

namespace {

using Variables = std::map<std::string, std::string>;

// What a job's own submissions must not hand on to the next job.
bool belongs_to_enclosing_job(std::string_view name) {
  for (const std::string_view prefix : {"SLURM_JOB",
                                        "SLURM_STEP",
                                        "SLURM_TASK",
                                        "SLURM_NODE",
                                        "SLURM_MEM_PER_",
                                        "SLURM_CPUS_",
                                        "SLURM_NTASKS",
                                        "SLURM_NPROCS",
                                        "SLURM_NNODES",
                                        "SLURM_ARRAY_",
                                        "SLURM_GPUS",
                                        "SLURM_TOPOLOGY_",
                                        "SLURM_RESTART_COUNT",
                                        "SLURM_PROCID",
                                        "SLURM_LOCALID",
                                        "SLURM_GTIDS",
                                        "SLURMD_",
                                        "SLURM_SUBMIT_",
                                        "SLURM_LAUNCH_NODE",
                                        "SLURM_PRIO_PROCESS",
                                        "SLURM_CLUSTER_NAME",
                                        "SWITCHYARD_ATTEMPT",
                                        "SWITCHYARD_SEGMENT",
                                        "SWITCHYARD_DOMAIN_",
                                        "SWITCHYARD_PLACEMENT",
                                        "SWITCHYARD_NODES_FILE",
                                        "CUDA_VISIBLE_DEVICES",
                                        "GPU_DEVICE_ORDINAL",
                                        "ROCR_VISIBLE_DEVICES"})
    if (name.starts_with(prefix)) return true;
  return false;
}

std::vector<std::uint32_t> cpu_counts(const wire::LaunchMessage& m) {
  std::vector<std::uint32_t> out;
  for (const auto c : m.cpus_of_nodes) out.push_back(static_cast<std::uint32_t>(base::cpu_count(c)));
  if (out.empty()) out.assign(std::max<std::size_t>(m.nodes.size(), 1), static_cast<std::uint32_t>(base::cpu_count(m.cpus)));
  return out;
}

void add_identity(const wire::LaunchMessage& m, Variables& v) {
  v["SLURM_JOB_ID"] = v["SLURM_JOBID"] = std::to_string(m.job.value);
  v["SLURM_JOB_PARTITION"] = m.partition;
  v["SLURM_JOB_UID"] = std::to_string(m.uid.value);
  v["SLURM_JOB_GID"] = std::to_string(m.gid.value);
  v["SLURM_JOB_USER"] = m.user;
  v["SLURM_CLUSTER_NAME"] = m.cluster;
  v["SLURMD_NODENAME"] = m.node;
  v["SLURM_JOB_NODELIST"] = v["SLURM_NODELIST"] = m.nodes_text;
  v["SLURM_JOB_NUM_NODES"] = v["SLURM_NNODES"] = std::to_string(std::max<std::size_t>(m.nodes.size(), 1));
  if (m.restarts > 0) v["SLURM_RESTART_COUNT"] = std::to_string(m.restarts);
}

void add_sizes(const wire::LaunchMessage& m, Variables& v) {
  v["SLURM_NTASKS"] = v["SLURM_NPROCS"] = std::to_string(m.tasks_total);
  v["SLURM_TASKS_PER_NODE"] = counts_text(m.tasks.empty() ? std::vector<std::uint32_t>{1} : m.tasks);
  if (m.tasks_per_node > 0) v["SLURM_NTASKS_PER_NODE"] = std::to_string(m.tasks_per_node);
  if (m.cpus_per_task.value > 0) v["SLURM_CPUS_PER_TASK"] = std::to_string(base::cpu_count(m.cpus_per_task));
  v["SLURM_CPUS_ON_NODE"] = std::to_string(base::cpu_count(m.cpus));
  v["SLURM_JOB_CPUS_PER_NODE"] = counts_text(cpu_counts(m));
  if (m.memory_per_node) v["SLURM_MEM_PER_NODE"] = std::to_string(m.memory_per_node->value);
  if (m.memory_per_cpu) v["SLURM_MEM_PER_CPU"] = std::to_string(m.memory_per_cpu->value);
}

// Frameworks look at the visible devices alone: a job without GPUs on a node that has some must see an empty list.
void add_gpus(const wire::LaunchMessage& m, bool node_has_gpus, Variables& v) {
  std::string list;
  std::size_t count = 0;
  bool amd = false;
  for (const auto& g : m.gres) {
    if (g.name != "gpu") continue;
    list += (list.empty() ? "" : ",") + std::to_string(g.index);
    amd = amd || g.device.starts_with("/dev/dri/") || g.device.starts_with("/dev/kfd");
    ++count;
  }
  if (count > 0) {
    v["SLURM_JOB_GPUS"] = list;
    v["SLURM_GPUS_ON_NODE"] = std::to_string(count);
    v["GPU_DEVICE_ORDINAL"] = list;
  }
  if (count == 0 && !node_has_gpus) return;
  v["CUDA_VISIBLE_DEVICES"] = list;
  if (amd) v["ROCR_VISIBLE_DEVICES"] = list;
}

// Slurm's words: a tree is made of switches.
std::string level_word(const std::string& level) { return level.find("block") != std::string::npos ? "block" : "switch"; }

// "nvl-72" → "NVL_72"
std::string variable_part(const std::string& level) {
  std::string out;
  for (const char c : level)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  return out;
}

void add_topology(const wire::LaunchMessage& m, Variables& v) {
  if (m.segment_size > 0) v["SLURM_JOB_SEGMENT_SIZE"] = std::to_string(m.segment_size);
  if (!m.placement) return;
  const model::PlacementRecord& record = *m.placement;
  const model::PlacedPart* here = nullptr;
  std::set<std::uint32_t> segments;
  for (const auto& part : record.parts)
    if (part.node.value == m.rank) {
      if (here == nullptr) here = &part;
      if (part.segment) segments.insert(*part.segment);
    }
  if (here == nullptr || here->path >= record.paths.size()) return;
  if (record.segmented && !segments.empty()) {
    std::string& text = v["SWITCHYARD_SEGMENT"];
    for (const auto s : segments) text += (text.empty() ? "" : ",") + std::to_string(s);
  }
  const auto& path = record.paths[here->path];
  std::string address, pattern;
  for (std::size_t i = 0; i < record.levels.size() && i < path.size(); ++i) {
    v["SWITCHYARD_DOMAIN_" + variable_part(record.levels[i])] = path[i];
    address += path[i] + ".";
    pattern += level_word(record.levels[i]) + ".";
  }
  v["SWITCHYARD_DOMAIN_NODE"] = m.node;
  v["SLURM_TOPOLOGY_ADDR"] = address + m.node;
  v["SLURM_TOPOLOGY_ADDR_PATTERN"] = pattern + "node";
}

void add_place_in_job(const wire::LaunchMessage& m, Variables& v) {
  v["SLURM_JOB_NAME"] = m.job_name;
  if (!m.account.empty()) v["SLURM_JOB_ACCOUNT"] = m.account;
  if (!m.qos.empty()) v["SLURM_JOB_QOS"] = m.qos;
  v["SLURM_SUBMIT_DIR"] = m.submit_dir.empty() ? m.work_dir : m.submit_dir;
  v["SLURM_SUBMIT_HOST"] = m.submit_host;
  v["SLURM_NODEID"] = std::to_string(m.rank);
  v["SLURM_PROCID"] = v["SLURM_LOCALID"] = v["SLURM_GTIDS"] = "0";
  v["ENVIRONMENT"] = "BATCH";
}

std::vector<std::string> to_list(const Variables& v) {
  std::vector<std::string> out;
  for (const auto& [name, value] : v) out.emplace_back(name).append("=").append(value);
  return out;
}

}  // namespace

std::string counts_text(const std::vector<std::uint32_t>& counts) {
  std::string out;
  for (std::size_t i = 0, same = 0; i < counts.size(); i += same) {
    for (same = 1; i + same < counts.size() && counts[i + same] == counts[i];) ++same;
    out += (out.empty() ? "" : ",") + std::to_string(counts[i]);
    if (same > 1) out += "(x" + std::to_string(same) + ")";
  }
  return out;
}

std::vector<std::string> job_environment(const wire::LaunchMessage& m, const Account& account, bool node_has_gpus) {
  Variables v{{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"TMPDIR", "/tmp"}, {"SHELL", account.shell.empty() ? "/bin/sh" : account.shell}};
  for (const auto& entry : m.environment) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = entry.substr(0, equals);
    if (!belongs_to_enclosing_job(name)) v[name] = entry.substr(equals + 1);
  }
  v.emplace("HOME", account.home.empty() ? "/" : account.home);
  v.emplace("USER", account.name);
  v.emplace("LOGNAME", account.name);
  add_identity(m, v);
  add_place_in_job(m, v);
  add_sizes(m, v);
  add_gpus(m, node_has_gpus, v);
  add_topology(m, v);
  return to_list(v);
}

std::vector<std::string> hook_environment(const wire::LaunchMessage& m) {
  Variables v{{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}};
  add_identity(m, v);
  add_gpus(m, false, v);
  return to_list(v);
}

}  // namespace sy::daemon

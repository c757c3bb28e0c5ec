#include "daemon/controller/launch_message.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/assert.hpp"
#include "model/group_tree.hpp"
#include "wire/views.hpp"

namespace sy::daemon {

namespace {
void add_allocation(wire::LaunchMessage& m, const model::State& state, const model::Attempt& attempt, std::size_t rank) {
  const model::NodeGrant& grant = attempt.nodes[rank];
  const model::Node& node = state.nodes.at(grant.node.value);
  m.node = node.name;
  m.role = rank == 0 ? wire::LaunchMessage::Role::lead : wire::LaunchMessage::Role::member;
  m.rank = static_cast<std::uint32_t>(rank);
  m.cpus = grant.used.cpus;
  m.memory = grant.used.memory;
  m.whole_node = grant.held == node.total;
  for (const model::GresInstanceIndex index : grant.gres_instances)
    if (index < node.shape.gres.size()) m.gres.push_back(node.shape.gres[index]);
  m.tasks_total = 0;
  for (const model::NodeGrant& each : attempt.nodes) {
    m.nodes.push_back(state.nodes.at(each.node.value).name);
    m.tasks.push_back(each.tasks);
    m.cpus_of_nodes.push_back(each.used.cpus);
    m.tasks_total += each.tasks;
  }
  m.nodes_text = wire::hostlist_in_order(attempt.nodes, state);
  if (!attempt.placement) return;
  // The agent knows no node numbers: a part's node is its position in `nodes`. What was beaten, and who is kept away, is no business
  // of the job's.
  auto record = std::make_shared<model::PlacementRecord>(*attempt.placement);
  record->beaten.clear();
  record->closed.clear();
  std::unordered_map<std::uint32_t, std::uint32_t> position;
  for (std::uint32_t i = 0; i < attempt.nodes.size(); ++i) position.emplace(attempt.nodes[i].node.value, i);
  for (auto& part : record->parts) part.node = base::NodeIndex{position.at(part.node.value)};
  m.placement = model::PlacementHandle{std::move(record)};
}
}  // namespace

wire::LaunchMessage make_launch(const model::State& state, const model::Job& job, std::size_t rank, const std::vector<base::Gid>& groups) {
  ASSERT(job.attempt && rank < job.attempt->nodes.size(), "only a live attempt's node is launched");
  const model::JobSpec& spec = *job.spec;
  const model::Attempt& attempt = *job.attempt;
  wire::LaunchMessage m;
  m.job = job.id;
  m.attempt = attempt.number;
  m.epoch = state.epoch;
  add_allocation(m, state, attempt, rank);
  m.user = job.user;
  m.uid = job.uid;
  m.gid = job.gid;
  m.groups = groups;
  if (std::find(m.groups.begin(), m.groups.end(), job.gid) == m.groups.end()) m.groups.insert(m.groups.begin(), job.gid);
  m.job_name = spec.name;
  m.partition = attempt.partition;
  m.account = spec.annotations->account;
  m.qos = spec.annotations->qos;
  m.cluster = state.settings.cluster_name;
  if (!spec.groups.empty()) {
    const model::Group& group = spec.groups.front();
    const auto leaves = model::leaves_of(group);
    const auto cpus = leaves.front().group->cpus_per_task;
    const bool same = std::all_of(leaves.begin(), leaves.end(), [&](const auto& l) { return l.group->cpus_per_task == cpus; });
    m.cpus_per_task = same ? cpus : base::Cpus{};  // groups that differ have no common answer
    m.tasks_per_node = group.tasks_per_node;
    m.memory_per_node = group.memory_per_node;
    m.memory_per_cpu = group.memory_per_cpu;
    if (!group.segments.empty()) m.segment_size = group.segments.front().size;
  }
  m.work_dir = m.submit_dir = spec.work_dir;
  m.std_in = spec.std_in;
  m.std_out = spec.std_out;
  m.std_err = spec.std_err;
  m.append_output = spec.append_output;
  m.script_args = spec.script_args;
  if (attempt.time_limit != base::Duration::max()) m.time_limit = attempt.time_limit;
  m.warning_signal = spec.warning_signal;
  m.kill_grace = state.settings.kill_grace;
  m.restarts = job.restarts;
  m.submit_host = spec.submit_host;
  return m;
}

std::string join_environment(const std::vector<std::string>& entries) {
  std::string out;
  for (const std::string& entry : entries) out.append(entry).push_back('\0');
  return out;
}

std::vector<std::string> split_environment(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace sy::daemon

#include "sched/view.hpp"

#include <algorithm>

#include "model/job_target.hpp"
#include "sched/feasible/needs.hpp"
#include "sched/placement/chooser.hpp"

namespace sy::sched {

namespace {

// What the jobs on a node mean for the next one: whose they are, and whether they want it for themselves.
void look_at_jobs(const State& state, const Node& node, NodeNow& now) {
  now.jobs = static_cast<std::uint32_t>(node.jobs.size());
  for (std::size_t i = 0; i < node.jobs.size(); ++i) {
    const Job& job = state.jobs.at(node.jobs[i]);
    const Partition* p = job.attempt ? state.find_partition(job.attempt->partition) : nullptr;
    const Sharing sharing = job.spec->groups.front().sharing;
    now.exclusive = now.exclusive || sharing == Sharing::exclusive_node || (p != nullptr && p->exclusive_node);
    now.exclusive_user = now.exclusive_user || sharing == Sharing::exclusive_user;
    if (i == 0) now.sole_user = job.uid;
    else if (now.sole_user != job.uid) now.sole_user = Uid{~0U};
  }
}

}  // namespace

NodeNow node_now(const State& state, const Node& node) {
  NodeNow now;
  now.free = node.total;
  now.free -= node.held;
  now.usable = node.usable();
  now.drained = node.drained;
  look_at_jobs(state, node, now);
  return now;
}

View make_view(const State& state, std::shared_ptr<const ClusterShape> shape) {
  View v;
  v.snapshot = state.sequence;
  v.policy_version = state.policy_version;
  v.settings = state.settings;
  v.shape = std::move(shape);
  v.nodes.reserve(state.nodes.size());
  for (const auto& node : state.nodes) v.nodes.push_back(node_now(state, node));
  nodes_of_exclusive_domains(state).for_each([&](NodeIndex n) { v.nodes[n.value].exclusive = true; });
  v.waiting.reserve(state.waiting.size());
  for (auto id : state.waiting) v.waiting.push_back(waiting_job(state.jobs.at(id)));
  look_at_running_jobs(v, state);
  return v;
}

WaitingJob waiting_job(const Job& j) {
  return {j.id,
          j.spec,
          j.uid,
          j.submitted,
          j.eligible,
          j.held_by_user,
          j.held_by_admin,
          j.launch_failures > 0,
          model::names_jobs(j.spec->groups.front())};
}

void look_at_running_jobs(View& v, const State& state) {
  v.running.clear();
  v.running_of.clear();
  for (const auto& job : v.waiting)
    if (job.names_jobs) v.running_of.insert(job.uid);
  if (v.running_of.empty()) return;
  for (const auto id : state.live) {
    const Job& job = state.jobs.at(id);
    if (!job.attempt || !v.running_of.contains(job.uid)) continue;
    RunningJob r{id, job.uid, job.spec, {}};
    for (const auto& grant : job.attempt->nodes)
      if (grant.phase != NodePhase::clear && grant.phase != NodePhase::fenced) r.nodes.push_back(grant.node);
    v.running.push_back(std::move(r));
  }
}

}  // namespace sy::sched

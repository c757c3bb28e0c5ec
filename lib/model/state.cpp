#include "model/state.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace sy::model {

const Job* State::find_job(JobId id) const {
  auto it = jobs.find(id);
  return it == jobs.end() ? nullptr : &it->second;
}

const Node* State::find_node(std::string_view name) const {
  auto it = node_by_name.find(std::string(name));
  return it == node_by_name.end() ? nullptr : &nodes[it->second.value];
}

const Partition* State::find_partition(std::string_view name) const {
  auto it = std::find_if(partitions.begin(), partitions.end(), [&](const Partition& p) { return p.name == name; });
  return it == partitions.end() ? nullptr : &*it;
}

namespace {

void rebuild_nodes(State& state) {
  state.node_by_name.clear();
  for (auto& node : state.nodes) {
    if (!node.removed) state.node_by_name[node.name] = node.index;
    node.total = total_of(node.shape);
    node.held = {};
    node.jobs.clear();
    node.gres_holder.assign(node.shape.gres.size(), JobId{});
  }
}

void hold(State& state, const Job& job, const NodeGrant& grant) {
  ASSERT(grant.node.value < state.nodes.size(), "a grant names a node of the cluster");
  Node& node = state.nodes[grant.node.value];
  node.held += grant.held;
  node.jobs.push_back(job.id);  // jobs are visited in ascending order
  for (auto i : grant.gres_instances)
    if (i < node.gres_holder.size()) node.gres_holder[i] = job.id;
}

}  // namespace

void rebuild_derived(State& state) {
  state.waiting.clear();
  state.live.clear();
  state.ended_order.clear();
  state.shape.reset();
  rebuild_nodes(state);
  for (const auto& [id, job] : state.jobs) {
    switch (job.state) {
      case JobState::pending: state.waiting.insert(id); break;
      case JobState::ended: state.ended_order.insert({job.ended.value_or(Time{}), id}); break;
      case JobState::starting:
      case JobState::running:
      case JobState::suspended:
      case JobState::ending:
      case JobState::lost: state.live.insert(id); break;
    }
    if (!state.live.contains(id) || !job.attempt) continue;
    for (const auto& grant : job.attempt->nodes)
      if (!is_over(grant.phase)) hold(state, job, grant);
  }
}

}  // namespace sy::model

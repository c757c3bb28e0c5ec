#include "core/evolve/allocation.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace sy::core {

using namespace sy::model;

void hold(State& state, const Job& job, const NodeGrant& grant) {
  ASSERT(grant.node.value < state.nodes.size(), "a grant names a node of the cluster");
  Node& node = state.nodes[grant.node.value];
  node.held += grant.held;
  auto at = std::lower_bound(node.jobs.begin(), node.jobs.end(), job.id);
  ASSERT(at == node.jobs.end() || *at != job.id, "a job holds a node once");
  node.jobs.insert(at, job.id);
  for (auto i : grant.gres_instances) {
    ASSERT(i < node.gres_holder.size() && node.gres_holder[i] == JobId{}, "a GRES instance is given to one job");
    node.gres_holder[i] = job.id;
  }
}

void give_back(State& state, const Job& job, const NodeGrant& grant) {
  Node& node = state.nodes[grant.node.value];
  node.held -= grant.held;
  ASSERT(!node.held.any_negative(), "no more comes back than was held");
  auto at = std::lower_bound(node.jobs.begin(), node.jobs.end(), job.id);
  ASSERT(at != node.jobs.end() && *at == job.id, "what comes back was held");
  node.jobs.erase(at);
  for (auto i : grant.gres_instances) node.gres_holder[i] = JobId{};
}

void unindex(State& state, const Job& job) {
  if (job.state == JobState::pending) state.waiting.erase(job.id);
  else if (job.state == JobState::ended) state.ended_order.erase({job.ended.value_or(base::Time{}), job.id});
  else state.live.erase(job.id);
}

void index(State& state, const Job& job) {
  if (job.state == JobState::pending) state.waiting.insert(job.id);
  else if (job.state == JobState::ended) state.ended_order.insert({job.ended.value_or(base::Time{}), job.id});
  else state.live.insert(job.id);
}

}  // namespace sy::core

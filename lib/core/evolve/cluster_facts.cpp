#include "core/evolve/cluster_facts.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "core/attempt.hpp"
#include "core/evolve/configuration.hpp"

namespace sy::core::facts {

namespace {

Node& node_of(State& state, NodeIndex index) {
  ASSERT(index.value < state.nodes.size() && !state.nodes[index.value].removed, "a fact is about a node that exists");
  return state.nodes[index.value];
}

void say(Node& node, const std::string& reason, const std::string& by, Time at) {
  node.reason = reason;
  node.reason_by = by;
  node.reason_at = at;
}

// What the agent remembers teaches the controller after a restore from an older backup: ids and numbers in use are not
// given again, and a grant that was thought forgotten is known.
void learn(State& state, NodeIndex node, const AttemptOnNode& a) {
  state.next_job_id = std::max(state.next_job_id, JobId{a.job.value + 1});
  auto it = state.jobs.find(a.job);
  if (it == state.jobs.end()) return;
  Job& job = it->second;
  job.last_attempt = std::max(job.last_attempt, a.attempt);
  if (!is_live(job) || !job.attempt || job.attempt->number != a.attempt) return;
  NodeGrant* grant = find_grant(*job.attempt, node);
  if (grant == nullptr || grant->phase != NodePhase::unknown) return;
  grant->phase = is_ending(job) || is_over(a.phase) ? NodePhase::ending : a.phase;
}

}  // namespace

void apply(State& state, const Configured& f, Time) {
  put_configuration(state, f.settings, f.nodes, f.partitions);
  ++state.policy_version;
  state.shape.reset();
}

void apply(State& state, const TopologyImported& f, Time) {
  state.topologies[f.topology.name] = f.topology;
  state.shape.reset();
}

void apply(State& state, const EpochBegan& f, Time) {
  state.epoch = std::max(state.epoch, f.epoch);
  state.next_job_id = std::max(state.next_job_id, JobId{f.min_job_id});
}

void apply(State& state, const EnrolTokenIssued& f, Time at) {
  auto& tokens = state.enrol_tokens;
  std::erase_if(tokens, [&](const EnrolToken& t) { return t.expires <= at || t.node == f.token.node; });
  tokens.push_back(f.token);
}

void apply(State& state, const NodeEnrolled& f, Time) {
  Node& node = node_named(state, f.node);
  node.public_key = f.public_key;
  std::erase_if(state.enrol_tokens, [&](const EnrolToken& t) { return t.token_digest == f.token_digest; });
  join_open_partitions(state, node.index);
  state.shape.reset();
}

void apply(State& state, const NodeRegistered& f, Time) {
  Node& node = node_of(state, f.what.node);
  const bool same_device_table = node.registered == f.what.shape;
  node.registered = f.what.shape;
  if (node.shape_declared) {
    for (auto& g : node.shape.gres)
      for (const auto& r : f.what.shape.gres)
        if (r.name == g.name && r.index == g.index && !r.device.empty()) g.device = r.device;
  } else if (!same_device_table || !node.registered_at) {
    NodeShape shape = f.what.shape;
    // Grants name GRES by position: the table stays while any of it is held.
    const bool held = std::any_of(node.gres_holder.begin(), node.gres_holder.end(), [](JobId j) { return j != JobId{}; });
    if (held) shape.gres = node.shape.gres;
    reshape(node, shape);
    state.shape.reset();
  }
  node.boot_id = f.what.boot_id;
  node.spool_id = f.what.spool_id;
  node.version = f.what.version;
  if (!f.what.address.empty()) node.address = f.what.address;
  if (f.what.port != 0) node.port = f.what.port;
  node.boot_time = f.what.boot_time;
  node.labels = f.what.labels;
  node.registered_at = f.at;
  if (node.contact == Contact::fenced && !node.drained && !node.down) say(node, {}, {}, f.at);
  node.contact = Contact::up;
  for (const auto& a : f.what.attempts) learn(state, node.index, a);
}

void apply(State& state, const NodeContactChanged& f, Time) { node_of(state, f.node).contact = f.contact; }

void apply(State& state, const NodeDrained& f, Time) {
  Node& node = node_of(state, f.node);
  node.drained = true;
  say(node, f.reason, f.by, f.at);
}

void apply(State& state, const NodeResumed& f, Time) {
  Node& node = node_of(state, f.node);
  node.drained = node.down = false;
  node.reason.clear();
  node.reason_by.clear();
  node.reason_at.reset();
}

void apply(State& state, const NodeDowned& f, Time) {
  Node& node = node_of(state, f.node);
  node.down = true;
  say(node, f.reason, f.by, f.at);
}

void apply(State& state, const NodeFenced& f, Time) {
  Node& node = node_of(state, f.node);
  node.contact = Contact::fenced;
  if (!node.drained && !node.down) say(node, "fenced: " + f.how, f.by, f.at);
}

void apply(State& state, const NodeRemoved& f, Time) {
  bury(state, node_of(state, f.node));
  state.shape.reset();
}

void apply(State&, const PlanApplied&, Time) {}

}  // namespace sy::core::facts

#include <fmt/format.h>

#include <algorithm>

#include "model/state.hpp"

namespace sy::model {

namespace {

using Faults = std::vector<std::string>;

bool is_live(JobState s) { return s != JobState::pending && s != JobState::ended; }

// What the jobs' grants say is held on a node: counted here from nothing, not with the sums evolve keeps.
struct Count {
  std::int64_t cpus{}, memory{};
  std::map<std::pair<std::string, std::string>, std::int64_t> gres;
  std::vector<JobId> jobs;
  std::map<std::size_t, JobId> instances;
};

void check_grant(const State& state, const Job& job, const NodeGrant& g, std::vector<Count>& counts, Faults& faults) {
  if (g.node.value >= state.nodes.size())
    return faults.push_back(fmt::format("job {} has a grant on node {}, which does not exist", job.id.value, g.node.value));
  if (is_over(g.phase)) return;
  const Node& node = state.nodes[g.node.value];
  if (node.removed) faults.push_back(fmt::format("job {} has a grant on removed node {}", job.id.value, node.name));
  if (g.held.any_negative()) faults.push_back(fmt::format("job {} holds less than nothing on {}", job.id.value, node.name));
  if (!g.used.fits_in(g.held)) faults.push_back(fmt::format("job {} uses more than it holds on {}", job.id.value, node.name));
  Count& count = counts[g.node.value];
  count.cpus += g.held.cpus.value;
  count.memory += g.held.memory.value;
  std::int64_t devices = 0;
  for (const auto& x : g.held.gres) {
    count.gres[{x.name, x.type}] += x.count;
    devices += x.count;
  }
  if (std::find(count.jobs.begin(), count.jobs.end(), job.id) != count.jobs.end())
    faults.push_back(fmt::format("job {} has two grants on {}", job.id.value, node.name));
  count.jobs.push_back(job.id);
  if (devices != static_cast<std::int64_t>(g.gres_instances.size()))
    faults.push_back(fmt::format("job {} holds {} GRES on {} but {} instances", job.id.value, devices, node.name, g.gres_instances.size()));
  for (auto i : g.gres_instances) {
    if (i >= node.shape.gres.size())
      faults.push_back(fmt::format("job {} holds GRES instance {} of {}, which does not exist", job.id.value, i, node.name));
    if (!count.instances.emplace(i, job.id).second) faults.push_back(fmt::format("GRES instance {} of {} is held twice", i, node.name));
  }
}

void check_job(const State& state, const Job& job, std::vector<Count>& counts, Faults& faults) {
  const auto fault = [&](std::string text) { faults.push_back(fmt::format("job {}: {}", job.id.value, text)); };
  if (!job.spec) return fault("has no spec");
  if (job.id.value == 0 || job.id >= state.next_job_id) fault("its id is not below next_job_id");
  if (state.waiting.contains(job.id) != (job.state == JobState::pending)) fault("the set of waiting jobs is wrong about it");
  if (state.live.contains(job.id) != is_live(job.state)) fault("the set of live jobs is wrong about it");
  const bool ordered = job.ended && state.ended_order.contains({*job.ended, job.id});
  if (ordered != (job.state == JobState::ended)) fault("the order of ended jobs is wrong about it");
  if ((job.state == JobState::ended) != (job.outcome != Outcome::none)) fault("state and outcome disagree");
  if (job.state == JobState::pending && job.attempt) fault("waits and has an attempt");
  if (!is_live(job.state)) {
    if (job.attempt)
      for (const auto& g : job.attempt->nodes)
        if (!is_over(g.phase)) fault("has ended but holds a node");
    return;
  }
  if (!job.attempt || job.attempt->nodes.empty()) return fault("is live without an attempt or a lead");
  if (job.attempt->number.value == 0 || job.attempt->number > job.last_attempt) fault("attempt number above the highest used");
  if (job.state == JobState::lost && (!is_live(job.lost_from) || job.lost_from == JobState::lost)) fault("lost from nowhere");
  if (std::all_of(job.attempt->nodes.begin(), job.attempt->nodes.end(), [](const auto& g) { return is_over(g.phase); }))
    fault("is live although every node is clear");
  for (const auto& g : job.attempt->nodes) check_grant(state, job, g, counts, faults);
}

void check_node(const State& state, const Node& node, const Count& count, Faults& faults) {
  const auto fault = [&](std::string text) { faults.push_back(fmt::format("node {}: {}", node.name, text)); };
  base::Resources counted;
  counted.cpus = base::Cpus{count.cpus};
  counted.memory = base::Mebibytes{count.memory};
  for (const auto& [key, n] : count.gres) counted.add_gres(key.first, key.second, n);
  if (!(counted == node.held))
    fault(fmt::format("held is {} thousandths of CPUs and {} MiB, the grants sum to {} and {}", node.held.cpus.value,
                      node.held.memory.value, count.cpus, count.memory));
  if (count.jobs != node.jobs) fault("its list of jobs is wrong");
  if (node.gres_holder.size() != node.shape.gres.size()) fault("GRES holders and instances differ in number");
  for (std::size_t i = 0; i < node.gres_holder.size(); ++i) {
    auto it = count.instances.find(i);
    if (node.gres_holder[i] != (it == count.instances.end() ? JobId{} : it->second))
      fault(fmt::format("GRES instance {} has the wrong holder", i));
  }
  if (!(node.total == total_of(node.shape))) fault("its total is not that of its shape");
  // A node that came back smaller than what runs there is drained until that has ended.
  if (!counted.fits_in(node.total) && node.usable()) fault("more is held than it has, and it is open to new work");
  const Node* by_name = state.find_node(node.name);
  if (!node.removed && (by_name == nullptr || by_name->index != node.index)) fault("is not found by its name");
}

}  // namespace

std::vector<std::string> check_invariants(const State& state) {
  Faults faults;
  std::vector<Count> counts(state.nodes.size());
  for (const auto& [id, job] : state.jobs) {
    if (job.id != id) faults.push_back(fmt::format("job {} is filed under {}", job.id.value, id.value));
    check_job(state, job, counts, faults);
  }
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (state.nodes[i].index.value != i) faults.push_back(fmt::format("node {} is not at its index", state.nodes[i].name));
    check_node(state, state.nodes[i], counts[i], faults);
  }
  const auto known = [&](JobId id) { return state.jobs.contains(id); };
  if (!std::all_of(state.waiting.begin(), state.waiting.end(), known)) faults.push_back("an unknown job waits");
  if (!std::all_of(state.live.begin(), state.live.end(), known)) faults.push_back("an unknown job is live");
  for (const auto& [at, id] : state.ended_order)
    if (!known(id)) faults.push_back(fmt::format("forgotten job {} is among the ended", id.value));
  for (const auto& [name, index] : state.node_by_name)
    if (index.value >= state.nodes.size() || state.nodes[index.value].removed || state.nodes[index.value].name != name)
      faults.push_back(fmt::format("node name {} leads nowhere", name));
  for (const auto& p : state.partitions)
    for (auto n : p.nodes.to_vector())
      if (n.value >= state.nodes.size() || state.nodes[n.value].removed)
        faults.push_back(fmt::format("partition {} has node {}, which does not exist", p.name, n.value));
  return faults;
}

}  // namespace sy::model

#include "core/step.hpp"
#include "daemon/store/store.hpp"

namespace sy::daemon {

namespace {

using namespace sy::core;

Batch::ChangedJob& take_job(Batch& batch, const State& after, JobId id) {
  auto& row = batch.jobs[id];
  if (const Job* now = after.find_job(id)) {
    row.job = *now;
  } else {
    row.job.reset();
  }
  return row;
}

void take_node(Batch& batch, const Node& node) {
  Node& row = batch.nodes[node.index];
  row = node;
  row.held = {};
  row.jobs.clear();
  row.gres_holder.clear();
}

void take_ended(Batch& batch, const State& after, const AttemptEnded& fact) {
  const Job* now = after.find_job(fact.job);
  if (now == nullptr) return;
  Job ended = *now;
  ended.attempt = fact.attempt;
  ended.state = JobState::ended;
  ended.outcome = fact.attempt.ending_as;
  ended.ended = fact.at;
  ended.end_reason = fact.attempt.why_ending;
  batch.ended.push_back({fact.job, fact.attempt.number, std::move(ended)});
}

void take_ended(Batch& batch, const State& after, const JobEnded& fact) {
  const Job* now = after.find_job(fact.job);
  if (now == nullptr) return;
  batch.ended.push_back({fact.job, now->attempt ? now->attempt->number : AttemptNumber{}, *now});
}

void take(Batch& batch, const State& after, const Event& event) {
  const Touched touched = touched_by(after, event);
  for (const JobId id : touched.jobs) take_job(batch, after, id);
  for (const NodeIndex n : touched.nodes)
    if (n.value < after.nodes.size()) take_node(batch, after.nodes[n.value]);
  if (touched.all_nodes)
    for (const auto& node : after.nodes) take_node(batch, node);
  if (touched.settings) batch.settings = after.settings;
  if (touched.partitions) batch.partitions = after.partitions;
  if (touched.topologies) batch.topologies = after.topologies;
  if (touched.tokens) batch.enrol_tokens = after.enrol_tokens;

  if (const auto* submitted = std::get_if<JobSubmitted>(&event.fact)) {
    auto& row = batch.jobs[submitted->job.id];
    row.submitted = row.spec_changed = true;
  } else if (const auto* updated = std::get_if<JobUpdated>(&event.fact)) {
    batch.jobs[updated->job].spec_changed = true;
  } else if (const auto* attempt = std::get_if<AttemptEnded>(&event.fact)) {
    take_ended(batch, after, *attempt);
  } else if (const auto* job = std::get_if<JobEnded>(&event.fact)) {
    take_ended(batch, after, *job);
  }
}

}  // namespace

void Batch::add(const model::State& after, const std::vector<core::Event>& more) {
  for (const auto& event : more) {
    take(*this, after, event);
    events.push_back(event);
    now = event.at;
  }
  sequence = after.sequence;
  next_job_id = after.next_job_id;
  epoch = after.epoch;
  policy_version = after.policy_version;
}

Batch make_batch(const model::State& after, const std::vector<core::Event>& events) {
  Batch batch;
  batch.add(after, events);
  return batch;
}

}  // namespace sy::daemon

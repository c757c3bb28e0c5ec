#include "base/assert.hpp"
#include "daemon/store/store.hpp"

namespace sy::daemon {

namespace {

using namespace sy::core;

// Which rows each fact changes. A fact left out here is found by the test that loads what was committed.
class Collector {
 public:
  Collector(Batch& batch, const State& after) : batch_(batch), after_(after) {}

  void operator()(const JobSubmitted& f) {
    auto& row = job(f.job.id);
    row.submitted = true;
    row.spec_changed = true;
  }
  void operator()(const JobUpdated& f) { job(f.job).spec_changed = true; }
  void operator()(const JobHeld& f) { job(f.job); }
  void operator()(const JobReleased& f) { job(f.job); }
  void operator()(const JobStarted& f) { job(f.job); }
  void operator()(const NodeAccepted& f) { job(f.job); }
  void operator()(const ScriptStarted& f) { job(f.job); }
  void operator()(const TimeLimitChanged& f) { job(f.job); }
  void operator()(const EndAsked& f) { job(f.job); }
  void operator()(const ScriptEnded& f) { job(f.job); }
  void operator()(const NodeCleared& f) { job(f.job); }
  void operator()(const JobLost& f) { job(f.job); }
  void operator()(const JobFound& f) { job(f.job); }
  void operator()(const JobRequeued& f) { job(f.job); }
  void operator()(const SignalSent&) {}
  void operator()(const PlanApplied&) {}

  void operator()(const AttemptEnded& f) {
    job(f.job);
    if (const Job* now = after_.find_job(f.job)) {
      Job ended = *now;
      ended.attempt = f.attempt;
      ended.state = JobState::ended;
      ended.outcome = f.attempt.ending_as;
      ended.ended = f.at;
      ended.end_reason = f.attempt.why_ending;
      batch_.ended.push_back({f.job, f.attempt.number, std::move(ended)});
    }
  }
  void operator()(const JobEnded& f) {
    job(f.job);
    if (const Job* now = after_.find_job(f.job)) {
      const auto number = now->attempt ? now->attempt->number : AttemptNumber{now->last_attempt.value + 1};
      batch_.ended.push_back({f.job, number, *now});
    }
  }
  void operator()(const JobForgotten& f) { job(f.job); }

  void operator()(const Configured&) {
    batch_.settings = after_.settings;
    batch_.partitions = after_.partitions;
    for (const auto& n : after_.nodes) node(n.index);
  }
  void operator()(const TopologyImported& f) {
    const auto it = after_.topologies.find(f.topology.name);
    if (it != after_.topologies.end()) batch_.topologies.insert_or_assign(it->first, it->second);
  }
  void operator()(const EpochBegan&) {}
  void operator()(const EnrolTokenIssued&) { batch_.enrol_tokens = after_.enrol_tokens; }
  void operator()(const NodeEnrolled& f) {
    batch_.enrol_tokens = after_.enrol_tokens;
    if (const Node* n = after_.find_node(f.node)) {
      node(n->index);
      batch_.partitions = after_.partitions;  // an enrolled node may join "ALL"
    }
  }
  void operator()(const NodeRegistered& f) { node(f.what.node); }
  void operator()(const NodeContactChanged& f) { node(f.node); }
  void operator()(const NodeDrained& f) { node(f.node); }
  void operator()(const NodeResumed& f) { node(f.node); }
  void operator()(const NodeDowned& f) { node(f.node); }
  void operator()(const NodeFenced& f) { node(f.node); }
  void operator()(const NodeRemoved& f) {
    node(f.node);
    batch_.partitions = after_.partitions;
  }

 private:
  Batch::ChangedJob& job(JobId id) {
    auto& row = batch_.jobs[id];
    if (const Job* now = after_.find_job(id)) {
      row.job = *now;
    } else {
      row.job.reset();
    }
    return row;
  }

  void node(NodeIndex index) {
    ASSERT(index.value < after_.nodes.size(), "a fact names a node that the state has");
    Node& row = batch_.nodes[index];
    row = after_.nodes[index.value];
    row.held = {};
    row.jobs.clear();
    row.gres_holder.clear();
  }

  Batch& batch_;
  const State& after_;
};

}  // namespace

void Batch::add(const model::State& after, const std::vector<core::Event>& more) {
  Collector collector{*this, after};
  for (const auto& event : more) {
    std::visit(collector, event.fact);
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

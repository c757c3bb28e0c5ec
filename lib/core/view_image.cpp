#include "core/view_image.hpp"

#include <algorithm>

#include "core/step.hpp"
#include "sched/placement/chooser.hpp"

namespace sy::core {

void ViewImage::follow(const State& after, const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (!fresh_) return;
    const Touched touched = touched_by(after, event);
    if (touched.all_nodes || touched.settings || touched.partitions || nodes_.size() != after.nodes.size()) return reset();
    for (const JobId id : touched.jobs) take_job(after, id);
    for (const NodeIndex node : touched.nodes) mark(node);
    // What a job holds changes with its start and with each node that is cleared.
    if (const auto* started = std::get_if<JobStarted>(&event.fact)) {
      for (const NodeGrant& grant : started->attempt.nodes) mark(grant.node);
    } else if (const auto* cleared = std::get_if<NodeCleared>(&event.fact)) {
      mark(cleared->node);
    }
  }
}

sched::View ViewImage::view(const State& state) {
  if (!fresh_) load(state);
  drop_those_that_left();
  for (const NodeIndex node : marked_) {
    nodes_[node.value] = sched::node_now(state, state.nodes[node.value]);
    is_marked_[node.value] = false;
  }
  marked_.clear();
  sched::View v;
  v.snapshot = state.sequence;
  v.policy_version = state.policy_version;
  v.settings = state.settings;
  v.shape = state.shape ? state.shape : make_shape(state);
  v.nodes = nodes_;
  sched::nodes_of_exclusive_domains(state).for_each([&](NodeIndex n) { v.nodes[n.value].exclusive = true; });
  v.waiting = waiting_;
  sched::look_at_running_jobs(v, state);
  return v;
}

void ViewImage::load(const State& state) {
  sched::View v = sched::make_view(state, state.shape ? state.shape : make_shape(state));
  waiting_ = std::move(v.waiting);
  left_ = 0;
  number_requests();
  nodes_.clear();
  for (const Node& node : state.nodes) nodes_.push_back(sched::node_now(state, node));  // the view's have closed domains
  is_marked_.assign(nodes_.size(), false);
  marked_.clear();
  fresh_ = true;
}

void ViewImage::take_job(const State& after, JobId id) {
  const Job* job = after.find_job(id);
  const bool waits = job != nullptr && job->state == JobState::pending;
  auto at = std::lower_bound(waiting_.begin(), waiting_.end(), id, [](const sched::WaitingJob& w, JobId i) { return w.id < i; });
  const bool known = at != waiting_.end() && at->id == id;
  if (waits) {
    if (!known) at = waiting_.insert(at, sched::WaitingJob{});
    else if (at->spec == nullptr) --left_;
    *at = sched::waiting_job(*job);
    at->request = requests_.of(*at);
  } else if (known && at->spec != nullptr) {
    at->spec = nullptr;
    if (++left_ > waiting_.size() / 2 + 1000) drop_those_that_left();
  }
}

void ViewImage::mark(NodeIndex node) {
  if (is_marked_[node.value]) return;
  is_marked_[node.value] = true;
  marked_.push_back(node);
}

void ViewImage::drop_those_that_left() {
  if (left_ > 0) std::erase_if(waiting_, [](const sched::WaitingJob& job) { return job.spec == nullptr; });
  left_ = 0;
  if (requests_.size() > 2 * waiting_.size() + 1000) number_requests();
}

void ViewImage::number_requests() {
  requests_ = sched::RequestClasses{};
  for (sched::WaitingJob& job : waiting_) {
    job.request = sched::WaitingJob::not_classed;
    job.request = requests_.of(job);
  }
}

}  // namespace sy::core

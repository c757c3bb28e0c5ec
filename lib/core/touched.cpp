#include "core/step.hpp"

namespace sy::core {

namespace {

template <class F>
concept AboutJob = requires(const F& f) {
  { f.job } -> std::convertible_to<JobId>;
};
template <class F>
concept AboutNode = requires(const F& f) {
  { f.node } -> std::convertible_to<NodeIndex>;
} && !AboutJob<F>;

struct Finder {
  const State& after;
  Touched& t;

  template <AboutJob F>
  void operator()(const F& f) const {
    t.jobs.push_back(f.job);
  }
  template <AboutNode F>
  void operator()(const F& f) const {
    t.nodes.push_back(f.node);
  }

  void operator()(const JobSubmitted& f) const {
    t.jobs.push_back(f.job.id);
    t.counters = true;
  }
  void operator()(const Configured&) const { t.all_nodes = t.settings = t.partitions = t.counters = true; }
  void operator()(const TopologyImported&) const { t.topologies = true; }
  void operator()(const EpochBegan&) const { t.counters = true; }
  void operator()(const EnrolTokenIssued&) const { t.tokens = true; }
  void operator()(const NodeEnrolled& f) const {
    if (const Node* node = after.find_node(f.node)) t.nodes.push_back(node->index);
    t.tokens = t.partitions = true;
  }
  void operator()(const NodeRegistered& f) const {
    t.nodes.push_back(f.what.node);
    t.counters = true;
    for (const auto& a : f.what.attempts)
      if (after.jobs.contains(a.job)) t.jobs.push_back(a.job);
  }
  void operator()(const NodeRemoved& f) const {
    t.nodes.push_back(f.node);
    t.partitions = true;
  }
  void operator()(const PlanApplied&) const {}
};

}  // namespace

Touched touched_by(const State& after, const Event& event) {
  Touched t;
  std::visit(Finder{after, t}, event.fact);
  return t;
}

}  // namespace sy::core

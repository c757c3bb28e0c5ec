#include <fmt/format.h>

#include "model/state.hpp"

namespace sy::model {

namespace {

// Says the first difference once and remembers that there is one.
struct Comparison {
  std::string* why;
  bool same{true};
  void differ(std::string text) {
    if (same && why != nullptr) *why = std::move(text);
    same = false;
  }
};

std::string job_difference(const Job& a, const Job& b) {
  if (a.state != b.state) return fmt::format("state {} against {}", static_cast<int>(a.state), static_cast<int>(b.state));
  if (a.attempt != b.attempt) return "attempt differs";
  if (a.outcome != b.outcome || a.ended != b.ended || a.end_reason != b.end_reason) return "end differs";
  if (!(a.spec && b.spec) || !(*a.spec == *b.spec)) return "spec differs";
  if (a.held_by_user != b.held_by_user || a.held_by_admin != b.held_by_admin) return "holds differ";
  if (a.last_attempt != b.last_attempt || a.restarts != b.restarts || a.launch_failures != b.launch_failures) return "counts differ";
  return "identity or times differ";
}

std::string node_difference(const Node& a, const Node& b) {
  if (a.name != b.name || a.removed != b.removed) return "name or removal differs";
  if (!(a.shape == b.shape) || a.registered != b.registered) return "shape differs";
  if (!(a.held == b.held)) return fmt::format("held CPUs {} against {}", a.held.cpus.value, b.held.cpus.value);
  if (a.jobs != b.jobs) return "jobs differ";
  if (a.gres_holder != b.gres_holder) return "GRES holders differ";
  if (a.contact != b.contact || a.drained != b.drained || a.down != b.down || a.reason != b.reason) return "condition differs";
  return "identity, labels or registration differ";
}

void compare_jobs(const State& a, const State& b, Comparison& c) {
  if (a.jobs.size() != b.jobs.size()) c.differ(fmt::format("{} jobs against {}", a.jobs.size(), b.jobs.size()));
  for (const auto& [id, job] : a.jobs) {
    const Job* other = b.find_job(id);
    if (other == nullptr) return c.differ(fmt::format("job {} is in one only", id.value));
    if (!(job == *other)) return c.differ(fmt::format("job {}: {}", id.value, job_difference(job, *other)));
  }
}

void compare_nodes(const State& a, const State& b, Comparison& c) {
  if (a.nodes.size() != b.nodes.size()) return c.differ(fmt::format("{} nodes against {}", a.nodes.size(), b.nodes.size()));
  for (std::size_t i = 0; i < a.nodes.size(); ++i)
    if (!(a.nodes[i] == b.nodes[i]))
      return c.differ(fmt::format("node {} ({}): {}", i, a.nodes[i].name, node_difference(a.nodes[i], b.nodes[i])));
}

}  // namespace

bool equal(const State& a, const State& b, std::string* why) {
  Comparison c{why};
  compare_jobs(a, b, c);
  compare_nodes(a, b, c);
  if (!(a.settings == b.settings)) c.differ("settings differ");
  if (a.partitions != b.partitions) c.differ("partitions differ");
  if (a.topologies != b.topologies) c.differ("topologies differ");
  if (a.enrol_tokens != b.enrol_tokens) c.differ("enrolment tokens differ");
  if (a.sequence != b.sequence) c.differ(fmt::format("sequence {} against {}", a.sequence.value, b.sequence.value));
  if (a.next_job_id != b.next_job_id) c.differ(fmt::format("next job id {} against {}", a.next_job_id.value, b.next_job_id.value));
  if (a.epoch != b.epoch) c.differ(fmt::format("epoch {} against {}", a.epoch, b.epoch));
  if (a.policy_version != b.policy_version) c.differ("policy version differs");
  if (a.node_by_name != b.node_by_name) c.differ("index of node names differs");
  if (a.waiting != b.waiting) c.differ("set of waiting jobs differs");
  if (a.live != b.live) c.differ("set of live jobs differs");
  if (a.ended_order != b.ended_order) c.differ("order of ended jobs differs");
  return c.same;
}

}  // namespace sy::model

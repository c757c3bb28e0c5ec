#include "core/decide/node_loss.hpp"

#include "core/attempt.hpp"

namespace sy::core {

void end_for_node(const Job& job, const Node& node, const std::string& why, std::vector<Fact>& facts) {
  if (is_ending(job)) return;
  const bool goes_on_without = job.spec->no_kill && standing(job) == JobState::running && !is_lead(*job.attempt, node.index);
  if (goes_on_without) return;
  facts.push_back(EndAsked{job.id, job.attempt->number, Outcome::node_fail, job.spec->requeue, false, why, std::nullopt});
}

void fenced_facts(const State& state, const Node& node, const std::string& why, std::vector<Fact>& facts) {
  for (auto id : node.jobs) {
    const Job& job = state.jobs.at(id);
    end_for_node(job, node, why, facts);
    facts.push_back(NodeCleared{id, job.attempt->number, node.index, true});
  }
}

void lost_facts(const State& state, const Node& node, const std::string& why, std::vector<Fact>& facts) {
  for (auto id : node.jobs) {
    const Job& job = state.jobs.at(id);
    if (job.state != JobState::lost) facts.push_back(JobLost{id, job.attempt->number, node.index, false, why});
  }
}

}  // namespace sy::core

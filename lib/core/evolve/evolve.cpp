#include "base/assert.hpp"
#include "core/evolve/cluster_facts.hpp"
#include "core/evolve/job_facts.hpp"
#include "core/step.hpp"

namespace sy::core {

void evolve(State& state, const Event& event) {
  ASSERT(event.sequence.value == state.sequence.value + 1, "events are applied in order, none left out");
  state.sequence = event.sequence;
  std::visit([&](const auto& fact) { facts::apply(state, fact, event.at); }, event.fact);
}

}  // namespace sy::core

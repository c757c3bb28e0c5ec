#include "core/step.hpp"

#include <algorithm>

#include "core/decide/access.hpp"
#include "core/settle.hpp"

namespace sy::core {

namespace {

struct Applier {
  State& state;
  const Command& command;
  std::string by;
  std::vector<Event> events;

  void apply(Fact fact) {
    events.push_back({Sequence{state.sequence.value + 1}, command.now, by, std::move(fact)});
    evolve(state, events.back());
  }

  void apply_what_follows() {
    std::vector<JobId> jobs;
    for (const auto& e : events) {
      auto more = concerned(state, e.fact);
      jobs.insert(jobs.end(), more.begin(), more.end());
    }
    std::sort(jobs.begin(), jobs.end());
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    for (auto job : jobs)
      for (auto& fact : settle(state, job, command.now)) apply(std::move(fact));
  }
};

bool asks_about_placement(const Action& a) { return std::holds_alternative<SubmitJob>(a) || std::holds_alternative<UpdateJob>(a); }

}  // namespace

StepResult step(State& state, const Command& command) {
  if (!state.shape && asks_about_placement(command.action)) state.shape = make_shape(state);
  StepResult result;
  auto decision = decide(state, command);
  if (!decision) {
    result.reply = fail(decision.error());
    return result;
  }
  Applier applier{state, command, describe(command.who), {}};
  for (auto& fact : decision->facts) applier.apply(std::move(fact));
  applier.apply_what_follows();
  result.events = std::move(applier.events);
  result.effects = react(state, result.events);
  result.effects.insert(result.effects.end(), decision->effects.begin(), decision->effects.end());
  result.reply = std::move(decision->reply);
  return result;
}

}  // namespace sy::core

// The controller as one function: a command goes in; facts, effects and a reply come out. Pure: the same State and
// command give the same answer anywhere — in the daemon, the simulator and the tests.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "core/command.hpp"
#include "core/effect.hpp"
#include "core/event.hpp"

namespace sy::core {

struct Reply {
  JobId job;                           // for SubmitJob
  NodeIndex node;                      // for EnrolNode
  std::vector<std::string> warnings;   // shown to the user
};

struct Decision {
  std::vector<Fact> facts;
  Reply reply;
};

struct StepResult {
  std::vector<Event> events;
  std::vector<Effect> effects;
  Result<Reply> reply;
};

// decide: validates, changes nothing. evolve: can not fail. react: what the events ask of the world, given State after them.
Result<Decision> decide(const State&, const Command&);
void evolve(State&, const Event&);
std::vector<Effect> react(const State&, const std::vector<Event>&);

// decide, then number and apply the events, then react.
StepResult step(State&, const Command&);

// All effects that may still be due: used at start and when a node registers or is heard again (only: that node).
std::vector<Effect> pending_effects(const State&);
std::vector<Effect> pending_effects(const State&, NodeIndex only);

}  // namespace sy::core

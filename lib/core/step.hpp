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
  std::vector<AttemptOnNode> to_kill;  // for RegisterNode: what runs there and must not; the agent ends these first
  std::vector<std::string> warnings;   // shown to the user
};

struct Decision {
  std::vector<Fact> facts;
  std::vector<Effect> effects;         // answers that rest on no fact: to a late or repeated report
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

// What an event changed, so that the store writes those rows and no others. `after` is the State after it.
struct Touched {
  std::vector<JobId> jobs;             // written, or deleted when State knows them no more
  std::vector<NodeIndex> nodes;        // derived parts (held, jobs, gres_holder) do not count
  bool all_nodes{};
  bool settings{}, partitions{}, topologies{}, tokens{};
  bool counters{};                     // next_job_id, epoch, policy_version; sequence always changes
};
Touched touched_by(const State& after, const Event&);

// decide, then number and apply the events, then react.
StepResult step(State&, const Command&);

// All effects that may still be due: used at start and when a node registers or is heard again (only: that node).
std::vector<Effect> pending_effects(const State&);
std::vector<Effect> pending_effects(const State&, NodeIndex only);

}  // namespace sy::core

// The states of a job and of its attempt on one node, and the one table that gives Slurm's names for them.
// Holds are flags, not states (job.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sy::model {

enum class JobState : std::uint8_t { pending, starting, running, suspended, ending, ended, lost };

enum class Outcome : std::uint8_t {
  none,         // not ended
  completed,    // exit code 0
  failed,       // exit code ≠ 0, a signal of its own, or a reason such as "output folder missing"
  cancelled,
  timeout,
  node_fail,
  preempted,
  out_of_memory,
  launch_failed,  // never got to the first user instruction, and is not tried again
  deadline,
  boot_fail
};

// Where an attempt stands on one node.
enum class NodePhase : std::uint8_t {
  launching,   // the launch is committed; the node has not answered
  accepted,    // supervisor started (members), or script about to start
  running,     // lead only: the script runs
  ending,      // asked to end, or ended by itself; processes and epilog not yet clear
  clear,       // nothing of this attempt is left on the node
  fenced,      // the node can not run it any more
  unknown      // the node is there but its memory of this attempt is gone (same boot, new spool): only fencing, or the
               // node's own word that it is clear, ends it
};

constexpr bool is_over(NodePhase p) { return p == NodePhase::clear || p == NodePhase::fenced; }

// "PENDING", "RUNNING", "COMPLETING" (ending), "CONFIGURING" (starting)… and the compact "PD", "R", "CG", "CF"…
// A lost job shows as RUNNING with the reason that says what it waits for; outcome decides the name of an ended one.
std::string_view slurm_state(JobState, Outcome);
std::string_view slurm_state_compact(JobState, Outcome);
std::string_view state_name(JobState);     // ours: "pending", "starting", …
std::string_view outcome_name(Outcome);    // ours: "completed", …
std::string_view phase_name(NodePhase);

// Parses ours or Slurm's names, long or compact, any case. Returns false when unknown. "ended" gives Outcome::none: any outcome.
bool parse_state(std::string_view text, JobState& state, Outcome& outcome);

}  // namespace sy::model

#include "model/job_state.hpp"

#include <array>

namespace sy::model {
namespace {

struct Names {
  std::string_view ours, slurm, compact;
};

Names names_of(JobState s) {
  switch (s) {
    case JobState::pending: return {"pending", "PENDING", "PD"};
    case JobState::starting: return {"starting", "CONFIGURING", "CF"};
    case JobState::running: return {"running", "RUNNING", "R"};
    case JobState::suspended: return {"suspended", "SUSPENDED", "S"};
    case JobState::ending: return {"ending", "COMPLETING", "CG"};
    case JobState::ended: return {"ended", {}, {}};             // the outcome has the name
    case JobState::lost: return {"lost", "RUNNING", "R"};
  }
  return {};
}

Names names_of(Outcome o) {
  switch (o) {
    case Outcome::none: return {"none", {}, {}};
    case Outcome::completed: return {"completed", "COMPLETED", "CD"};
    case Outcome::failed: return {"failed", "FAILED", "F"};
    case Outcome::cancelled: return {"cancelled", "CANCELLED", "CA"};
    case Outcome::timeout: return {"timeout", "TIMEOUT", "TO"};
    case Outcome::node_fail: return {"node_fail", "NODE_FAIL", "NF"};
    case Outcome::preempted: return {"preempted", "PREEMPTED", "PR"};
    case Outcome::out_of_memory: return {"out_of_memory", "OUT_OF_MEMORY", "OOM"};
    case Outcome::launch_failed: return {"launch_failed", "FAILED", "F"};  // Slurm's base state has no word of its own
    case Outcome::deadline: return {"deadline", "DEADLINE", "DL"};
    case Outcome::boot_fail: return {"boot_fail", "BOOT_FAIL", "BF"};
  }
  return {};
}

// A shown state must have a name even if an ended job had no outcome, which check_invariants forbids.
Names shown(JobState s, Outcome o) {
  if (s != JobState::ended) return names_of(s);
  return names_of(o == Outcome::none ? Outcome::failed : o);
}

constexpr std::array states{JobState::pending, JobState::starting, JobState::running, JobState::suspended,
                            JobState::ending,  JobState::ended,    JobState::lost};
constexpr std::array outcomes{Outcome::completed, Outcome::failed,        Outcome::cancelled,     Outcome::timeout,  Outcome::node_fail,
                              Outcome::preempted, Outcome::out_of_memory, Outcome::launch_failed, Outcome::deadline, Outcome::boot_fail};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

bool is_one_of(std::string_view text, const Names& n) { return same(text, n.ours) || same(text, n.slurm) || same(text, n.compact); }

}  // namespace

std::string_view slurm_state(JobState s, Outcome o) { return shown(s, o).slurm; }
std::string_view slurm_state_compact(JobState s, Outcome o) { return shown(s, o).compact; }
std::string_view state_name(JobState s) { return names_of(s).ours; }
std::string_view outcome_name(Outcome o) { return names_of(o).ours; }

std::string_view phase_name(NodePhase p) {
  switch (p) {
    case NodePhase::launching: return "launching";
    case NodePhase::accepted: return "accepted";
    case NodePhase::running: return "running";
    case NodePhase::ending: return "ending";
    case NodePhase::clear: return "clear";
    case NodePhase::fenced: return "fenced";
    case NodePhase::unknown: return "unknown";
  }
  return {};
}

bool parse_state(std::string_view text, JobState& state, Outcome& outcome) {
  for (JobState s : states)  // in this order "RUNNING" is running, though a lost job shows the same word
    if (is_one_of(text, names_of(s))) {
      state = s;
      outcome = Outcome::none;
      return true;
    }
  for (Outcome o : outcomes)  // likewise "FAILED" is failed
    if (is_one_of(text, names_of(o))) {
      state = JobState::ended;
      outcome = o;
      return true;
    }
  return false;
}

}  // namespace sy::model

#include "model/job_state.hpp"
#include "support/catch.hpp"

using namespace sy::model;

TEST_CASE("states have Slurm's names, long and compact") {
  struct Row {
    JobState state;
    Outcome outcome;
    std::string name, compact;
  };
  const std::vector<Row> rows{
      {JobState::pending, Outcome::none, "PENDING", "PD"},
      {JobState::starting, Outcome::none, "CONFIGURING", "CF"},
      {JobState::running, Outcome::none, "RUNNING", "R"},
      {JobState::suspended, Outcome::none, "SUSPENDED", "S"},
      {JobState::ending, Outcome::none, "COMPLETING", "CG"},
      {JobState::lost, Outcome::none, "RUNNING", "R"},
      {JobState::ended, Outcome::completed, "COMPLETED", "CD"},
      {JobState::ended, Outcome::failed, "FAILED", "F"},
      {JobState::ended, Outcome::cancelled, "CANCELLED", "CA"},
      {JobState::ended, Outcome::timeout, "TIMEOUT", "TO"},
      {JobState::ended, Outcome::node_fail, "NODE_FAIL", "NF"},
      {JobState::ended, Outcome::preempted, "PREEMPTED", "PR"},
      {JobState::ended, Outcome::out_of_memory, "OUT_OF_MEMORY", "OOM"},
      {JobState::ended, Outcome::launch_failed, "FAILED", "F"},
      {JobState::ended, Outcome::deadline, "DEADLINE", "DL"},
      {JobState::ended, Outcome::boot_fail, "BOOT_FAIL", "BF"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(slurm_state(row.state, row.outcome) == row.name);
    CHECK(slurm_state_compact(row.state, row.outcome) == row.compact);
    JobState s{};
    Outcome o{};
    for (const std::string& text : {row.name, row.compact}) {
      REQUIRE(parse_state(text, s, o));
      CHECK(slurm_state(s, o) == row.name);
    }
  }
}

TEST_CASE("our own names read back as what they are") {
  JobState s{};
  Outcome o{};
  for (const JobState want :
       {JobState::pending, JobState::starting, JobState::running, JobState::suspended, JobState::ending, JobState::ended, JobState::lost}) {
    REQUIRE(parse_state(state_name(want), s, o));
    CHECK(s == want);
    CHECK(o == Outcome::none);
  }
  for (int i = 1; i <= static_cast<int>(Outcome::boot_fail); ++i) {
    const auto want = static_cast<Outcome>(i);
    REQUIRE(parse_state(outcome_name(want), s, o));
    CHECK(s == JobState::ended);
    CHECK(o == want);
  }
  CHECK(parse_state("Running", s, o));
  CHECK(parse_state("pd", s, o));
  for (const std::string text : {"", "none", "RUN", "R ", "COMPLETED+", "nope"}) CHECK_FALSE(parse_state(text, s, o));
}

TEST_CASE("phases have names") {
  CHECK(phase_name(NodePhase::launching) == "launching");
  CHECK(phase_name(NodePhase::fenced) == "fenced");
}

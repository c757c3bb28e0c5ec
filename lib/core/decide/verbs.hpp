// One function per verb: validates a command against State and answers facts, or a refusal. Changes nothing.
// Each lives in a file of its own name; decide.cpp only finds the right one.
#pragma once

#include "core/step.hpp"

namespace sy::core::verbs {

struct Asked {
  Time now;
  const Principal& who;
};

Result<Decision> decide(const State&, const Asked&, const SubmitJob&);
Result<Decision> decide(const State&, const Asked&, const UpdateJob&);
Result<Decision> decide(const State&, const Asked&, const CancelJob&);
Result<Decision> decide(const State&, const Asked&, const SignalJob&);
Result<Decision> decide(const State&, const Asked&, const HoldJob&);
Result<Decision> decide(const State&, const Asked&, const ReleaseJob&);
Result<Decision> decide(const State&, const Asked&, const RequeueJob&);
Result<Decision> decide(const State&, const Asked&, const Configure&);
Result<Decision> decide(const State&, const Asked&, const ImportTopologies&);
Result<Decision> decide(const State&, const Asked&, const BeginEpoch&);
Result<Decision> decide(const State&, const Asked&, const IssueEnrolToken&);
Result<Decision> decide(const State&, const Asked&, const EnrolNode&);
Result<Decision> decide(const State&, const Asked&, const RegisterNode&);
Result<Decision> decide(const State&, const Asked&, const NodeSilent&);
Result<Decision> decide(const State&, const Asked&, const NodeHeard&);
Result<Decision> decide(const State&, const Asked&, const DrainNode&);
Result<Decision> decide(const State&, const Asked&, const ResumeNode&);
Result<Decision> decide(const State&, const Asked&, const DownNode&);
Result<Decision> decide(const State&, const Asked&, const FenceNode&);
Result<Decision> decide(const State&, const Asked&, const RemoveNode&);
Result<Decision> decide(const State&, const Asked&, const ReportAttempt&);
Result<Decision> decide(const State&, const Asked&, const ApplyPlan&);
Result<Decision> decide(const State&, const Asked&, const AdvanceTime&);

}  // namespace sy::core::verbs

// What has to happen outside once the events are committed. Idempotent: doing one twice is harmless, and all that may
// still be due can be derived from State alone (pending_effects), so a crash between commit and effect loses nothing.
#pragma once

#include <variant>
#include <vector>

#include "core/command.hpp"

namespace sy::core {

struct LaunchOnNode {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  bool lead{};
};
// An agent asked to end an attempt it never saw remembers to refuse its launch, and reports it cleared like any other.
struct EndOnNode {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  Duration grace{};
};  // SIGTERM, grace, SIGKILL, epilog
// The one effect that is not repeated after a crash: a signal is delivered at most once.
struct SignalOnNode {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  int signal{};
  bool batch_only{};
  bool whole_job{};
};
struct SetTimeLimitOnNode {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
  Duration limit{};
};
struct ForgetOnNode {
  JobId job;
  AttemptNumber attempt;
  NodeIndex node;
};  // its end is on disk here: the agent may drop it
struct RunFenceProgram {
  NodeIndex node;
};

using Effect = std::variant<LaunchOnNode, EndOnNode, SignalOnNode, SetTimeLimitOnNode, ForgetOnNode, RunFenceProgram>;

}  // namespace sy::core

// What each fact about a job changes in State. Can not fail: a fact that does not fit is a bug and stops the controller.
#pragma once

#include "core/event.hpp"

namespace sy::core::facts {

void apply(State&, const JobSubmitted&, Time at);
void apply(State&, const JobUpdated&, Time at);
void apply(State&, const JobHeld&, Time at);
void apply(State&, const JobReleased&, Time at);
void apply(State&, const JobStarted&, Time at);
void apply(State&, const NodeAccepted&, Time at);
void apply(State&, const ScriptStarted&, Time at);
void apply(State&, const TimeLimitChanged&, Time at);
void apply(State&, const EndAsked&, Time at);
void apply(State&, const ScriptEnded&, Time at);
void apply(State&, const NodeCleared&, Time at);
void apply(State&, const JobLost&, Time at);
void apply(State&, const JobFound&, Time at);
void apply(State&, const AttemptEnded&, Time at);
void apply(State&, const JobRequeued&, Time at);
void apply(State&, const JobEnded&, Time at);
void apply(State&, const JobForgotten&, Time at);
void apply(State&, const SignalSent&, Time at);

}  // namespace sy::core::facts

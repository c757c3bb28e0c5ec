// What each fact about nodes, partitions and the controller itself changes in State. Can not fail.
#pragma once

#include "core/event.hpp"

namespace sy::core::facts {

void apply(State&, const Configured&, Time at);
void apply(State&, const TopologyImported&, Time at);
void apply(State&, const EpochBegan&, Time at);
void apply(State&, const EnrolTokenIssued&, Time at);
void apply(State&, const NodeEnrolled&, Time at);
void apply(State&, const NodeRegistered&, Time at);
void apply(State&, const NodeContactChanged&, Time at);
void apply(State&, const NodeDrained&, Time at);
void apply(State&, const NodeResumed&, Time at);
void apply(State&, const NodeDowned&, Time at);
void apply(State&, const NodeFenced&, Time at);
void apply(State&, const NodeRemoved&, Time at);
void apply(State&, const PlanApplied&, Time at);

}  // namespace sy::core::facts

// The members of every fact, said once for writing and reading. A fact without a description does not compile.
// Not what facts mean: core/event.hpp.
#pragma once

#include <type_traits>

#include "core/event.hpp"
#include "wire/describe_state.hpp"

namespace sy::wire {

template <class A>
void describe(A& a, std::type_identity<core::NodeDeclaration>) {
  using T = core::NodeDeclaration;
  a.keep_defaults();
  a("name", &T::name);
  a("address", &T::address);
  a("port", &T::port);
  a("shape", &T::shape);
  a("features", &T::features);
  a("weight", &T::weight);
}

template <class A>
void describe(A& a, std::type_identity<core::PartitionDeclaration>) {
  using T = core::PartitionDeclaration;
  a("settings", &T::settings);
  a("node_names", &T::node_names);
}

template <class A>
void describe(A& a, std::type_identity<core::AttemptOnNode>) {
  using T = core::AttemptOnNode;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("phase", &T::phase);
}

template <class A>
void describe(A& a, std::type_identity<core::RegisterNode>) {
  using T = core::RegisterNode;
  a("node", &T::node);
  a("shape", &T::shape);
  a("boot_id", &T::boot_id);
  a("spool_id", &T::spool_id);
  a("version", &T::version);
  a("address", &T::address);
  a("port", &T::port);
  a("boot_time_us", &T::boot_time);
  a("labels", &T::labels);
  a("attempts", &T::attempts);
}

template <class A>
void describe(A& a, std::type_identity<core::JobSubmitted>) {
  a.keep_defaults();
  a("job", &core::JobSubmitted::job);
}

template <class A>
void describe(A& a, std::type_identity<core::JobUpdated>) {
  using T = core::JobUpdated;
  a("job", &T::job);
  a("spec", &T::spec);
  a("by", &T::by);
}

template <class A>
void describe(A& a, std::type_identity<core::JobHeld>) {
  using T = core::JobHeld;
  a("job", &T::job);
  a("by_admin", &T::by_admin);
  a("by", &T::by);
}

template <class A>
void describe(A& a, std::type_identity<core::JobReleased>) {
  a("job", &core::JobReleased::job);
}

template <class A>
void describe(A& a, std::type_identity<core::JobStarted>) {
  using T = core::JobStarted;
  a("job", &T::job);
  a("attempt", &T::attempt);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeAccepted>) {
  using T = core::NodeAccepted;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("node", &T::node);
}

template <class A>
void describe(A& a, std::type_identity<core::ScriptStarted>) {
  using T = core::ScriptStarted;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::TimeLimitChanged>) {
  using T = core::TimeLimitChanged;
  a("job", &T::job);
  a("limit_s", &T::limit);
}

template <class A>
void describe(A& a, std::type_identity<core::EndAsked>) {
  using T = core::EndAsked;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("as", &T::as);
  a("requeue", &T::requeue);
  a("hold", &T::hold);
  a("why", &T::why);
  a("by", &T::by);
}

template <class A>
void describe(A& a, std::type_identity<core::ScriptEnded>) {
  using T = core::ScriptEnded;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("exit", &T::exit);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeCleared>) {
  using T = core::NodeCleared;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("node", &T::node);
  a("fenced", &T::fenced);
}

template <class A>
void describe(A& a, std::type_identity<core::JobLost>) {
  using T = core::JobLost;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("node", &T::node);
  a("unknown", &T::unknown);
  a("why", &T::why);
}

template <class A>
void describe(A& a, std::type_identity<core::JobFound>) {
  using T = core::JobFound;
  a("job", &T::job);
  a("attempt", &T::attempt);
}

template <class A>
void describe(A& a, std::type_identity<core::AttemptEnded>) {
  using T = core::AttemptEnded;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::JobRequeued>) {
  using T = core::JobRequeued;
  a("job", &T::job);
  a("eligible_us", &T::eligible);
  a("held", &T::held);
  a("launch_failed", &T::launch_failed);
  a("why", &T::why);
}

template <class A>
void describe(A& a, std::type_identity<core::JobEnded>) {
  using T = core::JobEnded;
  a("job", &T::job);
  a("outcome", &T::outcome);
  a("at_us", &T::at);
  a("reason", &T::reason);
}

template <class A>
void describe(A& a, std::type_identity<core::JobForgotten>) {
  a("job", &core::JobForgotten::job);
}

template <class A>
void describe(A& a, std::type_identity<core::SignalSent>) {
  using T = core::SignalSent;
  a("job", &T::job);
  a("attempt", &T::attempt);
  a("signal", &T::signal);
  a("batch_only", &T::batch_only);
  a("whole_job", &T::whole_job);
}

template <class A>
void describe(A& a, std::type_identity<core::Configured>) {
  using T = core::Configured;
  a.keep_defaults();
  a("settings", &T::settings);
  a("nodes", &T::nodes);
  a("partitions", &T::partitions);
}

template <class A>
void describe(A& a, std::type_identity<core::TopologyImported>) {
  a("topology", &core::TopologyImported::topology);
}

template <class A>
void describe(A& a, std::type_identity<core::EpochBegan>) {
  using T = core::EpochBegan;
  a("epoch", &T::epoch);
  a("min_job_id", &T::min_job_id);
}

template <class A>
void describe(A& a, std::type_identity<core::EnrolTokenIssued>) {
  a("token", &core::EnrolTokenIssued::token);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeEnrolled>) {
  using T = core::NodeEnrolled;
  a("node", &T::node);
  a("public_key", &T::public_key);
  a("token_digest", &T::token_digest);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeRegistered>) {
  using T = core::NodeRegistered;
  a("what", &T::what);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeContactChanged>) {
  using T = core::NodeContactChanged;
  a("node", &T::node);
  a("contact", &T::contact);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeDrained>) {
  using T = core::NodeDrained;
  a("node", &T::node);
  a("reason", &T::reason);
  a("by", &T::by);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeResumed>) {
  a("node", &core::NodeResumed::node);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeDowned>) {
  using T = core::NodeDowned;
  a("node", &T::node);
  a("reason", &T::reason);
  a("by", &T::by);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeFenced>) {
  using T = core::NodeFenced;
  a("node", &T::node);
  a("how", &T::how);
  a("by", &T::by);
  a("at_us", &T::at);
}

template <class A>
void describe(A& a, std::type_identity<core::NodeRemoved>) {
  a("node", &core::NodeRemoved::node);
}

template <class A>
void describe(A& a, std::type_identity<core::PlanApplied>) {
  using T = core::PlanApplied;
  a("snapshot", &T::snapshot);
  a("policy_version", &T::policy_version);
  a("starts", &T::starts);
  a("dropped", &T::dropped);
}

}  // namespace sy::wire

// The words for enumerations in JSON and in the store: their C++ names, in the order of their values.
// Not what people read (model's state_name, reason_name, …): these are stored and may never change.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/command.hpp"
#include "model/state.hpp"
#include "model/verdict.hpp"

namespace sy::wire {

template <class E>
struct EnumNames;

#define SY_ENUM_NAMES(TYPE, ...)                                                  \
  template <>                                                                     \
  struct EnumNames<TYPE> {                                                        \
    static constexpr auto names = std::to_array<std::string_view>({__VA_ARGS__}); \
  }

SY_ENUM_NAMES(model::Sharing, "shared", "exclusive_node", "exclusive_user");
SY_ENUM_NAMES(model::Distribution, "unset", "block", "cyclic", "plane", "arbitrary");
SY_ENUM_NAMES(model::PackOrder, "automatic", "own_first", "parent_first", "fullest", "least_growth");
SY_ENUM_NAMES(model::PackFill, "best_fit", "pack_parents", "least_free", "balanced");
SY_ENUM_NAMES(model::Segment::Remainder, "forbid", "shorter", "elastic");
SY_ENUM_NAMES(model::Spread::Mode, "require", "prefer");
SY_ENUM_NAMES(model::JobState, "pending", "starting", "running", "suspended", "ending", "ended", "lost");
SY_ENUM_NAMES(model::Outcome, "none", "completed", "failed", "cancelled", "timeout", "node_fail", "preempted", "out_of_memory",
              "launch_failed", "deadline", "boot_fail");
SY_ENUM_NAMES(model::NodePhase, "launching", "accepted", "running", "ending", "clear", "fenced", "unknown");
SY_ENUM_NAMES(model::Contact, "never", "up", "silent", "fenced");
SY_ENUM_NAMES(model::PartitionState, "up", "down", "drain", "inactive");
SY_ENUM_NAMES(model::Settings::OnLost, "wait", "assume_dead");
SY_ENUM_NAMES(model::Topology::Kind, "flat", "tree", "block");
SY_ENUM_NAMES(model::Verdict::Kind, "fits", "not_now", "never");
SY_ENUM_NAMES(model::Cause::Kind, "busy", "drained", "down", "reserved", "feature", "cpus", "memory", "gres", "excluded",
              "not_in_partition", "no_domain", "kept", "affinity", "other");
static_assert(EnumNames<model::Cause::Kind>::names.size() == static_cast<std::size_t>(model::Cause::Kind::other) + 1);
SY_ENUM_NAMES(core::ReportAttempt::What, "accepted", "refused", "started", "script_ended", "cleared");
SY_ENUM_NAMES(core::ReportAttempt::Blame, "nobody", "node", "job");

#undef SY_ENUM_NAMES

template <class E>
constexpr std::string_view enum_name(E value) {
  const auto i = static_cast<std::size_t>(value);
  return i < EnumNames<E>::names.size() ? EnumNames<E>::names[i] : std::string_view{"unknown"};
}

template <class E>
constexpr std::optional<E> enum_from_name(std::string_view name) {
  for (std::size_t i = 0; i < EnumNames<E>::names.size(); ++i)
    if (EnumNames<E>::names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace sy::wire

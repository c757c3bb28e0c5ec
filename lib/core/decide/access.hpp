// The one ownership check that all verbs share, and the one that administrators' verbs share.
// Not the routes' table (daemon/api), which stands in front of it: a side path that forgets the one still meets the other.
#pragma once

#include "base/result.hpp"
#include "core/command.hpp"

namespace sy::core {

// The job, when `who` owns it or is an administrator. `verb` completes "you may not …".
Result<const Job*> own_job(const State&, const Principal& who, JobId, std::string_view verb);
Result<void> administrators_only(const Principal& who, std::string_view verb);
// The controller itself, or the agent of this very node.
Result<const Node*> node_itself(const State&, const Principal& who, NodeIndex);
// A node that exists and was not removed.
Result<const Node*> known_node(const State&, NodeIndex);

// May this principal use the partition? nullopt: yes; otherwise why not, for people.
std::optional<std::string> refused_by(const Partition&, const Principal& who);

// "uid 1000 (ann)", "node n3", "switchyard": who did it, as events record it.
std::string describe(const Principal&);

}  // namespace sy::core

// Questions about a job's live attempt that decide, evolve and react all ask.
// Not changes: those are facts.
#pragma once

#include "model/state.hpp"

namespace sy::core {

using namespace sy::base;
using namespace sy::model;

// Starting, running, suspended, ending or lost: an attempt holds resources.
bool is_live(const Job&);
// Where the job stands apart from being lost: the state it would show if every node could be heard.
JobState standing(const Job&);
// It has been asked to end, or its script has ended.
bool is_ending(const Job&);

const NodeGrant* find_grant(const Attempt&, NodeIndex);
NodeGrant* find_grant(Attempt&, NodeIndex);
inline const NodeGrant& lead_of(const Attempt& a) { return a.nodes.front(); }
bool is_lead(const Attempt&, NodeIndex);
bool all_over(const Attempt&);
bool members_accepted(const Attempt&);  // so the lead may be launched

// The grant of this very attempt on this node, when it is live and not over; null otherwise.
const NodeGrant* live_grant(const State&, JobId, AttemptNumber, NodeIndex);

// What the attempt ends as, and why, once every node is clear.
Outcome outcome_of(const Attempt&);
std::string end_reason_of(const Attempt&);

// The limit a start gets: the job's, else the partition's default, else the cluster's but at most the partition's maximum.
Duration time_limit_for(const JobSpec&, const Partition&, const Settings&);

}  // namespace sy::core

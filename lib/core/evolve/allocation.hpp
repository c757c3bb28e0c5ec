// Keeps the derived parts of State right while facts are applied: what each node has given away, and the sets of jobs.
// Not a rule: whether a change is allowed was decided before.
#pragma once

#include "model/state.hpp"

namespace sy::core {

void hold(sy::model::State&, const sy::model::Job&, const sy::model::NodeGrant&);
void give_back(sy::model::State&, const sy::model::Job&, const sy::model::NodeGrant&);

// The sets waiting, live and ended_order follow the job's state: taken out before a change, put in after it.
void unindex(sy::model::State&, const sy::model::Job&);
void index(sy::model::State&, const sy::model::Job&);

}  // namespace sy::core

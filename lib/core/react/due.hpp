// The effects that State alone says are due: launches not answered, ends not finished, limits changed, nodes to be fenced.
// Doing one again is harmless; that is what makes a crash between commit and effect harmless.
#pragma once

#include "core/effect.hpp"

namespace sy::core {

// The grant is live and its node can be reached and remembers the attempt.
bool can_hear(const State&, const NodeGrant&);

void launches_due(const State&, const Job&, std::vector<Effect>& out, bool lead_only = false);
void effects_due(const State&, const Job&, std::vector<Effect>& out);
void node_effects_due(const State&, NodeIndex, std::vector<Effect>& out);

}  // namespace sy::core

// Why a part does not fit, per rung, as data: the best domains with k of n, what the nodes fell to, how far segments came.
// Not the decision itself (choose.hpp).
#pragma once

#include "sched/placement/gang.hpp"
#include "sched/placement/spread.hpp"

namespace sy::sched::placement {

// Fills reason, counts, causes, rungs and detail of a verdict that is not "fits". `near`: by position, what affinity leaves; empty: all.
void explain(Answer&, const Board&, const Part&, const Counts&, std::size_t open_rungs, const Options&, const std::vector<bool>& near);
// The same in units that the rules of a spread let in.
void explain_spread(Answer&, const Board&, const Part&, Spreader&);
// The same of a gang: in copies of groups for which there is room by themselves; in nodes where all of them want whole ones.
void explain_gang(Answer&, Board&, const Piece&);
std::string domain_name(const model::TopologyIndex&, std::uint32_t domain);

}  // namespace sy::sched::placement

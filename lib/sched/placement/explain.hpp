// Why a part does not fit, per rung, as data: the best domains with k of n, what the nodes fell to, how far segments came.
// Not the decision itself (choose.hpp).
#pragma once

#include "sched/placement/gang.hpp"
#include "sched/placement/spread.hpp"

namespace sy::sched::placement {

// How far a ladder has opened: rungs, and how long after the job became eligible the next one will (P3).
struct Opened {
  std::size_t rungs{};
  Duration next{};
};
// Fills reason, counts, causes, rungs and detail of a verdict that is not "fits". `near`: by position, what affinity leaves; empty: all.
void explain(Answer&, Board&, const Part&, const Counts&, const Opened&, const Options&, const std::vector<bool>& near);
// Of T tasks on N nodes, and GRES of a job: how much of it the free nodes hold. `offer` is towards_sum's.
void explain_sums(Verdict&, const Board&, const Part&, const Offer&);
// "n2, named by --nodelist, is busy"; empty: none of these is in the way.
std::string named_but_taken(Board&, const Part&);
// "2 free nodes are in a rack that others use"; empty: there are none, or the job wants no domain for itself.
std::string beside_others(const Board&, const Part&);
// The same in units that the rules of a spread let in.
void explain_spread(Answer&, const Board&, const Part&, Spreader&);
// The same of a gang: in copies of groups for which there is room by themselves; in nodes where all of them want whole ones.
// `hopeless`: a group for which there is none though single counts would say so.
void explain_gang(Answer&, Board&, const Piece&, const std::string& hopeless, const Opened&, const Options&);
// "no job spans the trees of this topology", where that is what is in the way of a gang.
std::string spans_trees(Board&, const Piece&);
// "3 of 4 nodes with a; 0 of 1 with c": of a job that counts features.
std::string counted_features(Board&, const Piece&);
// The group that finds no room whatever becomes of the others; empty: none.
std::string without_room(Board&, const Piece&);
std::string domain_name(const model::TopologyIndex&, std::uint32_t domain);

}  // namespace sy::sched::placement

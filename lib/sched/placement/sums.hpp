// Nodes that only together hold what is asked: T tasks on N nodes that do not all hold as many, and GRES of the job as a whole.
// Exact for one such sum; with several it counts the steps of its search. Not requests whose every node gives the same (choose.hpp).
#pragma once

#include <optional>
#include <string>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

// Does the sum matter on this board, or does every node that holds any of it hold an even share?
bool needs_sums(Board&, const Part&);
// Are there nodes that hold some tasks of it, but no even share? Of a part with sum_tasks or even_tasks.
bool some_hold_less(Board&, const Part&);
// The part whose units are what one node holds towards the sum: its tasks, or itself.
Part towards_sum(const Part&);

// The same offer, of nodes: one for each that gives anything.
Offer nodes_that_hold_any(const Board&, const Offer&);
// "8 of 9 tasks fit on 2 nodes", "56 of 57 gpu are on 8 nodes": the first sum that no nodes in number as asked hold, else that some hold
// each, and none all. `offer` is towards_sum's.
std::string what_sums_lack(const Board&, const Offer&, const Part&);

// `offer` is towards_sum's. `inexact` is set where nothing was found and not everything was tried.
std::optional<Choice> choose_with_sums(const Board&, const Offer&, const Part&, std::size_t open_rungs, std::uint64_t& budget,
                                       std::uint64_t& domains_looked_at, bool& inexact);
// One task on each, then around again, as each has room.
std::vector<std::uint32_t> share_tasks(std::uint32_t tasks, const std::vector<std::uint32_t>& room);

}  // namespace sy::sched::placement

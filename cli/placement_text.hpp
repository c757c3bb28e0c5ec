// A placement, or why there is none, in lines for people: of `sy show` and `sy submit --dry-run`.
// Reads the API's "placed" and VERDICT objects; decides nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/calendar.hpp"
#include "cli/json.hpp"

namespace sy::cli {

// What a group (of a job's "spec") wishes for its place: ", within rack, segments of 4"; empty: nothing. `switches_count`: is the
// topology a tree of switches?
std::string wishes_text(Json group, bool switches_count = true);
// One line for each group inside a group that asks for something or bounds what it holds, at most `most` and then how many more:
// "replica: 2 copies, within rack", "replica.workers: 2 nodes, 4 CPUs a task, gpu:2 a node".
std::vector<std::string> group_lines(Json group, bool switches_count, std::size_t most);
// "rack rack1: 1 leaf used, 1 is the least possible".
std::string placed_summary(Json placed);
// "rack2 (5 for 4), …": what each offers for what was asked. Domains that would have done; empty: none.
std::string beaten_text(Json placed);
// "0-3  n1  spine1.rack1.n1  segment 0  workers[1]", at most `most` and then how many more; the first line is a head.
std::vector<std::string> rank_lines(Json placed, std::size_t most);

// One line a rung: "rack: rack1 3 of 4, rack2 2 of 4; nodes out: 1 drained; opens 12:00:00"; causes only where they differ from the whole's.
std::vector<std::string> rung_lines(Json verdict, const TimeStyle&);
// "5 busy, 1 drained".
std::string causes_text(Json causes);

}  // namespace sy::cli

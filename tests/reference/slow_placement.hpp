// Placement by trying every set of nodes: the rules of design §6 word by word, for clusters of at most 12 whole nodes. Slow on
// purpose and built on nothing of the engine, so that it can not share its mistakes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace reference {

// Node n hangs below domain path[n][level] (−1: its branch has no such level); levels from wide to narrow.
struct Cluster {
  std::vector<std::vector<int>> path;
  std::vector<bool> free;
  int levels{};
  std::vector<std::vector<bool>> counts;   // [level][domain]: takes part in the fragmentation value
};

struct Request {
  int least{}, most{};                     // nodes
  std::vector<int> rungs;                  // levels, narrow to wide; −1: everything
  int segment{}, segment_level{}, inner{}, inner_level{};   // 0: none
  bool distinct{};
  std::vector<int> sizes;                  // exact parts at segment_level
  bool wish{};
};

using Set = std::uint32_t;                 // of nodes, as bits

// May these nodes, all of them, be given? (whole segments in one domain each)
bool allowed(const Cluster&, const Request&, Set);
// The most nodes that a part of the cluster can give, at most `most`, in counts that are allowed; 0: not even the least.
int offers(const Cluster&, const Request&, Set inside);
// The most nodes in whole segments, whatever was asked.
int slots(const Cluster&, const Request&, Set inside);

struct Domain {
  int level{}, id{};
  Set nodes{};
};
std::vector<Domain> domains_at(const Cluster&, int level);
std::vector<Domain> children_of(const Cluster&, const Domain&);

// The first rung that holds it, the domains on it that do, and how many nodes each gives.
struct Rung {
  int level{};
  std::vector<Domain> fitting;
  int nodes{};
};
std::optional<Rung> first_rung(const Cluster&, const Request&);

// own_first as a list to compare: slots of the domain, then of its ancestors; raw slots beside each.
std::vector<int> own_first(const Cluster&, const Request&, const Domain&);
// The fewest of these domains that together give n nodes in whole segments.
int fewest(const Cluster&, const Request&, const std::vector<Domain>&, int n);
// Σ over levels of nodes in domains that are not wholly free, plus busy nodes, when `taken` are busy too.
int fragmentation(const Cluster&, Set taken);

}  // namespace reference

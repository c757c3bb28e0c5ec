// Placement by trying everything: the rules of design §6 word by word, for clusters of at most 12 nodes. Slow on purpose and
// built on nothing of the engine, so that it can not share its mistakes. Not gangs: those are slow_gang.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace reference {

// Node n hangs below domain path[level] (−1: its branch has no such level); levels from wide to narrow.
struct Node {
  std::vector<int> path;
  bool reachable{true};                    // false: outside a topology that does not join what it does not know
  bool idle{};                             // up, and nobody's
  int units{};                             // most units it can give now
  int cpus{1}, used{};                     // of a node that is up; 0 of one that is not
  bool required{};                         // -w: must be in
  int weight{1};
};

struct Cluster {
  std::vector<Node> nodes;
  int levels{};
  bool joined{true};                       // false: a job stays inside one of the widest domains
  std::vector<std::vector<bool>> counts;   // [level][domain]: takes part in the fragmentation value
};

struct Layer {
  int level{}, size{};                     // units; level = Cluster::levels: one node
};
struct Rung {
  int level{}, max_domains{1};             // −1: everything; Cluster::levels: one node
};
enum class Order { own_first, parent_first, fullest, least_growth };
enum class Fill { best_fit, pack_parents, least_free, balanced };
enum class Remainder { forbid, shorter, elastic };

struct Request {
  int least{}, most{};                     // units
  std::vector<int> choices;                // non-empty: exactly one of these
  std::vector<Rung> rungs;                 // narrow to wide
  int within{-1};                          // required level: a branch without it serves on no rung
  std::vector<Layer> layers;               // segments, wide to narrow
  bool distinct{};                         // no two segments of the first layer in one domain
  Remainder remainder{Remainder::forbid};
  std::vector<int> sizes;                  // exact parts at layers[0].level
  bool wish{};
  bool whole{};                            // units are whole nodes: those of one leaf are interchangeable, and named last
  int cpus_each{1};                        // per unit, for `fullest`
  Order order{Order::own_first};
  bool growth_on_one_node{};               // P4's default: least_growth where one node holds all
  Fill fill{Fill::best_fit};
  bool contiguous{};                       // neighbours in the walk only
  bool weight_first{};                     // the cheapest nodes that hold it, whatever their topology
  struct Near {
    int level{};                           // Cluster::levels: the node itself
    std::uint32_t of{};                    // nodes of other jobs, as bits
    bool together{}, required{};
  };
  std::vector<Near> near;                  // required or, in this order, wished
  bool unpacked{};                         // default packing `none`: nothing is near anything, F grows least
};

using Take = std::vector<int>;             // units by node
using Set = std::uint32_t;                 // nodes, as bits

struct Domain {
  int level{}, id{};
  Set nodes{};
  bool operator==(const Domain&) const = default;
};
std::vector<Domain> domains_at(const Cluster&, int level);
// The next narrower domains, whatever their level; nodes that hang here count as one each. In the order of their names.
std::vector<Domain> children_of(const Cluster&, const Domain&);
// The place of each node in a walk of the topology in the order of names.
std::vector<int> walk(const Cluster&);

int total(const Take&);
Set nodes_of(const Take&);
// May these units, all of them, be given? (whole segments in one domain each, required nodes in)
bool allowed(const Cluster&, const Request&, const Take&);
// The most units that a part of the cluster can give, in counts that are allowed; 0: not even the least.
int offers(const Cluster&, const Request&, Set inside);
// The most units in whole segments of the layers from `layer` on, out of `left`.
int slots(const Cluster&, const Request&, const Take& left, Set inside, std::size_t layer);
Take everything_left(const Cluster&);

// P4: without the nodes that affinity to other jobs leaves out, and those dearer than it takes: all that is required; of the wishes
// each that can be kept beside those before it, on the rung and with the count that there are without it.
Cluster near_others(const Cluster&, const Request&);
// With weight_first: without the nodes that are dearer than it takes. Otherwise, or where nothing holds it, the cluster as it is.
Cluster cheapest(const Cluster&, const Request&);

// One way to stand on the first rung that holds the request.
struct Option {
  std::size_t rung{};
  Domain domain;                           // with max_domains > 1: the narrowest common ancestor
  int units{}, domains{1};
  std::vector<std::int64_t> key;           // P4, smaller is better
  std::optional<Take> take;                // what P5 names, where it names one thing
};
// All ways on the first rung that holds it, best first; `fixed`: the request with the count that a range without a wish gets.
std::vector<Option> options(const Cluster&, const Request&, Request* fixed = nullptr);

// The fewest of these domains that together give n units in whole segments and hold all required nodes.
int fewest(const Cluster&, const Request&, const std::vector<Domain>&, int n);
// The smallest difference between shares when the fewest domains are used.
int least_difference(const Cluster&, const Request&, const std::vector<Domain>&, int n);
// Σ over levels of nodes in domains that are not wholly free, plus busy nodes, when `taken` are busy too.
int fragmentation(const Cluster&, Set taken);
// The fewest domains of a level that any allowed choice of n units is in.
int fewest_domains(const Cluster&, const Request&, Set inside, int n, int level);
// The least growth of it by any allowed choice of n units.
int least_growth(const Cluster&, const Request&, Set inside, int n);

}  // namespace reference

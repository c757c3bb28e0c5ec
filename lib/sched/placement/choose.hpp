// The two stages of a placement of one part. First: which domains, and how many units in each leaf, from counts per domain
// alone; then: which nodes inside each leaf. Usable apart: a plan for the future keeps the first and asks for names at the start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sched/placement/board.hpp"

namespace sy::sched::placement {

// What a choice is made from. `units` may be empty while units are whole nodes and no names are asked for.
struct Counts {
  const model::TopologyIndex* topology{};
  std::span<const std::uint32_t> sum;       // units by domain
  std::span<const std::uint32_t> idle;      // wholly free nodes by domain
  std::span<const std::uint32_t> units;     // by position
  std::span<const std::uint32_t> raw;       // by position, before rounding to Demand::multiple; empty: as units
  std::span<const std::uint32_t> raw_sum;   // by domain; empty: as sum
  std::span<const std::uint32_t> example, most;  // by domain, of Offer
  std::span<const std::uint64_t> weight;    // by domain; empty: all nodes weigh the same
  std::span<const std::uint32_t> holders;
  const Board* board{};                     // for single nodes' weight and idleness; null: as if idle and of equal weight
};
Counts counts_of(const Board&, const Offer&);

// Units in [begin, end) of one leaf. Whole nodes of the interval are interchangeable; tasks come as intervals of one node.
struct Share {
  std::uint32_t leaf{}, begin{}, end{}, units{};
  std::uint32_t segment{};
};

struct Candidate {
  std::uint32_t domain{};
  std::uint32_t units{};                    // how many it would give
  std::vector<std::uint32_t> domains;       // more than one: a rung with max_domains > 1; `domain` is their common ancestor
};

struct Choice {
  std::size_t rung{};
  std::uint32_t units{};
  std::vector<std::uint32_t> domains;
  std::vector<Share> shares;                // depth-first, except with sizes: then in the order of sizes
  std::int64_t growth{};                    // of the fragmentation value
  std::uint32_t children_used{};            // of the domain, one level down
  std::uint32_t difference{};               // between the largest and the smallest share of these
};

struct Named {
  std::uint32_t position{}, units{}, segment{};
};

class Chooser {
 public:
  Chooser(const Counts&, const Part&);
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;

  // The first open rung on which the part fits inside `scope`. `open`: how many rungs may be used.
  std::optional<Choice> choose(std::uint32_t scope, std::size_t open);
  // On one rung: every domain that would do, best first (P4); for backtracking and for telling what was beaten.
  std::vector<Candidate> candidates(std::size_t rung, std::uint32_t scope);
  // Inside that candidate (P5); empty: exact sizes do not fit there, or the search budget ended.
  std::optional<Choice> fill(std::size_t rung, const Candidate&);
  // The most units that one domain can give in whole segments.
  std::uint32_t capacity(std::uint32_t domain) const { return cap_[domain] + (part_.shorter ? extra_[domain] : 0); }
  std::uint32_t offered(std::uint32_t domain) const { return available(domain); }  // the same, minding -w and --contiguous
  const Counts& counts() const { return counts_; }
  // The largest count allowed by the request that is at most `available`; 0: none.
  std::uint32_t allowed_count(std::uint32_t available) const;
  // The count for a range without a wish: as many as are free (P11). 0: not even the minimum is.
  std::uint32_t count_without_wish(std::uint32_t scope);
  // Of the fragmentation value, were these taken.
  std::int64_t growth(const std::vector<Share>& shares) const { return growth_of(shares); }
  void limit(std::uint32_t min, std::uint32_t max) {
    min_ = min;
    max_ = max;
  }

  std::uint64_t domains_looked_at{};
  std::uint64_t* budget{};                  // counted down by searches; null: unlimited
  bool budget_ended{};

 private:
  struct Borrow {};
  Chooser(const Chooser& from, Borrow);     // shares its counts until it consumes some
  struct Entry {
    std::uint32_t id{};                     // domain, or position when node
    std::uint32_t begin{}, end{};
    std::uint32_t leaf{};
    std::uint32_t cap{}, raw{};             // in counting units; in units
    std::uint32_t forced{}, take{};
    bool node{}, run{};
  };
  struct Judged {
    Candidate candidate;
    std::int64_t growth{};
    std::uint32_t children{}, difference{};
    bool judged{};
  };

  // counting
  void count_segments();
  void count_segments_of(std::uint32_t domain);
  bool count_segments_by_level();
  std::uint32_t counting_unit(std::size_t layer) const;   // units that move together above that layer's level
  std::uint32_t forced_in(std::uint32_t begin, std::uint32_t end) const;
  struct Run {
    std::uint32_t begin{}, end{}, units{};
  };
  Run contiguous_run(std::uint32_t begin, std::uint32_t end, std::uint32_t units) const;
  std::uint32_t available(std::uint32_t domain) const;
  bool outside(std::uint32_t domain) const {  // a branch without the level that is required
    return part_.within >= 0 && !t_.regular() && t_.domain(domain).level > part_.within && t_.ancestor(domain, part_.within) < 0;
  }
  bool within(std::uint32_t domain) const {  // all of it inside one domain of the level that is required
    return part_.within < 0 || t_.ancestor(domain, part_.within) >= 0;
  }
  std::uint32_t raw_in(std::uint32_t domain) const { return counts_.raw_sum.empty() ? sum_[domain] : counts_.raw_sum[domain]; }
  static constexpr std::uint32_t never = ~0U;
  std::uint32_t needed(std::uint32_t domain) const;
  std::uint32_t needed_whole(std::uint32_t domain) const;
  std::uint32_t needed(std::uint32_t domain, bool in_segments) const;
  std::uint32_t count_for(std::uint32_t domain) const;

  // comparing (P4)
  int compare_order(const Candidate&, const Candidate&) const;
  int compare_own_first(const Candidate&, const Candidate&) const;
  // With positions: of these nodes inside the candidates' domains.
  int compare_parent_first(const Candidate&, const Candidate&, std::uint32_t node_a = ~0U, std::uint32_t node_b = ~0U) const;
  std::uint64_t fullness(std::uint32_t begin, std::uint32_t end, std::uint32_t units) const;
  std::uint64_t fullness_of(const Candidate&) const;       // remembered
  std::int64_t free_ancestors(std::uint32_t domain) const;
  std::int64_t leaf_growth(std::uint32_t leaf, std::uint32_t units) const;
  void judge(std::size_t rung, Judged&);
  bool judge_at_a_glance(Judged&) const;
  bool all_alike(std::uint32_t domain) const;
  std::uint32_t widest_alike(std::uint32_t domain, std::uint32_t scope) const;
  int compare_weight(std::uint32_t a, std::uint32_t b) const;
  bool better(std::size_t rung, Judged&, Judged&);
  bool own_order() const { return part_.order == model::PackOrder::own_first || part_.order == model::PackOrder::automatic; }
  std::span<const std::uint32_t> domains_on(const PartRung&, const std::uint32_t& scope) const;
  void list(std::size_t rung, std::uint32_t scope, std::vector<Judged>&);
  std::optional<Candidate> best_on(std::size_t rung, std::uint32_t scope);
  void list_several(const PartRung&, std::uint32_t scope, std::vector<Judged>&);
  void list_neighbours(const PartRung&, std::uint32_t scope, std::vector<Judged>&);
  std::vector<Candidate> single_nodes(std::uint32_t scope, bool only_best);

  // filling (P5)
  bool fill_into(Choice&, std::size_t rung, const Candidate&);
  void expand(const Entry&, std::size_t layer, std::vector<Entry>& out) const;
  void expand_runs(const Entry&, std::vector<Entry>& out) const;
  bool terminal(const Entry&, std::size_t layer) const;
  void fill_domain(std::uint32_t domain, std::uint32_t n, std::size_t layer, Choice&, bool first);
  void fill_window(std::uint32_t begin, std::uint32_t end, std::uint32_t n, Choice&);
  void consume(const Choice&);
  Entry entry_of(std::uint32_t domain, std::size_t layer) const;
  void divide(std::vector<Entry>&, std::uint32_t n, Fill) const;
  void best_fit(std::vector<Entry>&, std::uint32_t n) const;
  void best_fit_forced(std::vector<Entry>&, std::uint32_t& rest) const;
  void balance(std::vector<Entry>&, std::uint32_t n) const;
  bool before(const Entry&, const Entry&) const;
  bool smaller(const Entry&, const Entry&) const;
  bool larger(const Entry&, const Entry&) const;
  void fill_level_by_level(std::vector<Entry> frontier, std::uint32_t n, std::size_t layer, Choice&, bool first);
  void fill_each(const Entry&, std::uint32_t n, std::size_t layer, Choice&, bool first);
  void settle(const Entry&, std::size_t layer, Choice&);
  void fill_segments(const Entry&, std::size_t layer, Choice&);
  void fill_loosest(std::uint32_t domain, std::uint32_t n, Choice&);
  bool fill_shorter(std::uint32_t domain, std::uint32_t n, Choice&);
  bool fill_shorter_first(std::uint32_t domain, std::uint32_t whole, std::uint32_t rest, Choice&);
  struct Packing;
  bool fill_sizes(std::uint32_t domain, Choice&);
  bool pack_sizes(Packing&, std::size_t at);
  void emit(const Entry&, std::uint32_t units, Choice&);
  void note_first(const std::vector<Entry>&, Choice&) const;
  std::uint32_t children_used(std::uint32_t domain, const std::vector<Share>&) const;
  void own_counts();                        // makes sum_, units_, cap_ private copies before they are consumed
  std::int64_t growth_of(const std::vector<Share>&) const;

  const Counts& counts_;
  const Part& part_;
  const model::TopologyIndex& t_;
  std::uint32_t min_, max_;
  std::span<const std::uint32_t> sum_, units_, cap_;
  std::vector<std::uint32_t> cap_store_, extra_, sum_store_, units_store_;
  std::vector<std::uint32_t> forced_;       // positions, ascending
  struct Seen {                             // what a trial in a domain of that form told
    std::uint32_t form{}, most{}, units{};
    std::int64_t growth{};                  // inside it
    std::uint32_t children{}, difference{};
  };
  std::vector<Seen> seen_;
  std::uint32_t segment_{};
  std::size_t consumed_{};                  // shares of the choice that are taken off the counts
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> fullness_;
};

// Stage two: the nodes. With whole nodes: cheapest first, then by name; required ones always.
std::vector<Named> name_nodes(const Counts&, const Part&, const Choice&);

}  // namespace sy::sched::placement

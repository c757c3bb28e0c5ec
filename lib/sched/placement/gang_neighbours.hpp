// The groups of a gang that have their place already, and where the next copy may go because of them: spread, affinity and
// anti-affinity. Not the search over places (gang.cpp); it takes and gives back nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sched/placement/gang.hpp"

namespace sy::sched::placement {

using Open = std::vector<bool>;          // by position
inline constexpr std::uint32_t no_limit = ~0U;

class Neighbours {
 public:
  Neighbours(const model::TopologyIndex& t, const Options& o) : t_(t), options_(o) {}

  using Around = std::vector<std::pair<const Piece*, std::uint32_t>>;  // containers' copies, from the outermost
  struct Record {
    const Piece* piece;
    std::uint32_t replica;
    std::vector<std::pair<const Piece*, std::uint32_t>> inside;  // the containers' copies around it
    std::vector<Named> nodes;
  };
  std::vector<Record> records;
  std::vector<std::pair<const Piece*, std::uint32_t>> around;  // the containers' copies that are being filled

  bool all_ways{};                       // the search tries every way: the fewest domains and the skew may be asked at the end

  void name(const Piece& root);          // before anything is placed: who there will be
  static bool has_wishes(const Piece&);
  // The positions of the domain `scope` where this copy may go; false: nothing restricts it beyond `open`.
  // `most`: no domain with more copies than that, where they are kept apart without a rule.
  bool restrict(const Piece&, std::uint32_t replica, std::uint32_t scope, bool wishes, std::uint32_t most, const Open* open,
                Open& mask) const;
  // How many copies the domains have in which a spread without a rule goes the least full first; otherwise no limit alone.
  std::vector<std::uint32_t> heights(const Piece&) const;
  // Of a group whose copies are all placed: what was not asked of them one by one.
  bool spread_holds(const Piece&) const;
  // What could not be asked while its target had no place yet.
  bool affinities_hold() const;
  // Whether no group that minds its neighbours or lists nodes (-w, -x) could tell these two apart.
  bool alike(std::uint32_t a, std::uint32_t b) const;

 private:
  std::map<std::uint32_t, std::uint32_t> copies_in(const Piece&, std::int32_t level) const;
  std::uint32_t node_key(std::uint32_t position) const;
  std::int64_t key_of(std::uint32_t position, std::int32_t level) const;
  struct Span {                          // a domain of a spread's level
    std::uint32_t begin, end, copies;
  };
  bool asked_at_the_end(const Piece&, const model::Spread&) const;
  bool closed(const model::Spread&, const Piece&, std::uint32_t placed, std::uint32_t here, std::size_t used, std::uint32_t least) const;
  std::vector<Span> spans(const Piece&, std::int32_t level, std::size_t& used) const;
  void close_spread(const Piece&, const model::Spread&, std::uint32_t placed, std::uint32_t scope, std::uint32_t most, Open& mask) const;
  // Of the groups or jobs of that name, as the group sees them that is in these containers' copies.
  std::set<std::int64_t> domains_of(const std::string& target, std::int32_t level, const Around& asker, bool& known) const;

  const model::TopologyIndex& t_;
  const Options& options_;
  std::set<std::string> names_;          // of all groups
  std::vector<NodeSet> lists_;
  bool affinities_{}, spreads_{}, contiguous_{};
};

}  // namespace sy::sched::placement

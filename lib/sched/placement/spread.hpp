// Nodes or tasks of one group kept apart (P7): how many each domain takes follows from what they have room for, exactly and
// without a search. The copies of a group are kept apart by the search of gangs (gang_neighbours.hpp), not here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

// A rule allows a job on some numbers per domain. The most even division is allowed wherever any is: it has the smallest largest
// share, the most domains in use, the least skew. So that one is asked whether it fits; then the fewest domains are taken over
// which it still does (as many as there are, where the request says a level and no rule).
class Spreader {
 public:
  Spreader(const Board&, const Offer&, const Part&);

  // The first open rung on which the part fits inside `scope`, with every rule that is required and the wishes that can be kept.
  std::optional<Choice> choose(std::uint32_t scope, std::size_t open);
  // For a search that may come back for another: the domains of that rung that would do, best first, and one of them filled.
  // `wishes`: which of those that are not required are minded, in the order written; empty: none.
  void mind(const std::vector<bool>& wishes);
  std::vector<Candidate> candidates(std::size_t rung, std::uint32_t scope);
  std::optional<Choice> fill(std::size_t rung, const Candidate&);
  // How many that domain takes, of those asked, with what is required; and why no more.
  std::uint32_t offered(std::uint32_t domain);
  std::string limits(std::uint32_t domain);

 private:
  struct Place {                          // a domain of a rule's level, or a position where that is "node"
    std::uint32_t id{}, begin{}, end{};
    std::uint32_t room{}, forced{};       // units
    bool compared{};                      // it could hold some of the job, were it idle
  };
  using Numbers = std::vector<std::uint32_t>;  // units by place

  std::vector<Place> places(std::size_t rule, std::uint32_t domain) const;
  std::uint32_t room_of(std::size_t rule, const Place&) const;
  std::uint32_t forced_in(std::uint32_t begin, std::uint32_t end) const;
  bool others_compared(std::uint32_t domain) const;
  std::optional<Numbers> even(const std::vector<Place>&, const std::vector<std::uint32_t>& use, std::uint32_t n) const;
  bool allowed(const Apart&, const std::vector<Place>&, const Numbers&, bool others) const;
  std::optional<Numbers> divide(std::size_t rule, const std::vector<Place>&, std::uint32_t n, bool others, bool fewest) const;
  std::uint32_t largest(std::uint32_t domain, std::uint32_t least, std::uint32_t most, const std::vector<std::uint32_t>& choices);
  std::optional<Choice> on_rungs(std::uint32_t scope, std::size_t open);
  std::vector<std::uint32_t> domains_on(std::size_t rung, std::uint32_t scope) const;
  bool build(std::size_t rule, std::uint32_t domain, std::uint32_t n, std::vector<Share>&);
  bool build_in(const Place&, std::int32_t level, std::uint32_t n, std::vector<Share>&);
  std::vector<std::uint32_t> seats(std::int32_t level, std::uint32_t domain, std::uint32_t n) const;

  const Board& board_;
  const Offer& offer_;
  const Part& part_;
  Part plain_;                            // without the rules
  const model::TopologyIndex& t_;
  Counts counts_;
  std::vector<std::uint32_t> forced_;     // positions, ascending
  bool forced_fit_{true};
  std::uint32_t min_, max_;
  std::vector<std::uint32_t> choices_;
  std::vector<Apart> rules_;              // that are minded, widest first, one a level
};

}  // namespace sy::sched::placement

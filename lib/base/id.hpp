// Typed numbers: an id of one thing can not be passed where the id of another is meant.
// Not a generator: new ids come from counters kept in State.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace sy::base {

template <class Tag, class Rep = std::uint64_t>
struct Id {
  using rep = Rep;
  Rep value{};

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using JobId = Id<struct JobTag>;                          // never reused; 0 means "none"
using Sequence = Id<struct SequenceTag>;                  // number of an event, from 1; 0 means "before the first"
using NodeIndex = Id<struct NodeTag, std::uint32_t>;      // position in State.nodes; stable for the life of the cluster
using AttemptNumber = Id<struct AttemptTag, std::uint32_t>;  // 1 for the first start of a job; 0 means "never started"
using Uid = Id<struct UidTag, std::uint32_t>;
using Gid = Id<struct GidTag, std::uint32_t>;

}  // namespace sy::base

template <class Tag, class Rep>
struct std::hash<sy::base::Id<Tag, Rep>> {
  std::size_t operator()(sy::base::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};

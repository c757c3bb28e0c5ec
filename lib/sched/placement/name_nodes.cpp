#include <algorithm>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {
namespace {

// Nodes of one interval: required ones first, then those in use already (F grows least), then cheaper ones, then those with the fewest
// CPUs left where the job shares them, then by name.
void name_in(const Counts& c, const Part& part, const std::vector<std::uint32_t>& required, const Share& share, std::vector<bool>& used,
             std::vector<Named>& out) {
  const bool in_order = c.topology->kind() == model::Topology::Kind::flat && !part.layers.empty();  // as Chooser::consume
  const bool plain = in_order || (part.required.empty() && (c.board == nullptr || (c.board->equal_weights() && part.demand.whole)));
  if (plain) {
    auto left = share.units;
    for (auto p = share.begin; p < share.end && left > 0; ++p) {
      if (c.units[p] == 0 || (!used.empty() && used[p])) continue;
      if (!used.empty()) used[p] = true;
      out.push_back(Named{p, 1, share.segment});
      --left;
    }
    return;
  }
  struct Seat {
    bool optional{}, idle{};
    std::uint32_t weight{};
    std::int64_t cpus{};
    std::uint32_t position{};
    auto operator<=>(const Seat&) const = default;
  };
  std::vector<Seat> free;
  for (auto p = share.begin; p < share.end; ++p) {
    if (c.units[p] == 0 || (!used.empty() && used[p])) continue;
    Seat seat{!std::binary_search(required.begin(), required.end(), p), false, 0, 0, p};
    if (c.board != nullptr) {
      seat.idle = c.board->idle(p);
      seat.weight = c.board->weight(p);
      if (!part.demand.whole) seat.cpus = c.board->now(p).free.cpus.value;
    }
    free.push_back(seat);
  }
  const auto n = std::min<std::size_t>(free.size(), share.units);
  std::nth_element(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(n), free.end());
  free.resize(n);
  std::sort(free.begin(), free.end(), [](const Seat& x, const Seat& y) { return x.position < y.position; });
  for (const auto& seat : free) {
    if (!used.empty()) used[seat.position] = true;
    out.push_back(Named{seat.position, 1, share.segment});
  }
}

}  // namespace

std::vector<Named> name_nodes(const Counts& c, const Part& part, const Choice& choice) {
  std::vector<Named> out;
  out.reserve(choice.units);
  std::vector<std::uint32_t> required;  // positions, ascending
  for (const auto n : part.required)
    if (const auto p = c.topology->position_of(n.value); p >= 0) required.push_back(static_cast<std::uint32_t>(p));
  std::sort(required.begin(), required.end());
  std::vector<bool> used(part.by_tasks || part.layers.empty() ? 0 : c.topology->size());  // only segments come back to a leaf
  // Shares in order of their places name nodes in order; in a flat topology the segments' intervals overlap and keep theirs.
  const auto earlier = [](const Share& a, const Share& b) { return a.begin < b.begin; };
  std::vector<Share> by_place;
  const auto* shares = &choice.shares;
  const bool movable = part.sizes.empty() && (part.layers.empty() || c.topology->kind() != model::Topology::Kind::flat);
  if (movable && !std::is_sorted(shares->begin(), shares->end(), earlier)) {
    by_place = choice.shares;
    std::stable_sort(by_place.begin(), by_place.end(), earlier);
    shares = &by_place;
  }
  for (const auto& s : *shares) {
    if (part.by_tasks) out.push_back(Named{s.begin, s.units, s.segment});
    else name_in(c, part, required, s, used, out);
  }
  // Ranks run depth-first; with exact sizes in the order asked, inside each by path (P8).
  const bool by_size = !part.sizes.empty();
  const auto before = [&](const Named& a, const Named& b) {
    return by_size && a.segment != b.segment ? a.segment < b.segment : a.position < b.position;
  };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::stable_sort(out.begin(), out.end(), before);
  if (by_size || (part.layers.empty() && part.demand.multiple <= 1)) return out;
  if (part.layers.empty()) {  // segments on single nodes: one entry each
    std::vector<Named> split;
    for (const auto& n : out)
      for (std::uint32_t taken = 0; taken < n.units; taken += part.demand.multiple)
        split.push_back(Named{n.position, part.demand.multiple, static_cast<std::uint32_t>(split.size())});
    return split;
  }
  std::vector<std::uint32_t> number(out.size() + choice.units + 1, ~0U);
  std::uint32_t next = 0;
  for (auto& n : out) {
    if (number[n.segment] == ~0U) number[n.segment] = next++;
    n.segment = number[n.segment];
  }
  return out;
}

}  // namespace sy::sched::placement

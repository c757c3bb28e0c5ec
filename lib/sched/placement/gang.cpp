#include "sched/placement/gang.hpp"

#include <algorithm>

#include "sched/placement/gang_search.hpp"

namespace sy::sched::placement {
namespace {

using model::TopologyIndex;
using Open = std::vector<bool>;          // by position

// Groups that may be smaller than asked, depth-first: copies one by one, units in whole segments.
struct Surplus {
  std::uint32_t* count;
  std::uint32_t least, most, step;
  std::vector<std::uint32_t> choices;    // not empty: least and most are places in here
  void set(std::uint32_t to) const { *count = choices.empty() ? to : choices[to]; }
};
void elastic(Piece& p, std::vector<Surplus>& out) {
  const auto& part = p.part;
  const bool one_node = !p.container && part.max == 1;
  auto copies = p.min_replicas, units = part.min;  // so many domains take no fewer copies, or units
  for (const auto& s : p.spread)
    if (one_node && s.mode == model::Spread::Mode::require) copies = std::max(copies, std::min(s.min_domains.value_or(0), p.replicas));
  for (const auto& a : part.apart)
    if (!a.wish) units = std::max(units, std::min(a.domains, part.max));
  if (copies < p.replicas) out.push_back({&p.replicas, copies, p.replicas, 1, {}});
  const bool segments = !part.layers.empty() && part.sizes.empty() && !part.shorter;
  if (!p.container && part.choices.size() > 1)
    out.push_back({&p.part.max, 0, static_cast<std::uint32_t>(part.choices.size()) - 1, 1, part.choices});
  else if (!p.container && part.choices.empty() && units < part.max)
    out.push_back({&p.part.max, units, part.max, segments ? part.layers.front().size : std::max(part.demand.multiple, 1U), {}});
  for (auto& c : p.children) elastic(c, out);
}

void fix_counts(Piece& p) {
  auto& part = p.part;
  if (!p.container && part.max > 0) part.min = part.max = part.choices.empty() ? part.max : std::min(part.max, part.choices.back());
  part.choices.clear();
  for (auto& c : p.children) fix_counts(c);
}

// CPUs that all copies take together, at least.
std::int64_t cpus_asked(const Piece& p) {
  std::int64_t one = 0;
  for (const auto& c : p.children) one += cpus_asked(c);
  const auto& part = p.part;
  if (!p.container) one += cpus_of_one(part);
  return p.replicas * one;
}

std::int64_t cpus_free(const TopologyIndex& t, std::span<const NodeNow> nodes, const Open* open) {
  std::int64_t sum = 0;
  for (std::uint32_t q = 0; q < t.size(); ++q)
    if (const auto& n = nodes[t.node_at(q)]; n.usable && !n.exclusive && (open == nullptr || (*open)[q])) sum += n.free.cpus.value;
  return sum;
}

// As much as fits on the first rung that holds all that is asked; failing that, on the first that holds the least.
GangResult place_on_rungs(const Piece& asked, const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes,
                          const Options& o, const std::vector<bool>* open) {
  std::uint64_t spent = 0;               // steps of all attempts together
  const auto attempt = [&](const Piece& p) {
    Piece fixed = p;
    fix_counts(fixed);
    GangResult r;
    if (cpus_asked(fixed) > cpus_free(t, nodes, open)) return r.nowhere = r.too_few_cpus = true, r;  // no search can help
    const auto left = [&] { return o.budget - std::min(spent, o.budget); };
    if (count_copies(fixed) > most_copies) {
      Options rest = o;
      rest.budget = left();
      r = search_gang_greedily(fixed, shape, t, nodes, rest, open);
      spent += r.steps;
      return r;
    }
    bool ended = false;
    const std::size_t rungs = fixed.container ? fixed.part.rungs.size() : 1;
    for (std::size_t rung = 0; rung < rungs; ++rung) {
      const auto after = left() - left() / (rungs - rung);  // what a rung leaves of its share is the wider ones'
      for (const bool exhaustive : {false, true}) {
        const auto share = left() - std::min(left(), after);
        r = search_gang(fixed, shape, t, nodes, o, open, Walk{exhaustive, rung, exhaustive ? share : share / 4});
        spent += r.steps;
        r.steps = spent;
        if (r.placed || !r.hopeless.empty()) return r;
        ended |= exhaustive && r.budget_ended;
        if (r.nowhere) break;  // no domain of that rung has room for all of them
      }
    }
    r.budget_ended = ended;
    return r;
  };
  Piece now = asked;
  std::vector<Surplus> counts;
  elastic(now, counts);
  if (counts.empty() || !o.least_will_do) {
    GangResult all = attempt(asked);
    if (all.placed || counts.empty()) return all;
  }
  for (const auto& s : counts) s.set(s.least);
  GangResult best = attempt(now);
  if (!best.placed || o.least_will_do) return best;
  for (const auto& s : counts) {  // what more there is room for, one group after the other
    auto low = s.least, high = s.most;
    while (low < high && spent < o.budget) {
      const auto middle = low + (high - low + s.step) / (2 * s.step) * s.step;
      s.set(middle);
      GangResult more = attempt(now);
      if (more.placed) best = std::move(more), low = middle;
      else high = middle - s.step;
    }
    s.set(low);
  }
  best.steps = spent;
  return best;
}

}  // namespace

GangResult place_gang(const Piece& asked, const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes,
                      const Options& o, const std::vector<bool>* open) {
  Piece one = asked;
  std::vector<Surplus> counts;
  elastic(one, counts);
  if (!asked.wish || counts.empty()) return place_on_rungs(asked, shape, t, nodes, o, open);
  // P11: who wishes to be near takes less before a wider rung.
  GangResult r;
  bool ended = false;
  Options share = o;
  for (std::size_t rung = 0; rung < asked.part.rungs.size(); ++rung) {
    const auto steps = r.steps;
    one.part.rungs = {asked.part.rungs[rung]};
    share.budget = (o.budget - std::min(steps, o.budget)) / (asked.part.rungs.size() - rung);
    r = place_on_rungs(one, shape, t, nodes, share, open);
    r.steps += steps;
    if (r.placed) return r;
    ended |= r.budget_ended;
  }
  r.budget_ended = ended;
  return r;
}

}  // namespace sy::sched::placement

#include "sched/placement/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>

namespace sy::sched::placement {
namespace {

using model::TopologyIndex;

struct Sum {
  std::vector<std::uint32_t> at;         // by position: what the node gives
  std::uint64_t target{};
};

// GRES that the node has left for the job once its own share is taken off.
std::uint32_t job_gres(const Part& part, const model::GresRequest& asked, const Resources& from) {
  std::int64_t n = 0;
  const auto same = [&](const model::GresRequest& r) { return r.name == asked.name && (asked.type.empty() || r.type == asked.type); };
  for (const auto& g : from.gres)
    if (g.name == asked.name && (asked.type.empty() || g.type == asked.type)) n += g.count;
  for (const auto* own : {&part.demand.gres, &part.demand.gres_node})
    for (const auto& r : *own)
      if (same(r)) n -= r.count;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(n, 0));
}

class Picker {
 public:
  Picker(const Board& board, const Offer& offer, const Part& part, std::uint64_t& budget) : budget_(budget) {
    const auto& t = board.topology();
    if (part.sum_tasks) sums_.push_back(Sum{offer.units, part.total_tasks});
    for (const auto& r : part.gres_job) {
      Sum s{std::vector<std::uint32_t>(t.size(), 0), static_cast<std::uint64_t>(r.count)};
      for (std::uint32_t p = 0; p < t.size(); ++p)
        if (offer.units[p] > 0)
          s.at[p] = job_gres(part, r, part.demand.whole ? board.shape().nodes[t.node_at(p)].total : board.now(p).free);
      sums_.push_back(std::move(s));
    }
    for (const auto n : part.required) {  // out of reach: a position that no domain has
      const auto p = t.position_of(n.value);
      required_.push_back(p >= 0 ? static_cast<std::uint32_t>(p) : static_cast<std::uint32_t>(t.size()));
    }
    std::sort(required_.begin(), required_.end());
  }

  // "tasks" and kinds of GRES, with what each node gives and what is asked.
  std::vector<std::tuple<std::string, const std::vector<std::uint32_t>*, std::uint64_t>> sums_named(const Part& part) const {
    std::vector<std::tuple<std::string, const std::vector<std::uint32_t>*, std::uint64_t>> out;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const auto* gres = part.sum_tasks ? i == 0 ? nullptr : &part.gres_job[i - 1] : &part.gres_job[i];
      out.emplace_back(gres == nullptr ? "tasks fit" : gres->name + (gres->type.empty() ? "" : ":" + gres->type) + " are", &sums_[i].at,
                       sums_[i].target);
    }
    return out;
  }

  std::uint64_t first_target() const { return sums_.empty() ? 0 : sums_.front().target; }
  std::uint64_t first_value(std::uint32_t position) const { return sums_.empty() ? 0 : sums_.front().at[position]; }

  // n of these positions that hold every sum, as tight as may be; empty: there are none, or the budget ended.
  std::vector<std::uint32_t> pick(const std::vector<std::uint32_t>& from, std::size_t n) {
    std::vector<std::uint32_t> chosen, rest;
    for (const auto p : from) (std::binary_search(required_.begin(), required_.end(), p) ? chosen : rest).push_back(p);
    if (chosen.size() != required_.size() || chosen.size() > n || from.size() < n) return {};
    const auto fixed = chosen.size();
    const auto value = [&](std::uint32_t p) {  // towards all sums together
      double v = 0;
      for (const auto& s : sums_) v += double(std::min<std::uint64_t>(s.at[p], s.target)) / double(std::max<std::uint64_t>(s.target, 1));
      return v;
    };
    std::stable_sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
      return sums_.size() == 1 ? sums_[0].at[a] > sums_[0].at[b] : value(a) > value(b);
    });
    auto best = chosen;
    best.insert(best.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n - fixed));
    if (!holds(best)) {
      if (sums_.size() == 1 || !bound(chosen, rest, 0, n)) return {};
      if (!search(chosen, rest, 0, n)) return {};
      best = chosen;
    }
    tighten(best, rest, fixed);
    std::sort(best.begin(), best.end());
    return best;
  }

 private:
  bool holds(const std::vector<std::uint32_t>& nodes) const {
    return std::all_of(sums_.begin(), sums_.end(), [&](const Sum& s) {
      std::uint64_t sum = 0;
      for (const auto p : nodes) sum += s.at[p];
      return sum >= s.target;
    });
  }

  // Could the best of the rest, for each sum by itself, still do it?
  bool bound(const std::vector<std::uint32_t>& chosen, const std::vector<std::uint32_t>& rest, std::size_t at, std::size_t n) const {
    return std::all_of(sums_.begin(), sums_.end(), [&](const Sum& s) {
      std::uint64_t sum = 0;
      for (const auto p : chosen) sum += s.at[p];
      std::vector<std::uint32_t> more;
      for (auto i = at; i < rest.size(); ++i) more.push_back(s.at[rest[i]]);
      const auto count = std::min(more.size(), n - chosen.size());
      std::partial_sort(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count), more.end(), std::greater<>());
      return std::accumulate(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(count), sum) >= s.target;
    });
  }

  // Depth-first; of nodes that give the same towards every sum the first ones are taken.
  bool search(std::vector<std::uint32_t>& chosen, const std::vector<std::uint32_t>& rest, std::size_t at, std::size_t n) {
    if (chosen.size() == n) return holds(chosen);
    if (at == rest.size() || rest.size() - at < n - chosen.size()) return false;
    if (budget_ == 0) return ended = true, false;
    --budget_;
    if (!bound(chosen, rest, at, n)) return false;
    chosen.push_back(rest[at]);
    if (search(chosen, rest, at + 1, n)) return true;
    chosen.pop_back();
    auto next = at + 1;
    while (next < rest.size() && std::all_of(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.at[rest[next]] == s.at[rest[at]]; }))
      ++next;
    return !ended && search(chosen, rest, next, n);
  }

  // The largest are exchanged for smaller ones while the sums still hold: large nodes stay for those who need them.
  void tighten(std::vector<std::uint32_t>& best, const std::vector<std::uint32_t>& rest, std::size_t fixed) const {
    std::vector<std::uint32_t> spare;
    for (auto i = rest.rbegin(); i != rest.rend(); ++i)
      if (std::find(best.begin(), best.end(), *i) == best.end()) spare.push_back(*i);
    std::vector<std::uint64_t> sum(sums_.size(), 0);
    for (std::size_t k = 0; k < sums_.size(); ++k)
      for (const auto p : best) sum[k] += sums_[k].at[p];
    for (auto i = fixed; i < best.size(); ++i)
      for (auto& other : spare) {
        bool smaller = false, ok = true;
        for (std::size_t k = 0; k < sums_.size(); ++k) {
          const auto mine = sums_[k].at[best[i]], its = sums_[k].at[other];
          smaller |= its < mine;
          ok &= its <= mine && sum[k] - mine + its >= sums_[k].target;
        }
        if (!smaller || !ok) continue;
        for (std::size_t k = 0; k < sums_.size(); ++k) sum[k] = sum[k] - sums_[k].at[best[i]] + sums_[k].at[other];
        std::swap(best[i], other);
        break;
      }
  }

  std::uint64_t& budget_;
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> required_;

 public:
  bool ended{};
};

Offer whole_nodes(const Board& b, const Offer& offer) {
  Offer out = offer;
  out.raw.clear();
  out.raw_sum.clear();
  const auto& t = b.topology();
  std::fill(out.sum.begin(), out.sum.end(), 0U);
  for (auto& most : out.most) most = std::min(most, 1U);
  for (std::uint32_t p = 0; p < out.units.size(); ++p) {
    out.units[p] = out.units[p] > 0 ? 1 : 0;
    out.sum[t.leaf_at(p)] += out.units[p];
  }
  for (auto d = out.sum.size(); d-- > 1;) out.sum[static_cast<std::size_t>(t.domain(static_cast<std::uint32_t>(d)).parent)] += out.sum[d];
  return out;
}

// Every few domains of a rung that together have nodes enough, the most nodes first, then the narrowest common ancestor, then
// the fewest domains: whether they hold the sum is not told by their numbers.
std::vector<Candidate> some_domains(const TopologyIndex& t, const Offer& nodes, const Chooser& chooser, const PartRung& rung,
                                    std::int32_t within, std::uint64_t& budget, bool& inexact) {
  std::vector<std::uint32_t> members;
  for (const auto d : t.at_level(rung.level))
    if (nodes.sum[d] > 0) members.push_back(d);
  std::vector<Candidate> out;
  std::vector<std::uint32_t> chosen;
  const std::function<void(std::size_t, std::uint32_t)> extend = [&](std::size_t from, std::uint32_t sum) {
    if (budget == 0) {
      inexact = true;
      return;
    }
    --budget;
    if (const auto n = chosen.empty() ? 0 : chooser.allowed_count(sum); n > 0) {
      auto above = chosen.front();
      while (above != TopologyIndex::root && t.domain(above).next <= chosen.back())
        above = static_cast<std::uint32_t>(t.domain(above).parent);
      const bool inside = within < 0 || t.ancestor(above, within) >= 0;
      if (inside && (t.joined() || chosen.size() == 1 || above != TopologyIndex::root)) out.push_back(Candidate{above, n, chosen});
    }
    if (chosen.size() == rung.max_domains) return;
    for (auto i = from; i < members.size(); ++i) {
      chosen.push_back(members[i]);
      extend(i + 1, sum + nodes.sum[members[i]]);
      chosen.pop_back();
    }
  };
  extend(0, 0);
  std::stable_sort(out.begin(), out.end(), [&](const Candidate& a, const Candidate& b) {
    const auto x = t.domain(a.domain).level, y = t.domain(b.domain).level;
    return a.units != b.units ? a.units > b.units : x != y ? x > y : a.domains.size() < b.domains.size();
  });
  return out;
}

struct Leaf {
  std::vector<std::uint32_t> positions;
  std::uint64_t value{};                 // of all its nodes, towards the first sum
};

// The fewest leaves that have n nodes which hold every sum: a greedy choice, and then a search for fewer (P12), which ends after so
// many steps. It only makes a placement tighter, so that ending is no reason to answer search_limit.
class FewestLeaves {
 public:
  FewestLeaves(std::vector<Leaf> leaves, std::size_t n, Picker& picker) : leaves_(std::move(leaves)), n_(n), picker_(picker) {
    std::stable_sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.positions.size() > b.positions.size(); });
    for (std::size_t i = leaves_.size() + 1; i-- > 0;) {  // what the rest could give at best
      most_value_.push_back(0);
      for (auto j = i; j < leaves_.size(); ++j) most_value_.back() = std::max(most_value_.back(), leaves_[j].value);
    }
    std::reverse(most_value_.begin(), most_value_.end());
  }

  // On fewer leaves than `used`; empty: none was found.
  std::vector<std::uint32_t> run(std::size_t used) {
    std::size_t best = used;
    auto found = greedily(best);
    for (std::size_t k = 1; k < best && steps_ > 0; ++k) {
      std::vector<std::uint32_t> some;
      if (auto exact = search(0, k, some, 0); !exact.empty()) return exact;
    }
    return found;
  }

 private:
  // Prefixes of the largest leaves, the last one chosen again as the tightest that holds the rest.
  std::vector<std::uint32_t> greedily(std::size_t& used) {
    std::vector<std::uint32_t> some;
    for (std::size_t k = 0; k + 1 < used && k < leaves_.size(); ++k) {
      std::vector<std::uint32_t> best;
      for (auto last = k; last < leaves_.size(); ++last)
        if (auto found = pick(some, leaves_[last]); !found.empty()) best = std::move(found);
      if (!best.empty()) return used = k + 1, best;
      some.insert(some.end(), leaves_[k].positions.begin(), leaves_[k].positions.end());
    }
    return {};
  }

  std::vector<std::uint32_t> pick(const std::vector<std::uint32_t>& some, const Leaf& last) {
    auto with = some;
    with.insert(with.end(), last.positions.begin(), last.positions.end());
    std::sort(with.begin(), with.end());
    return with.size() < n_ ? std::vector<std::uint32_t>{} : picker_.pick(with, n_);
  }

  std::vector<std::uint32_t> search(std::size_t at, std::size_t left, std::vector<std::uint32_t>& some, std::uint64_t value) {
    for (auto i = at; i + left <= leaves_.size(); ++i) {
      // The leaves are sorted: none after this one has more nodes.
      if (some.size() + left * leaves_[i].positions.size() < n_ || value + left * most_value_[i] < picker_.first_target()) return {};
      if (steps_ == 0) return {};
      --steps_;
      if (left == 1) {
        if (auto found = pick(some, leaves_[i]); !found.empty()) return found;
        continue;
      }
      const auto before = some.size();
      some.insert(some.end(), leaves_[i].positions.begin(), leaves_[i].positions.end());
      auto found = search(i + 1, left - 1, some, value + leaves_[i].value);
      some.resize(before);
      if (!found.empty()) return found;
    }
    return {};
  }

  std::vector<Leaf> leaves_;
  std::vector<std::uint64_t> most_value_;  // by place: the most that one leaf from there on gives
  std::size_t n_;
  Picker& picker_;
  std::uint32_t steps_{2'000};
};

std::vector<std::uint32_t> pick_in(const TopologyIndex& t, const Offer& nodes, const std::vector<std::uint32_t>& domains, std::size_t n,
                                   bool contiguous, Picker& picker) {
  std::vector<std::uint32_t> all;
  for (const auto d : domains)
    for (auto p = t.domain(d).begin; p < t.domain(d).end; ++p)
      if (nodes.units[p] > 0) all.push_back(p);
  if (contiguous) {
    for (std::size_t i = 0; i + n <= all.size(); ++i)
      if (all[i + n - 1] - all[i] + 1 == n)
        if (auto run = picker.pick({all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i + n)}, n);
            !run.empty())
          return run;
    return {};
  }
  auto whole = picker.pick(all, n);
  if (whole.empty()) return whole;
  std::vector<Leaf> leaves;
  for (const auto p : all) {
    if (leaves.empty() || t.leaf_at(leaves.back().positions.front()) != t.leaf_at(p)) leaves.emplace_back();
    leaves.back().positions.push_back(p);
    leaves.back().value += picker.first_value(p);
  }
  std::vector<std::uint32_t> used;
  for (const auto p : whole) used.push_back(t.leaf_at(p));
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.size() < 2) return whole;
  auto fewer = FewestLeaves(std::move(leaves), n, picker).run(used.size());
  return fewer.empty() ? whole : fewer;
}

}  // namespace

Offer nodes_that_hold_any(const Board& board, const Offer& offer) { return whole_nodes(board, offer); }

std::string what_sums_lack(const Board& board, const Offer& offer, const Part& part) {
  const auto& t = board.topology();
  std::uint64_t unused = 0;
  const Picker picker(board, offer, part, unused);
  for (const auto& [what, at, target] : picker.sums_named(part)) {
    std::uint64_t best = 0;
    std::size_t nodes = 0;
    for (const auto d : t.at_level(TopologyIndex::any_level)) {
      std::vector<std::uint32_t> units;
      for (auto p = t.domain(d).begin; p < t.domain(d).end; ++p)
        if (offer.units[p] > 0) units.push_back((*at)[p]);
      std::sort(units.rbegin(), units.rend());
      units.resize(std::min<std::size_t>(units.size(), part.max));
      if (const auto sum = std::accumulate(units.begin(), units.end(), std::uint64_t{0}); sum > best) best = sum, nodes = units.size();
    }
    if (best < target) return fmt::format("{} of {} {} on {} {}", best, target, what, nodes, nodes == 1 ? "node" : "nodes");
  }
  return part.contiguous ? "no neighbours in number as asked hold it together" : "no nodes in number as asked hold all of it together";
}

Part towards_sum(const Part& part) {
  Part one = part;
  if (!part.sum_tasks && !part.even_tasks) return one;
  one.demand = part.one_task;
  one.key = part.one_task_key;
  return one;
}

bool needs_sums(Board& board, const Part& part) {
  if (!part.gres_job.empty() || part.fewest) return true;
  return part.sum_tasks && some_hold_less(board, part);
}

bool some_hold_less(Board& board, const Part& part) {
  const auto& units = board.offer(towards_sum(part)).units;
  return std::any_of(units.begin(), units.end(), [&](std::uint32_t n) { return n > 0 && n < part.tasks_each; });
}

std::optional<Choice> choose_with_sums(const Board& board, const Offer& offer, const Part& part, std::size_t open, std::uint64_t& budget,
                                       std::uint64_t& domains_looked_at, bool& inexact) {
  const auto& t = board.topology();
  const Offer nodes = whole_nodes(board, offer);
  const Counts counts = counts_of(board, nodes);
  Chooser chooser(counts, part);
  Picker picker(board, offer, part, budget);
  std::optional<Choice> out;
  const auto try_rung = [&](std::size_t rung) {
    const bool several = part.rungs[rung].max_domains > 1 && part.rungs[rung].level != TopologyIndex::any_level;
    for (const auto& c : several ? some_domains(t, nodes, chooser, part.rungs[rung], part.within, budget, inexact)
                                 : chooser.candidates(rung, TopologyIndex::root)) {
      const auto domains = c.domains.empty() ? std::vector{c.domain} : c.domains;
      const auto picked = pick_in(t, nodes, domains, c.units, part.contiguous, picker);
      if (picked.empty()) continue;
      out = Choice{rung, c.units, domains, {}, 0, 0, 0};
      for (const auto p : picked) out->shares.push_back(Share{t.leaf_at(p), p, p + 1, 1, 0});
      out->growth = chooser.growth(out->shares);
      return;
    }
  };
  const auto attempt = [&](std::uint32_t least, std::uint32_t most) {
    for (std::size_t rung = 0; rung < part.rungs.size() && rung < open && !out; ++rung) {
      if (!part.contiguous) {
        chooser.limit(least, most);
        try_rung(rung);
      }
      // A shorter run of neighbours may hold what a longer one does not.
      for (auto n = std::min(most, nodes.sum[TopologyIndex::root]); part.contiguous && n >= std::max(least, 1U) && !out; --n) {
        chooser.limit(n, n);
        try_rung(rung);
      }
    }
  };
  const auto room = chooser.count_without_wish(TopologyIndex::root);
  if (part.fewest) {
    for (auto n = part.min; n <= std::min(part.max, nodes.sum[TopologyIndex::root]) && !out; ++n) attempt(n, n);
  } else if (part.wish || (part.min == part.max && part.choices.empty())) {
    attempt(part.min, part.max);
  } else {  // as many as are free
    for (auto n = room; n > 0 && n >= part.min && !out; --n) {
      attempt(n, n);
      if (!part.contiguous && t.joined()) break;  // another tree may have fewer nodes and what is asked
    }
  }
  domains_looked_at += chooser.domains_looked_at;
  inexact = !out && (inexact || picker.ended);
  return out;
}

std::vector<std::uint32_t> share_tasks(std::uint32_t tasks, const std::vector<std::uint32_t>& room) {
  std::vector<std::uint32_t> out(room.size(), 1);
  for (auto left = tasks - std::min(tasks, static_cast<std::uint32_t>(room.size())); left > 0;) {
    const auto before = left;
    for (std::size_t i = 0; i < out.size() && left > 0; ++i)
      if (out[i] < room[i]) ++out[i], --left;
    if (left == before) break;
  }
  return out;
}

}  // namespace sy::sched::placement

#include "sched/placement/gang.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "sched/placement/gang_neighbours.hpp"
#include "sched/placement/spread.hpp"

namespace sy::sched::placement {
namespace {

using model::TopologyIndex;

constexpr std::uint64_t most_copies = 1000;     // the search is that deep
using Next = std::function<bool()>;

// What one copy takes at least.
std::int64_t cpus_of_one(const Part& part) {
  return part.sum_tasks ? part.total_tasks * part.one_task.cpus.value : part.min * part.demand.cpus.value;
}

class Search {
 public:
  Search(const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes, const Options& o, std::uint64_t budget)
      : t_(t), options_(o), nodes_(nodes.begin(), nodes.end()), board_(shape, t, nodes_), budget_(budget), placed_(t, o) {}

  // `exhaustive`: where the usual choices fail, also every other way to divide a plain group over nodes.
  GangResult run_greedily(const Piece& root, const Open* open) {
    GangResult r;
    placed_.name(root);
    r.placed = put_greedily(root, TopologyIndex::root, open) && placed_.affinities_hold();
    r.budget_ended = !r.placed;
    r.steps_ended = budget_ended_;
    finish(r);
    return r;
  }

  // `rung`: of the outermost container alone, so that a wider one is used only where no narrower one serves.
  GangResult run(const Piece& root, bool exhaustive, const Open* open, std::size_t rung) {
    exhaustive_ = placed_.all_ways = exhaustive;
    only_rung_ = rung;
    GangResult r;
    placed_.name(root);
    r.placed = put(root, 0, TopologyIndex::root, open, [this] { return placed_.affinities_hold(); });
    r.budget_ended = !r.placed && (budget_ended_ || inexact_);
    r.steps_ended = budget_ended_;
    r.nowhere = root.container && !somewhere_;
    finish(r);
    return r;
  }

 private:
  void finish(GangResult& r) const {
    r.steps = steps_;
    r.level = level_;
    r.domain = domain_;
    if (r.placed) collect(r);
    for (std::uint64_t most = 0; const auto& [name, times] : blocked_)
      if (times > most) most = times, r.blocked_by = name;
  }

  bool spend() {
    ++steps_;
    if (budget_ == 0) {
      budget_ended_ = true;
      return false;
    }
    --budget_;
    return true;
  }

  bool put(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open, const Next& next) {
    if (replica == p.replicas) return placed_.spread_holds(p) && next();
    // Wishes are tried first with, then without.
    const auto heights = exhaustive_ ? std::vector{no_limit} : placed_.heights(p);
    for (const bool wishes : {true, false}) {
      if (!wishes && !Neighbours::has_wishes(p)) break;
      for (const auto most : heights) {
        Open mask;
        const bool narrowed = placed_.restrict(p, replica, wishes, most, open, mask);
        const Open* inner = narrowed ? &mask : open;
        const Next after = [&] { return put(p, replica + 1, scope, open, next); };
        const bool ok = p.container ? put_container(p, replica, scope, inner, open, next) : put_leaf(p, replica, scope, inner, after);
        if (ok) return true;
        if (budget_ended_) return false;
      }
    }
    ++blocked_[p.name];
    return false;
  }

  bool put_container(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open, const Open* outer, const Next& next) {
    placed_.around.emplace_back(&p, replica);
    const bool top = placed_.around.size() == 1;
    bool ok = false;
    for (std::size_t rung = 0; rung < p.part.rungs.size() && !ok && !budget_ended_; ++rung) {
      if (top && rung != only_rung_) continue;
      for (const auto d : domains_on(p, rung, scope, open)) {
        if (!spend()) break;
        if (top) level_ = p.part.rungs[rung].level, domain_ = d;
        ok = put_children(p, 0, d, open, [&] {
          const auto saved = placed_.around;
          placed_.around.pop_back();
          const bool done = put(p, replica + 1, scope, outer, next);
          placed_.around = saved;
          return done;
        });
        if (ok || budget_ended_) break;
      }
    }
    placed_.around.pop_back();
    return ok;
  }

  bool put_children(const Piece& p, std::size_t at, std::uint32_t scope, const Open* open, const Next& next) {
    if (at == p.children.size()) return next();
    return put(p.children[at], 0, scope, open, [&] { return put_children(p, at + 1, scope, open, next); });
  }

  // What the groups of one shape must find in a domain: all of theirs together, where a unit of one leaves none to another.
  struct Hunger {
    std::string key;
    std::vector<std::uint32_t> sum;       // by domain
    std::uint64_t least{};
    std::uint64_t groups{};
    std::int64_t cpus{};                  // of the least of all of them
  };

  // Domains of that rung that could hold every child by itself, in the order that the group asks for.
  std::vector<std::uint32_t> domains_on(const Piece& p, std::size_t rung, std::uint32_t scope, const Open* open) {
    const auto& r = p.part.rungs[rung];
    std::vector<std::uint32_t> all;
    const auto& inside = t_.domain(scope);
    if (r.level == TopologyIndex::any_level && scope == TopologyIndex::root) all = t_.at_level(r.level);
    else if (inside.level >= r.level) all = {scope};
    else
      for (const auto d : t_.at_level(r.level))
        if (d >= scope && d < inside.next) all.push_back(d);
    std::vector<Hunger> hungers;
    gather(p, open, 1, hungers);
    std::int64_t asked = 0;
    for (const auto& h : hungers) asked += h.cpus;
    std::vector<std::int64_t> free(t_.size() + 1);  // before each position
    for (std::uint32_t q = 0; q < t_.size(); ++q)
      free[q + 1] = free[q] + (board_.now(q).usable && (open == nullptr || (*open)[q]) ? board_.now(q).free.cpus.value : 0);
    std::vector<std::uint32_t> out;
    for (const auto d : all) {
      const auto within = p.part.within;
      if (within >= 0 && t_.domain(d).level > within && t_.ancestor(d, within) < 0) continue;
      if (free[t_.domain(d).end] - free[t_.domain(d).begin] < asked) continue;
      if (std::all_of(hungers.begin(), hungers.end(), [&](const Hunger& h) { return h.sum[d] >= h.least; })) out.push_back(d);
    }
    sort_by_order(p, hungers, out);
    somewhere_ |= !out.empty();
    return out;
  }

  // P4 as far as sums tell it: what is free is counted in units of all groups inside.
  void sort_by_order(const Piece& p, const std::vector<Hunger>& hungers, std::vector<std::uint32_t>& domains) const {
    using model::PackOrder;
    struct Judged {
      std::vector<std::uint64_t> key;  // smaller is better
      std::uint32_t domain;
    };
    const auto up = [&](std::uint32_t d, const auto& each) {
      for (auto at = static_cast<std::int32_t>(d); at >= 0; at = t_.domain(static_cast<std::uint32_t>(at)).parent)
        each(static_cast<std::uint32_t>(at));
    };
    std::vector<Judged> judged;
    for (const auto d : domains) {
      Judged j{{}, d};
      up(d, [&](std::uint32_t at) {
        std::uint64_t free = 0;
        for (const auto& h : hungers) free += std::uint64_t{h.sum[at]} * h.groups;
        j.key.push_back(free);
      });
      if (p.part.order == PackOrder::parent_first) std::reverse(j.key.begin(), j.key.end());
      std::uint64_t first = 0;
      if (p.part.order == PackOrder::least_growth)
        up(d, [&](std::uint32_t at) { first += t_.domain(at).counts && board_.wholly_free(at) ? t_.domain(at).size() : 0; });
      if (p.part.order == PackOrder::fullest) first = emptiness(hungers, d);
      j.key.insert(j.key.begin(), first);
      judged.push_back(std::move(j));
    }
    std::stable_sort(judged.begin(), judged.end(), [&](const Judged& a, const Judged& b) {
      return a.key != b.key ? a.key < b.key : t_.domain(a.domain).name_rank < t_.domain(b.domain).name_rank;
    });
    for (std::size_t i = 0; i < judged.size(); ++i) domains[i] = judged[i].domain;
  }

  // The share of a domain's processors, in millionths, that stays free were the least of the groups there.
  std::uint64_t emptiness(const std::vector<Hunger>& hungers, std::uint32_t domain) const {
    std::int64_t asked = 0, free = 0, all = 0;
    for (const auto& h : hungers) asked += h.cpus;
    for (auto q = t_.domain(domain).begin; q < t_.domain(domain).end; ++q) {
      if (!board_.now(q).usable) continue;
      free += board_.now(q).free.cpus.value;
      all += board_.shape().nodes[t_.node_at(q)].total.cpus.value;
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(free - asked, 0)) * 1'000'000 /
           static_cast<std::uint64_t>(std::max<std::int64_t>(all, 1));
  }

  void gather(const Piece& p, const Open* open, std::uint64_t copies, std::vector<Hunger>& out) {
    for (const auto& c : p.children) {
      if (c.container) {
        gather(c, open, copies * c.replicas, out);
        continue;
      }
      auto h = std::find_if(out.begin(), out.end(), [&](const Hunger& x) { return x.key == c.part.key; });
      if (h == out.end()) {
        const Offer& o = board_.offer(c.part);
        h = out.insert(h, Hunger{c.part.key, open == nullptr ? o.sum : board_.narrowed(o, TopologyIndex::root, open).sum, 0, 0, 0});
      }
      const std::uint64_t one = c.part.min;
      h->least = c.part.demand.whole || c.part.demand.most == 0 ? h->least + copies * c.replicas * one : std::max(h->least, one);
      ++h->groups;
      h->cpus += static_cast<std::int64_t>(copies * c.replicas) * cpus_of_one(c.part);
    }
  }

  bool put_leaf(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open, const Next& after) {
    const Offer& whole = board_.offer(p.part);
    const Offer offer = board_.narrowed(whole, scope, open);
    if (!p.part.apart.empty()) return put_apart(p, replica, scope, offer, after);
    const Counts counts = counts_of(board_, offer);
    Chooser chooser(counts, p.part);
    chooser.budget = &budget_;
    bool candidates_seen = !placed_.records.empty();
    for (std::size_t rung = 0; rung < p.part.rungs.size(); ++rung) {
      for (const auto& c : chooser.candidates(rung, scope)) {
        candidates_seen = true;
        if (!spend()) return false;
        const auto choice = chooser.fill(rung, c);
        budget_ended_ |= chooser.budget_ended;
        if (!choice) continue;
        if (take(p, replica, name_nodes(counts, p.part, *choice), after)) return true;
        if (budget_ended_) return false;
      }
    }
    const bool plain = p.part.layers.empty() && p.part.sizes.empty() && p.part.demand.multiple == 1 && !p.part.contiguous;
    inexact_ |= !plain && candidates_seen;  // other ways to lay out its segments are not tried
    if (!exhaustive_ || !plain) return false;
    for (std::size_t rung = 0; rung < p.part.rungs.size(); ++rung) {
      const auto candidates = p.part.rungs[rung].level == t_.node_level() ? std::vector<Candidate>{} : chooser.candidates(rung, scope);
      for (const auto& c : candidates) {
        std::vector<Named> chosen;
        if (enumerate(p, replica, offer, t_.domain(c.domain).begin, t_.domain(c.domain).end, c.units, chosen, after)) return true;
        if (budget_ended_) return false;
      }
    }
    return false;
  }

  // A group whose own nodes are kept apart: in each domain the one way that is computed.
  bool put_apart(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Offer& offer, const Next& after) {
    const Counts counts = counts_of(board_, offer);
    Spreader spreader(board_, offer, p.part);
    const auto wishes =
        static_cast<std::size_t>(std::count_if(p.part.apart.begin(), p.part.apart.end(), [](const Apart& a) { return a.wish; }));
    inexact_ |= !placed_.records.empty();
    for (const bool minded : {true, false}) {
      if (!minded && wishes == 0) break;
      spreader.mind(std::vector<bool>(wishes, minded));
      for (std::size_t rung = 0; rung < p.part.rungs.size(); ++rung)
        for (const auto& c : spreader.candidates(rung, scope)) {
          inexact_ = true;
          if (!spend()) return false;
          const auto choice = spreader.fill(rung, c);
          if (choice && take(p, replica, name_nodes(counts, p.part, *choice), after)) return true;
          if (budget_ended_) return false;
        }
    }
    return false;
  }

  // Every way to take n units from the nodes of the interval; equal neighbours in a leaf are filled in falling order only.
  bool enumerate(const Piece& p, std::uint32_t replica, const Offer& o, std::uint32_t at, std::uint32_t end, std::uint32_t n,
                 std::vector<Named>& chosen, const Next& after) {
    if (n == 0) return has_required(p.part, chosen) && take(p, replica, chosen, after);
    while (at < end && o.units[at] == 0) ++at;
    if (at == end || !spend()) return false;
    auto most = std::min(n, o.units[at]);
    if (at > 0 && t_.leaf_at(at) == t_.leaf_at(at - 1) && o.units[at - 1] == o.units[at] && same_node(at - 1, at))
      most = std::min(most, !chosen.empty() && chosen.back().position == at - 1 ? chosen.back().units : 0U);
    std::uint64_t rest = 0;
    for (auto i = at + 1; i < end; ++i) rest += o.units[i];
    for (auto k = most + 1; k-- > 0;) {
      if (k + rest < n) break;
      if (k > 0) chosen.push_back(Named{at, k, 0});
      const bool ok = enumerate(p, replica, o, at + 1, end, n - k, chosen, after);
      if (k > 0) chosen.pop_back();
      if (ok) return true;
      if (budget_ended_) return false;
    }
    return false;
  }

  bool has_required(const Part& part, const std::vector<Named>& chosen) const {
    return std::all_of(part.required.begin(), part.required.end(), [&](NodeIndex node) {
      return std::any_of(chosen.begin(), chosen.end(), [&](const Named& n) { return t_.node_at(n.position) == node.value; });
    });
  }

  bool same_node(std::uint32_t a, std::uint32_t b) const {
    const auto &x = board_.now(a), &y = board_.now(b);
    const auto &i = board_.shape().nodes[t_.node_at(a)], &j = board_.shape().nodes[t_.node_at(b)];
    return x.free == y.free && x.jobs == y.jobs && i.features == j.features && i.total == j.total && i.weight == j.weight &&
           placed_.alike(a, b);
  }

  bool take(const Piece& p, std::uint32_t replica, std::vector<Named> named, const Next& after) {
    const auto mark = taken_.size();
    for (const auto& n : named) {
      const auto node = t_.node_at(n.position);
      taken_.emplace_back(node, nodes_[node]);
      NodeNow& now = nodes_[node];
      now.free -= taken(p.part.demand, p.part.by_tasks ? n.units : 1, board_.shape().nodes[node], now);
      if (now.jobs++ == 0) now.sole_user = options_.uid;
      board_.changed(NodeIndex{node});
    }
    placed_.records.push_back(Neighbours::Record{&p, replica, placed_.around, std::move(named)});
    if (after()) return true;
    give_back(mark, placed_.records.size() - 1);
    return false;
  }

  void give_back(std::size_t taken, std::size_t records) {
    placed_.records.resize(records);
    for (; taken_.size() > taken; taken_.pop_back()) {
      nodes_[taken_.back().first] = std::move(taken_.back().second);
      board_.changed(NodeIndex{taken_.back().first});
    }
  }

  // Too many copies for a search as deep as there are copies: each goes to the first place that serves, and stays there. Only
  // where the children of a container do not fit is the container's next domain tried.
  bool put_greedily(const Piece& p, std::uint32_t scope, const Open* open) {
    for (std::uint32_t replica = 0; replica < p.replicas; ++replica) {
      bool ok = false;
      for (const bool wishes : {true, false}) {
        if (ok || (!wishes && !Neighbours::has_wishes(p))) break;
        for (const auto most : placed_.heights(p)) {
          Open mask;
          const Open* inner = placed_.restrict(p, replica, wishes, most, open, mask) ? &mask : open;
          ok = p.container ? put_container_greedily(p, replica, scope, inner) : put_leaf(p, replica, scope, inner, [] { return true; });
          if (budget_ended_) return false;
          if (ok) break;
        }
      }
      if (!ok) {
        ++blocked_[p.name];
        return false;
      }
    }
    return placed_.spread_holds(p);
  }

  bool put_container_greedily(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open) {
    const bool top = placed_.around.empty();
    for (std::size_t rung = 0; rung < p.part.rungs.size(); ++rung)
      for (const auto d : domains_on(p, rung, scope, open)) {
        if (!spend()) return false;
        if (top) level_ = p.part.rungs[rung].level, domain_ = d;
        const auto taken = taken_.size(), records = placed_.records.size();
        placed_.around.emplace_back(&p, replica);
        const bool ok = std::all_of(p.children.begin(), p.children.end(), [&](const Piece& c) { return put_greedily(c, d, open); });
        placed_.around.pop_back();
        if (ok) return true;
        give_back(taken, records);
      }
    return false;
  }

  // P8: the copies of a group, and of a container with all that is in it, along the path; in each the groups as they were written.
  void collect(GangResult& r) const {
    using Copy = std::pair<const Piece*, std::uint32_t>;
    std::map<std::vector<Copy>, std::uint32_t> begin;  // the first position of each copy
    std::vector<std::pair<std::vector<std::uint32_t>, const Neighbours::Record*>> order;
    const auto each_copy = [](const Neighbours::Record& record, const auto& f) {
      auto chain = record.inside;
      chain.emplace_back(record.piece, record.replica);
      for (std::vector<Copy> around; const auto& copy : chain) {
        around.push_back(copy);
        f(around);
      }
    };
    for (const auto& record : placed_.records)
      each_copy(record, [&](const std::vector<Copy>& copy) {
        auto& first = begin.try_emplace(copy, ~0U).first->second;
        for (const auto& n : record.nodes) first = std::min(first, n.position);
      });
    for (const auto& record : placed_.records) {
      std::vector<std::uint32_t> key;
      each_copy(record, [&](const std::vector<Copy>& copy) {
        key.push_back(first_group(*copy.back().first));
        // Parts of one group, as counted features make them, are not told apart.
        const bool part = copy.size() > 1 && one_group(*copy[copy.size() - 2].first);
        key.push_back(part ? 0 : begin.at(copy));
        key.push_back(part ? 0 : copy.back().second);
      });
      order.emplace_back(std::move(key), &record);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::map<std::uint32_t, std::uint32_t> copies;  // of each group so far
    const std::vector<std::uint32_t>* last = nullptr;
    std::size_t from = 0;
    for (const auto& [key, record] : order) {
      const Part& part = record->piece->part;
      if (last == nullptr || *last != key) from = r.nodes.size(), ++copies[part.group];
      last = &key;
      const auto count = static_cast<std::uint32_t>(record->nodes.size());
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto& n = record->nodes[i];
        auto tasks = part.by_tasks ? n.units : part.tasks_each;
        if (!part.by_tasks && part.total_tasks > 0 && part.total_tasks < count * part.tasks_each)
          tasks = part.total_tasks / count + (i < part.total_tasks % count ? 1 : 0);
        r.nodes.push_back(PlacedNode{NodeIndex{t_.node_at(n.position)}, tasks, part.group, copies[part.group] - 1, n.segment});
      }
      std::stable_sort(r.nodes.begin() + static_cast<std::ptrdiff_t>(from), r.nodes.end(), [&](const PlacedNode& a, const PlacedNode& b) {
        return a.segment != b.segment ? a.segment < b.segment : t_.position_of(a.node.value) < t_.position_of(b.node.value);
      });
    }
  }

  static std::uint32_t first_group(const Piece& p) {
    if (!p.container) return p.part.group;
    std::uint32_t least = ~0U;
    for (const auto& c : p.children) least = std::min(least, first_group(c));
    return least;
  }
  static bool one_group(const Piece& p) {
    return p.children.size() > 1 && !p.children[0].container && !p.children[1].container &&
           p.children[0].part.group == p.children[1].part.group;
  }

  const TopologyIndex& t_;
  const Options& options_;
  std::vector<NodeNow> nodes_;
  Board board_;
  std::uint64_t budget_;
  std::uint64_t steps_{};
  bool budget_ended_{}, exhaustive_{}, inexact_{}, somewhere_{};
  std::size_t only_rung_{};
  Neighbours placed_;
  std::vector<std::pair<std::uint32_t, NodeNow>> taken_;  // nodes as they were, in the order they were taken
  std::map<std::string, std::uint64_t> blocked_;
  std::int32_t level_{TopologyIndex::any_level};
  std::uint32_t domain_{};
};

// Groups that may be smaller than asked, depth-first: copies one by one, units in whole segments.
struct Surplus {
  std::uint32_t* count;
  std::uint32_t least, most, step;
};
void elastic(Piece& p, std::vector<Surplus>& out) {
  const auto& part = p.part;
  const bool one_node = !p.container && part.max == 1;
  auto copies = p.min_replicas, units = part.min;  // so many domains take no fewer copies, or units
  for (const auto& s : p.spread)
    if (one_node && s.mode == model::Spread::Mode::require) copies = std::max(copies, std::min(s.min_domains.value_or(0), p.replicas));
  for (const auto& a : part.apart)
    if (!a.wish) units = std::max(units, std::min(a.domains, part.max));
  if (copies < p.replicas) out.push_back({&p.replicas, copies, p.replicas, 1});
  const bool segments = !part.layers.empty() && part.sizes.empty() && !part.shorter;
  if (!p.container && units < part.max)
    out.push_back({&p.part.max, units, part.max, segments ? part.layers.front().size : std::max(part.demand.multiple, 1U)});
  for (auto& c : p.children) elastic(c, out);
}

// Copies of groups in all: each is one step deeper in the search.
std::uint64_t copies(const Piece& p) {
  std::uint64_t inside = p.container ? 1 : 0;
  for (const auto& c : p.children) inside += copies(c);
  return p.replicas * std::max<std::uint64_t>(inside, 1);
}

void fix_counts(Piece& p) {
  if (!p.container && p.part.choices.empty()) p.part.min = p.part.max;
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
  const auto attempt = [&](const Piece& p) {
    Piece fixed = p;
    fix_counts(fixed);
    GangResult r;
    if (cpus_asked(fixed) > cpus_free(t, nodes, open)) return r.nowhere = r.too_few_cpus = true, r;  // no search can help
    if (copies(fixed) > most_copies) return Search(shape, t, nodes, o, o.budget).run_greedily(fixed, open);
    bool ended = false;
    const std::size_t rungs = fixed.container ? fixed.part.rungs.size() : 1;
    for (std::size_t rung = 0; rung < rungs; ++rung)
      for (const bool exhaustive : {false, true}) {
        Search search(shape, t, nodes, o, exhaustive ? o.budget : o.budget / 4 + 1);
        auto one = search.run(fixed, exhaustive, open, rung);
        one.steps += r.steps;
        r = std::move(one);
        if (r.placed) return r;
        ended |= exhaustive && r.budget_ended;
        if (r.nowhere) break;  // no domain of that rung has room for all of them
      }
    r.budget_ended = ended;
    return r;
  };
  GangResult all = attempt(asked);
  if (all.placed) return all;
  Piece now = asked;
  std::vector<Surplus> counts;
  elastic(now, counts);
  if (counts.empty()) return all;
  for (const auto& s : counts) *s.count = s.least;
  GangResult best = attempt(now);
  if (!best.placed) return best;
  for (const auto& s : counts) {  // what more there is room for, one group after the other
    auto low = s.least, high = s.most;
    while (low < high) {
      *s.count = low + (high - low + s.step) / (2 * s.step) * s.step;
      GangResult more = attempt(now);
      if (more.placed) best = std::move(more), low = *s.count;
      else high = *s.count - s.step;
    }
    *s.count = low;
  }
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
  for (const auto& rung : asked.part.rungs) {
    const auto steps = r.steps;
    one.part.rungs = {rung};
    r = place_on_rungs(one, shape, t, nodes, o, open);
    r.steps += steps;
    if (r.placed) return r;
    ended |= r.budget_ended;
  }
  r.budget_ended = ended;
  return r;
}

}  // namespace sy::sched::placement

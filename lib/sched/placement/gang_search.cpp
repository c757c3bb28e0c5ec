#include "sched/placement/gang_search.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "sched/placement/gang_neighbours.hpp"
#include "sched/placement/spread.hpp"
#include "sched/placement/sums.hpp"

namespace sy::sched::placement {
namespace {

using model::TopologyIndex;

constexpr std::uint64_t looks_per_step =
    16;    // the budget is in nodes looked at: a step costs far more on large clusters than on small ones
constexpr std::uint64_t looks_at_least = 32;    // what it takes to look at a small domain
using Next = std::function<bool()>;

// T tasks on N nodes are counted, and taken, in tasks.
bool in_tasks(const Part& part) { return part.by_tasks || part.sum_tasks; }
const Demand& demand_of(const Part& part) { return part.sum_tasks ? part.one_task : part.demand; }
std::uint32_t units_of_one(const Part& part) { return part.sum_tasks ? part.total_tasks : part.min; }

class Search {
 public:
  Search(const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes, const Options& o, std::uint64_t budget)
      : t_(t), options_(o), nodes_(nodes.begin(), nodes.end()), board_(shape, t, nodes_), left_(budget * looks_per_step), placed_(t, o) {}

  GangResult run_greedily(const Piece& root, const Open* open) {
    GangResult r;
    count_nodes_ = false;
    placed_.name(root);
    r.placed = put_greedily(root, TopologyIndex::root, open) && placed_.affinities_hold();
    r.budget_ended = !r.placed;
    r.steps_ended = budget_ended_;
    finish(r);
    return r;
  }

  // `rung`: of the outermost container alone, so that a wider one is used only where no narrower one serves.
  // `exhaustive`: where the usual choices fail, also every other way to divide a group over nodes.
  GangResult run(const Piece& root, bool exhaustive, const Open* open, std::size_t rung) {
    exhaustive_ = placed_.all_ways = exhaustive;
    only_rung_ = rung;
    const auto descent = 4 * count_copies(root) * (t_.size() + looks_at_least + looks_per_step);
    if (!exhaustive) left_ = std::max(left_, descent);  // every copy gets its first place in any case
    GangResult r;
    placed_.name(root);
    if (exhaustive)
      if (const auto* alone = find_hopeless(root, open)) {
        r.nowhere = true;
        r.hopeless = r.blocked_by = alone->name.empty() ? "a group" : alone->name;
        r.steps = steps();
        return r;
      }
    r.placed = put(root, 0, TopologyIndex::root, open, [this] { return placed_.affinities_hold(); });
    r.budget_ended = !r.placed && (budget_ended_ || inexact_);
    r.steps_ended = budget_ended_;
    r.nowhere = root.container && !somewhere_;
    finish(r);
    return r;
  }

 private:
  void finish(GangResult& r) const {
    r.steps = steps();
    r.level = level_;
    r.domain = domain_;
    if (r.placed) collect(r);
    for (std::uint64_t most = 0; const auto& [name, times] : blocked_)
      if (times > most) most = times, r.blocked_by = name;
  }

  std::uint64_t steps() const { return (used_ + looks_per_step - 1) / looks_per_step; }
  bool use(std::uint64_t looks) {
    if (left_ < looks) {
      used_ += std::exchange(left_, 0);
      budget_ended_ = true;
      return false;
    }
    left_ -= looks;
    used_ += looks;
    return true;
  }
  bool spend() { return use(looks_per_step); }
  void look_at(std::uint32_t scope) {
    if (count_nodes_) use(std::min<std::uint64_t>(left_, t_.domain(scope).size() + looks_at_least));
  }
  // For a search inside the choice of one copy, which counts steps.
  template <class Choose>
  auto with_steps(const Choose& choose) {
    std::uint64_t steps = left_ / looks_per_step + 1;
    const auto before = steps;
    auto out = choose(steps);
    use(std::min(left_, (before - steps) * looks_per_step));
    return out;
  }

  // The first group of which one copy has no place even if it were alone; null: none.
  const Piece* find_hopeless(const Piece& p, const Open* open) {
    for (const auto& c : p.children)
      if (const auto* found = find_hopeless(c, open)) return found;
    if (p.container) return nullptr;
    look_at(TopologyIndex::root);
    const Offer offer = board_.narrowed(offer_of(p.part), TopologyIndex::root, open);
    bool unsure = false;
    const bool fits = with_steps([&](std::uint64_t& steps) {
      if (p.part.sum_tasks) {
        std::uint64_t looked_at = 0;
        return choose_with_sums(board_, offer, p.part, p.part.rungs.size(), steps, looked_at, unsure).has_value();
      }
      const auto any = [&](auto& chooser) {
        for (std::size_t rung = 0; rung < p.part.rungs.size(); ++rung)
          for (const auto& c : chooser.candidates(rung, TopologyIndex::root))
            if (chooser.fill(rung, c)) return true;
        return false;
      };
      if (!p.part.apart.empty()) {
        Spreader spreader(board_, offer, p.part);
        spreader.mind({});
        return any(spreader);
      }
      const Counts counts = counts_of(board_, offer);
      Chooser chooser(counts, p.part);
      chooser.budget = &steps;
      const bool found = any(chooser);
      unsure = chooser.budget_ended;
      return found;
    });
    return fits || unsure ? nullptr : &p;
  }

  bool put(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open, const Next& next) {
    if (replica == p.replicas) return placed_.spread_holds(p) && next();
    // Wishes are tried first with, then without.
    const auto heights = exhaustive_ ? std::vector{no_limit} : placed_.heights(p);
    for (const bool wishes : {true, false}) {
      if (!wishes && !Neighbours::has_wishes(p)) break;
      for (const auto most : heights) {
        Open mask;
        const bool narrowed = placed_.restrict(p, replica, scope, wishes, most, open, mask);
        const Open* inner = narrowed ? &mask : open;
        const Next after = [&] { return put(p, replica + 1, scope, open, next); };
        const bool ok = p.container ? put_container(p, replica, scope, inner, open, next) : put_leaf(p, replica, scope, inner, after);
        if (ok) return true;
        if (budget_ended_) return false;
      }
    }
    if (!p.container) ++blocked_[p.name];
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

  std::vector<std::uint32_t> domains_of_rung(const Part& part, std::size_t rung, std::uint32_t scope) const {
    const auto level = part.rungs[rung].level;
    std::vector<std::uint32_t> out;
    const auto& inside = t_.domain(scope);
    if (level == TopologyIndex::any_level && scope == TopologyIndex::root) out = t_.at_level(level);
    else if (inside.level >= level) out = {scope};
    else
      for (const auto d : t_.at_level(level))
        if (d >= scope && d < inside.next) out.push_back(d);
    std::erase_if(out,
                  [&](std::uint32_t d) { return part.within >= 0 && t_.domain(d).level > part.within && t_.ancestor(d, part.within) < 0; });
    return out;
  }

  // Domains of that rung that could hold every child by itself, in the order that the group asks for.
  std::vector<std::uint32_t> domains_on(const Piece& p, std::size_t rung, std::uint32_t scope, const Open* open) {
    const auto& inside = t_.domain(scope);
    std::vector<Hunger> hungers;
    gather(p, scope, open, 1, hungers);
    std::int64_t asked = 0;
    for (const auto& h : hungers) asked += h.cpus;
    look_at(scope);
    std::vector<std::int64_t> free(inside.size() + 1);  // before each position of the scope
    for (std::uint32_t i = 0; i < inside.size(); ++i) {
      const auto q = inside.begin + i;
      free[i + 1] = free[i] + (board_.now(q).usable && (open == nullptr || (*open)[q]) ? board_.now(q).free.cpus.value : 0);
    }
    std::vector<std::uint32_t> out;
    for (const auto d : domains_of_rung(p.part, rung, scope)) {
      if (free[t_.domain(d).end - inside.begin] - free[t_.domain(d).begin - inside.begin] < asked) continue;
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

  const Offer& offer_of(const Part& part) { return board_.offer(part.sum_tasks ? towards_sum(part) : part); }

  void gather(const Piece& p, std::uint32_t scope, const Open* open, std::uint64_t copies, std::vector<Hunger>& out) {
    for (const auto& c : p.children) {
      if (c.container) {
        gather(c, scope, open, copies * c.replicas, out);
        continue;
      }
      const auto& key = c.part.sum_tasks ? c.part.one_task_key : c.part.key;
      auto h = std::find_if(out.begin(), out.end(), [&](const Hunger& x) { return x.key == key; });
      if (h == out.end()) {
        const Offer& o = offer_of(c.part);
        h = out.insert(h, Hunger{key, open == nullptr ? o.sum : board_.narrowed(o, scope, open).sum, 0, 0, 0});
      }
      const std::uint64_t one = units_of_one(c.part);
      const auto& demand = demand_of(c.part);
      h->least = demand.whole || demand.most == 0 ? h->least + copies * c.replicas * one : std::max(h->least, one);
      ++h->groups;
      h->cpus += static_cast<std::int64_t>(copies * c.replicas) * cpus_of_one(c.part);
    }
  }

  // What is being placed: one copy of a group.
  struct Copy {
    const Piece& piece;
    const Part& part;
    std::uint32_t replica;
    const Offer& offer;
  };

  bool put_leaf(const Piece& p, std::uint32_t replica, std::uint32_t scope, const Open* open, const Next& after) {
    look_at(scope);
    const Offer offer = board_.narrowed(offer_of(p.part), scope, open);
    const auto inside = inside_domain(p.part, scope);
    const Copy copy{p, inside ? *inside : p.part, replica, offer};
    if (p.part.sum_tasks ? put_sums(copy, after) : p.part.apart.empty() ? put_chosen(copy, scope, after) : put_apart(copy, scope, after))
      return true;
    return exhaustive_ && !budget_ended_ && put_every_way(copy, scope, after);
  }

  // A domain inside one of a segment's level is one of that level as far as it goes.
  std::optional<Part> inside_domain(const Part& part, std::uint32_t scope) const {
    const auto level = t_.domain(scope).level;
    const auto wider = [&](const Layer& l) { return l.level < level && t_.ancestor(scope, l.level) >= 0; };
    if (std::none_of(part.layers.begin(), part.layers.end(), wider)) return std::nullopt;
    Part out = part;
    for (auto& l : out.layers)
      if (wider(l)) l.level = level;
    for (auto& r : out.rungs) r.level = std::min(r.level, out.layers.front().level);
    return out;
  }

  bool put_chosen(const Copy& copy, std::uint32_t scope, const Next& after) {
    const Counts counts = counts_of(board_, copy.offer);
    Chooser chooser(counts, copy.part);
    for (std::size_t rung = 0; rung < copy.part.rungs.size(); ++rung)
      for (const auto& c : chooser.candidates(rung, scope)) {
        if (!spend()) return false;
        const auto choice = with_steps([&](std::uint64_t& steps) {
          chooser.budget = &steps;
          return chooser.fill(rung, c);
        });
        budget_ended_ |= chooser.budget_ended;
        if (choice && take(copy, name_nodes(counts, copy.part, *choice), after)) return true;
        if (budget_ended_) return false;
      }
    return false;
  }

  // T tasks on N nodes: on each rung as a job of its own would have them.
  bool put_sums(const Copy& copy, const Next& after) {
    Part on_rung = copy.part;
    for (const auto& rung : copy.part.rungs) {
      if (!spend()) return false;
      on_rung.rungs = {rung};
      std::uint64_t looked_at = 0;
      bool inexact = false;
      const auto choice =
          with_steps([&](std::uint64_t& steps) { return choose_with_sums(board_, copy.offer, on_rung, 1, steps, looked_at, inexact); });
      if (!choice) continue;
      std::vector<std::uint32_t> room;
      for (const auto& s : choice->shares) room.push_back(copy.offer.units[s.begin]);
      const auto tasks = share_tasks(copy.part.total_tasks, room);
      std::vector<Named> named;
      for (std::size_t i = 0; i < tasks.size(); ++i) named.push_back(Named{choice->shares[i].begin, tasks[i], 0});
      if (take(copy, std::move(named), after)) return true;
      if (budget_ended_) return false;
    }
    return false;
  }

  // A group whose own nodes are kept apart: in each domain the one way that is computed.
  bool put_apart(const Copy& copy, std::uint32_t scope, const Next& after) {
    const Part& part = copy.part;
    const Counts counts = counts_of(board_, copy.offer);
    Spreader spreader(board_, copy.offer, part);
    const auto wishes =
        static_cast<std::size_t>(std::count_if(part.apart.begin(), part.apart.end(), [](const Apart& a) { return a.wish; }));
    for (const bool minded : {true, false}) {
      if (!minded && wishes == 0) break;
      spreader.mind(std::vector<bool>(wishes, minded));
      for (std::size_t rung = 0; rung < part.rungs.size(); ++rung)
        for (const auto& c : spreader.candidates(rung, scope)) {
          if (!spend()) return false;
          const auto choice = spreader.fill(rung, c);
          if (choice && take(copy, name_nodes(counts, part, *choice), after)) return true;
          if (budget_ended_) return false;
        }
    }
    return false;
  }

  // To be divided over the nodes of a domain in every way.
  struct Division {
    const Copy& copy;
    std::size_t rung;
    std::uint32_t domain;
    std::uint32_t begin, end;
    std::uint32_t least, most;            // nodes
    bool plain;                           // any nodes in number will do
    const Next& after;
    std::vector<std::uint64_t> left;      // units from each position of the domain to its end
  };

  bool put_every_way(const Copy& copy, std::uint32_t scope, const Next& after) {
    const Part& part = copy.part;
    const Offer& offer = copy.offer;
    const auto every_way = [&](std::size_t rung, std::uint32_t domain, std::uint32_t units, bool plain) {
      const auto& d = t_.domain(domain);
      const auto most = part.sum_tasks ? part.max : d.size();
      Division w{copy, rung, domain, d.begin, d.end, part.sum_tasks ? part.min : 0, most, plain, after, {}};
      w.left.resize(d.size() + 1);
      for (auto i = d.size(); i-- > 0;) w.left[i] = w.left[i + 1] + offer.units[d.begin + i];
      std::vector<Named> chosen;
      return divide(w, d.begin, units, chosen);
    };
    const bool unlike = part.demand.multiple > 1 || !part.layers.empty() || !part.sizes.empty() || part.contiguous || !part.apart.empty();
    const Counts counts = counts_of(board_, offer);
    Chooser chooser(counts, part);
    std::optional<Spreader> spreader;
    if (!part.apart.empty()) spreader.emplace(board_, offer, part), spreader->mind({});
    for (std::size_t rung = 0; rung < part.rungs.size(); ++rung) {
      const auto level = part.rungs[rung].level;
      if (level == t_.node_level()) continue;  // each node was tried
      if (part.sum_tasks) {
        inexact_ |= part.rungs[rung].max_domains > 1;
        for (const auto d : domains_of_rung(part, rung, scope))
          if (offer.sum[d] >= part.total_tasks && every_way(rung, d, part.total_tasks, true)) return true;
        if (budget_ended_) return false;
        continue;
      }
      for (const auto& c : spreader ? spreader->candidates(rung, scope) : chooser.candidates(rung, scope)) {
        if (every_way(rung, c.domain, c.units, !unlike && c.domains.size() < 2)) return true;
        if (budget_ended_) return false;
      }
    }
    return false;
  }

  // n units from the nodes of the domain, from `at` on; of equal neighbours in a leaf the first ones are filled first.
  bool divide(const Division& w, std::uint32_t at, std::uint32_t n, std::vector<Named>& chosen) {
    const Part& part = w.copy.part;
    if (n == 0) {
      if (!right_number(w, chosen) || !has_required(part, chosen)) return false;
      return w.plain ? take(w.copy, chosen, w.after) : lay_out(w, chosen);
    }
    const auto& units = w.copy.offer.units;
    for (; at < w.end; ++at) {
      if (units[at] == 0) continue;
      if (w.left[at - w.begin] < n || chosen.size() == w.most || !use(1)) return false;
      if (part.contiguous && !chosen.empty() && chosen.back().position + 1 != at) return false;
      if (!w.plain && !whole_segments_before(w, at, chosen)) return false;
      auto most = std::min(n, units[at]);
      if (at > w.begin && t_.leaf_at(at) == t_.leaf_at(at - 1) && units[at - 1] == units[at] && same_node(at - 1, at))
        most = std::min(most, !chosen.empty() && chosen.back().position == at - 1 ? chosen.back().units : 0U);
      for (auto k = most - most % part.demand.multiple; k > 0; k -= part.demand.multiple) {
        if (k + w.left[at + 1 - w.begin] < n) break;
        chosen.push_back(Named{at, k, 0});
        const bool ok = divide(w, at + 1, n - k, chosen);
        chosen.pop_back();
        if (ok) return true;
        if (budget_ended_) return false;
      }
    }
    return false;
  }

  // T tasks on N nodes: are these N, in a row where that is asked?
  static bool right_number(const Division& w, const std::vector<Named>& chosen) {
    const Part& part = w.copy.part;
    if (!part.sum_tasks) return true;
    const auto n = static_cast<std::uint32_t>(chosen.size());
    if (n < w.least) return false;
    return !part.contiguous || chosen.back().position - chosen.front().position + 1 == n;
  }

  // Of domains that end before this position none has a part of a segment.
  bool whole_segments_before(const Division& w, std::uint32_t at, const std::vector<Named>& chosen) const {
    const Part& part = w.copy.part;
    if (at == w.begin || t_.leaf_at(at) == t_.leaf_at(at - 1) || part.shorter || !part.sizes.empty()) return true;
    return std::all_of(part.layers.begin(), part.layers.end(), [&](const Layer& layer) {
      const auto d = t_.ancestor(t_.leaf_at(at - 1), layer.level);
      if (d >= 0 && t_.domain(static_cast<std::uint32_t>(d)).end > at) return true;
      const auto begin = d < 0 ? at - 1 : t_.domain(static_cast<std::uint32_t>(d)).begin;
      std::uint32_t units = 0;
      for (auto i = chosen.rbegin(); i != chosen.rend() && i->position >= begin; ++i) units += i->units;
      return d < 0 ? units == 0 : units % layer.size == 0 && (!layer.distinct || units <= layer.size);
    });
  }

  // Do exactly these nodes do, as a cluster in which only they are free?
  bool lay_out(const Division& w, const std::vector<Named>& chosen) {
    const Part& part = w.copy.part;
    if (!spend()) return false;
    look_at(w.domain);
    Open only(t_.size(), false);
    std::uint32_t units = 0;
    for (const auto& n : chosen) only[n.position] = true, units += n.units;
    Offer offer = board_.narrowed(w.copy.offer, w.domain, &only);
    for (const auto& n : chosen) board_.set_units(offer, n.position, n.units, part.demand.multiple);
    const Counts counts = counts_of(board_, offer);
    const auto with = [&](auto& chooser) {
      for (const auto& c : chooser.candidates(w.rung, w.domain)) {
        if (c.units != units) continue;
        const auto choice = with_steps([&](std::uint64_t& steps) {
          if constexpr (std::is_same_v<std::decay_t<decltype(chooser)>, Chooser>) chooser.budget = &steps;
          return chooser.fill(w.rung, c);
        });
        if (choice && take(w.copy, name_nodes(counts, part, *choice), w.after)) return true;
        if (budget_ended_) return false;
      }
      return false;
    };
    if (!part.apart.empty()) {
      Spreader spreader(board_, offer, part);
      spreader.mind({});
      return with(spreader);
    }
    Chooser chooser(counts, part);
    const bool ok = with(chooser);
    budget_ended_ |= chooser.budget_ended;
    return ok;
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

  bool take(const Copy& copy, std::vector<Named> named, const Next& after) {
    const Part& part = copy.part;
    const auto mark = taken_.size();
    for (const auto& n : named) {
      const auto node = t_.node_at(n.position);
      taken_.emplace_back(node, nodes_[node]);
      NodeNow& now = nodes_[node];
      now.free -= taken(demand_of(part), in_tasks(part) ? n.units : 1, board_.shape().nodes[node], now);
      if (now.jobs++ == 0) now.sole_user = options_.uid;
      board_.changed(NodeIndex{node});
    }
    placed_.records.push_back(Neighbours::Record{&copy.piece, copy.replica, placed_.around, std::move(named)});
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
          const Open* inner = placed_.restrict(p, replica, scope, wishes, most, open, mask) ? &mask : open;
          ok = p.container ? put_container_greedily(p, replica, scope, inner) : put_leaf(p, replica, scope, inner, [] { return true; });
          if (budget_ended_) return false;
          if (ok) break;
        }
      }
      if (!ok) {
        if (!p.container) ++blocked_[p.name];
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
    using Around = std::pair<const Piece*, std::uint32_t>;
    std::map<std::vector<Around>, std::uint32_t> begin;  // the first position of each copy
    std::vector<std::pair<std::vector<std::uint32_t>, const Neighbours::Record*>> order;
    const auto each_copy = [](const Neighbours::Record& record, const auto& f) {
      auto chain = record.inside;
      chain.emplace_back(record.piece, record.replica);
      for (std::vector<Around> around; const auto& copy : chain) {
        around.push_back(copy);
        f(around);
      }
    };
    for (const auto& record : placed_.records)
      each_copy(record, [&](const std::vector<Around>& copy) {
        auto& first = begin.try_emplace(copy, ~0U).first->second;
        for (const auto& n : record.nodes) first = std::min(first, n.position);
      });
    for (const auto& record : placed_.records) {
      std::vector<std::uint32_t> key;
      each_copy(record, [&](const std::vector<Around>& copy) {
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
        auto tasks = in_tasks(part) ? n.units : part.tasks_each;
        if (!in_tasks(part) && part.total_tasks > 0 && part.total_tasks < count * part.tasks_each)
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
  std::uint64_t left_, used_{};          // nodes to look at
  bool count_nodes_{true};
  bool budget_ended_{}, exhaustive_{}, inexact_{}, somewhere_{};
  std::size_t only_rung_{};
  Neighbours placed_;
  std::vector<std::pair<std::uint32_t, NodeNow>> taken_;  // nodes as they were, in the order they were taken
  std::map<std::string, std::uint64_t> blocked_;
  std::int32_t level_{TopologyIndex::any_level};
  std::uint32_t domain_{};
};

}  // namespace

std::int64_t cpus_of_one(const Part& part) {
  return part.sum_tasks || part.even_tasks ? part.total_tasks * part.one_task.cpus.value : part.min * part.demand.cpus.value;
}

std::uint64_t count_copies(const Piece& p) {
  std::uint64_t inside = p.container ? 1 : 0;
  for (const auto& c : p.children) inside += count_copies(c);
  return p.replicas * std::max<std::uint64_t>(inside, 1);
}

GangResult search_gang(const Piece& root, const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes,
                       const Options& o, const std::vector<bool>* open, Walk walk) {
  return Search(shape, t, nodes, o, walk.budget).run(root, walk.exhaustive, open, walk.rung);
}

GangResult search_gang_greedily(const Piece& root, const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes,
                                const Options& o, const std::vector<bool>* open) {
  return Search(shape, t, nodes, o, o.budget).run_greedily(root, open);
}

}  // namespace sy::sched::placement

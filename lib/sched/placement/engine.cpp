#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "model/job_target.hpp"
#include "sched/placement/alternatives.hpp"
#include "sched/placement/explain.hpp"
#include "sched/placement/gang.hpp"
#include "sched/placement/open_nodes.hpp"
#include "sched/placement/sums.hpp"

namespace sy::sched::placement {

using model::Group;
using model::Reason;
using model::TopologyIndex;

struct Engine::Parts {
  Parts(const ClusterShape& s, const TopologyIndex& t, std::span<const NodeNow> n) : shape(s), topology(t), nodes(n), now(s, t, n) {}

  // The same cluster with everything idle and up; made when first asked for.
  Board& idle() {
    if (!idle_board) {
      nodes_when_idle = idle_nodes(shape);
      idle_board = std::make_unique<Board>(shape, topology, nodes_when_idle);
    }
    return *idle_board;
  }

  Answer place(Board&, const Group&, const Options&);
  Answer place_part(Board&, const Part&, const Group&, const Options&);
  Answer place_pieces(Board&, const Group&, const Options&);
  Answer place_piece(Board&, const Group&, const Options&, Result<Piece>);
  void explain_pieces(Answer&, Board&, const Piece&, const GangResult& r, std::int32_t exclusive, const Opened&, const Options&) const;
  std::uint32_t leaves_when_idle(const Piece&, const Options&);
  using Rank = std::tuple<bool, std::uint32_t, std::int32_t, std::int64_t, std::int32_t, std::uint32_t>;
  Rank rank(const Answer&, const Group&, const Options&) const;
  Answer place_alternatives(Board&, const std::vector<Group>& ways, const Options&);
  struct Restricted {
    std::vector<bool> open;             // by position; empty: nothing restricts the nodes
    std::vector<bool> near;             // by position: what affinity leaves; empty: there is none
  };
  Restricted restrict(const Board&, const Group&, const Options&, std::int32_t exclusive_level, const Wishes&) const;
  Opened open_rungs(const Part&, const Group&, const Options&, const std::function<bool(std::size_t)>& ever);
  bool ever_on(const Part&, std::size_t rung);
  std::vector<std::uint32_t> weights_to_try(const Board&, const Options&) const;
  std::optional<Choice> choose(Chooser&, const Part&, const Options&, std::size_t open);
  void accept(Answer&, const Part&, const Choice&, const std::vector<Named>&) const;
  void accept_apart(Answer&, const Part&, const Choice&, const std::vector<Named>&) const;
  void accept_sums(Answer&, const Part&, const Choice&, const Offer&) const;
  void rate(Answer&, const Board&, const Part&, Chooser&, const Choice&, const Options&);

  const ClusterShape& shape;
  const TopologyIndex& topology;
  std::span<const NodeNow> nodes;
  Board now;
  std::vector<NodeNow> nodes_when_idle;
  std::unique_ptr<Board> idle_board;
};

namespace {

Answer refused(const base::Error& e) {
  Answer a;
  a.verdict.kind = Verdict::Kind::never;
  a.verdict.reason = Reason::bad_constraints;
  a.verdict.detail = base::to_text(e);
  return a;
}

// Might it fit divided in another way than evenly?
bool is_inexact(Board& b, const Part& part) { return part.evenly || (part.even_tasks && some_hold_less(b, part)); }

// Of a gang. `shared`: with other groups, which may leave less on some nodes than on others.
bool any_inexact(Board& b, const Piece& p, bool shared) {
  shared |= p.replicas > 1 || p.children.size() > 1;
  if (!p.container && is_inexact(b, p.part)) return true;
  if (!p.container && shared && p.part.even_tasks && !p.part.demand.whole) return true;
  return std::any_of(p.children.begin(), p.children.end(), [&](const Piece& c) { return any_inexact(b, c, shared); });
}

}  // namespace

// Exclusive domains, and affinity to members that have their place already: all that is required, and these wishes.
Engine::Parts::Restricted Engine::Parts::restrict(const Board& b, const Group& g, const Options& o, std::int32_t exclusive_level,
                                                  const Wishes& wishes) const {
  Restricted r;
  const bool affinity = !needs_search(g) && (!g.affinity.empty() || !g.anti_affinity.empty());
  if (exclusive_level == no_level && !affinity) return r;
  r.open.assign(topology.size(), true);
  if (exclusive_level != no_level) close_used(b, exclusive_level, r.open);
  if (!affinity) return r;
  r.near.assign(topology.size(), true);
  close_by_affinity(topology, g, o, wishes, r.near);
  for (std::size_t p = 0; p < r.open.size(); ++p) r.open[p] = r.open[p] && r.near[p];
  return r;
}

// P3: a rung opens after the waits of the narrower ones; a rung that nothing can `ever` hold is not waited for, but where
// --switches is a blind timer (P10).
Opened Engine::Parts::open_rungs(const Part& part, const Group& g, const Options& o, const std::function<bool(std::size_t)>& ever) {
  Opened opened{part.rungs.size(), {}};
  if (!o.waited) return opened;
  const bool literal = o.literal_switch_wait && g.switches && g.pack.ladder.empty();
  for (opened.rungs = 1; opened.rungs < part.rungs.size(); ++opened.rungs) {
    Duration wait = part.rungs[opened.rungs - 1].wait;
    if (wait > Duration{} && !literal && opened.next + wait > *o.waited && !ever(opened.rungs - 1)) wait = Duration{};
    opened.next += wait;
    if (opened.next > *o.waited) break;
  }
  return opened;
}

// Has the rung a domain that could hold the part, were everything idle?
bool Engine::Parts::ever_on(const Part& part, std::size_t rung) {
  const Offer& offer = idle().offer(part);
  const Counts counts = counts_of(idle(), offer);
  if (!part.apart.empty()) return !Spreader(idle(), offer, part).candidates(rung, TopologyIndex::root).empty();
  Chooser chooser(counts, part);
  return !chooser.candidates(rung, TopologyIndex::root).empty();
}

// The cheapest nodes that hold it come first, where the site says so: the weights up to which nodes may be used, one try each.
std::vector<std::uint32_t> Engine::Parts::weights_to_try(const Board& board, const Options& o) const {
  std::set<std::uint32_t> weights;
  if (o.weight_first && !board.equal_weights())
    for (std::uint32_t p = 0; p < topology.size(); ++p) weights.insert(board.weight(p));
  return {weights.begin(), weights.end()};
}

// With members placed already, each rung is the domain that holds them all.
std::optional<Choice> Engine::Parts::choose(Chooser& chooser, const Part& part, const Options& o, std::size_t open) {
  std::vector<std::uint32_t> own;
  for (const auto& m : o.members)
    if (const auto p = topology.position_of(m.node.value); m.group.empty() && p >= 0) own.push_back(static_cast<std::uint32_t>(p));
  if (own.empty()) return chooser.choose(TopologyIndex::root, open);
  for (std::size_t rung = 0; rung < part.rungs.size() && rung < open; ++rung) {
    if (part.rungs[rung].level == topology.node_level()) continue;
    const auto first = topology.ancestor(topology.leaf_at(own[0]), part.rungs[rung].level);
    const bool together = first >= 0 && std::all_of(own.begin(), own.end(), [&](std::uint32_t p) {
                            return topology.ancestor(topology.leaf_at(p), part.rungs[rung].level) == first;
                          });
    if (!together) continue;
    for (const auto& c : chooser.candidates(rung, static_cast<std::uint32_t>(first)))
      if (auto choice = chooser.fill(rung, c)) return choice;
  }
  return std::nullopt;
}

void Engine::Parts::accept(Answer& a, const Part& part, const Choice& choice, const std::vector<Named>& named) const {
  a.verdict = Verdict{};
  a.level = topology.level_name(part.rungs[choice.rung].level);
  for (const auto d : choice.domains) a.domains.push_back(domain_name(topology, d));
  a.fragmentation_growth = choice.growth;
  const auto n = static_cast<std::uint32_t>(named.size());
  a.nodes.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t tasks = part.by_tasks ? named[i].units : part.tasks_each;
    if (!part.by_tasks && part.total_tasks > 0 && part.total_tasks < n * part.tasks_each)
      tasks = part.total_tasks / n + (i < part.total_tasks % n ? 1 : 0);
    a.nodes.push_back(PlacedNode{NodeIndex{topology.node_at(named[i].position)}, tasks, part.group, 0, named[i].segment});
  }
  if (part.exclusive_level != no_level) a.closed = closed_nodes(topology, a.nodes, part.exclusive_level);
}

void Engine::Parts::accept_sums(Answer& a, const Part& part, const Choice& choice, const Offer& offer) const {
  std::vector<Named> named;
  std::vector<std::uint32_t> room;
  std::set<std::uint32_t> leaves;
  for (const auto& s : choice.shares) {
    named.push_back(Named{s.begin, 1, 0});
    room.push_back(offer.units[s.begin]);
    leaves.insert(s.leaf);
  }
  accept(a, part, choice, named);
  a.leaves_used = a.leaves_least = static_cast<std::uint32_t>(leaves.size());
  if (!part.sum_tasks) return;
  const auto tasks = share_tasks(part.total_tasks, room);
  for (std::size_t i = 0; i < tasks.size(); ++i) a.nodes[i].tasks = tasks[i];
}

void Engine::Parts::accept_apart(Answer& a, const Part& part, const Choice& choice, const std::vector<Named>& named) const {
  accept(a, part, choice, named);
  std::set<std::uint32_t> leaves;
  for (const auto& s : choice.shares) leaves.insert(s.leaf);
  a.leaves_used = a.leaves_least = static_cast<std::uint32_t>(leaves.size());
}

// How good it is, and what it was preferred to: for people, not for the pass.
void Engine::Parts::rate(Answer& a, const Board&, const Part& part, Chooser& chooser, const Choice& choice, const Options& o) {
  std::vector<std::uint32_t> leaves;
  leaves.reserve(choice.shares.size());
  for (const auto& s : choice.shares)
    if (leaves.empty() || leaves.back() != s.leaf) leaves.push_back(s.leaf);
  std::sort(leaves.begin(), leaves.end());
  a.leaves_used = static_cast<std::uint32_t>(std::unique(leaves.begin(), leaves.end()) - leaves.begin());
  if (!o.explain) return;
  const Offer& offer = idle().offer(part);
  const Counts counts = counts_of(idle(), offer);
  Chooser at_rest(counts, part);
  std::vector<std::uint32_t> room;
  for (std::uint32_t d = 0; d < topology.domains().size(); ++d)
    if (topology.domain(d).leaf()) room.push_back(at_rest.capacity(d));
  std::sort(room.rbegin(), room.rend());
  for (std::uint64_t sum = 0; sum < choice.units && a.leaves_least < room.size() && room[a.leaves_least] > 0; ++a.leaves_least)
    sum += room[a.leaves_least];
  a.leaves_least = std::min(a.leaves_least, a.leaves_used);
  if (part.rungs[choice.rung].level == topology.node_level()) return;
  for (const auto& c : chooser.candidates(choice.rung, TopologyIndex::root)) {
    if (std::find(choice.domains.begin(), choice.domains.end(), c.domain) != choice.domains.end()) continue;
    if (a.beaten.size() < 5)
      a.beaten.push_back(model::DomainCount{domain_name(topology, c.domain), chooser.offered(c.domain), choice.units});
  }
}

Answer Engine::Parts::place_part(Board& board, const Part& part, const Group& g, const Options& o) {
  Answer a;
  a.verdict.kind = Verdict::Kind::not_now;
  if (part.max == 0) return a;  // none of the numbers of nodes to choose from will do
  const auto looked_before = board.nodes_looked_at;
  const auto opened = open_rungs(part, g, o, [&](std::size_t rung) { return ever_on(part, rung); });
  const auto rungs = opened.rungs;
  std::uint64_t budget = o.budget;
  const bool sums = part.apart.empty() && needs_sums(board, part);
  const Offer& whole = board.offer(sums ? towards_sum(part) : part);
  // On the first `open` rungs. `near`: what affinity leaves, for the explanation; that is wanted of the last attempt only.
  const auto attempt = [&](const Offer& offer, std::size_t open, bool last, const std::vector<bool>& near) {
    const Counts counts = counts_of(board, offer);
    if (sums) {
      bool inexact = false;
      const auto choice = choose_with_sums(board, offer, part, open, budget, a.work.domains_looked_at, inexact);
      if (choice) accept_sums(a, part, *choice, offer);
      else if (inexact) a.verdict.reason = Reason::search_limit;
      if (!choice && last) {
        const Offer holders = nodes_that_hold_any(board, offer);
        explain(a, board, part, counts_of(board, holders), opened, o, near);
        if (o.explain && named_but_taken(board, part).empty()) explain_sums(a.verdict, board, part, offer);
      }
      return choice.has_value();
    }
    if (!part.apart.empty()) {
      Spreader spreader(board, offer, part);
      const auto choice = spreader.choose(TopologyIndex::root, open);
      if (choice) accept_apart(a, part, *choice, name_nodes(counts, part, *choice));
      else if (last) {
        if (is_inexact(board, part) || needs_sums(board, part)) a.verdict.reason = Reason::search_limit;
        explain(a, board, part, counts, opened, o, near);
        if (o.explain && named_but_taken(board, part).empty()) explain_spread(a, board, part, spreader);
      }
      return choice.has_value();
    }
    Chooser chooser(counts, part);
    chooser.budget = &budget;
    const auto choice = choose(chooser, part, o, open);
    if (choice) {
      const auto named = name_nodes(counts, part, *choice);
      a.work.nodes_looked_at += named.size();
      accept(a, part, *choice, named);
      rate(a, board, part, chooser, *choice, o);
    }
    a.work.domains_looked_at += chooser.domains_looked_at;
    if (!choice && last) {
      if (chooser.budget_ended || is_inexact(board, part)) a.verdict.reason = Reason::search_limit;
      explain(a, board, part, counts, opened, o, near);
    }
    return choice.has_value();
  };
  const auto weights = weights_to_try(board, o);
  const auto attempt_where = [&](const Restricted& r, std::size_t open, std::uint32_t weight, bool last) {
    if (weights.empty()) {
      if (r.open.empty()) return attempt(whole, open, last, r.near);
      return attempt(board.narrowed(whole, TopologyIndex::root, &r.open), open, last, r.near);
    }
    auto cheap = r.open.empty() ? std::vector<bool>(topology.size(), true) : r.open;
    close_dearer(board, weight, cheap);
    return attempt(board.narrowed(whole, TopologyIndex::root, &cheap), open, last, r.near);
  };
  // P4: on the first rung that holds it at all, with each wish that can be kept beside those before it; of a range never for less.
  const auto units = [&] {
    std::size_t n = 0;
    for (const auto& node : a.nodes) n += part.by_tasks ? node.tasks : 1;
    return n;
  };
  const auto attempt_with_wishes = [&](const Restricted& required, std::uint32_t weight) {
    for (std::size_t open = 1; open <= rungs; ++open) {
      if (!attempt_where(required, open, weight, false)) continue;
      const auto most = units();
      Answer best = std::exchange(a, Answer{});
      Wishes kept(wishes_in(g), false);
      for (std::size_t i = 0; i < kept.size(); ++i, a = Answer{}) {
        kept[i] = true;
        if (attempt_where(restrict(board, g, o, part.exclusive_level, kept), open, weight, false) && units() >= most) best = std::move(a);
        else kept[i] = false;
      }
      a = std::move(best);
      return true;
    }
    return false;
  };
  const auto required = restrict(board, g, o, part.exclusive_level, {});
  const std::uint32_t none = 0;
  const auto in_order = weights.empty() ? std::span(&none, 1) : std::span<const std::uint32_t>(weights);
  const bool wishes = wishes_in(g) > 0;
  for (const auto weight : in_order) {
    const bool last = weight == in_order.back();
    if (wishes ? attempt_with_wishes(required, weight) : attempt_where(required, rungs, weight, last)) break;
    if (wishes && last) attempt_where(required, rungs, weight, last);  // for the explanation
  }
  if (!a.placed() && o.explain) tell_who_is_missing(g, o, a.verdict.detail);
  a.work.nodes_looked_at += board.nodes_looked_at - looked_before;
  a.work.search_steps = o.budget - budget;
  return a;
}

Answer Engine::Parts::place_pieces(Board& board, const Group& g, const Options& o) {
  std::size_t ways = 1;
  auto piece = make_piece(g, shape, topology, o, 0, &ways);
  const std::string narrowest = piece ? topology.level_name(piece->part.rungs.front().level) : std::string{};
  Answer a = place_piece(board, g, o, std::move(piece));
  const auto best = [&] { return a.placed() && a.level == narrowest && !o.weight_first && g.nodes.min >= g.nodes.max; };
  bool limit = a.verdict.reason == Reason::search_limit || ways >= most_alternatives || (ways > 1 && !g.children.empty());
  for (std::size_t i = 1; i < ways && !best(); ++i) {
    Answer other = place_piece(board, g, o, make_piece(g, shape, topology, o, i));
    limit |= other.verdict.reason == Reason::search_limit;
    if (rank(other, g, o) < rank(a, g, o)) a = std::move(other);
  }
  if (!a.placed() && limit) a.verdict.reason = Reason::search_limit;
  return a;
}

namespace {

// The group of that name, else the first.
const Piece& leaf_to_show(const Piece& p, const std::string& name) {
  const std::function<const Piece*(const Piece&)> find = [&](const Piece& in) -> const Piece* {
    if (!in.container) return in.name == name ? &in : nullptr;
    for (const auto& c : in.children)
      if (const auto* found = find(c)) return found;
    return nullptr;
  };
  if (const auto* found = name.empty() ? nullptr : find(p)) return *found;
  const Piece* first = &p;
  while (first->container && !first->children.empty()) first = &first->children.front();
  return *first;
}

void each_leaf(const Piece& p, const std::function<void(const Piece&)>& f) {
  if (!p.container) return f(p);
  for (const auto& c : p.children) each_leaf(c, f);
}

bool is_one_group(const Piece& p) {
  return p.replicas == 1 && (!p.container || (p.children.size() == 1 && is_one_group(p.children.front())));
}

// Counted features: nodes with any of them would help, and any node where some are left over.
void widen_to_all_counted(Part& part, const Piece& p) {
  if (p.children.empty() || !p.children.front().part_of_group) return;
  base::FeatureExpression any{base::FeatureExpression::Op::any_of, {}, 0, {}};
  for (const auto& c : p.children) {
    if (!c.part.filter.constraint) return part.filter.constraint.reset();
    any.operands.push_back(*c.part.filter.constraint);
  }
  part.filter.constraint = std::move(any);
}

}  // namespace

// Why a gang does not fit: what holds up the group that found no place most often.
void Engine::Parts::explain_pieces(Answer& a, Board& board, const Piece& piece, const GangResult& r, std::int32_t exclusive,
                                   const Opened& opened, const Options& o) const {
  std::vector<bool> near(topology.size(), true);  // to jobs: the groups of this one are nowhere
  Group named;
  const auto add = [&](const Piece& p) {
    for (const auto& [from, to] : {std::pair{&p.affinity, &named.affinity}, std::pair{&p.anti_affinity, &named.anti_affinity}})
      std::copy_if(from->begin(), from->end(), std::back_inserter(*to),
                   [](const auto& x) { return model::job_target(x.target).has_value(); });
  };
  const Piece& shown = leaf_to_show(piece, r.blocked_by);
  add(piece);
  if (&shown != &piece) add(shown);
  close_by_affinity(topology, named, o, {}, near);
  std::string taken;
  each_leaf(piece, [&](const Piece& leaf) {
    if (const auto text = named_but_taken(board, leaf.part); !text.empty())
      taken += fmt::format("{}{}{}{}", taken.empty() ? "" : "; ", leaf.name, leaf.name.empty() ? "" : ": ", text);
  });
  Part part = shown.part;
  part.exclusive_level = exclusive;
  widen_to_all_counted(part, piece);
  if (taken.empty()) taken = beside_others(board, part);
  if (taken.empty()) taken = spans_trees(board, piece);
  const bool counted = !piece.children.empty() && piece.children.front().part_of_group;
  if (counted && a.verdict.reason != Reason::search_limit) a.verdict.detail = counted_features(board, piece);
  if (!taken.empty()) a.verdict.detail += (a.verdict.detail.empty() ? "" : "; ") + taken;
  const Offer& offer = board.offer(shown.part);
  explain(a, board, part, counts_of(board, offer), &shown == &piece ? opened : Opened{part.rungs.size(), {}}, o, near);
  explain_gang(a, board, piece, r.hopeless, opened, o);
}

Answer Engine::Parts::place_piece(Board& board, const Group& g, const Options& o, Result<Piece> piece) {
  Answer a;
  if (!piece) return refused(piece.error());
  std::int32_t exclusive = no_level;
  if (!g.exclusive_level.empty()) exclusive = topology.find_level(g.exclusive_level).value_or(no_level);
  auto mask = restrict(board, g, o, exclusive, {}).open;
  const auto opened = open_rungs(piece->part, g, o, [&](std::size_t rung) {
    Piece alone = *piece;
    alone.part.rungs = {piece->part.rungs[rung]};
    const auto ever = place_gang(alone, shape, topology, idle().nodes(), o, nullptr);
    return ever.placed || ever.budget_ended;
  });
  const auto rungs = piece->part.rungs;
  piece->part.rungs.resize(opened.rungs);
  auto r = place_gang(*piece, shape, topology, board.nodes(), o, mask.empty() ? nullptr : &mask);
  const auto weights = weights_to_try(board, o);
  // What no nodes hold, fewer do not: cheaper sets are looked for only where there is a choice.
  if (weights.size() > 1 && (r.placed || r.budget_ended)) {
    if (mask.empty()) mask.assign(topology.size(), true);
    for (auto w = weights.begin(); w + 1 != weights.end(); ++w) {
      auto cheap = mask;
      close_dearer(board, *w, cheap);
      auto cheaper = place_gang(*piece, shape, topology, board.nodes(), o, &cheap);
      cheaper.steps += r.steps;
      if (cheaper.placed) {
        r = std::move(cheaper);
        break;
      }
      r.steps = cheaper.steps;
    }
  }
  a.work.search_steps = r.steps;
  if (!r.placed) {
    a.verdict.kind = Verdict::Kind::not_now;
    const bool limit = r.budget_ended || (!r.too_few_cpus && any_inexact(board, *piece, false));
    a.verdict.reason = limit ? Reason::search_limit : Reason::resources;
    a.verdict.detail = limit ? r.steps_ended ? fmt::format("no placement found within {} steps", r.steps)
                                             : std::string("no placement found, and not every way to lay the groups out is tried")
                             : "the groups do not fit together";
    if (!o.explain) return a;
    if (const auto name = without_room(board, *piece); !name.empty() && r.hopeless.empty()) r.blocked_by = name;
    if (!limit && !r.blocked_by.empty()) a.verdict.detail += ": no place for " + r.blocked_by;
    if (!limit && is_one_group(*piece)) a.verdict.detail = r.blocked_by.empty() ? std::string{} : "no place for " + r.blocked_by;
    piece->part.rungs = rungs;
    explain_pieces(a, board, *piece, r, exclusive, opened, o);
    tell_who_is_missing(g, o, a.verdict.detail);
    return a;
  }
  a.level = topology.level_name(r.level);
  a.domains = {domain_name(topology, r.domain)};
  a.nodes = std::move(r.nodes);
  std::set<std::uint32_t> leaves;
  std::vector<NodeNow> after(board.nodes().begin(), board.nodes().end());
  for (const auto& n : a.nodes) {
    leaves.insert(topology.leaf_at(static_cast<std::uint32_t>(topology.position_of(n.node.value))));
    ++after[n.node.value].jobs;
  }
  a.leaves_used = a.leaves_least = static_cast<std::uint32_t>(leaves.size());
  if (o.explain && leaves.size() > 1) a.leaves_least = std::min(a.leaves_used, leaves_when_idle(*piece, o));
  a.fragmentation_growth = fragmentation(topology, after) - fragmentation(topology, board.nodes());
  if (exclusive != no_level) a.closed = closed_nodes(topology, a.nodes, exclusive);
  return a;
}

// Leaves that it would be in were everything idle.
std::uint32_t Engine::Parts::leaves_when_idle(const Piece& piece, const Options& o) {
  Options at_rest = o;
  at_rest.members_anywhere = true;
  at_rest.budget = std::min<std::uint64_t>(o.budget, 2'000);  // it is only told
  const auto r = place_gang(piece, shape, topology, idle().nodes(), at_rest, nullptr);
  std::set<std::uint32_t> leaves;
  for (const auto& n : r.nodes) leaves.insert(topology.leaf_at(static_cast<std::uint32_t>(topology.position_of(n.node.value))));
  return r.placed ? static_cast<std::uint32_t>(leaves.size()) : ~0U;
}

// Of answers to ways of asking one thing, the least is taken: placed, or nearest to it; on the cheapest nodes where these come first; on
// the narrowest rung, where the job asks to be near; on the most nodes; on the narrowest rung; in the fewest leaves.
Engine::Parts::Rank Engine::Parts::rank(const Answer& a, const Group& g, const Options& o) const {
  if (!a.placed()) return {true, a.verdict.asked - std::min(a.verdict.offered, a.verdict.asked), 0, 0, 0, 0};
  std::uint32_t dearest = 0;
  if (o.weight_first)
    for (const auto& n : a.nodes) dearest = std::max(dearest, shape.nodes[n.node.value].weight);
  const std::int32_t rung = -*topology.find_level(a.level);
  return {false, dearest, asks_to_be_near(g, topology) ? rung : 0, -static_cast<std::int64_t>(a.nodes.size()), rung, a.leaves_used};
}

Answer Engine::Parts::place_alternatives(Board& board, const std::vector<Group>& ways, const Options& o) {
  std::optional<Answer> best;
  bool limit = false;
  for (const auto& way : ways) {
    Answer a = place(board, way, o);
    limit |= a.verdict.reason == Reason::search_limit;
    if (!best || rank(a, way, o) < rank(*best, way, o)) best = std::move(a);
  }
  if (!best->placed() && limit) best->verdict.reason = Reason::search_limit;
  return std::move(*best);
}

Answer Engine::Parts::place(Board& board, const Group& g, const Options& o) {
  if (const auto ways = ways_to_choose(g); !ways.empty()) return place_alternatives(board, ways, o);
  if (needs_search(g)) return place_pieces(board, g, o);
  const auto part = make_part(g, shape, topology, o);
  if (!part) return refused(part.error());
  return place_part(board, *part, g, o);
}

Engine::Engine(const ClusterShape& shape, const TopologyIndex& topology, std::span<const NodeNow> nodes)
    : parts_(std::make_unique<Parts>(shape, topology, nodes)) {}
Engine::~Engine() = default;

void Engine::changed(NodeIndex node) { parts_->now.changed(node); }

Answer Engine::place(const Group& g, const Options& o) {
  if (const auto ok = check_request(g, parts_->topology); !ok) return refused(ok.error());
  Answer a = parts_->place(parts_->now, g, o);
  if (a.placed() || a.verdict.kind == Verdict::Kind::never || a.verdict.reason == Reason::search_limit) return a;
  Options ever = o;
  ever.waited.reset();
  ever.members.clear();
  ever.members_anywhere = true;
  ever.explain = false;
  ever.least_will_do = true;
  Answer idle = parts_->place(parts_->idle(), g, ever);
  if (idle.verdict.reason == Reason::search_limit && o.explain)
    a.verdict.detail += fmt::format("{}whether an idle cluster would hold it is not known", a.verdict.detail.empty() ? "" : "; ");
  if (idle.placed() || idle.verdict.reason == Reason::search_limit) return a;
  ever.explain = o.explain;
  if (o.explain) idle = parts_->place(parts_->idle(), g, ever);
  idle.verdict.kind = Verdict::Kind::never;
  idle.verdict.reason = Reason::bad_constraints;
  return idle;
}

Answer place(const Group& g, const ClusterShape& shape, const TopologyIndex& t, std::span<const NodeNow> nodes, const Options& o) {
  return Engine(shape, t, nodes).place(g, o);
}

Answer place_on_idle(const Group& g, const ClusterShape& shape, const TopologyIndex& t, const Options& o) {
  const auto nodes = idle_nodes(shape);
  Options ever = o;
  ever.waited.reset();
  ever.members_anywhere = true;
  ever.least_will_do = true;
  Answer a = Engine(shape, t, nodes).place(g, ever);
  return a;
}

}  // namespace sy::sched::placement

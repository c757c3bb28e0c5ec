#include "sched/placement/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>

#include "base/features.hpp"
#include "base/hostlist.hpp"
#include "sched/placement/open_nodes.hpp"
#include "sched/placement/sums.hpp"

namespace sy::sched::placement {
namespace {

using model::Cause;
using model::DomainCount;
using model::Reason;
using model::RungVerdict;
using model::TopologyIndex;

constexpr std::size_t domains_told = 5;

std::vector<Cause> causes_of(const Board& b, const Part& part, const std::vector<bool>& near) {
  std::array<std::uint32_t, static_cast<std::size_t>(Cause::Kind::other) + 1> count{};
  const auto& t = b.topology();
  struct {                               // neighbours are often alike
    const ClusterShape::NodeInfo* info{};
    bool drained{};                      // tells causes apart, not units: no look's business
    std::uint32_t look{}, units{};
    Cause::Kind cause{};
  } last;
  const auto units = [&](std::uint32_t n, const ClusterShape::NodeInfo& info, Cause::Kind& kind) {
    if (!let_in(part.filter, NodeIndex{n})) return units_on(part.demand, part.filter, NodeIndex{n}, info, b.nodes()[n], &kind);
    const NodeNow& now = b.nodes()[n];
    const auto look = b.look(static_cast<std::uint32_t>(t.position_of(n)));
    if (last.info == nullptr || look != last.look || now.drained != last.drained || !(info.total == last.info->total)) {
      last = {&info, now.drained, look, 0, Cause::Kind::other};
      last.units = units_on_such(part.demand, part.filter, info, now, &last.cause);
    }
    kind = last.cause;
    return last.units;
  };
  for (std::uint32_t n = 0; n < b.shape().nodes.size(); ++n) {
    const auto& info = b.shape().nodes[n];
    if (info.removed) continue;
    Cause::Kind kind = Cause::Kind::other;
    if (t.position_of(n) == TopologyIndex::nowhere) kind = Cause::Kind::no_domain;
    else if (units(n, info, kind) > 0) {
      if (near.empty() || near[static_cast<std::size_t>(t.position_of(n))]) continue;
      kind = Cause::Kind::affinity;
    }
    if (kind == Cause::Kind::busy && b.nodes()[n].exclusive && b.nodes()[n].jobs == 0) kind = Cause::Kind::kept;
    if (kind == Cause::Kind::not_in_partition) continue;
    if (part.filter.among && !part.filter.among->contains(NodeIndex{n})) continue;  // nobody asked for it
    ++count[static_cast<std::size_t>(kind)];
  }
  std::vector<Cause> out;
  for (std::size_t k = 0; k < count.size(); ++k)
    if (count[k] > 0) out.push_back(Cause{static_cast<Cause::Kind>(k), count[k]});
  std::stable_sort(out.begin(), out.end(), [](const Cause& a, const Cause& b2) { return a.nodes > b2.nodes; });
  return out;
}

// Nodes named that are down, too few that are up, or just others in the way?
Reason why_out(const Board& b, const Part& part, std::uint32_t& up) {
  const auto down = [&](NodeIndex n) { return !b.nodes()[n.value].usable; };
  if (std::any_of(part.required.begin(), part.required.end(), down)) return Reason::req_node_not_avail;
  const std::uint32_t enough = part.by_tasks || part.fewest ? 1 : part.min;
  up = 0;
  for (std::uint32_t n = 0; n < b.shape().nodes.size() && up < enough; ++n) {
    const auto& info = b.shape().nodes[n];
    const bool suits =
        let_in(part.filter, NodeIndex{n}) && (!part.filter.constraint || base::matches(*part.filter.constraint, info.features));
    if (suits && !info.removed && !down(NodeIndex{n})) ++up;
  }
  return up < enough ? Reason::node_down : Reason::resources;
}

std::string names_of(const Board& b, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> names;
  for (const auto n : nodes) names.push_back(b.shape().nodes[n.value].name);
  return base::fold_hostlist(names);
}

// A job that wants domains for itself: nodes that are free, in domains where others are.
std::uint32_t free_beside_others(const Board& b, const Part& part) {
  if (part.exclusive_level == no_level) return 0;
  const auto& t = b.topology();
  std::vector<bool> open(t.size(), true);
  close_used(b, part.exclusive_level, open);
  std::uint32_t out = 0;
  for (std::uint32_t p = 0; p < t.size(); ++p) {
    const auto n = t.node_at(p);
    if (!open[p] && units_on(part.demand, part.filter, NodeIndex{n}, b.shape().nodes[n], b.nodes()[n], nullptr) > 0) ++out;
  }
  return out;
}

// In whole segments where there are segments, else in units.
std::uint32_t telling_unit(const Part& part) {
  return !part.layers.empty() && part.sizes.empty() && !part.shorter ? part.layers.front().size : std::max(part.demand.multiple, 1U);
}

RungVerdict rung_verdict(const Board& b, const Part& part, Chooser& chooser, const PartRung& rung) {
  const auto& t = b.topology();
  RungVerdict out;
  out.level = t.level_name(rung.level);
  const auto unit = telling_unit(part);
  const auto asked = (part.min + unit - 1) / unit;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> best;  // offered, domain or position
  if (rung.level == t.node_level()) {
    const auto& units = chooser.counts().units;
    for (std::uint32_t p = 0; p < units.size(); ++p) best.emplace_back(units[p], p);
  } else {
    for (const auto d : t.at_level(rung.level))
      if (t.domain(d).size() > 0) best.emplace_back(chooser.offered(d), d);
  }
  const auto keep = std::min(domains_told, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(keep), best.end(),
                    [](const auto& x, const auto& y) { return x.first != y.first ? x.first > y.first : x.second < y.second; });
  best.resize(keep);
  for (const auto& [offered, d] : best)
    out.best.push_back(
        DomainCount{rung.level == t.node_level() ? b.shape().nodes[t.node_at(d)].name : domain_name(t, d), offered / unit, asked});
  return out;
}

// Each layer by itself: how many of its segments could be formed anywhere, of how many.
std::vector<LayerCount> layer_counts(const Board& b, const Part& part, const Counts& counts) {
  std::vector<LayerCount> out;
  const auto& t = b.topology();
  if (!part.sizes.empty()) return out;
  for (std::size_t i = 0; i < part.layers.size(); ++i) {
    Part inner = part;
    inner.layers.erase(inner.layers.begin(), inner.layers.begin() + static_cast<std::ptrdiff_t>(i));
    Chooser chooser(counts, inner);
    std::uint32_t found = 0;
    for (const auto d : t.at_level(part.layers[i].level)) found += chooser.capacity(d) / part.layers[i].size;
    out.push_back(LayerCount{t.level_name(part.layers[i].level), part.layers[i].size, found, part.min / part.layers[i].size});
  }
  if (part.demand.multiple > 1) {
    std::uint32_t found = 0;
    for (const auto u : counts.units) found += u / part.demand.multiple;
    out.push_back(LayerCount{"node", part.demand.multiple, found, part.min / part.demand.multiple});
  }
  return out;
}

}  // namespace

std::string named_but_taken(Board& b, const Part& part) {
  if (part.required.empty()) return {};
  std::vector<std::string> names;
  std::set<std::string_view> why;
  const auto& units = b.offer(part.sum_tasks ? towards_sum(part) : part).units;
  for (const auto n : part.required) {
    const auto& now = b.nodes()[n.value];
    const auto at = b.topology().position_of(n.value);
    if (now.usable && (at < 0 || units[static_cast<std::size_t>(at)] > 0)) continue;
    names.push_back(b.shape().nodes[n.value].name);
    const bool taken = now.jobs > 0 || now.exclusive;
    why.insert(now.drained ? "drained" : !now.usable ? "not available" : taken ? "busy" : "not fit for it");
  }
  if (names.empty()) return {};
  return fmt::format("{}, named by --nodelist, {} {}", base::fold_hostlist(names), names.size() == 1 ? "is" : "are",
                     fmt::join(why, " or "));
}

std::string beside_others(const Board& b, const Part& part) {
  const auto n = free_beside_others(b, part);
  if (n == 0) return {};
  return fmt::format("{} in a {} that others use", n == 1 ? "1 free node is" : fmt::format("{} free nodes are", n),
                     b.topology().level_name(part.exclusive_level));
}

std::string domain_name(const TopologyIndex& t, std::uint32_t d) { return d == TopologyIndex::root ? "any" : t.domain(d).name; }

namespace {

// When rungs that are still closed will open.
class Opening {
 public:
  Opening(const Opened& opened, const std::vector<PartRung>& rungs, const Options& o) : opened_(opened), rungs_(rungs), options_(o) {}
  std::optional<Time> of(std::size_t rung) const {
    if (rung < opened_.rungs || !options_.eligible) return std::nullopt;
    Duration after = opened_.next;
    for (auto i = opened_.rungs; i < rung; ++i) after += rungs_[i].wait;
    return *options_.eligible + after;
  }

 private:
  const Opened& opened_;
  const std::vector<PartRung>& rungs_;
  const Options& options_;
};

}  // namespace

void explain(Answer& a, Board& b, const Part& part, const Counts& counts, const Opened& opened, const Options& o,
             const std::vector<bool>& near) {
  Verdict& v = a.verdict;
  std::uint32_t up = 0;
  if (v.reason == Reason::none) v.reason = why_out(b, part, up);
  if (!o.explain) return;
  Chooser chooser(counts, part);
  const auto& t = b.topology();
  std::uint64_t offered = 0, everywhere = 0;
  for (const auto d : t.at_level(TopologyIndex::any_level)) {
    offered = std::max<std::uint64_t>(offered, counts.sum[d]);
    everywhere += counts.sum[d];
  }
  v.offered = v.reason == Reason::node_down ? up : static_cast<std::uint32_t>(offered);
  v.asked = part.min;
  v.causes = causes_of(b, part.sum_tasks ? towards_sum(part) : part, near);
  a.layers = layer_counts(b, part, counts);
  const Opening opening(opened, part.rungs, o);
  for (std::size_t i = 0; i < part.rungs.size(); ++i) {
    auto r = rung_verdict(b, part, chooser, part.rungs[i]);
    r.causes = v.causes;
    r.opens = opening.of(i);
    v.rungs.push_back(std::move(r));
  }
  if (!v.detail.empty()) return;
  if (v.detail = named_but_taken(b, part); !v.detail.empty()) return;
  if (v.detail = beside_others(b, part); !v.detail.empty()) return;
  for (const auto& l : a.layers)  // a layer that could be formed often enough is not in the way
    if (l.offered < l.asked)
      v.detail += fmt::format("{}{} of {} segments of {} on {}", v.detail.empty() ? "" : "; ", l.offered, l.asked, l.size, l.level);
  if (!v.detail.empty() || v.rungs.empty() || v.rungs.back().best.empty()) return;
  const auto& r = v.rungs.back();
  if (offered >= part.min && !part.required.empty()) v.detail = fmt::format("not with {}, named by --nodelist", names_of(b, part.required));
  else if (offered < part.min && everywhere >= part.min)
    v.detail = fmt::format("{} in all, but no job spans the trees of this topology", everywhere);
  else if (r.level != "any")
    v.detail = fmt::format("the best {} ({}) offers {} of {}{}", r.level, r.best[0].domain, r.best[0].offered, r.best[0].asked,
                           telling_unit(part) > 1 ? fmt::format(" segments of {}", telling_unit(part)) : "");
  else if (part.by_tasks) v.detail = "counted in tasks";
}

void explain_sums(Verdict& v, const Board& b, const Part& part, const Offer& offer) {
  if (v.offered < part.min) return;  // of nodes that hold any there are too few
  if (v.reason != Reason::node_down) v.offered = v.asked = 0;  // what is short is no number of nodes
  v.detail = what_sums_lack(b, offer, part);
}

void explain_spread(Answer& a, const Board& b, const Part& part, Spreader& spreader) {
  const auto& t = b.topology();
  std::uint32_t best_domain = TopologyIndex::root;
  for (std::size_t i = 0; i < part.rungs.size() && i < a.verdict.rungs.size(); ++i) {
    if (part.rungs[i].level == t.node_level()) continue;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> best;  // offered, domain
    for (const auto d : t.at_level(part.rungs[i].level))
      if (t.domain(d).size() > 0) best.emplace_back(spreader.offered(d), d);
    std::stable_sort(best.begin(), best.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    best.resize(std::min(domains_told, best.size()));
    if (best.empty() || best.front().first == 0) continue;  // the rules let in none at all: then what is free says more
    auto& told = a.verdict.rungs[i].best;
    told.clear();
    for (const auto& [offered, d] : best) told.push_back(DomainCount{domain_name(t, d), offered, part.min});
    a.verdict.offered = best.front().first;
    best_domain = best.front().second;
  }
  a.verdict.detail = spreader.limits(best_domain);
  if (!part.required.empty()) a.verdict.detail += fmt::format(", with {}, named by --nodelist, among them", names_of(b, part.required));
}

namespace {

// What one shape of group asks in all, and finds by itself: the others are not minded.
struct Shape {
  std::string key;
  std::int32_t within{};                  // level that one copy may not leave; no_level: none
  std::vector<std::uint32_t> sum;         // by domain
  std::uint64_t units{}, each{}, copies{};
};

void shapes_of(Board& b, const Piece& p, std::uint64_t copies, std::int32_t within, std::vector<Shape>& out,
               const std::string& hopeless = {}) {
  within = std::max(within, p.part.within);
  if (p.container) {
    for (const auto& c : p.children) shapes_of(b, c, copies * p.min_replicas, within, out, hopeless);
    return;
  }
  const bool in_tasks = p.part.sum_tasks;
  const bool none = !hopeless.empty() && p.name == hopeless;
  const auto key = none ? "none" : in_tasks ? p.part.one_task_key : p.part.key;
  const std::uint64_t each = in_tasks ? p.part.total_tasks : p.part.min;
  auto s = std::find_if(out.begin(), out.end(), [&](const Shape& x) { return x.key == key && x.each == each && x.within == within; });
  if (s == out.end()) s = out.insert(s, Shape{key, within, b.offer(in_tasks ? towards_sum(p.part) : p.part).sum, 0, each, 0});
  if (none) s->sum.assign(s->sum.size(), 0);
  s->copies += copies * p.min_replicas;
  s->units += copies * p.min_replicas * p.part.min;
}

// Copies that a domain has room for, one beside the other.
std::uint64_t room_for(const TopologyIndex& t, const Shape& s, std::uint32_t domain) {
  const auto in = [&](std::uint32_t d) { return s.sum[d] / std::max<std::uint64_t>(s.each, 1); };
  const auto& all = t.domain(domain);
  if (s.within < 0 || s.within == t.node_level() || all.level >= s.within) return std::min(s.copies, in(domain));
  std::uint64_t n = 0;
  for (const auto d : t.at_level(s.within))
    if (t.domain(d).begin >= all.begin && t.domain(d).end <= all.end) n += in(d);
  return std::min(s.copies, n);
}

bool nodes_only(const Piece& p) {
  return p.container ? std::all_of(p.children.begin(), p.children.end(), nodes_only) : !p.part.by_tasks && p.part.demand.whole;
}

}  // namespace

std::string spans_trees(Board& b, const Piece& p) {
  const auto& t = b.topology();
  if (t.joined() || !p.container) return {};
  std::vector<Shape> shapes;
  shapes_of(b, p, 1, no_level, shapes);
  for (const auto& s : shapes) {
    std::uint64_t most = 0, all = 0, asked = 0;
    for (const auto& other : shapes)
      if (other.key == s.key) asked += other.units;
    for (const auto d : t.at_level(TopologyIndex::any_level)) most = std::max<std::uint64_t>(most, s.sum[d]), all += s.sum[d];
    if (most < asked && all >= asked) return "no job spans the trees of this topology";
  }
  return {};
}

std::string counted_features(Board& b, const Piece& p) {
  const auto& t = b.topology();
  std::string out;
  for (const auto& c : p.children) {
    std::uint32_t best = 0;
    const auto& offer = b.offer(c.part);
    for (const auto d : t.at_level(TopologyIndex::any_level)) best = std::max(best, offer.sum[d]);
    if (best >= c.part.min || !c.part.filter.constraint) continue;
    out += fmt::format("{}{} of {} {} with {}", out.empty() ? "" : "; ", best, c.part.min, c.part.min == 1 ? "node" : "nodes",
                       base::format_features(*c.part.filter.constraint));
  }
  return out.empty() ? "nodes with these features are not free in number as asked together" : out;
}

std::string without_room(Board& b, const Piece& p) {
  std::vector<Shape> one;
  const std::function<std::string(const Piece&, std::int32_t)> find = [&](const Piece& in, std::int32_t within) -> std::string {
    within = std::max(within, in.part.within);
    for (const auto& c : in.children)
      if (auto name = find(c, within); !name.empty()) return name;
    if (in.container) return {};
    one.clear();
    shapes_of(b, in, 1, within, one);
    const auto roomy = [&](std::uint32_t d) { return room_for(b.topology(), one.front(), d) >= one.front().copies; };
    const auto trees = b.topology().at_level(TopologyIndex::any_level);
    return std::any_of(trees.begin(), trees.end(), roomy) ? std::string{} : in.name;
  };
  return find(p, no_level);
}

void explain_gang(Answer& a, Board& b, const Piece& p, const std::string& hopeless, const Opened& opened, const Options& o) {
  std::vector<Shape> shapes;
  shapes_of(b, p, 1, no_level, shapes, hopeless);
  const auto& t = b.topology();
  std::uint64_t copies = 0, units = 0, free = 0;
  for (const auto& s : shapes) copies += s.copies, units += s.units;
  const auto room = [&](std::uint32_t d) {
    std::uint64_t n = 0;
    for (const auto& s : shapes) n += room_for(t, s, d);
    return static_cast<std::uint32_t>(n);
  };
  for (const auto d : t.at_level(TopologyIndex::any_level)) {
    std::uint64_t here = 0;
    for (const auto& s : shapes) here = std::max<std::uint64_t>(here, s.sum[d]);
    free = std::max(free, here);
  }
  // Nodes of their own are counted together; tasks beside nodes have no common number.
  const bool together = nodes_only(p);
  a.verdict.offered = together ? static_cast<std::uint32_t>(free) : 0;
  a.verdict.asked = together ? static_cast<std::uint32_t>(units) : 0;
  a.layers.clear();
  if (!p.container) return;
  a.verdict.rungs.clear();
  const Opening opening(opened, p.part.rungs, o);
  for (std::size_t i = 0; i < p.part.rungs.size(); ++i) {
    const auto& rung = p.part.rungs[i];
    if (rung.level == t.node_level()) continue;
    RungVerdict r;
    r.opens = opening.of(i);
    r.level = t.level_name(rung.level);
    for (const auto d : t.at_level(rung.level))
      if (t.domain(d).size() > 0) r.best.push_back(DomainCount{domain_name(t, d), room(d), static_cast<std::uint32_t>(copies)});
    std::stable_sort(r.best.begin(), r.best.end(), [](const auto& x, const auto& y) { return x.offered > y.offered; });
    r.best.resize(std::min(domains_told, r.best.size()));
    r.causes = a.verdict.causes;
    a.verdict.rungs.push_back(std::move(r));
  }
}

}  // namespace sy::sched::placement

#include "sched/placement/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hostlist.hpp"
#include "sched/placement/open_nodes.hpp"

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
Reason why_out(const Board& b, const Part& part) {
  const auto down = [&](NodeIndex n) { return !b.nodes()[n.value].usable; };
  if (std::any_of(part.required.begin(), part.required.end(), down)) return Reason::req_node_not_avail;
  const std::uint32_t enough = part.by_tasks || part.fewest ? 1 : part.min;
  std::uint32_t up = 0;
  for (std::uint32_t n = 0; n < b.shape().nodes.size() && up < enough; ++n) {
    const auto& info = b.shape().nodes[n];
    const bool suits =
        let_in(part.filter, NodeIndex{n}) && (!part.filter.constraint || base::matches(*part.filter.constraint, info.features));
    if (suits && !info.removed && !down(NodeIndex{n})) ++up;
  }
  return up < enough ? Reason::node_down : Reason::resources;
}

// "n2, named by --nodelist, is drained"
std::string unavailable(const Board& b, const Part& part) {
  std::vector<std::string> names;
  bool drained = true;
  for (const auto n : part.required) {
    const auto& now = b.nodes()[n.value];
    if (now.usable) continue;
    names.push_back(b.shape().nodes[n.value].name);
    drained &= now.drained;
  }
  return fmt::format("{}, named by --nodelist, {} {}", base::fold_hostlist(names), names.size() == 1 ? "is" : "are",
                     drained ? "drained" : "not available");
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

std::string domain_name(const TopologyIndex& t, std::uint32_t d) { return d == TopologyIndex::root ? "any" : t.domain(d).name; }

void explain(Answer& a, const Board& b, const Part& part, const Counts& counts, std::size_t open_rungs, const Options& o,
             const std::vector<bool>& near) {
  Verdict& v = a.verdict;
  if (v.reason == Reason::none) v.reason = why_out(b, part);
  if (!o.explain) return;
  Chooser chooser(counts, part);
  const auto& t = b.topology();
  std::uint64_t offered = 0;
  for (const auto d : t.at_level(TopologyIndex::any_level)) offered = std::max<std::uint64_t>(offered, counts.sum[d]);
  v.offered = static_cast<std::uint32_t>(offered);
  v.asked = part.min;
  v.causes = causes_of(b, part, near);
  a.layers = layer_counts(b, part, counts);
  Duration opens{};
  for (std::size_t i = 0; i < part.rungs.size(); ++i) {
    auto r = rung_verdict(b, part, chooser, part.rungs[i]);
    r.causes = v.causes;
    if (i >= open_rungs && o.eligible) r.opens = *o.eligible + opens;
    opens += part.rungs[i].wait;
    v.rungs.push_back(std::move(r));
  }
  std::string text;
  for (const auto& l : a.layers)  // a layer that could be formed often enough is not in the way
    if (l.offered < l.asked)
      text += fmt::format("{}{} of {} segments of {} on {}", text.empty() ? "" : "; ", l.offered, l.asked, l.size, l.level);
  if (text.empty() && !v.rungs.empty() && !v.rungs.back().best.empty()) {
    const auto& r = v.rungs.back();
    if (r.level != "any")
      text = fmt::format("the best {} ({}) offers {} of {}{}", r.level, r.best[0].domain, r.best[0].offered, r.best[0].asked,
                         telling_unit(part) > 1 ? fmt::format(" segments of {}", telling_unit(part)) : "");
    else if (part.by_tasks) text = "counted in tasks";
  }
  if (const auto n = free_beside_others(b, part); n > 0)
    text = fmt::format("{} in a {} that others use", n == 1 ? "1 free node is" : fmt::format("{} free nodes are", n),
                       t.level_name(part.exclusive_level));
  if (v.reason == Reason::req_node_not_avail) text = unavailable(b, part);
  if (v.detail.empty()) v.detail = text;
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
    if (best.empty()) continue;
    auto& told = a.verdict.rungs[i].best;
    told.clear();
    for (const auto& [offered, d] : best) told.push_back(DomainCount{domain_name(t, d), offered, part.min});
    a.verdict.offered = best.front().first;
    best_domain = best.front().second;
  }
  a.verdict.detail = spreader.limits(best_domain);
}

namespace {

// What one shape of group asks in all, and finds by itself: the others are not minded.
struct Shape {
  std::string key;
  std::vector<std::uint32_t> sum;         // by domain
  std::uint64_t units{}, each{}, copies{};
};

void shapes_of(Board& b, const Piece& p, std::uint64_t copies, std::vector<Shape>& out) {
  if (p.container) {
    for (const auto& c : p.children) shapes_of(b, c, copies * p.min_replicas, out);
    return;
  }
  auto s = std::find_if(out.begin(), out.end(), [&](const Shape& x) { return x.key == p.part.key && x.each == p.part.min; });
  if (s == out.end()) s = out.insert(s, Shape{p.part.key, b.offer(p.part).sum, 0, p.part.min, 0});
  s->copies += copies * p.min_replicas;
  s->units += copies * p.min_replicas * p.part.min;
}

bool nodes_only(const Piece& p) {
  return p.container ? std::all_of(p.children.begin(), p.children.end(), nodes_only) : !p.part.by_tasks && p.part.demand.whole;
}

}  // namespace

void explain_gang(Answer& a, Board& b, const Piece& p) {
  std::vector<Shape> shapes;
  shapes_of(b, p, 1, shapes);
  const auto& t = b.topology();
  std::uint64_t copies = 0, units = 0, free = 0;
  for (const auto& s : shapes) copies += s.copies, units += s.units;
  const auto room = [&](std::uint32_t d) {
    std::uint64_t n = 0;
    for (const auto& s : shapes) n += std::min<std::uint64_t>(s.copies, s.sum[d] / std::max<std::uint64_t>(s.each, 1));
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
  for (const auto& rung : p.part.rungs) {
    if (rung.level == t.node_level()) continue;
    RungVerdict r;
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

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/hostlist.hpp"
#include "sched/placement/gang.hpp"

namespace sy::sched::placement {
namespace {

using model::Group;
using model::TopologyIndex;

struct Builder {
  const ClusterShape& shape;
  const TopologyIndex& t;
  const Options& options;
  std::size_t alternative{};             // of the ways to give required nodes to counted features
  std::size_t alternatives{1};           // how many there are
  std::uint32_t next_group{};

  // A wish to be spread that no rule makes firm would mean nothing inside the narrowest domain that holds all of them.
  static bool wishes_width(const Group& g) {
    const auto soft = [](const model::Spread& s) { return !has_rule(s) || s.mode == model::Spread::Mode::prefer; };
    return std::any_of(g.spread.begin(), g.spread.end(), soft) || std::any_of(g.children.begin(), g.children.end(), wishes_width);
  }

  // What bounds the children: the group's own ladder, over domains of whatever size.
  Result<Part> bounds(Group g) {
    const bool wide = std::any_of(g.children.begin(), g.children.end(), wishes_width);
    g.children.clear();
    g.segments.clear();
    g.spread.clear();
    g.nodelist.clear();
    g.nodes = {};
    g.nodes_given = true;
    g.tasks_given = false;
    if (g.pack.prefer.empty() && g.pack.ladder.empty() && !g.switches &&
        (options.packing == Packing::narrowest || !g.pack.require.empty())) {
      const auto require = g.pack.require.empty() ? TopologyIndex::any_level : *t.find_level(g.pack.require);
      g.pack.prefer = t.level_name(wide ? require : std::max(t.narrowest_level(), require));
    }
    return make_part(g, shape, t, options);
  }

  Result<Piece> container(const Group& g) {
    Piece p;
    auto part = bounds(g);
    if (!part) return base::fail(part.error());
    p.part = std::move(*part);
    p.container = true;
    return p;
  }

  struct Term {
    std::string constraint;
    std::uint32_t nodes{};
    std::vector<std::string> required;
  };

  // The terms of "a*2&b*2"; what is not counted holds for every node.
  static std::vector<Term> terms_of(const base::FeatureExpression& f, std::string& of_all) {
    using Op = base::FeatureExpression::Op;
    std::vector<Term> out;
    for (const auto& term : f.op == Op::counted ? std::vector{f} : f.operands) {
      const bool counts = term.op == Op::counted;
      std::string text = base::format_features(counts ? term.operands.front() : term);
      if (term.op == Op::any_of || (counts && term.operands.front().op == Op::any_of)) text = fmt::format("({})", text);
      if (counts) out.push_back(Term{std::move(text), term.count, {}});
      else of_all += (of_all.empty() ? "" : "&") + text;
    }
    if (!of_all.empty())
      for (auto& t : out) t.constraint = of_all + "&" + t.constraint;
    return out;
  }

  // Every way to give the required nodes to terms that they match; those of one kind are given in order.
  void give_required(const std::vector<std::string>& names, std::size_t at, std::size_t from, std::vector<Term>& terms,
                     std::vector<std::vector<Term>>& out) const {
    if (out.size() >= most_alternatives) return;
    if (at == names.size()) {
      out.push_back(terms);
      return;
    }
    const auto features = [&](const std::string& name) {
      const auto found = std::find_if(shape.nodes.begin(), shape.nodes.end(), [&](const auto& n) { return n.name == name && !n.removed; });
      return found == shape.nodes.end() ? std::vector<std::string>{} : found->features;
    };
    const auto own = features(names[at]);
    for (std::size_t i = at > 0 && features(names[at - 1]) == own ? from : 0; i < terms.size(); ++i) {
      auto& term = terms[i];
      if (term.required.size() == term.nodes) continue;
      if (const auto f = base::parse_features(term.constraint); f && !base::matches(*f, own)) continue;  // the rest may ask for none
      term.required.push_back(names[at]);
      give_required(names, at + 1, i, terms, out);
      term.required.pop_back();
    }
  }

  // "a*2&b*2": so many nodes of each; what is left over takes any node. The list of nodes (-w) is of the whole job.
  Result<Piece> counted(const Group& g, const base::FeatureExpression& f) {
    auto p = container(g);
    if (!p) return p;
    p->part.filter.constraint.reset();
    std::string of_all;
    auto terms = terms_of(f, of_all);
    std::uint32_t counted = 0;
    for (const auto& term : terms) counted += term.nodes;
    const auto with_rest = terms.size();
    if (g.nodes.max > counted) terms.push_back(Term{of_all, g.nodes.max - counted, {}});
    const auto listed =
        g.nodelist.empty() ? std::vector<std::string>{} : base::expand_hostlist(g.nodelist).value_or(std::vector<std::string>{});
    const bool required = !listed.empty() && listed.size() <= g.nodes.max;
    std::vector<std::vector<Term>> ways;
    if (required) give_required(listed, 0, 0, terms, ways);
    else ways.push_back(terms);
    const auto none = ways.empty();  // the required nodes do not match: so it is asked, and does not fit
    if (g.nodes.min <= counted)      // of a range no more than what is counted will do
      for (std::size_t i = 0, n = ways.size(); i < n; ++i)
        if (ways[i].size() > with_rest && ways[i].back().required.empty()) ways.emplace_back(ways[i].begin(), ways[i].end() - 1);
    if (!none) terms = ways[std::min(alternative, ways.size() - 1)];
    alternatives = std::max(alternatives, ways.size());
    std::uint32_t before = 0, all = 0;
    for (const auto& term : terms) all += term.nodes;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto& term = terms[i];
      Group one = g;
      one.constraint = term.constraint;
      one.nodes = {i == with_rest ? std::max(g.nodes.min, counted + 1) - counted : term.nodes, term.nodes, {}};
      one.nodes_given = true;
      if (g.tasks_given)
        one.tasks =
            static_cast<std::uint32_t>(std::uint64_t{g.tasks} * (before + term.nodes) / all - std::uint64_t{g.tasks} * before / all);
      before += term.nodes;
      if (required) {
        one.nodelist = none ? g.nodelist : fmt::format("{}", fmt::join(term.required, ","));
        for (const auto& name : listed)  // the others' are not for this one
          if (!none && std::find(term.required.begin(), term.required.end(), name) == term.required.end())
            one.exclude += (one.exclude.empty() ? "" : ",") + name;
      }
      one.pack = {};
      one.pack.prefer = t.level_name(t.narrowest_level());
      auto child = leaf(one);
      if (!child) return child;
      child->part_of_group = true;
      --next_group;  // all parts have its number
      p->children.push_back(std::move(*child));
    }
    ++next_group;
    return p;
  }

  Result<Piece> leaf(const Group& g) {
    Piece p;
    auto part = make_part(g, shape, t, options);
    if (!part) return base::fail(part.error());
    p.part = std::move(*part);
    if (p.part.sum_tasks && !p.part.apart.empty()) p.part.sum_tasks = false, p.part.even_tasks = true;
    p.part.group = next_group++;
    return p;
  }

  Result<Piece> build(const Group& g) {
    Result<Piece> p = Piece{};
    const auto features = g.constraint.empty() ? Result<base::FeatureExpression>{} : base::parse_features(g.constraint);
    if (!g.children.empty()) {
      p = container(g);
      if (!p) return p;
      for (const auto& child : g.children) {
        auto c = build(child);
        if (!c) return c;
        p->children.push_back(std::move(*c));
      }
      order_children(p->children);
    } else if (counts_features(g)) {
      p = counted(g, *features);
    } else {
      p = leaf(g);
    }
    if (!p) return p;
    p->name = g.name;
    p->replicas = std::max(g.replicas, 1U);
    p->min_replicas = g.min_replicas == 0 ? p->replicas : g.min_replicas;
    if (g.replicas > 1) p->spread = g.spread;
    p->affinity = g.affinity;
    p->anti_affinity = g.anti_affinity;
    return p;
  }

  // Targets of an affinity first, then who names nodes, then the hungriest: they have the fewest places.
  static void order_children(std::vector<Piece>& children) {
    const auto targets = [](const Piece& of, const Piece& other) {
      const auto names = [&](const std::vector<model::Affinity>& list) {
        return std::any_of(list.begin(), list.end(), [&](const model::Affinity& a) { return a.target == other.name; });
      };
      return &of != &other && (names(of.affinity) || names(of.anti_affinity));
    };
    using Hunger = std::tuple<bool, bool, bool, std::int64_t, std::int64_t, std::uint32_t>;
    const std::function<Hunger(const Piece&)> hunger = [&](const Piece& p) {
      if (p.container) {
        Hunger most{};
        for (const auto& c : p.children) most = std::max(most, hunger(c));
        return most;
      }
      std::int64_t gres = 0;
      for (const auto& g : p.part.demand.gres) gres += g.count;
      for (const auto& g : p.part.demand.gres_node) gres += g.count;
      return Hunger{!p.part.required.empty(), p.part.contiguous, p.part.demand.whole, gres, p.part.demand.cpus.value, p.part.max};
    };
    std::stable_sort(children.begin(), children.end(), [&](const Piece& a, const Piece& b) { return hunger(a) > hunger(b); });
    for (auto next = children.begin(); next != children.end(); ++next) {
      // The first whose targets are all placed; in a circle the first of all, and the search checks it at the end.
      const auto ready = std::find_if(next, children.end(), [&](const Piece& p) {
        return std::none_of(next, children.end(), [&](const Piece& other) { return targets(p, other); });
      });
      if (ready != children.end()) std::rotate(next, ready, ready + 1);
    }
  }
};

}  // namespace

bool needs_search(const model::Group& g) { return !g.children.empty() || g.replicas > 1 || counts_features(g); }

Result<Piece> make_piece(const model::Group& g, const ClusterShape& shape, const TopologyIndex& t, const Options& o,
                         std::size_t alternative, std::size_t* alternatives) {
  Options of_parts = o;
  of_parts.parts_of_a_gang = true;
  Builder b{shape, t, of_parts, alternative};
  auto out = b.build(g);
  if (alternatives != nullptr) *alternatives = b.alternatives;
  if (out) out->wish = asks_to_be_near(g, t);
  return out;
}

}  // namespace sy::sched::placement

#include <algorithm>

#include "sched/placement/gang.hpp"

namespace sy::sched::placement {
namespace {

using model::Group;
using model::TopologyIndex;

struct Builder {
  const ClusterShape& shape;
  const TopologyIndex& t;
  const Options& options;
  std::uint32_t next_group{};

  // What bounds the children: the group's own ladder, over domains of whatever size.
  Result<Part> bounds(Group g) {
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
      g.pack.prefer = t.level_name(std::max(t.narrowest_level(), require));
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

  // "a*2&b*2": so many nodes of each; what is left over takes any node.
  Result<Piece> counted(const Group& g, const base::FeatureExpression& f) {
    auto p = container(g);
    if (!p) return p;
    p->part.filter.constraint.reset();
    std::uint32_t rest = g.nodes.max;
    const auto add = [&](std::string constraint, std::uint32_t n) -> Result<void> {
      Group one = g;
      one.constraint = std::move(constraint);
      one.nodes = {n, n, {}};
      one.nodes_given = true;
      one.pack = {};
      one.pack.prefer = t.level_name(t.narrowest_level());
      auto child = leaf(one);
      if (!child) return base::fail(child.error());
      --next_group;  // all parts of one group
      p->children.push_back(std::move(*child));
      return {};
    };
    const std::vector<base::FeatureExpression> terms =
        f.op == base::FeatureExpression::Op::counted && f.count > 0 ? std::vector{f} : f.operands;
    for (const auto& term : terms) {
      const auto n = term.op == base::FeatureExpression::Op::counted ? term.count : 0;
      if (n == 0 || n > rest) continue;
      base::FeatureExpression inner = term.operands.empty() ? term : term.operands.front();
      if (term.operands.empty()) inner.op = base::FeatureExpression::Op::feature, inner.count = 0;
      if (const auto ok = add(base::format_features(inner), n); !ok) return base::fail(ok.error());
      rest -= n;
    }
    if (rest > 0)
      if (const auto ok = add("", rest); !ok) return base::fail(ok.error());
    ++next_group;
    return p;
  }

  Result<Piece> leaf(const Group& g) {
    Piece p;
    auto part = make_part(g, shape, t, options);
    if (!part) return base::fail(part.error());
    p.part = std::move(*part);
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
    } else if (has_counts(g)) {
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

  static bool has_counts(const Group& g) {
    if (g.constraint.empty()) return false;
    const auto f = base::parse_features(g.constraint);
    if (!f) return false;
    using Op = base::FeatureExpression::Op;
    return f->op == Op::counted || std::any_of(f->operands.begin(), f->operands.end(), [](const auto& o) { return o.op == Op::counted; });
  }

  // Targets of an affinity first, then the hungriest: they have the fewest places.
  static void order_children(std::vector<Piece>& children) {
    const auto targets = [](const Piece& of, const Piece& other) {
      const auto names = [&](const std::vector<model::Affinity>& list) {
        return std::any_of(list.begin(), list.end(), [&](const model::Affinity& a) { return a.target == other.name; });
      };
      return &of != &other && (names(of.affinity) || names(of.anti_affinity));
    };
    const auto hunger = [](const Piece& p) {
      std::int64_t gres = 0;
      for (const auto& g : p.part.demand.gres) gres += g.count;
      for (const auto& g : p.part.demand.gres_node) gres += g.count;
      return std::tuple{p.part.demand.whole, gres, p.part.demand.cpus.value, p.part.max};
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

bool needs_search(const model::Group& g) { return !g.children.empty() || g.replicas > 1 || Builder::has_counts(g); }

Result<Piece> make_piece(const model::Group& g, const ClusterShape& shape, const TopologyIndex& t, const Options& o) {
  Options of_parts = o;
  of_parts.parts_of_a_gang = true;
  Builder b{shape, t, of_parts, 0};
  return b.build(g);
}

}  // namespace sy::sched::placement

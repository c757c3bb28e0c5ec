#include "sched/feasible/fitting_kinds.hpp"

#include <algorithm>

#include "base/features.hpp"

namespace sy::sched {

namespace {

using Op = FeatureExpression::Op;

// "a&[b|c]&d*2" taken apart: what every node needs in each alternative, and the counted parts.
struct FeatureWish {
  std::vector<std::vector<FeatureExpression>> alternatives{{}};
  std::vector<FeatureExpression> counted;
};

void add_part(FeatureWish& wish, const FeatureExpression& part) {
  if (part.op == Op::counted) return wish.counted.push_back(part);
  if (part.op != Op::one_of_for_all) {
    for (auto& a : wish.alternatives) a.push_back(part);
    return;
  }
  std::vector<std::vector<FeatureExpression>> product;
  for (const auto& choice : part.operands)
    for (auto a : wish.alternatives) {
      a.push_back(choice);
      product.push_back(std::move(a));
    }
  wish.alternatives = std::move(product);
}

Result<FeatureWish> read_wish(const std::string& constraint) {
  FeatureWish wish;
  if (constraint.empty()) return wish;
  auto e = parse_features(constraint);
  if (!e) {
    Error error = e.error();
    error.field = "--constraint";
    return fail(std::move(error));
  }
  if (e->op == Op::all_of)
    for (const auto& part : e->operands) add_part(wish, part);
  else add_part(wish, *e);
  constexpr std::size_t most_alternatives = 64;
  if (wish.alternatives.size() > most_alternatives)
    return fail(Error{Code::too_large, "the brackets make too many combinations", "--constraint", "64",
                      std::to_string(wish.alternatives.size()), "use fewer alternatives"});
  return wish;
}

bool has_all(const std::vector<FeatureExpression>& wanted, const std::vector<std::string>& features) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& e) { return matches(e, features); });
}

void count_cause(std::vector<Cause>& causes, Cause::Kind kind, std::uint32_t nodes) {
  if (nodes == 0) return;
  auto it = std::find_if(causes.begin(), causes.end(), [&](const Cause& c) { return c.kind == kind; });
  if (it == causes.end()) causes.push_back({kind, nodes});
  else it->nodes += nodes;
}

}  // namespace

Result<FittingKinds> fitting_kinds(const ClusterShape& shape, std::size_t partition, const Settings& settings, const Group& g, Uid uid) {
  const Partition& p = shape.partitions[partition];
  auto wish = read_wish(g.constraint);
  if (!wish) return fail(wish.error());
  FittingKinds f;
  f.needs = needs_of(g, &p, settings, uid);
  if (p.max_nodes) f.needs.max_nodes = std::max(f.needs.min_nodes, std::min(f.needs.max_nodes, *p.max_nodes));
  f.decide = g.nodelist.empty() && g.exclude.empty() && wish->alternatives.size() == 1 && wish->counted.empty() && !f.needs.contiguous &&
             f.needs.gres_per_job.empty();
  f.idle_slots.resize(shape.kinds.size());
  f.featured.resize(shape.kinds.size());
  for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
    const std::uint32_t count = shape.kinds[k].in_partition[partition];
    if (count == 0) continue;
    f.partition_nodes += count;
    const auto& node = shape.nodes[shape.kinds[k].example.value];
    const auto& a = wish->alternatives;
    const auto& c = wish->counted;
    const bool wanted = std::any_of(a.begin(), a.end(), [&](const auto& all) { return has_all(all, node.features); }) &&
                        (c.empty() || std::any_of(c.begin(), c.end(), [&](const auto& one) { return matches(one, node.features); }));
    if (!wanted) {
      count_cause(f.causes, Cause::Kind::feature, count);
      continue;
    }
    f.featured[k] = true;
    f.idle_slots[k] = slots(f.needs, node.total, node.total);
    if (f.idle_slots[k] == 0) count_cause(f.causes, what_lacks(f.needs, node.total, node.total), count);
  }
  return f;
}

}  // namespace sy::sched

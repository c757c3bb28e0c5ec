#include "sched/feasible/fitting_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/features.hpp"
#include "base/hostlist.hpp"

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

Result<NodeSet> named(const ClusterShape& shape, const std::string& hostlist, const char* option) {
  NodeSet set;
  if (hostlist.empty()) return set;
  auto names = expand_hostlist(hostlist);
  if (!names) {
    Error e = names.error();
    e.field = option;
    return fail(std::move(e));
  }
  std::map<std::string_view, std::uint32_t> index;
  for (std::uint32_t i = 0; i < shape.nodes.size(); ++i)
    if (!shape.nodes[i].removed) index.emplace(shape.nodes[i].name, i);
  for (const auto& name : *names) {
    auto it = index.find(name);
    if (it == index.end())
      return fail(Error{Code::invalid_argument, "there is no such node", option, "", name, "sinfo -N lists the nodes"});
    set.insert(NodeIndex{it->second});
  }
  return set;
}

void count_cause(std::vector<Cause>& causes, Cause::Kind kind, std::uint32_t nodes) {
  if (nodes == 0) return;
  auto it = std::find_if(causes.begin(), causes.end(), [&](const Cause& c) { return c.kind == kind; });
  if (it == causes.end()) causes.push_back({kind, nodes});
  else it->nodes += nodes;
}

// -w: all in, unless more are named than asked for.
void put_names(FittingNodes& f, const Group& g, const NodeSet& listed) {
  if (listed.empty()) return;
  const auto n = static_cast<std::uint32_t>(listed.size());
  if (g.nodes_given && n > f.needs.max_nodes) {
    for (auto& a : f.alternatives) a &= listed;
    return;
  }
  f.required = listed;
  f.needs.min_nodes = std::max(f.needs.min_nodes, n);
  f.needs.max_nodes = std::max(f.needs.max_nodes, n);
}

}  // namespace

Result<FittingNodes> fitting_nodes(const ClusterShape& shape, std::size_t partition, const Settings& settings, const Group& g, Uid uid,
                                   bool by_kind_only) {
  const Partition& p = shape.partitions[partition];
  auto wish = read_wish(g.constraint);
  if (!wish) return fail(wish.error());
  auto listed = named(shape, g.nodelist, "--nodelist");
  if (!listed) return fail(listed.error());
  auto excluded = named(shape, g.exclude, "--exclude");
  if (!excluded) return fail(excluded.error());

  FittingNodes f;
  f.needs = needs_of(g, &p, settings, uid);
  if (p.max_nodes) f.needs.max_nodes = std::max(f.needs.min_nodes, std::min(f.needs.max_nodes, *p.max_nodes));
  f.by_kind = listed->empty() && excluded->empty() && wish->alternatives.size() == 1 && wish->counted.empty() && !f.needs.contiguous &&
              f.needs.gres_per_job.empty();
  f.idle_slots.resize(shape.kinds.size());
  std::vector<std::vector<bool>> in_alternative(wish->alternatives.size(), std::vector<bool>(shape.kinds.size()));
  std::vector<std::vector<bool>> in_counted(wish->counted.size(), std::vector<bool>(shape.kinds.size()));
  for (std::size_t k = 0; k < shape.kinds.size(); ++k) {
    const std::uint32_t count = shape.kinds[k].in_partition[partition];
    if (count == 0) continue;
    f.partition_nodes += count;
    const auto& node = shape.nodes[shape.kinds[k].example.value];
    bool wanted = false;
    for (std::size_t a = 0; a < wish->alternatives.size(); ++a)
      if (has_all(wish->alternatives[a], node.features)) wanted = in_alternative[a][k] = true;
    if (!wish->counted.empty()) {
      bool counted = false;
      for (std::size_t c = 0; c < wish->counted.size(); ++c)
        if (matches(wish->counted[c], node.features)) counted = in_counted[c][k] = true;
      wanted = wanted && counted;
    }
    if (!wanted) {
      count_cause(f.causes, Cause::Kind::feature, count);
      continue;
    }
    f.idle_slots[k] = slots(f.needs, node.total, node.total);
    if (f.idle_slots[k] == 0) count_cause(f.causes, what_lacks(f.needs, node.total, node.total), count);
  }

  if (by_kind_only && f.by_kind) return f;
  f.alternatives.resize(wish->alternatives.size());
  for (const auto& e : wish->counted) f.counted.push_back({{}, e.count});
  p.nodes.for_each([&](NodeIndex n) {
    if (n.value >= shape.nodes.size() || shape.nodes[n.value].removed) return;
    const std::uint32_t k = shape.nodes[n.value].kind;
    if (f.idle_slots[k] == 0) return;
    if (excluded->contains(n)) return count_cause(f.causes, Cause::Kind::excluded, 1);
    bool counted = f.counted.empty();
    for (std::size_t c = 0; c < f.counted.size(); ++c)
      if (in_counted[c][k]) {
        f.counted[c].nodes.insert(n);
        counted = true;
      }
    for (std::size_t a = 0; a < f.alternatives.size(); ++a)
      if (counted && in_alternative[a][k]) f.alternatives[a].insert(n);
  });
  put_names(f, g, *listed);
  return f;
}

}  // namespace sy::sched

#include "model/topology_index.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/assert.hpp"
#include "base/hostlist.hpp"

namespace sy::model {

// Builds the dense form from a tree of drafts, so that virtual groups and single nodes are ordinary vertices of it.
class TopologyIndexBuilder {
 public:
  TopologyIndexBuilder(const Topology& t, std::span<const std::string> names) : topology_(t), names_(names) {}

  TopologyIndex run() {
    index_.name_ = topology_.name;
    index_.kind_ = topology_.kind;
    index_.joined_ = topology_.joined;
    index_.position_of_.assign(names_.size(), TopologyIndex::nowhere);
    if (topology_.kind == Topology::Kind::block) make_blocks();
    else if (topology_.kind == Topology::Kind::tree) make_tree();
    index_.at_level_.resize(index_.levels_.size() + 2);
    add_root();
    rank_names();
    find_forms();
    for (const auto& d : index_.domains_) {
      const bool leaf_above = d.children == 0 && d.level != index_.narrowest_level() && d.size() > 0;
      const bool skips = d.parent >= 0 && index_.domains_[static_cast<std::size_t>(d.parent)].level != d.level - 1;
      if (leaf_above || skips) index_.regular_ = false;
    }
    return std::move(index_);
  }

 private:
  struct Draft {
    std::string name;
    std::int32_t level{};
    std::vector<std::size_t> children;
    std::vector<std::uint32_t> nodes;
    bool counts{true}, is_virtual{};
  };

  void sort_by_name(std::vector<std::uint32_t>& nodes) const {
    const auto less = [this](std::uint32_t a, std::uint32_t b) {
      return names_[a] == names_[b] ? a < b : base::natural_less(names_[a], names_[b]);
    };
    if (!std::is_sorted(nodes.begin(), nodes.end(), less)) std::sort(nodes.begin(), nodes.end(), less);
  }

  Draft draft_of(const Domain& d, std::int32_t level) const {
    Draft out{d.name, level, {}, {}, true, false};
    for (const auto n : d.nodes)
      if (n.value < names_.size() && !names_[n.value].empty()) out.nodes.push_back(n.value);
    sort_by_name(out.nodes);
    return out;
  }

  void make_tree() {
    for (const auto& l : topology_.levels) index_.levels_.push_back({l.name, l.aliases, false, 0});
    std::vector<std::size_t> draft_at(topology_.domains.size());
    for (std::size_t i = 0; i < topology_.domains.size(); ++i) {
      draft_at[i] = drafts_.size();
      drafts_.push_back(draft_of(topology_.domains[i], static_cast<std::int32_t>(topology_.domains[i].level)));
    }
    for (std::size_t i = 0; i < topology_.domains.size(); ++i) {
      const auto parent = topology_.domains[i].parent;
      (parent < 0 ? roots_ : drafts_[draft_at[static_cast<std::size_t>(parent)]].children).push_back(draft_at[i]);
    }
    const auto by_name = [this](std::size_t a, std::size_t b) {
      return drafts_[a].name == drafts_[b].name ? a < b : base::natural_less(drafts_[a].name, drafts_[b].name);
    };
    std::sort(roots_.begin(), roots_.end(), by_name);
    for (auto& d : drafts_) std::sort(d.children.begin(), d.children.end(), by_name);
  }

  void make_blocks() {
    std::vector<std::uint32_t> sizes = topology_.block_sizes;
    std::vector<const Domain*> blocks;
    for (const auto& d : topology_.domains)
      if (!d.virtual_group) blocks.push_back(&d);
    if (sizes.empty()) {  // as Slurm: the smallest block's size
      std::uint32_t least = 0;
      for (const auto* b : blocks)
        if (!b->nodes.empty() && (least == 0 || b->nodes.size() < least)) least = static_cast<std::uint32_t>(b->nodes.size());
      sizes.push_back(std::max(least, 1U));
    }
    const Level base = topology_.levels.empty() ? Level{"block", {}} : topology_.levels.back();
    for (std::size_t i = sizes.size(); i-- > 1;) index_.levels_.push_back({base.name + std::to_string(sizes[i]), {}, true, sizes[i]});
    index_.levels_.push_back({base.name, base.aliases, false, sizes[0]});

    const auto base_level = static_cast<std::int32_t>(sizes.size()) - 1;
    std::vector<std::size_t> row;
    for (const auto* b : blocks) {
      row.push_back(drafts_.size());
      drafts_.push_back(draft_of(*b, base_level));
    }
    std::uint32_t below = 1;  // base blocks in one vertex of `row`
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const std::uint32_t blocks_each = sizes[i] / sizes[0];
      const std::size_t step = std::max<std::size_t>(1, blocks_each / below);
      std::vector<std::size_t> groups;
      for (std::size_t at = 0; at < row.size(); at += step) {
        const std::size_t last = std::min(at + step, row.size());
        Draft group{first_name(row[at]) + ".." + last_name(row[last - 1]), base_level - static_cast<std::int32_t>(i), {}, {}, true, true};
        group.counts =
            last - at == step && std::all_of(row.begin() + static_cast<std::ptrdiff_t>(at), row.begin() + static_cast<std::ptrdiff_t>(last),
                                             [&](std::size_t c) { return drafts_[c].counts; });
        group.children.assign(row.begin() + static_cast<std::ptrdiff_t>(at), row.begin() + static_cast<std::ptrdiff_t>(last));
        groups.push_back(drafts_.size());
        drafts_.push_back(std::move(group));
      }
      row = std::move(groups);
      below = blocks_each;
    }
    roots_ = std::move(row);
  }

  std::string first_name(std::size_t d) const {
    return drafts_[d].children.empty() ? drafts_[d].name : first_name(drafts_[d].children.front());
  }
  std::string last_name(std::size_t d) const {
    return drafts_[d].children.empty() ? drafts_[d].name : last_name(drafts_[d].children.back());
  }

  std::uint32_t open_domain(std::string name, std::int32_t level, std::int32_t parent, bool counts, bool is_virtual) {
    TopologyIndex::Domain d;
    d.name = std::move(name);
    d.level = level;
    d.parent = parent;
    d.begin = static_cast<std::uint32_t>(index_.node_at_.size());
    d.counts = counts;
    d.is_virtual = is_virtual;
    index_.domains_.push_back(std::move(d));
    const auto at = static_cast<std::uint32_t>(index_.domains_.size() - 1);
    if (parent >= 0) ++index_.domains_[static_cast<std::size_t>(parent)].children;
    index_.at_level_[static_cast<std::size_t>(std::int64_t{level} + 1)].push_back(at);
    return at;
  }

  void close_domain(std::uint32_t d) {
    index_.domains_[d].end = static_cast<std::uint32_t>(index_.node_at_.size());
    index_.domains_[d].next = static_cast<std::uint32_t>(index_.domains_.size());
  }

  void hang(std::uint32_t node, std::uint32_t leaf) {
    if (index_.position_of_[node] != TopologyIndex::nowhere) return;  // check_topology refuses a node twice
    index_.position_of_[node] = static_cast<std::int32_t>(index_.node_at_.size());
    index_.node_at_.push_back(node);
    index_.leaf_at_.push_back(leaf);
  }

  // Nodes beside child domains become domains of one node, so that every node hangs on a leaf.
  void hang_single(std::uint32_t node, std::uint32_t parent) {
    const auto d = open_domain(names_[node], index_.node_level(), static_cast<std::int32_t>(parent), false, false);
    hang(node, d);
    close_domain(d);
  }

  void add(std::size_t draft, std::uint32_t parent) {
    const Draft& from = drafts_[draft];
    const auto d = open_domain(from.name, from.level, static_cast<std::int32_t>(parent), from.counts, from.is_virtual);
    for (const auto n : from.nodes) {
      if (from.children.empty()) hang(n, d);
      else hang_single(n, d);
    }
    for (const auto c : from.children) add(c, d);
    close_domain(d);
  }

  void add_root() {
    const auto root = open_domain("", TopologyIndex::any_level, -1, false, false);
    for (const auto r : roots_) add(r, root);
    std::vector<std::uint32_t> rest;
    if (topology_.kind == Topology::Kind::flat || (topology_.kind == Topology::Kind::tree && topology_.joined))
      for (std::uint32_t n = 0; n < names_.size(); ++n)
        if (index_.position_of_[n] == TopologyIndex::nowhere && !names_[n].empty()) rest.push_back(n);
    sort_by_name(rest);
    for (const auto n : rest) {
      if (roots_.empty()) hang(n, root);
      else hang_single(n, root);
    }
    close_domain(root);
    if (!topology_.joined && topology_.kind == Topology::Kind::tree && roots_.size() > 1) {
      auto& any = index_.at_level_[0];
      any.clear();
      index_.for_children(root, [&](std::uint32_t c) { any.push_back(c); });
    } else {
      index_.joined_ = true;
    }
  }

  // Groups of blocks keep the order of the file, whatever their names are.
  void rank_names() {
    for (auto level : index_.at_level_) {
      if (topology_.kind != Topology::Kind::block)
        std::sort(level.begin(), level.end(), [this](std::uint32_t a, std::uint32_t b) {
          const auto &x = index_.domains_[a].name, &y = index_.domains_[b].name;
          return x == y ? a < b : base::natural_less(x, y);
        });
      for (std::size_t i = 0; i < level.size(); ++i) index_.domains_[level[i]].name_rank = static_cast<std::uint32_t>(i);
    }
  }

  // Two domains have one form when a walk through both meets the same levels, sizes and counts, and the names of each level come in
  // the order of the walk: nothing that a choice looks at but the names themselves tells them apart while they are wholly free.
  void find_forms() {
    auto& domains = index_.domains_;
    std::vector<bool> in_order(domains.size(), true);
    for (const auto& level : index_.at_level_)
      for (std::size_t i = 1; i < level.size(); ++i) {
        if (domains[level[i - 1]].name_rank < domains[level[i]].name_rank) continue;
        auto d = static_cast<std::int32_t>(level[i]);
        while (d >= 0 && static_cast<std::uint32_t>(d) > level[i - 1]) d = domains[static_cast<std::size_t>(d)].parent;  // what holds both
        for (; d >= 0; d = domains[static_cast<std::size_t>(d)].parent) in_order[static_cast<std::size_t>(d)] = false;
      }
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    for (auto d = static_cast<std::uint32_t>(domains.size()); d-- > 0;) {
      auto& domain = domains[d];
      std::vector<std::uint32_t> key{static_cast<std::uint32_t>(domain.level + 1), domain.counts ? 1U : 0U, domain.size()};
      bool formed = in_order[d] && domain.size() > 0, even = true;
      index_.for_children(d, [&](std::uint32_t c) {
        formed &= domains[c].form != 0;
        even &= domains[c].even && (key.size() == 3 || key.back() == domains[c].form);
        key.push_back(domains[c].form);
      });
      if (!formed) continue;
      domain.even = even;
      domain.form = known.emplace(std::move(key), static_cast<std::uint32_t>(known.size() + 1)).first->second;
    }
  }

  const Topology& topology_;
  std::span<const std::string> names_;
  TopologyIndex index_;
  std::vector<Draft> drafts_;
  std::vector<std::size_t> roots_;
};

TopologyIndex TopologyIndex::build(const Topology& topology, std::span<const std::string> names) {
  return TopologyIndexBuilder(topology, names).run();
}

TopologyIndex TopologyIndex::flat(std::span<const std::string> names) {
  Topology t;
  t.name = "flat";
  return build(t, names);
}

std::string TopologyIndex::level_name(std::int32_t level) const {
  if (level <= any_level) return "any";
  if (level >= node_level()) return "node";
  return levels_[static_cast<std::size_t>(level)].name;
}

std::optional<std::int32_t> TopologyIndex::find_level(std::string_view name) const {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].name == name) return static_cast<std::int32_t>(i);
    if (std::find(levels_[i].aliases.begin(), levels_[i].aliases.end(), name) != levels_[i].aliases.end())
      return static_cast<std::int32_t>(i);
  }
  if (name == "any" || name == "root" || name == "cluster") return any_level;
  if (name == "node" || name == "host" || name == "hostname" || name == "kubernetes.io/hostname") return node_level();
  if (name == "leaf" || name == "topo" || name == "narrowest") return narrowest_level();
  return std::nullopt;
}

std::string TopologyIndex::known_levels() const {
  std::string out;
  for (const auto& l : levels_) out += l.name + ", ";
  return out + "node, any";
}

base::Error TopologyIndex::unknown_level(std::string field, std::string_view given) const {
  base::Error e;
  e.code = base::Code::invalid_argument;
  e.message = given.empty() ? std::string("names no level")
                            : "topology " + (name_.empty() ? std::string("in force") : name_) + " has no level of this name";
  e.field = std::move(field);
  e.value = std::string(given);
  e.limit = known_levels();
  e.hint = "known levels: " + known_levels();
  return e;
}

const std::vector<std::uint32_t>& TopologyIndex::at_level(std::int32_t level) const {
  ASSERT(level >= any_level && level <= node_level(), "levels come from find_level");
  return at_level_[static_cast<std::size_t>(std::int64_t{level} + 1)];
}

std::int32_t TopologyIndex::ancestor(std::uint32_t d, std::int32_t level) const {
  auto at = static_cast<std::int32_t>(d);
  while (at >= 0 && domains_[static_cast<std::size_t>(at)].level > level) at = domains_[static_cast<std::size_t>(at)].parent;
  return at >= 0 && domains_[static_cast<std::size_t>(at)].level == level ? at : -1;
}

std::vector<std::string> TopologyIndex::path(std::uint32_t position) const {
  std::vector<std::string> out{};
  for (auto d = static_cast<std::int32_t>(leaf_at_[position]); d > 0; d = domains_[static_cast<std::size_t>(d)].parent) {
    const auto& domain = domains_[static_cast<std::size_t>(d)];
    if (!domain.is_virtual && domain.level < node_level()) out.push_back(domain.name);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<std::uint32_t> TopologyIndex::find_domain(std::string_view name) const {
  for (std::uint32_t d = 1; d < domains_.size(); ++d)
    if (domains_[d].name == name) return d;
  return std::nullopt;
}

std::optional<std::int32_t> TopologyIndex::level_holding(std::uint32_t nodes) const {
  for (auto l = narrowest_level(); l >= 0; --l)
    if (levels_[static_cast<std::size_t>(l)].nominal_size >= nodes) return l;
  return std::nullopt;
}

std::size_t TopologyIndex::memory_bytes() const {
  std::size_t bytes = domains_.capacity() * sizeof(Domain) + (node_at_.capacity() + leaf_at_.capacity() + position_of_.capacity()) * 4;
  for (const auto& d : domains_) bytes += d.name.capacity() > 15 ? d.name.capacity() : 0;
  for (const auto& l : at_level_) bytes += l.capacity() * 4;
  return bytes;
}

}  // namespace sy::model

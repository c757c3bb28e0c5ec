// A topology made dense for placement: domains in depth-first order, each an interval of node positions, so that counting,
// summing upwards and walking ranks are loops over arrays. Not the topology people edit (topology.hpp), not what is free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.hpp"
#include "base/result.hpp"
#include "model/topology.hpp"

namespace sy::model {

// A level as the index knows it: those of the topology, widest first, with the virtual ones of BlockSizes put before the base block.
struct IndexLevel {
  std::string name;                   // "rack"; virtual: "block8" (the size in nodes)
  std::vector<std::string> aliases;
  bool is_virtual{};
  std::uint32_t nominal_size{};       // block topologies: the configured size in nodes; 0 otherwise
};

class TopologyIndex {
 public:
  // Levels are numbered 0 (widest) … levels()-1; "node" follows as node_level(); any_level is the root and beyond.
  static constexpr std::int32_t any_level = -1;
  static constexpr std::uint32_t root = 0;      // domain 0: holds everything; implicit
  static constexpr std::int32_t nowhere = -1;   // a node that the topology does not reach

  struct Domain {
    std::string name;
    std::int32_t level{any_level};    // node_level() for a node that hangs beside child domains
    std::int32_t parent{-1};
    std::uint32_t begin{}, end{};     // node positions
    std::uint32_t next{};             // first domain after this one's descendants (descendants are [own index + 1, next))
    std::uint32_t children{};         // how many; 0: a leaf, its nodes hang here
    std::uint32_t name_rank{};        // order by name among the domains of its level
    std::uint32_t form{};             // domains of one form differ in names alone, and put in order alike; 0: like no other
    bool counts{true};                // takes part in the fragmentation value (not: implicit root, groups that are not whole)
    bool is_virtual{};
    bool even{};                      // inside it, all domains of a level have one form
    std::uint32_t size() const { return end - begin; }
    bool leaf() const { return children == 0; }
  };

  // `names`: by NodeIndex, all nodes of the cluster, for the order of nodes in a leaf. The topology must have passed
  // check_topology. For kind block give base blocks in the file's order (padding blocks without nodes too) and block_sizes: the
  // aligned groups are made here, and any that the topology already carries are dropped. Nodes that the topology does not
  // mention hang below the root of a joined tree or flat topology and are out of reach otherwise.
  static TopologyIndex build(const Topology&, std::span<const std::string> names);
  // One root, no levels, all nodes: what serves where no topology is configured.
  static TopologyIndex flat(std::span<const std::string> names);

  Topology::Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  bool joined() const { return joined_; }      // may a job span several roots?
  bool regular() const { return regular_; }    // every domain's parent is one level above, every leaf on the narrowest level
  const std::vector<IndexLevel>& levels() const { return levels_; }
  std::int32_t node_level() const { return static_cast<std::int32_t>(levels_.size()); }
  std::int32_t narrowest_level() const { return node_level() - 1; }  // any_level when flat
  std::string level_name(std::int32_t) const;  // "any", "rack", "node"
  // By name or alias; "any", "root" and "cluster": any_level; "node", "host", "hostname"; "leaf", "topo" and "narrowest": the narrowest level.
  std::optional<std::int32_t> find_level(std::string_view) const;
  // The names to offer when a level is unknown: "spine, rack, node".
  std::string known_levels() const;
  base::Error unknown_level(std::string field, std::string_view given) const;

  const std::vector<Domain>& domains() const { return domains_; }
  const Domain& domain(std::uint32_t d) const { return domains_[d]; }
  const std::vector<std::uint32_t>& at_level(std::int32_t) const;  // domain indices in depth-first order; any_level: what a job may span
  template <class F>
  void for_children(std::uint32_t d, F&& f) const {
    for (std::uint32_t c = d + 1; c < domains_[d].next; c = domains_[c].next) f(c);
  }
  // The ancestor of d (or d itself) at that level; -1: that branch has none.
  std::int32_t ancestor(std::uint32_t d, std::int32_t level) const;

  std::size_t size() const { return node_at_.size(); }  // positions
  std::uint32_t node_at(std::uint32_t position) const { return node_at_[position]; }
  std::int32_t position_of(std::uint32_t node) const { return node < position_of_.size() ? position_of_[node] : nowhere; }
  std::uint32_t leaf_at(std::uint32_t position) const { return leaf_at_[position]; }
  // Names from the widest level to the leaf: "spine1.rack3"; virtual groups are left out; then the node.
  std::vector<std::string> path(std::uint32_t position) const;
  std::optional<std::uint32_t> find_domain(std::string_view name) const;
  // Block topologies: the narrowest level whose configured size holds n nodes; none: larger than the largest.
  std::optional<std::int32_t> level_holding(std::uint32_t nodes) const;
  std::size_t memory_bytes() const;

 private:
  friend class TopologyIndexBuilder;
  std::string name_;
  Topology::Kind kind_{Topology::Kind::flat};
  bool joined_{true}, regular_{true};
  std::vector<IndexLevel> levels_;
  std::vector<Domain> domains_;
  std::vector<std::vector<std::uint32_t>> at_level_;  // [level + 1]
  std::vector<std::uint32_t> node_at_, leaf_at_;
  std::vector<std::int32_t> position_of_;
};

// Every contradiction in words: a node twice in one level, a cycle, a child whose level is not narrower, a node that does not
// exist, two domains of one name in one level, sizes that are not base × 2^k. Empty: build may be called.
std::vector<std::string> check_topology(const Topology&, std::size_t known_nodes);

}  // namespace sy::model

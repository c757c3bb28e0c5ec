// An ordered set of node indices, kept as a bitmap: dense, quick to intersect and count.
// Not a list of names: hostlist.hpp turns names into text, State turns indices into names.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/id.hpp"

namespace sy::base {

class NodeSet {
 public:
  NodeSet() = default;
  NodeSet(std::initializer_list<std::uint32_t> indices) {
    for (auto i : indices) insert(NodeIndex{i});
  }
  // {first, …, first+count-1}
  static NodeSet range(std::uint32_t first, std::uint32_t count);

  void insert(NodeIndex);
  void erase(NodeIndex);
  bool contains(NodeIndex n) const {
    const std::size_t w = n.value / 64;
    return w < words_.size() && (words_[w] >> (n.value % 64) & 1U) != 0;
  }
  bool empty() const;
  std::size_t size() const;
  void clear() { words_.clear(); }

  NodeSet& operator|=(const NodeSet&);
  NodeSet& operator&=(const NodeSet&);
  NodeSet& operator-=(const NodeSet&);
  friend NodeSet operator|(NodeSet a, const NodeSet& b) {
    a |= b;
    return a;
  }
  friend NodeSet operator&(NodeSet a, const NodeSet& b) {
    a &= b;
    return a;
  }
  friend NodeSet operator-(NodeSet a, const NodeSet& b) {
    a -= b;
    return a;
  }
  bool intersects(const NodeSet&) const;
  bool is_subset_of(const NodeSet&) const;
  bool operator==(const NodeSet&) const;  // trailing zero words do not count

  template <class F>  // f(NodeIndex), ascending
  void for_each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        f(NodeIndex{static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)))});
  }
  std::vector<NodeIndex> to_vector() const;
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace sy::base

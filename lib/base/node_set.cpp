#include "base/node_set.hpp"

#include <algorithm>

namespace sy::base {

NodeSet NodeSet::range(std::uint32_t first, std::uint32_t count) {
  NodeSet s;
  for (std::uint32_t i = 0; i < count; ++i) s.insert(NodeIndex{first + i});
  return s;
}

void NodeSet::insert(NodeIndex n) {
  const std::size_t w = n.value / 64;
  if (w >= words_.size()) words_.resize(w + 1);
  words_[w] |= std::uint64_t{1} << (n.value % 64);
}

void NodeSet::erase(NodeIndex n) {
  const std::size_t w = n.value / 64;
  if (w < words_.size()) words_[w] &= ~(std::uint64_t{1} << (n.value % 64));
}

bool NodeSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
}

std::size_t NodeSet::size() const {
  std::size_t n = 0;
  for (auto w : words_) n += static_cast<std::size_t>(std::popcount(w));
  return n;
}

NodeSet& NodeSet::operator|=(const NodeSet& o) {
  if (o.words_.size() > words_.size()) words_.resize(o.words_.size());
  for (std::size_t i = 0; i < o.words_.size(); ++i) words_[i] |= o.words_[i];
  return *this;
}

NodeSet& NodeSet::operator&=(const NodeSet& o) {
  if (words_.size() > o.words_.size()) words_.resize(o.words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
  return *this;
}

NodeSet& NodeSet::operator-=(const NodeSet& o) {
  const std::size_t n = std::min(words_.size(), o.words_.size());
  for (std::size_t i = 0; i < n; ++i) words_[i] &= ~o.words_[i];
  return *this;
}

bool NodeSet::intersects(const NodeSet& o) const {
  const std::size_t n = std::min(words_.size(), o.words_.size());
  for (std::size_t i = 0; i < n; ++i)
    if ((words_[i] & o.words_[i]) != 0) return true;
  return false;
}

bool NodeSet::is_subset_of(const NodeSet& o) const {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & ~(i < o.words_.size() ? o.words_[i] : 0)) != 0) return false;
  return true;
}

bool NodeSet::operator==(const NodeSet& o) const { return is_subset_of(o) && o.is_subset_of(*this); }

std::vector<NodeIndex> NodeSet::to_vector() const {
  std::vector<NodeIndex> out;
  out.reserve(size());
  for_each([&](NodeIndex n) { out.push_back(n); });
  return out;
}

}  // namespace sy::base

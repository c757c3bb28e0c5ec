#include <algorithm>
#include <numeric>

#include "base/option_table.hpp"

namespace sy::base {
namespace {

// Levenshtein's distance with neighbouring letters swapped counted as one (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      row[k] = std::min({last[k] + 1, row[k - 1] + 1, last[k - 1] + (a[i - 1] == b[k - 1] ? 0U : 1U)});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) row[k] = std::min(row[k], before[k - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// "time" and "time_limit", "cpus" and "cpus_per_task": one is the beginning of the other, up to the end of a word.
bool begins(std::string_view whole, std::string_view part) {
  return part.size() >= 3 && whole.size() > part.size() && whole.starts_with(part) &&
         (whole[part.size()] == '_' || whole[part.size()] == '-');
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > 200) return {};
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // further away is no likely slip of the finger
  for (const auto& c : candidates) {
    if (c.size() > word.size() + least || word.size() > c.size() + least) continue;
    const auto d = edit_distance(word, c);
    if (d < least && d < c.size()) {
      least = d;
      best = &c;
    }
  }
  if (best != nullptr) return *best;
  for (const auto& c : candidates)
    if (begins(word, c) || begins(c, word))
      if (best == nullptr || c.size() < best->size()) best = &c;
  return best == nullptr ? std::string{} : *best;
}

}  // namespace sy::base

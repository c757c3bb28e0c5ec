// Parts of unequal size: a shorter last segment, and exact sizes, largest first, each in the domain P4 names (P6).
#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "sched/placement/choose.hpp"

namespace sy::sched::placement {

using model::TopologyIndex;

bool Chooser::fill_shorter(std::uint32_t domain, std::uint32_t n, Choice& choice) {
  const Layer& layer = part_.layers.front();
  const auto whole = n / layer.size, rest = n % layer.size;
  if (!forced_.empty()) return fill_shorter_first(domain, whole, rest, choice);
  if (whole > 0) fill_domain(domain, whole, 0, choice, true);
  consume(choice);
  const auto used = [&](std::uint32_t d) {
    return std::any_of(choice.shares.begin(), choice.shares.end(),
                       [&](const Share& s) { return s.leaf >= d && s.leaf < t_.domain(d).next; });
  };
  std::int64_t best = -1;
  for (const auto d : t_.at_level(layer.level)) {
    if (d < domain || d >= t_.domain(domain).next || sum_[d] < rest) continue;
    if (layer.distinct && used(d)) continue;
    if (best < 0) best = d;
    const auto b = static_cast<std::uint32_t>(best);
    if (used(d) != used(b) ? used(d) : sum_[d] < sum_[b]) best = d;
  }
  if (best < 0) return false;
  cap_ = sum_;  // below, the rest is not counted in segments
  fill_domain(static_cast<std::uint32_t>(best), rest, part_.layers.size(), choice, whole == 0);
  ++segment_;
  return true;
}

// Where nodes must be in, each domain is tried for the short segment, the tightest first; then the whole ones hold the others.
bool Chooser::fill_shorter_first(std::uint32_t domain, std::uint32_t whole, std::uint32_t rest, Choice& choice) {
  const Layer& layer = part_.layers.front();
  std::vector<std::uint32_t> order;
  for (const auto d : t_.at_level(layer.level))
    if (d >= domain && d < t_.domain(domain).next && sum_[d] >= rest) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return sum_[a] < sum_[b]; });
  for (const auto d : order) {
    Chooser with(*this, Borrow{});
    Choice tried = choice;
    with.segment_ = whole;
    with.own_counts();
    with.cap_ = with.sum_;
    with.fill_domain(d, rest, part_.layers.size(), tried, whole == 0);
    with.consume(tried);
    with.cap_ = with.cap_store_;
    with.count_segments_of(TopologyIndex::root);
    if (layer.distinct)  // no whole segment beside the short one
      for (auto at = static_cast<std::int32_t>(d), cut = static_cast<std::int32_t>(with.cap_store_[d]); at >= 0;
           at = t_.domain(static_cast<std::uint32_t>(at)).parent)
        with.cap_store_[static_cast<std::size_t>(at)] -= static_cast<std::uint32_t>(cut);
    with.segment_ = 0;
    const auto need = with.needed_whole(domain);
    if (with.cap_[domain] < whole * layer.size || need == never || need > whole * layer.size) continue;
    if (whole > 0) with.fill_domain(domain, whole, 0, tried, true);
    choice = std::move(tried);
    return true;
  }
  return false;
}

struct Chooser::Packing {
  std::vector<std::uint32_t> sizes;      // largest first
  std::vector<std::uint32_t> domains;    // of the segments' level, inside the candidate
  std::vector<std::uint32_t> left;       // units left in each
  std::vector<std::uint32_t> forced;     // required nodes in each that no size covers yet
  std::vector<bool> used;
  std::vector<std::size_t> where;        // per size: which domain
  bool distinct{};
};

// Depth-first search, tightest domain first; equal remainders in equal state are tried once.
bool Chooser::pack_sizes(Packing& p, std::size_t at) {
  if (at == p.sizes.size()) return std::all_of(p.forced.begin(), p.forced.end(), [](std::uint32_t n) { return n == 0; });
  if (budget != nullptr) {
    if (*budget == 0) {
      budget_ended = true;
      return false;
    }
    --*budget;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.domains.size(); ++i)
    if (p.left[i] >= p.sizes[at] && !(p.distinct && p.used[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (p.left[a] != p.left[b]) return p.left[a] < p.left[b];
    if (const auto c = compare_own_first({p.domains[a], 0, {}}, {p.domains[b], 0, {}}); c != 0) return c < 0;
    return t_.domain(p.domains[a]).name_rank < t_.domain(p.domains[b]).name_rank;
  });
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> tried;
  for (const auto i : order) {
    if (!tried.emplace(p.left[i], p.forced[i], p.used[i]).second) continue;
    const bool before = p.used[i];
    const auto covered = std::min(p.forced[i], p.sizes[at]);
    p.left[i] -= p.sizes[at];
    p.forced[i] -= covered;
    p.used[i] = true;
    p.where[at] = i;
    if (pack_sizes(p, at + 1)) return true;
    p.left[i] += p.sizes[at];
    p.forced[i] += covered;
    p.used[i] = before;
    if (budget_ended) return false;
  }
  return false;
}

bool Chooser::fill_sizes(std::uint32_t domain, Choice& choice) {
  const Layer& layer = part_.layers.front();
  Packing p;
  p.distinct = layer.distinct;
  for (const auto d : t_.at_level(layer.level)) {
    if (d < domain || d >= t_.domain(domain).next || sum_[d] == 0) continue;
    p.domains.push_back(d);
    p.left.push_back(sum_[d]);
  }
  if (layer.level == model::TopologyIndex::any_level) p.domains = {domain}, p.left = {sum_[domain]};
  std::uint32_t forced = 0;
  for (const auto d : p.domains) forced += p.forced.emplace_back(forced_in(t_.domain(d).begin, t_.domain(d).end));
  if (forced != forced_.size()) return false;  // one hangs outside all of them
  std::vector<std::size_t> asked(part_.sizes.size());  // numbers of the sizes, largest first
  std::iota(asked.begin(), asked.end(), std::size_t{0});
  std::stable_sort(asked.begin(), asked.end(), [&](std::size_t a, std::size_t b) { return part_.sizes[a] > part_.sizes[b]; });
  for (const auto i : asked) p.sizes.push_back(part_.sizes[i]);
  p.used.assign(p.domains.size(), false);
  p.where.assign(p.sizes.size(), 0);
  domains_looked_at += p.domains.size();
  if (!pack_sizes(p, 0)) return false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    segment_ = static_cast<std::uint32_t>(asked[i]);
    fill_domain(p.domains[p.where[i]], p.sizes[i], part_.layers.size(), choice, false);
    consume(choice);
    cap_ = sum_;
  }
  std::stable_sort(choice.shares.begin(), choice.shares.end(), [](const Share& a, const Share& b) { return a.segment < b.segment; });
  choice.children_used = static_cast<std::uint32_t>(std::count(p.used.begin(), p.used.end(), true));
  return true;
}

}  // namespace sy::sched::placement

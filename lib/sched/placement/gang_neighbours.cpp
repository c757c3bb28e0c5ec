#include "sched/placement/gang_neighbours.hpp"

#include <algorithm>

#include "model/job_target.hpp"

namespace sy::sched::placement {

using model::Affinity;
using model::Spread;

bool Neighbours::has_wishes(const Piece& p) {
  const auto wish = [](const Affinity& a) { return !a.require; };
  return std::any_of(p.spread.begin(), p.spread.end(), [](const Spread& s) { return s.mode == Spread::Mode::prefer; }) ||
         std::any_of(p.affinity.begin(), p.affinity.end(), wish) || std::any_of(p.anti_affinity.begin(), p.anti_affinity.end(), wish);
}

// Copies of p placed already (in the same copy of what is around it), by domain.
std::map<std::uint32_t, std::uint32_t> Neighbours::copies_in(const Piece& p, std::int32_t level) const {
  std::map<std::uint32_t, std::set<std::uint32_t>> seen;
  for (const auto& r : records) {
    auto chain = r.inside;
    chain.emplace_back(r.piece, r.replica);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].first != &p) continue;
      const bool same = i == around.size() && std::equal(around.begin(), around.end(), chain.begin());
      if (!same) continue;
      for (const auto& n : r.nodes)
        if (const auto d = t_.ancestor(t_.leaf_at(n.position), level); d >= 0) seen[static_cast<std::uint32_t>(d)].insert(chain[i].second);
        else if (level == t_.node_level()) seen[node_key(n.position)].insert(chain[i].second);
    }
  }
  std::map<std::uint32_t, std::uint32_t> out;
  for (const auto& [d, copies] : seen) out[d] = static_cast<std::uint32_t>(copies.size());
  return out;
}

// Nodes are no domains of the index, except single ones.
std::uint32_t Neighbours::node_key(std::uint32_t position) const { return static_cast<std::uint32_t>(t_.domains().size()) + position; }
std::int64_t Neighbours::key_of(std::uint32_t position, std::int32_t level) const {
  const auto d = t_.ancestor(t_.leaf_at(position), level);
  return d >= 0 ? d : level == t_.node_level() ? static_cast<std::int64_t>(node_key(position)) : -1;
}

// Copies on several domains at once may keep to them although none of the ways one by one does.
bool Neighbours::asked_at_the_end(const Piece& p, const Spread& s) const {
  return all_ways && s.mode == Spread::Mode::require && (p.container || p.part.max > 1);
}

bool Neighbours::closed(const Spread& s, const Piece& p, std::uint32_t placed, std::uint32_t here, std::size_t used,
                        std::uint32_t least) const {
  if (s.max_share && placed > 0 && 100ULL * here > std::uint64_t{*s.max_share} * placed) return true;
  if (s.max_per_domain && here >= *s.max_per_domain) return true;
  if (asked_at_the_end(p, s)) return false;
  if (s.max_skew && here + 1 - least > *s.max_skew) return true;
  return s.min_domains && here > 0 && used < *s.min_domains && *s.min_domains - used >= p.replicas - placed;
}

// Every domain of the level; `used`: how many have a copy.
std::vector<Neighbours::Span> Neighbours::spans(const Piece& p, std::int32_t level, std::size_t& used) const {
  const auto copies = copies_in(p, level);
  used = copies.size();
  const auto here = [&](std::uint32_t key) {
    const auto found = copies.find(key);
    return found == copies.end() ? 0U : found->second;
  };
  std::vector<Span> out;
  if (level == t_.node_level())
    for (std::uint32_t q = 0; q < t_.size(); ++q) out.push_back({q, q + 1, here(static_cast<std::uint32_t>(key_of(q, level)))});
  else
    for (const auto d : t_.at_level(level))
      if (t_.domain(d).size() > 0) out.push_back({t_.domain(d).begin, t_.domain(d).end, here(d)});
  return out;
}

void Neighbours::close_spread(const Piece& p, const Spread& s, std::uint32_t placed, std::uint32_t scope, std::uint32_t most,
                              Open& mask) const {
  std::size_t used = 0;
  const auto all = spans(p, *t_.find_level(s.level), used);
  std::uint32_t least = all.empty() ? 0 : ~0U;
  for (const auto& x : all) least = std::min(least, x.copies);
  Open open(t_.size(), false);
  for (const auto& x : all)
    if (has_rule(s) ? !closed(s, p, placed, x.copies, used, least) : x.copies <= most)
      for (auto q = std::max(x.begin, t_.domain(scope).begin); q < std::min(x.end, t_.domain(scope).end); ++q) open[q] = mask[q];
  mask = std::move(open);
}

bool Neighbours::spread_holds(const Piece& p) const {
  return std::all_of(p.spread.begin(), p.spread.end(), [&](const Spread& s) {
    if (s.mode != Spread::Mode::require || (!s.min_domains && !asked_at_the_end(p, s))) return true;
    std::size_t used = 0;
    const auto all = spans(p, *t_.find_level(s.level), used);
    if (used < s.min_domains.value_or(0)) return false;
    if (all.empty() || !s.max_skew || !asked_at_the_end(p, s)) return true;
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.copies < b.copies; });
    return most->copies - least->copies <= *s.max_skew;
  });
}

std::vector<std::uint32_t> Neighbours::heights(const Piece& p) const {
  std::set<std::uint32_t> out;
  std::size_t used = 0;
  for (const auto& s : p.spread)
    if (!has_rule(s))
      for (const auto& x : spans(p, *t_.find_level(s.level), used)) out.insert(x.copies);
  if (out.empty()) return {no_limit};
  return {out.begin(), out.end()};
}

// Domains that hold members of a group or job.
std::set<std::int64_t> Neighbours::domains_of(const std::string& target, std::int32_t level, const Around& asker, bool& known) const {
  std::set<std::int64_t> out;
  // In another copy of a group around both: that copy has a target of its own.
  const auto elsewhere = [&](const Record& r) {
    return std::any_of(r.inside.begin(), r.inside.end(), [&](const auto& copy) {
      return std::any_of(asker.begin(), asker.end(), [&](const auto& own) { return own.first == copy.first && own.second != copy.second; });
    });
  };
  for (const auto& r : records) {
    if (elsewhere(r)) continue;
    const bool of =
        r.piece->name == target || std::any_of(r.inside.begin(), r.inside.end(), [&](const auto& c) { return c.first->name == target; });
    if (!of) continue;
    known = true;
    for (const auto& n : r.nodes) out.insert(key_of(n.position, level));
  }
  for (const auto& m : options_.members)
    if (m.group == target)
      if (const auto q = t_.position_of(m.node.value); q >= 0) known = true, out.insert(key_of(static_cast<std::uint32_t>(q), level));
  out.erase(-1);  // outside every domain of the level is no place to be together in
  return out;
}

void Neighbours::name(const Piece& p) {
  names_.insert(p.name);
  affinities_ |= !p.affinity.empty() || !p.anti_affinity.empty();
  spreads_ |= !p.spread.empty() || p.part_of_group;
  contiguous_ |= p.part.contiguous;
  if (p.part.filter.among) lists_.push_back(*p.part.filter.among);
  if (!p.part.filter.excluded.empty()) lists_.push_back(p.part.filter.excluded);
  if (!p.part.required.empty()) {
    lists_.emplace_back();
    for (const auto node : p.part.required) lists_.back().insert(node);
  }
  for (const auto& c : p.children) name(c);
}

bool Neighbours::alike(std::uint32_t a, std::uint32_t b) const {
  if (contiguous_) return false;
  const NodeIndex one{t_.node_at(a)}, other{t_.node_at(b)};
  if (std::any_of(lists_.begin(), lists_.end(), [&](const NodeSet& s) { return s.contains(one) != s.contains(other); })) return false;
  if (!affinities_ && !spreads_) return true;
  const auto residents = [&](std::uint32_t position) {
    std::vector<std::pair<const Piece*, decltype(Record::inside)>> out;
    for (const auto& r : records)
      if (std::any_of(r.nodes.begin(), r.nodes.end(), [&](const Named& n) { return n.position == position; }))
        out.emplace_back(r.piece, r.inside);
    return out;
  };
  const auto other_jobs = [&](NodeIndex node) {
    std::set<std::string> out;
    for (const auto& m : options_.members)
      if (m.node == node) out.insert(m.group);
    return out;
  };
  return other_jobs(one) == other_jobs(other) && residents(a) == residents(b);
}

bool Neighbours::affinities_hold() const {
  if (!affinities_) return true;
  const auto hold = [&](const Piece& p, const Record& r) {
    const auto holds = [&](const Affinity& a, bool together) {
      if (!a.require || a.target == p.name) return true;
      const auto level = *t_.find_level(a.level);
      bool known = false;
      const auto domains = domains_of(a.target, level, r.inside, known);
      return !known || std::all_of(r.nodes.begin(), r.nodes.end(),
                                   [&](const Named& n) { return domains.contains(key_of(n.position, level)) == together; });
    };
    return std::all_of(p.affinity.begin(), p.affinity.end(), [&](const Affinity& a) { return holds(a, true); }) &&
           std::all_of(p.anti_affinity.begin(), p.anti_affinity.end(), [&](const Affinity& a) { return holds(a, false); });
  };
  return std::all_of(records.begin(), records.end(), [&](const Record& r) {
    return hold(*r.piece, r) && std::all_of(r.inside.begin(), r.inside.end(), [&](const auto& c) { return hold(*c.first, r); });
  });
}

bool Neighbours::restrict(const Piece& p, std::uint32_t replica, std::uint32_t scope, bool wishes, std::uint32_t most, const Open* open,
                          Open& mask) const {
  if (p.spread.empty() && p.affinity.empty() && p.anti_affinity.empty() && !p.part_of_group) return false;
  const auto begin = t_.domain(scope).begin, end = t_.domain(scope).end;
  mask.assign(t_.size(), false);
  for (auto q = begin; q < end; ++q) mask[q] = open == nullptr || (*open)[q];
  if (p.part_of_group)
    for (const auto& r : records)
      if (r.piece->part.group == p.part.group && r.inside == around)
        for (const auto& n : r.nodes) mask[n.position] = false;
  for (const auto& s : p.spread)
    if (wishes || s.mode == Spread::Mode::require) close_spread(p, s, replica, scope, most, mask);
  const auto apply = [&](const Affinity& a, bool together) {
    if (!a.require && !wishes) return;
    const auto level = *t_.find_level(a.level);
    bool known = false;
    const auto domains = domains_of(a.target, level, around, known);
    if (!known) {  // who comes first is free to choose; another job that is nowhere holds up who must be near it
      const bool free = names_.contains(a.target) || options_.members_anywhere || model::means_own_name(a.target);
      if (together && a.require && !free) mask.assign(mask.size(), false);
      return;
    }
    bool suits = false;
    for (auto q = begin; q < end; ++q) {
      if (q == begin || level == t_.node_level() || t_.leaf_at(q) != t_.leaf_at(q - 1))
        suits = domains.contains(key_of(q, level)) == together;
      if (!suits) mask[q] = false;
    }
  };
  for (const auto& a : p.affinity) apply(a, true);
  for (const auto& a : p.anti_affinity) apply(a, false);
  return true;
}

}  // namespace sy::sched::placement

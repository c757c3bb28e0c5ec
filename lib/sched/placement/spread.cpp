#include "sched/placement/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sy::sched::placement {

using model::TopologyIndex;

Spreader::Spreader(const Board& board, const Offer& offer, const Part& part)
    : board_(board),
      offer_(offer),
      part_(part),
      plain_(part),
      t_(board.topology()),
      counts_(counts_of(board, offer)),
      min_(part.min),
      max_(part.max),
      choices_(part.choices) {
  plain_.apart.clear();
  for (const auto n : part.required) {
    const auto p = t_.position_of(n.value);
    forced_fit_ &= p != TopologyIndex::nowhere && offer.units[static_cast<std::size_t>(p)] > 0;
    if (p != TopologyIndex::nowhere) forced_.push_back(static_cast<std::uint32_t>(p));
  }
  std::sort(forced_.begin(), forced_.end());
  mind({});
}

// Rules of one level are one rule.
void Spreader::mind(const std::vector<bool>& wishes) {
  rules_.clear();
  std::size_t wish = 0;
  const auto tighter = [](std::uint32_t& to, std::uint32_t n, bool least) {
    if (n != 0) to = to == 0 ? n : least ? std::min(to, n) : std::max(to, n);
  };
  for (const auto& a : part_.apart) {
    if (a.wish) {
      const auto at = wish++;
      if (at >= wishes.size() || !wishes[at]) continue;
    }
    auto same = std::find_if(rules_.begin(), rules_.end(), [&](const Apart& r) { return r.level == a.level; });
    if (same == rules_.end()) {
      rules_.push_back(a);
      continue;
    }
    tighter(same->most, a.most, true);
    tighter(same->share, a.share, true);
    tighter(same->skew, a.skew, true);
    tighter(same->domains, a.domains, false);
  }
  std::stable_sort(rules_.begin(), rules_.end(), [](const Apart& a, const Apart& b) { return a.level < b.level; });
}

std::uint32_t Spreader::forced_in(std::uint32_t begin, std::uint32_t end) const {
  const auto from = std::lower_bound(forced_.begin(), forced_.end(), begin), to = std::lower_bound(from, forced_.end(), end);
  return static_cast<std::uint32_t>(to - from);
}

std::vector<Spreader::Place> Spreader::places(std::size_t rule, std::uint32_t domain) const {
  std::vector<Place> out;
  const auto& inside = t_.domain(domain);
  const auto level = rules_[rule].level;
  const auto could = [&](std::uint32_t p) {
    const auto node = t_.node_at(p);
    const auto& info = board_.shape().nodes[node];
    const auto& f = part_.filter;
    return !info.removed && let_in(f, NodeIndex{node}) && (!f.constraint || base::matches(*f.constraint, info.features));
  };
  const auto add = [&](std::uint32_t id, std::uint32_t begin, std::uint32_t end) {
    Place p{id, begin, end, 0, forced_in(begin, end), false};
    p.room = room_of(rule, p);
    for (auto q = begin; q < end && rules_[rule].skew != 0 && !p.compared; ++q) p.compared = could(q);
    out.push_back(p);
  };
  if (level == t_.node_level()) {
    for (auto p = inside.begin; p < inside.end; ++p) add(p, p, p + 1);
  } else if (inside.level >= level) {
    const auto d = t_.ancestor(domain, level);  // all of it is in one place
    if (d >= 0) add(domain, inside.begin, inside.end);
  } else {
    const auto& all = t_.at_level(level);
    for (auto d = std::lower_bound(all.begin(), all.end(), domain); d != all.end() && *d < inside.next; ++d)
      if (t_.domain(*d).size() > 0) add(*d, t_.domain(*d).begin, t_.domain(*d).end);
  }
  return out;
}

// What it may take with the narrower rules minded; less than what is forced where these do not let all of that in.
std::uint32_t Spreader::room_of(std::size_t rule, const Place& place) const {
  std::uint64_t room = 0;
  if (rules_[rule].level == t_.node_level()) {
    room = offer_.units[place.id];
  } else if (rule + 1 < rules_.size()) {
    std::uint32_t forced = 0;
    for (const auto& p : places(rule + 1, place.id)) {
      if (p.room < p.forced) return 0;
      room += p.room;
      forced += p.forced;
    }
    if (forced < place.forced) return 0;  // outside every domain of the narrower level
  } else {
    room = offer_.sum[place.id];
  }
  if (rules_[rule].most != 0) room = std::min<std::uint64_t>(room, rules_[rule].most);
  return static_cast<std::uint32_t>(room);
}

// Where the widest rung might put the job there are more domains than those in here; of them each has none of it.
bool Spreader::others_compared(std::uint32_t domain) const {
  if (rules_[0].skew == 0) return false;
  const auto widest = part_.rungs.back().level;
  std::uint32_t around = domain;
  for (const auto d : t_.at_level(widest))
    if (d <= domain && domain < t_.domain(d).next) around = d;
  if (around == domain) return false;
  const auto compared = [](const std::vector<Place>& all) {
    return std::count_if(all.begin(), all.end(), [](const Place& p) { return p.compared; });
  };
  return compared(places(0, around)) > compared(places(0, domain));
}

// n units over these places as evenly as their room allows; what is forced is in.
std::optional<Spreader::Numbers> Spreader::even(const std::vector<Place>& all, const std::vector<std::uint32_t>& use,
                                                std::uint32_t n) const {
  std::uint64_t room = 0, forced = 0;
  std::uint32_t highest = 0;
  for (const auto i : use) {
    if (all[i].forced > all[i].room) return std::nullopt;
    room += all[i].room;
    forced += all[i].forced;
    highest = std::max(highest, all[i].room);
  }
  if (n > room || n < forced) return std::nullopt;
  const auto at = [&](std::uint32_t height, std::uint32_t i) { return std::clamp(height, all[i].forced, all[i].room); };
  const auto sum = [&](std::uint32_t height) {
    std::uint64_t s = 0;
    for (const auto i : use) s += at(height, i);
    return s;
  };
  std::uint32_t low = 0, high = highest;  // the lowest height that holds all
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (sum(middle) >= n) high = middle;
    else low = middle + 1;
  }
  Numbers out(all.size(), 0);
  auto excess = sum(low) - n;
  for (auto i = use.rbegin(); i != use.rend(); ++i) {
    out[*i] = at(low, *i);
    if (excess > 0 && out[*i] == low && low > all[*i].forced) --out[*i], --excess;
  }
  return out;
}

bool Spreader::allowed(const Apart& rule, const std::vector<Place>& all, const Numbers& n, bool others) const {
  std::uint32_t used = 0, most = 0, least = others ? 0 : ~0U;
  for (std::size_t i = 0; i < all.size(); ++i) {
    used += n[i] > 0 ? 1 : 0;
    most = std::max(most, n[i]);
    if (all[i].compared) least = std::min(least, n[i]);
  }
  if (used < rule.domains) return false;
  if (rule.skew != 0 && least != ~0U && most > least + rule.skew) return false;
  if (rule.share == 0) return true;
  // P7 looks at one after the other: a domain's unit k+1 comes when its k are at most that share of those before it. There is an
  // order in which all can come exactly when those up to the k-th of each domain are many enough, for every k.
  std::vector<std::uint32_t> higher(most + 1, 0);  // domains with more than k
  for (const auto x : n)
    if (x > 0) ++higher[x - 1];
  for (auto k = most; k-- > 0;) higher[k] += higher[k + 1];
  std::uint64_t before = 0;
  for (std::uint32_t k = 1; k < most; ++k) {
    before += higher[k - 1];
    if (std::uint64_t{100} * k > rule.share * before) return false;
  }
  return true;
}

// `fewest`: over as few places as the rule allows.
std::optional<Spreader::Numbers> Spreader::divide(std::size_t rule, const std::vector<Place>& all, std::uint32_t n, bool others,
                                                  bool fewest) const {
  std::vector<std::uint32_t> use(all.size());
  std::iota(use.begin(), use.end(), 0U);
  std::stable_sort(use.begin(), use.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto x = all[a].forced > 0, y = all[b].forced > 0;
    return x != y ? x : all[a].room > all[b].room;
  });
  const auto& r = rules_[rule];
  const auto first = [&](std::size_t count) -> std::optional<Numbers> {
    auto numbers = even(all, {use.begin(), use.begin() + static_cast<std::ptrdiff_t>(count)}, n);
    return numbers && allowed(r, all, *numbers, others) ? numbers : std::nullopt;
  };
  auto best = first(use.size());
  if (!best || !fewest || r.no_rule()) return best;
  const auto with_forced = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Place& p) { return p.forced > 0; }));
  std::size_t low = std::max<std::size_t>(with_forced, 1), high = use.size();
  while (low < high) {  // over more places it is only more even
    const auto middle = low + (high - low) / 2;
    if (auto numbers = first(middle)) high = middle, best = std::move(numbers);
    else low = middle + 1;
  }
  return best;
}

// The largest count that is asked and allowed there; 0: none.
std::uint32_t Spreader::largest(std::uint32_t domain, std::uint32_t least, std::uint32_t most, const std::vector<std::uint32_t>& choices) {
  const auto& d = t_.domain(domain);
  if (!forced_fit_ || forced_in(d.begin, d.end) != forced_.size()) return 0;
  const auto all = places(0, domain);
  std::uint64_t room = 0, forced = 0;
  for (const auto& p : all) room += p.room, forced += p.forced;
  if (forced != forced_.size()) return 0;
  const bool others = others_compared(domain);
  const auto fits = [&](std::uint32_t n) { return n <= room && divide(0, all, n, others, false).has_value(); };
  most = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, room));
  if (!choices.empty()) {
    for (auto n = choices.rbegin(); n != choices.rend(); ++n)
      if (*n <= most && *n >= least && fits(*n)) return *n;
    return 0;
  }
  least = std::max({least, rules_[0].domains, 1U});
  if (most < least) return 0;
  if (fits(most)) return most;
  if (forced > 0) {
    while (most > least && !fits(most)) --most;
    return fits(most) ? most : 0;
  }
  if (!fits(least)) return 0;
  while (least + 1 < most) {  // what is allowed is an interval
    const auto middle = least + (most - least) / 2;
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return least;
}

std::vector<std::uint32_t> Spreader::domains_on(std::size_t rung, std::uint32_t scope) const {
  std::vector<std::uint32_t> out;
  const auto level = part_.rungs[rung].level;
  const auto& inside = t_.domain(scope);
  if (level == t_.node_level()) return out;
  if (scope != TopologyIndex::root && (level == TopologyIndex::any_level || inside.level >= level)) return {scope};
  for (const auto d : t_.at_level(level)) {
    if (d < scope || d >= inside.next) continue;
    if (part_.within >= 0 && t_.domain(d).level > part_.within && t_.ancestor(d, part_.within) < 0) continue;
    out.push_back(d);
  }
  return out;
}

std::vector<Candidate> Spreader::candidates(std::size_t rung, std::uint32_t scope) {
  if (rules_.empty()) return Chooser(counts_, plain_).candidates(rung, scope);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> room;  // of each domain, ascending
  std::uint32_t most = 0;
  for (const auto d : domains_on(rung, scope)) {
    room.emplace_back(d, largest(d, min_, max_, choices_));
    most = std::max(most, room.back().second);
  }
  std::vector<Candidate> out;
  if (most == 0) return out;
  Part one = plain_;
  one.min = one.max = most;
  one.choices.clear();
  Chooser chooser(counts_, one);
  for (auto& c : chooser.candidates(rung, scope)) {
    const auto at = std::lower_bound(room.begin(), room.end(), std::pair{c.domain, 0U});
    if (at != room.end() && at->first == c.domain && at->second >= most) out.push_back(std::move(c));
  }
  return out;
}

// Where that many go on this level, best first (P4); at level "node" these are positions.
std::vector<std::uint32_t> Spreader::seats(std::int32_t level, std::uint32_t domain, std::uint32_t n) const {
  Part one = plain_;
  one.min = one.max = n;
  one.choices.clear();
  one.required.clear();
  one.within = no_level;
  one.rungs = {{level, 1, {}}};
  Chooser chooser(counts_, one);
  std::vector<std::uint32_t> out;
  for (const auto& c : chooser.candidates(0, domain)) out.push_back(c.domain);
  return out;
}

bool Spreader::build_in(const Place& place, std::int32_t level, std::uint32_t n, std::vector<Share>& out) {
  if (level == t_.node_level()) {
    out.push_back(Share{t_.leaf_at(place.id), place.id, place.id + 1, n, 0});
    return true;
  }
  Part one = plain_;
  one.min = one.max = n;
  one.choices.clear();
  one.within = no_level;
  one.rungs = {{t_.domain(place.id).level, 1, {}}};
  std::erase_if(one.required, [&](NodeIndex node) {
    const auto p = t_.position_of(node.value);
    return p < static_cast<std::int32_t>(place.begin) || p >= static_cast<std::int32_t>(place.end);
  });
  Chooser chooser(counts_, one);
  const auto choice = chooser.fill(0, Candidate{place.id, n, {}});
  if (!choice) return false;
  out.insert(out.end(), choice->shares.begin(), choice->shares.end());
  return true;
}

bool Spreader::build(std::size_t rule, std::uint32_t domain, std::uint32_t n, std::vector<Share>& out) {
  const auto all = places(rule, domain);
  const auto numbers = divide(rule, all, n, rule == 0 && others_compared(domain), true);
  if (!numbers) return false;
  const auto level = rules_[rule].level;
  const auto give = [&](const Place& p, std::uint32_t units) {
    return rule + 1 < rules_.size() ? build(rule + 1, p.id, units, out) : build_in(p, level, units, out);
  };
  if (t_.domain(domain).level >= level) return all.size() == 1 && give(all.front(), n);
  // Places with a required node keep their number; the others' numbers go, the largest first, to the best place that has the room.
  std::vector<std::uint32_t> free;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((*numbers)[i] == 0) continue;
    if (all[i].forced == 0) free.push_back((*numbers)[i]);
    else if (!give(all[i], (*numbers)[i])) return false;
  }
  std::sort(free.rbegin(), free.rend());
  std::vector<bool> used(all.size(), false);
  for (std::size_t i = 0; i < free.size();) {
    const auto units = free[i];
    auto order = seats(level, domain, units);
    for (auto s = order.begin(); s != order.end() && i < free.size() && free[i] == units; ++s) {
      const auto at = std::lower_bound(all.begin(), all.end(), *s, [](const Place& p, std::uint32_t id) { return p.id < id; });
      const auto place = static_cast<std::size_t>(at - all.begin());
      if (at == all.end() || at->id != *s || used[place] || at->forced > 0 || at->room < units) continue;
      used[place] = true;
      if (!give(*at, units)) return false;
      ++i;
    }
    if (i < free.size() && free[i] == units) return false;
  }
  return true;
}

std::optional<Choice> Spreader::fill(std::size_t rung, const Candidate& c) {
  if (rules_.empty()) return Chooser(counts_, plain_).fill(rung, c);
  Choice choice;
  choice.rung = rung;
  choice.units = c.units;
  choice.domains = {c.domain};
  if (!build(0, c.domain, c.units, choice.shares)) return std::nullopt;
  std::sort(choice.shares.begin(), choice.shares.end(), [](const Share& a, const Share& b) { return a.begin < b.begin; });
  Chooser chooser(counts_, plain_);
  choice.growth = chooser.growth(choice.shares);
  return choice;
}

std::optional<Choice> Spreader::on_rungs(std::uint32_t scope, std::size_t open) {
  if (rules_.empty()) {
    Chooser chooser(counts_, plain_);
    return chooser.choose(scope, open);
  }
  const auto min = min_, max = max_;
  auto choices = choices_;
  if (!part_.wish && (min_ != max_ || !choices_.empty())) {  // as many as there are (P11)
    std::uint32_t most = 0;
    for (const auto d : scope == TopologyIndex::root ? t_.at_level(TopologyIndex::any_level) : std::vector{scope})
      most = std::max(most, largest(d, min_, max_, choices_));
    if (most == 0) return std::nullopt;
    min_ = max_ = most;
    choices_.clear();
  }
  std::optional<Choice> out;
  for (std::size_t rung = 0; rung < part_.rungs.size() && rung < open && !out; ++rung)
    for (const auto& c : candidates(rung, scope))
      if ((out = fill(rung, c))) break;
  min_ = min;
  max_ = max;
  choices_ = std::move(choices);
  return out;
}

std::optional<Choice> Spreader::choose(std::uint32_t scope, std::size_t open) {
  mind({});
  auto best = on_rungs(scope, open);
  if (!best) return best;
  std::vector<bool> kept(
      static_cast<std::size_t>(std::count_if(part_.apart.begin(), part_.apart.end(), [](const Apart& a) { return a.wish; })));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = true;
    mind(kept);
    if (auto more = on_rungs(scope, open); more && more->units >= best->units) best = std::move(more);
    else kept[i] = false;
  }
  mind({});
  return best;
}

std::uint32_t Spreader::offered(std::uint32_t domain) {
  if (rules_.empty()) return Chooser(counts_, plain_).offered(domain);
  const auto n = largest(domain, min_, max_, choices_);
  return n > 0 ? n : largest(domain, 1, min_, {});
}

std::string Spreader::limits(std::uint32_t domain) {
  if (rules_.empty()) return {};
  const auto& r = rules_[0];
  std::string rule = t_.level_name(r.level);
  if (r.most != 0) rule += fmt::format(":max={}", r.most);
  if (r.share != 0) rule += fmt::format(":share={}%", r.share);
  if (r.domains != 0) rule += fmt::format(":min={}", r.domains);
  if (r.skew != 0) rule += fmt::format(":skew={}", r.skew);
  const auto all = places(0, domain);
  const auto some = static_cast<std::uint32_t>(std::count_if(all.begin(), all.end(), [](const Place& p) { return p.room > 0; }));
  const auto room =
      fmt::format("{} of {} domains of level {} {} room", some, all.size(), t_.level_name(r.level), some == 1 ? "has" : "have");
  if (r.domains > some) return fmt::format("--spread {}: {}", rule, room);
  return fmt::format("--spread {}: {}, for {} of {} {} together", rule, room, offered(domain), min_, part_.by_tasks ? "tasks" : "nodes");
}

}  // namespace sy::sched::placement

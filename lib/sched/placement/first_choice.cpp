#include "sched/placement/first_choice.hpp"

#include <algorithm>
#include <tuple>

namespace sy::sched {

namespace {

using Offers = std::vector<Offer>;

bool tighter(const Offer& a, const Offer& b) { return std::tie(a.weight, a.spare, a.name_rank) < std::tie(b.weight, b.spare, b.name_rank); }
bool larger(const Offer& a, const Offer& b) {
  return std::tie(b.slots, a.weight, a.spare, a.name_rank) < std::tie(a.slots, b.weight, b.spare, b.name_rank);
}
bool just_enough(const Offer& a, const Offer& b) {
  return std::tie(a.slots, a.weight, a.spare, a.name_rank) < std::tie(b.slots, b.weight, b.spare, b.name_rank);
}

std::uint64_t sum_of_slots(const Offers& o) {
  std::uint64_t n = 0;
  for (const auto& x : o) n += x.slots;
  return n;
}

// Numbers of nodes to try, in order of preference: the most that a range allows; the fewest where none were asked for.
std::vector<std::uint32_t> counts_to_try(const Needs& n, std::size_t available) {
  std::vector<std::uint32_t> out;
  if (!n.choices.empty()) {
    for (auto it = n.choices.rbegin(); it != n.choices.rend(); ++it)
      if (*it <= available) out.push_back(*it);
    return out;
  }
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(n.max_nodes, available));
  for (std::uint32_t c = n.min_nodes; c <= most; ++c) out.push_back(c);
  if (!n.fewest) std::reverse(out.begin(), out.end());
  return out;
}

void sort_first(Offers& o, std::size_t count, bool (*before)(const Offer&, const Offer&)) {
  const auto mid = o.begin() + static_cast<std::ptrdiff_t>(std::min(count, o.size()));
  std::partial_sort(o.begin(), mid, o.end(), before);
}

// The shortest run of neighbours (by index) that is long enough; its first `count` nodes.
std::optional<Offers> contiguous(Offers o, std::uint32_t count) {
  std::sort(o.begin(), o.end(), [](const Offer& a, const Offer& b) { return a.node < b.node; });
  std::size_t best = o.size(), best_length = 0;
  for (std::size_t i = 0; i < o.size();) {
    std::size_t j = i + 1;
    while (j < o.size() && o[j].node.value == o[j - 1].node.value + 1) ++j;
    if (j - i >= count && (best == o.size() || j - i < best_length)) std::tie(best, best_length) = std::pair{i, j - i};
    i = j;
  }
  if (best == o.size()) return std::nullopt;
  const auto at = o.begin() + static_cast<std::ptrdiff_t>(best);
  return Offers(at, at + count);
}

// Those that have to be in (-w, counted features) come out of `rest` into `in`.
bool take_obliged(const FittingNodes& f, Offers& rest, Offers& in) {
  const auto move_in = [&](const NodeSet& set, std::size_t limit) {
    std::sort(rest.begin(), rest.end(), tighter);
    std::size_t moved = 0;
    for (auto it = rest.begin(); it != rest.end() && moved < limit;)
      if (set.contains(it->node)) {
        in.push_back(*it);
        it = rest.erase(it);
        ++moved;
      } else {
        ++it;
      }
    return moved;
  };
  if (!f.required.empty() && move_in(f.required, f.required.size()) < f.required.size()) return false;
  for (const auto& c : f.counted) {
    const auto have =
        static_cast<std::uint32_t>(std::count_if(in.begin(), in.end(), [&](const Offer& o) { return c.nodes.contains(o.node); }));
    if (have < c.count && move_in(c.nodes, c.count - have) < c.count - have) return false;
  }
  return true;
}

std::int64_t job_gres_on(const Needs& n, const Offer& o) {
  std::int64_t sum = 0;
  for (const auto& r : n.gres_per_job)
    for (const auto& g : o.free->gres)
      if (g.name == r.name && (r.type.empty() || r.type == g.type)) sum += std::min(g.count, r.count);
  return sum;
}

// Exactly `count` nodes whose slots hold the tasks: the tightest if they do, else the largest.
std::optional<Offers> pick(const FittingNodes& f, Offers rest, std::uint32_t count) {
  const Needs& n = f.needs;
  Offers in;
  if (!take_obliged(f, rest, in) || in.size() > count) return std::nullopt;
  if (n.contiguous) {
    rest.insert(rest.end(), in.begin(), in.end());
    auto run = contiguous(std::move(rest), count);
    if (!run || (n.tasks && sum_of_slots(*run) < *n.tasks)) return std::nullopt;
    for (const auto& o : in)
      if (std::none_of(run->begin(), run->end(), [&](const Offer& x) { return x.node == o.node; })) return std::nullopt;
    return run;
  }
  const std::size_t more = count - in.size();
  if (rest.size() < more) return std::nullopt;
  const auto fill = [&](bool (*before)(const Offer&, const Offer&)) {
    Offers chosen = in;
    sort_first(rest, more, before);
    chosen.insert(chosen.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(more));
    return chosen;
  };
  if (!n.gres_per_job.empty()) {
    std::stable_sort(rest.begin(), rest.end(), tighter);
    std::stable_sort(rest.begin(), rest.end(), [&](const Offer& a, const Offer& b) { return job_gres_on(n, a) > job_gres_on(n, b); });
    in.insert(in.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(more));
    if (n.tasks && sum_of_slots(in) < *n.tasks) return std::nullopt;
    return in;
  }
  Offers tight = fill(tighter);
  if (!n.tasks || sum_of_slots(tight) >= *n.tasks) return tight;
  Offers large = fill(larger);
  if (sum_of_slots(large) >= *n.tasks) return large;
  return std::nullopt;
}

// As few nodes as hold the tasks: the largest, until one of the rest can take what is left: then the tightest such.
std::optional<Offers> fewest(const Needs& n, Offers rest) {
  Offers chosen;
  std::uint64_t left = *n.tasks;
  std::sort(rest.begin(), rest.end(), larger);
  std::size_t next = 0;
  while (left > 0) {
    if (next == rest.size() || chosen.size() == n.max_nodes) return std::nullopt;
    if (rest[next].slots < left) {
      left -= rest[next].slots;
      chosen.push_back(rest[next++]);
      continue;
    }
    const auto from = rest.begin() + static_cast<std::ptrdiff_t>(next);
    const auto enough = std::find_if(from, rest.end(), [&](const Offer& o) { return o.slots < left; });
    chosen.push_back(*std::min_element(from, enough, just_enough));
    left = 0;
  }
  return chosen;
}

// One task each, then around again (a range of nodes), or each filled in turn (as few nodes as possible).
std::vector<Taken> share_tasks(const Needs& n, Offers chosen) {
  std::sort(chosen.begin(), chosen.end(), [](const Offer& a, const Offer& b) { return a.name_rank < b.name_rank; });
  std::vector<Taken> out;
  for (const auto& o : chosen) out.push_back({o.node, n.tasks ? 1 : n.tasks_on_each, {}});
  if (!n.tasks) return out;
  std::uint64_t left = *n.tasks - std::min<std::uint64_t>(*n.tasks, out.size());
  while (left > 0) {
    const std::uint64_t before = left;
    for (std::size_t i = 0; i < out.size() && left > 0; ++i) {
      const std::uint32_t room = chosen[i].slots - out[i].tasks;
      const auto add = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, n.fewest ? room : std::min(room, 1U)));
      out[i].tasks += add;
      left -= add;
    }
    if (left == before) break;
  }
  return out;
}

}  // namespace

std::optional<std::vector<Taken>> first_choice(const FittingNodes& f, Offers offers) {
  const Needs& n = f.needs;
  const bool plain_tasks = n.tasks && n.fewest && f.required.empty() && f.counted.empty() && !n.contiguous && n.gres_per_job.empty();
  if (plain_tasks) {
    auto chosen = fewest(n, std::move(offers));
    if (!chosen) return std::nullopt;
    return share_tasks(n, std::move(*chosen));
  }
  for (auto count : counts_to_try(n, offers.size())) {
    auto chosen = pick(f, offers, count);
    if (!chosen) continue;
    auto taken = share_tasks(n, *chosen);
    if (n.gres_per_job.empty()) return taken;
    std::vector<const Resources*> free;
    std::vector<std::uint32_t> tasks;
    for (const auto& t : taken) {
      auto o = std::find_if(chosen->begin(), chosen->end(), [&](const Offer& x) { return x.node == t.node; });
      free.push_back(o->free);
      tasks.push_back(t.tasks);
    }
    if (auto parts = split_job_gres(n, free, tasks)) {
      for (std::size_t i = 0; i < taken.size(); ++i) taken[i].job_gres = std::move((*parts)[i]);
      return taken;
    }
  }
  return std::nullopt;
}

}  // namespace sy::sched

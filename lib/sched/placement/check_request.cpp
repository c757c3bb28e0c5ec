#include <fmt/format.h>

#include <algorithm>

#include "base/features.hpp"
#include "base/hostlist.hpp"
#include "sched/placement/alternatives.hpp"
#include "sched/placement/part.hpp"

namespace sy::sched::placement {
namespace {

using model::Group;
using model::Segment;
using model::TopologyIndex;

base::Error bad(std::string message, std::string field, std::string value, std::string hint) {
  base::Error e;
  e.code = base::Code::invalid_argument;
  e.message = std::move(message);
  e.field = std::move(field);
  e.value = std::move(value);
  e.hint = std::move(hint);
  return e;
}

Result<std::int32_t> level_of(const TopologyIndex& t, const std::string& name, const char* field) {
  const auto found = t.find_level(name);
  if (!found) return base::fail(t.unknown_level(field, name));
  return *found;
}

Result<void> check_ladder(const Group& g, const TopologyIndex& t) {
  std::int32_t previous = t.node_level() + 1;
  for (const auto& rung : g.pack.ladder) {
    const auto level = level_of(t, rung.level, "--ladder");
    if (!level) return base::fail(level.error());
    if (*level >= previous)
      return base::fail(bad("a ladder climbs from narrow to wide", "--ladder", rung.level,
                            "write the narrowest level first, as in rack@10m,block@1h,any"));
    if (rung.max_domains == 0) return base::fail(bad("a rung allows at least one domain", "--ladder", "0", "leave max_domains out"));
    previous = *level;
  }
  if (!g.pack.prefer.empty() && !g.pack.require.empty()) {
    const auto prefer = level_of(t, g.pack.prefer, "--near"), require = level_of(t, g.pack.require, "--within");
    if (!prefer) return base::fail(prefer.error());
    if (!require) return base::fail(require.error());
    if (*prefer < *require)
      return base::fail(bad("the preferred level is wider than the required one", "--near", g.pack.prefer,
                            fmt::format("--within {} holds already; prefer a level inside it", g.pack.require)));
  }
  return {};
}

// Beside each other: a ladder and --switches say which levels to try, so --near can not; --within says the widest of them.
Result<void> check_rungs_together(const Group& g, const TopologyIndex& t) {
  const bool switches = g.switches && t.kind() == model::Topology::Kind::tree;
  const char* ladder = !g.pack.ladder.empty() ? "--ladder" : switches ? "--switches" : nullptr;
  if (ladder == nullptr) return {};
  if (switches && !g.pack.ladder.empty())
    return base::fail(bad("--switches is a ladder of its own", "--switches", std::to_string(*g.switches),
                          fmt::format("write it as a rung of --ladder: {}*{}", t.level_name(t.narrowest_level()), *g.switches)));
  if (!g.pack.prefer.empty())
    return base::fail(bad(fmt::format("{} says already which levels are tried first", ladder), "--near", g.pack.prefer,
                          switches ? "use --ladder to say both" : "make it a rung of --ladder"));
  const auto widest = g.pack.require.empty() ? std::nullopt : t.find_level(g.pack.require);
  for (const auto& rung : g.pack.ladder)
    if (const auto level = t.find_level(rung.level); widest && level && *level < *widest)
      return base::fail(bad(fmt::format("a rung of the ladder is wider than {}, which --within requires", g.pack.require), "--ladder",
                            rung.level, fmt::format("end the ladder at {}, or drop --within", g.pack.require)));
  for (const auto& rung : g.pack.ladder)
    if (widest && t.find_level(rung.level) == widest && rung.max_domains > 1)
      return base::fail(bad(fmt::format("{} of them are not in one {}, which --within requires", rung.max_domains, g.pack.require),
                            "--ladder", rung.level, "require a wider level, or drop the number"));
  if (switches && *g.switches > 1 && widest && *widest >= t.narrowest_level())
    return base::fail(bad(fmt::format("{} switches are not in one {}, which --within requires", *g.switches, g.pack.require), "--switches",
                          std::to_string(*g.switches), "require a wider level, or drop --switches"));
  const bool several = (switches && *g.switches > 1) ||
                       std::any_of(g.pack.ladder.begin(), g.pack.ladder.end(), [](const auto& r) { return r.max_domains > 1; });
  if (several && !g.children.empty())
    return base::fail(bad("groups inside a group are held by one domain on each rung", ladder, g.name,
                          "drop the number, or write it in the groups inside"));
  return {};
}

// The number of units that must come out in whole segments: the smallest and the largest count asked.
std::pair<std::uint32_t, std::uint32_t> units(const Group& g) {
  if (g.tasks_given && !g.nodes_given) return {g.min_tasks == 0 ? g.tasks : g.min_tasks, g.tasks};
  return {g.nodes.min, g.nodes.max};
}

Result<void> check_sizes(const Group& g, const Segment& s, bool alone) {
  const auto [least, most] = units(g);
  if (s.sizes.empty()) return {};
  std::uint64_t total = 0;
  for (const auto size : s.sizes) {
    if (size == 0) return base::fail(bad("a part has at least one node", "--sizes", "0", "leave it out"));
    total += size;
  }
  if (!alone)
    return base::fail(bad("exact sizes can not be combined with other segments", "--sizes", "", "use one of --sizes and --segment"));
  if (total < least || total > most)
    return base::fail(bad("the exact sizes do not add up to what is asked", "--sizes", std::to_string(total),
                          fmt::format("ask for {} in all, or change the sizes", total)));
  return {};
}

Result<void> check_segment(const Group& g, const TopologyIndex& t, const Segment& s, bool alone) {
  if (s.size == 0 && s.sizes.empty())
    return base::fail(bad("a segment needs a size", "--segment", s.level, "write SIZE@LEVEL, as in 8@rack"));
  if (s.size != 0 && !s.sizes.empty())
    return base::fail(bad("a segment has one size or a list of sizes, not both", "--segment", std::to_string(s.size), "use --sizes alone"));
  if (const auto ok = check_sizes(g, s, alone); !ok) return ok;
  const auto [least, most] = units(g);
  if (s.size != 0 && s.remainder != Segment::Remainder::shorter && s.size < most) {
    const auto divides = [&](std::uint32_t n) { return n % s.size == 0; };
    const bool one_of_a_list = !g.nodes.choices.empty() && !(g.tasks_given && !g.nodes_given);
    const bool fewer = s.remainder == Segment::Remainder::elastic && least == most;
    const bool can =
        one_of_a_list ? std::any_of(g.nodes.choices.begin(), g.nodes.choices.end(), divides) : fewer || most / s.size * s.size >= least;
    if (!can)
      return base::fail(bad(fmt::format("{} can not be divided into segments of {}", most, s.size), "--segment", std::to_string(s.size),
                            "choose a size that divides the job, or allow a remainder"));
  }
  if (s.remainder == Segment::Remainder::shorter && !alone)
    return base::fail(
        bad("a shorter last segment needs a single layer of segments", "--segment", std::to_string(s.size), "drop the other layers"));
  if (s.remainder == Segment::Remainder::shorter && !s.level.empty() && t.find_level(s.level) == t.node_level())
    return base::fail(bad("a shorter last segment needs a level above the node", "--segment", s.level, "a smaller size does the same"));
  if (t.kind() == model::Topology::Kind::block && s.level.empty() && s.size != 0 && !t.level_holding(std::min(s.size, most)))
    return base::fail(bad("no block size holds a segment of this size", "--segment", std::to_string(s.size),
                          fmt::format("the largest is {}", t.levels().front().nominal_size)));
  return {};
}

// A part that no domain could hold, were all its nodes free. Parts counted in tasks may share a node: the engine knows.
Result<void> check_parts_fit(const Group& g, const TopologyIndex& t, const Segment& s, std::int32_t level) {
  if (s.sizes.empty() || level == TopologyIndex::any_level || (g.tasks_given && !g.nodes_given)) return {};
  std::uint32_t largest = level == t.node_level() ? 1 : 0;
  if (level != t.node_level())
    for (const auto d : t.at_level(level)) largest = std::max(largest, t.domain(d).size());
  const auto part = *std::max_element(s.sizes.begin(), s.sizes.end());
  if (part <= largest) return {};
  auto e = bad(fmt::format("a part of {} nodes fits in no {}", part, t.level_name(level)), "--sizes", std::to_string(part),
               fmt::format("the largest has {} nodes: ask for smaller parts, or for a wider level", largest));
  e.limit = std::to_string(largest);
  return base::fail(std::move(e));
}

Result<void> check_segments(const Group& g, const TopologyIndex& t) {
  std::int32_t wider = TopologyIndex::any_level;
  std::uint32_t size = 0;
  bool first = true;
  for (const auto& s : g.segments) {
    const char* const field = s.sizes.empty() ? "--segment" : "--sizes";
    std::int32_t level = t.narrowest_level();
    if (!s.level.empty()) {
      const auto found = level_of(t, s.level, field);
      if (!found) return base::fail(found.error());
      level = *found;
    }
    if (const auto ok = check_segment(g, t, s, g.segments.size() == 1); !ok) return ok;
    if (const auto ok = check_parts_fit(g, t, s, level); !ok) return ok;
    if (!first && level <= wider)
      return base::fail(bad("layers of segments go from wide to narrow", "--segment", s.level, "give the widest layer first"));
    if (!first && s.size != 0 && size % s.size != 0)
      return base::fail(bad(fmt::format("segments of {} do not divide the segments of {} around them", s.size, size), "--segment",
                            std::to_string(s.size), "choose a divisor"));
    for (const auto& [text, wish] : {std::pair{g.pack.prefer, "--near"}, std::pair{g.pack.require, "--within"}}) {
      if (text.empty() || s.level.empty()) continue;
      const auto main = level_of(t, text, wish);
      if (!main) return base::fail(main.error());
      if (level < *main)
        return base::fail(bad("the level of the segments is wider than the level of the job", field, s.level,
                              fmt::format("the job stays inside {} already", text)));
    }
    for (const auto& rung : g.pack.ladder)
      if (const auto main = level_of(t, rung.level, "--ladder"); main && level < *main)
        return base::fail(bad("the level of the segments is wider than a rung of the ladder", field, s.level,
                              fmt::format("a segment stays inside {} already on that rung", rung.level)));
    if (first && g.switches && t.kind() == model::Topology::Kind::tree && level < t.narrowest_level())
      return base::fail(bad("the level of the segments is wider than the leaves that --switches counts", field, s.level,
                            "use --ladder to say how many domains of that level there may be"));
    const bool several = std::any_of(g.pack.ladder.begin(), g.pack.ladder.end(), [](const auto& r) { return r.max_domains > 1; }) ||
                         (g.switches && *g.switches > 1 && t.kind() == model::Topology::Kind::tree);
    if (several && (!s.sizes.empty() || s.remainder == Segment::Remainder::shorter))
      return base::fail(bad("parts of unequal size can not be shared out over a number of domains", field, s.level,
                            "use a ladder with one domain on each rung"));
    wider = level;
    size = s.size;
    first = false;
  }
  return {};
}

Result<void> check_lists(const Group& g) {
  if (!g.constraint.empty())
    if (const auto f = base::parse_features(g.constraint); !f) return base::fail(f.error());
  for (const auto* list : {&g.nodelist, &g.exclude})
    if (!list->empty())
      if (const auto names = base::expand_hostlist(*list); !names) return base::fail(names.error());
  return {};
}

Result<void> check_levels(const Group& g, const TopologyIndex& t) {
  for (const auto& [text, field] :
       {std::pair{&g.pack.prefer, "--near"}, std::pair{&g.pack.require, "--within"}, std::pair{&g.exclusive_level, "--exclusive"}}) {
    if (text->empty()) continue;
    if (const auto level = level_of(t, *text, field); !level) return base::fail(level.error());
  }
  for (const auto& s : g.spread) {
    const auto level = level_of(t, s.level, "--spread");
    if (!level) return base::fail(level.error());
    if (*level == TopologyIndex::any_level)
      return base::fail(bad("nothing is apart on a level that holds everything", "--spread", s.level, "name one of " + t.known_levels()));
    if (s.max_share && (*s.max_share == 0 || *s.max_share > 100))
      return base::fail(bad("a share is a percentage", "--spread", std::to_string(*s.max_share), "write 1 to 100"));
    if ((s.max_per_domain && *s.max_per_domain == 0) || (s.max_skew && *s.max_skew == 0))
      return base::fail(bad("a spread of 0 allows nothing", "--spread", "0", "write 1 or more"));
  }
  for (const auto* list : {&g.affinity, &g.anti_affinity})
    for (const auto& a : *list)
      if (const auto level = level_of(t, a.level, "affinity"); !level) return base::fail(level.error());
  for (const auto& near : g.affinity)
    for (const auto& far : g.anti_affinity)
      if (near.require && far.require && near.target == far.target && *t.find_level(far.level) <= *t.find_level(near.level))
        return base::fail(bad(fmt::format("in one {} with {} and in no {} with it: no place is both", near.level, near.target, far.level),
                              "anti_affinity", far.target, "drop one of them, or keep away on a narrower level than near"));
  return {};
}

// The numbers that a spread asks of the domains of its level.
Result<void> check_domains(const Group& g, const TopologyIndex& t, const model::Spread& s) {
  if (!s.min_domains) return {};
  const auto level = *t.find_level(s.level);
  const bool replicas = !g.children.empty() || g.replicas > 1;
  const auto kept_apart = replicas ? g.replicas : units(g).second;
  if (*s.min_domains > kept_apart)
    return base::fail(bad(fmt::format("{} can not be in {} domains", kept_apart, *s.min_domains), "--spread",
                          std::to_string(*s.min_domains), fmt::format("ask for at most {}", kept_apart)));
  const auto& all = t.at_level(level);
  const auto there = level == t.node_level() ? static_cast<std::int64_t>(t.size())
                                             : std::count_if(all.begin(), all.end(), [&](auto d) { return t.domain(d).size() > 0; });
  if (*s.min_domains > there)
    return base::fail(bad(
        fmt::format("there are {} domains of level {}, fewer than the {} that the spread asks", there, t.level_name(level), *s.min_domains),
        "--spread", std::to_string(*s.min_domains), fmt::format("ask for at most {}", there)));
  return {};
}

// What keeps its own nodes apart: how many each domain takes is computed, which leaves out what also divides the nodes.
Result<void> check_own_spread(const Group& g, const TopologyIndex& t) {
  const auto with = [](const char* what, const char* field, std::string value, const char* hint) {
    return base::fail(bad(fmt::format("a spread of nodes can not be combined with {}", what), field, std::move(value), hint));
  };
  if (!g.segments.empty() && g.segments.front().sizes.empty())
    return with("segments", "--segment", g.segments.front().level, "segments of a size are kept apart by --spread-segments");
  if (!g.segments.empty()) return with("exact sizes", "--sizes", g.segments.front().level, "use one of --sizes and --spread");
  if (g.contiguous) return with("adjacent nodes", "--contiguous", "", "use one of --contiguous and --spread");
  if (g.switches && *g.switches > 1 && t.kind() == model::Topology::Kind::tree)
    return with("a number of switches", "--switches", std::to_string(*g.switches), "use one of --switches and --spread LEVEL:max=N");
  const auto widest = std::min_element(g.spread.begin(), g.spread.end(),
                                       [&](const auto& a, const auto& b) { return *t.find_level(a.level) < *t.find_level(b.level); });
  for (const auto& s : g.spread)
    if (*t.find_level(s.level) != *t.find_level(widest->level) && (!s.max_per_domain || s.max_share || s.min_domains || s.max_skew))
      return base::fail(bad("below another spread only a maximum per domain is known", "--spread", s.level,
                            fmt::format("write {}:max=N, or one spread only", s.level)));
  const auto narrow = [&](const std::string& rung, const char* field) -> Result<void> {
    const auto level = rung.empty() ? std::nullopt : t.find_level(rung);
    if (!level) return {};
    if (*level == t.node_level()) return with("a single node for all of it", field, rung, "choose a wider level");
    for (const auto& s : g.spread)
      if (!has_rule(s) && *level >= *t.find_level(s.level))
        return base::fail(bad(fmt::format("inside one {} nothing can be spread over {}", rung, s.level), field, rung,
                              "choose a level wider than that of the spread"));
    return {};
  };
  for (const auto& ok : {narrow(g.pack.prefer, "--near"), narrow(g.pack.require, "--within")})
    if (!ok) return ok;
  for (const auto& r : g.pack.ladder) {
    if (const auto ok = narrow(r.level, "--ladder"); !ok) return ok;
    if (r.max_domains > 1) return with("several domains on a rung", "--ladder", r.level, "use a ladder with one domain on each rung");
  }
  return {};
}

Result<void> check_spread(const Group& g, const TopologyIndex& t) {
  if (g.spread.empty()) return {};
  if (!g.children.empty() && g.replicas <= 1)
    return base::fail(bad("a spread keeps the replicas of a group with groups inside apart, and this one has one", "--spread",
                          g.spread.front().level, "give replicas, or write the spread in the groups inside"));
  for (const auto& s : g.spread)
    if (const auto ok = check_domains(g, t, s); !ok) return ok;
  return spreads_itself(g) ? check_own_spread(g, t) : Result<void>{};
}

Result<void> check_counts(const Group& g) {
  if (!g.children.empty()) return {};
  const auto [least, most] = units(g);
  if (most == 0) return base::fail(bad("nothing is asked for", g.nodes_given ? "--nodes" : "--ntasks", "0", "ask for at least 1"));
  if (least > most)
    return base::fail(bad("the minimum is larger than the maximum", "--nodes", fmt::format("{}-{}", least, most), "swap them"));
  if (g.nodes_given && g.tasks_given && g.tasks_per_node > 0 && std::uint64_t{g.nodes.max} * g.tasks_per_node < g.tasks)
    return base::fail(bad(fmt::format("{} tasks are more than {} on each of {} nodes", g.tasks, g.tasks_per_node, g.nodes.max),
                          "--ntasks-per-node", std::to_string(g.tasks_per_node),
                          fmt::format("ask for {} nodes", (g.tasks + g.tasks_per_node - 1) / g.tasks_per_node)));
  if (g.contiguous && !g.segments.empty())
    return base::fail(bad("contiguous nodes and segments contradict each other", "--contiguous", "", "use one of them"));
  if (g.min_replicas > g.replicas)
    return base::fail(bad("more replicas are required than asked", "min_replicas", std::to_string(g.min_replicas), "at most replicas"));
  return {};
}

// Counts of features are counts of nodes, each found by itself.
Result<void> check_counted_features(const Group& g, const TopologyIndex& t) {
  if (!counts_features(g)) return {};
  const auto f = *base::parse_features(g.constraint);
  using Op = base::FeatureExpression::Op;
  if (!g.nodes_given)
    return base::fail(bad("features are counted in nodes", "--constraint", g.constraint, "say how many nodes in all with --nodes"));
  std::uint64_t counted = 0;
  for (const auto& term : f.op == Op::counted ? std::vector{f} : f.operands) {
    if (term.op == Op::counted) counted += term.count;
    if (term.op == Op::one_of_for_all)
      return base::fail(bad("alternatives for all nodes and counts can not be combined", "--constraint", g.constraint, "use one of them"));
  }
  if (counted > g.nodes.max)
    return base::fail(bad(fmt::format("the features are counted on {} nodes and {} are asked", counted, g.nodes.max), "--constraint",
                          g.constraint, fmt::format("ask for {} nodes, or count fewer", counted)));
  const auto with = [&](const char* what, const char* field) {
    return base::fail(bad(fmt::format("counts of features can not be combined with {}", what), field, g.constraint,
                          "use features without counts, or groups in a spec file"));
  };
  if (!g.segments.empty()) return with("segments", g.segments.front().sizes.empty() ? "--segment" : "--sizes");
  if (!g.spread.empty() && g.replicas <= 1) return with("a spread", "--spread");
  if (g.contiguous) return with("adjacent nodes", "--contiguous");
  if (g.switches && *g.switches > 1 && t.kind() == model::Topology::Kind::tree) return with("a number of switches", "--switches");
  if (std::any_of(g.pack.ladder.begin(), g.pack.ladder.end(), [](const auto& r) { return r.max_domains > 1; }))
    return with("several domains on a rung", "--ladder");
  return {};
}

// What is wished for on a level wider than the one that holds all of it would mean nothing.
Result<void> check_wishes_inside(const Group& g, const TopologyIndex& t, std::int32_t parents_level, const std::string& parent) {
  const auto wider = [&](const std::string& level) { return !level.empty() && *t.find_level(level) < parents_level; };
  const auto refuse = [&](const char* field, const std::string& level) {
    return base::fail(bad(fmt::format("{} stays inside one {}, and this level is wider", parent, t.level_name(parents_level)), field, level,
                          fmt::format("name {} or a narrower level", t.level_name(parents_level))));
  };
  if (wider(g.pack.prefer)) return refuse("--near", g.pack.prefer);
  for (const auto& r : g.pack.ladder)
    if (wider(r.level)) return refuse("--ladder", r.level);
  for (const auto& s : g.segments)
    if (wider(s.level)) return refuse("--segment", s.level);
  return {};
}

Result<void> check_group(const Group& g, const TopologyIndex& t, std::int32_t parents_level, const std::string& parent) {
  for (const auto& ok : {check_counts(g), check_levels(g, t), check_ladder(g, t), check_segments(g, t), check_lists(g)})
    if (!ok) return ok;
  for (const auto& ok : {check_counted_features(g, t), check_spread(g, t), check_rungs_together(g, t)})
    if (!ok) return ok;
  std::int32_t required = parents_level;
  if (!g.pack.require.empty()) {
    required = *t.find_level(g.pack.require);
    if (required < parents_level)
      return base::fail(bad(fmt::format("group {} requires a wider level than {} around it", g.name, parent), "--within", g.pack.require,
                            fmt::format("{} or a narrower level", t.level_name(parents_level))));
  }
  if (const auto ok = check_wishes_inside(g, t, parents_level, parent); !ok) return ok;
  for (const auto& child : g.children)
    if (const auto ok = check_group(child, t, required, g.name.empty() ? "the job" : "group " + g.name); !ok) {
      base::Error e = ok.error();
      if (!child.name.empty() && e.message.find("group ") == std::string::npos)
        e.message = fmt::format("group {}: {}", child.name, e.message);
      return base::fail(std::move(e));
    }
  return {};
}

}  // namespace

Result<void> check_request(const Group& g, const TopologyIndex& t) {
  if (const auto ways = count_ways_to_choose(g); ways > most_alternatives)
    return base::fail(bad(fmt::format("the brackets make more than {} combinations", most_alternatives), "--constraint", g.constraint,
                          "use fewer alternatives"));
  return check_group(g, t, TopologyIndex::any_level, "the job");
}

std::vector<std::string> warnings(const Group& g, const TopologyIndex& t) {
  std::vector<std::string> out;
  if (g.switches && t.kind() != model::Topology::Kind::tree)
    out.push_back(fmt::format("--switches={} has no effect: topology {} is not a tree of switches", *g.switches, t.name()));
  if (g.tasks_given && g.nodes_given && g.tasks < g.nodes.min)
    out.push_back(fmt::format("{} tasks leave some of the {} nodes without one", g.tasks, g.nodes.min));
  if (t.kind() == model::Topology::Kind::flat && !g.segments.empty())
    out.push_back("segments mean little on a flat topology: every set of nodes is one domain");
  for (const auto& child : g.children)
    for (auto& w : warnings(child, t)) out.push_back(std::move(w));
  return out;
}

}  // namespace sy::sched::placement

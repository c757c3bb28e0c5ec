#include "wire/topology/build_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/hostlist.hpp"
#include "base/option_table.hpp"
#include "wire/json_text.hpp"

namespace sy::wire {
namespace {

constexpr std::uint32_t nobody = ~0U;
constexpr std::size_t max_name_bytes = 255;
constexpr std::size_t max_levels = 32;

// One vertex while the graph is still a graph.
struct Vertex {
  std::string name;
  FileMark mark;
  std::string level;
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> parents;
  std::vector<base::NodeIndex> nodes;
  std::size_t named_nodes{};  // how many the file names, known to the cluster or not
  bool merged_away{};
  std::uint32_t height{};
  std::uint32_t level_number{};
};

// Why a text could not be written and read again, or would do something to a terminal: "it holds the control character \x10".
// Empty: it can be. Not a matter of taste: exports and host lists are what names have to get through.
std::string unsound_text(std::string_view text, std::string_view never) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = utf8_length(text, at);
    const auto first = static_cast<unsigned char>(text[at]);
    if (length == 0) return fmt::format("it holds the byte \\x{:02x}, which is not UTF-8", first);
    if (first < ' ' || first == 0x7f) return fmt::format("it holds the control character \\x{:02x}", first);
    if (length == 2 && first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0)
      return fmt::format("it holds the control character \\u{:04x}", static_cast<unsigned char>(text[at + 1]));
    if (never.find(text[at]) != std::string_view::npos) return fmt::format("it holds '{}'", text[at]);
    at += length;
  }
  return {};
}

std::string unsound_name(std::string_view name, std::string_view never = " \"\\,[]#=") {
  if (name.empty()) return "it is empty";
  if (name.size() > max_name_bytes) return fmt::format("it has more than {} bytes", max_name_bytes);
  return unsound_text(name, never);
}

// For messages: what is no text is written as \xNN, and what is long is cut.
std::string shown(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size() && out.size() < 80;) {
    const auto length = utf8_length(name, at);
    if (length == 0 || unsound_text(name.substr(at, length), {}).size() != 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[at++]));
      continue;
    }
    out += name.substr(at, length);
    at += length;
  }
  return out;
}

std::string some_names(std::vector<std::string> names) {
  std::string folded = base::fold_hostlist(std::move(names));
  if (folded.size() > 200) folded = folded.substr(0, 200) + "…";
  return folded;
}

class Builder {
 public:
  Builder(const TopologyText& text, const FindNode& find, const BuildOptions& options, ImportReport& report, Faults& faults)
      : text_(text), find_(find), options_(options), report_(report), faults_(faults), faults_before_(faults.count()) {}

  std::optional<model::Topology> run() {
    check_name();
    if (text_.kind == model::Topology::Kind::flat) return flat();
    check_level_names(named_levels(), faults_);
    take_domains();
    take_children();
    // No check waits for another's faults to be mended, except where what it looks at is then not defined: a tree's depth.
    const bool block = text_.kind == model::Topology::Kind::block;
    bool a_tree = block ? check_no_children() : check_cycles();
    take_written_levels(a_tree);
    take_nodes();
    check_anything_to_place_on();
    if (block) {
      check_blocks();
    } else if (a_tree) {
      a_tree = check_depth();
      if (a_tree) merge_spines();
      a_tree = a_tree && refuse_two_parents();
    }
    if (a_tree) {
      measure_heights();
      number_levels();
    }
    if (faults_.count() != faults_before_) return std::nullopt;
    return assemble();
  }

 private:
  const DomainText& text_of(std::uint32_t v) const { return text_.domains[v]; }
  std::string place(std::uint32_t v) const { return fmt::format("{} (line {})", vertices_[v].name, vertices_[v].mark.line); }
  std::string_view noun() const { return text_.kind == model::Topology::Kind::block ? "block" : "switch"; }

  std::optional<model::Topology> flat() {
    for (const auto& d : text_.domains) faults_.add(d.mark, "a flat topology has no domains", {}, d.name);
    if (faults_.count() != faults_before_) return std::nullopt;
    model::Topology t;
    t.name = text_.name;
    t.kind = model::Topology::Kind::flat;
    return t;
  }

  void refuse_name(FileMark mark, std::string_view of, std::string field, std::string_view name, const std::string& why) {
    faults_.add(mark, fmt::format("this can not be the name of a {}: {}", of, why), std::move(field), shown(name));
  }

  void check_name() {
    if (text_.name.empty()) return;
    if (const auto why = unsound_name(text_.name); !why.empty()) refuse_name(text_.mark, "topology", "name", text_.name, why);
  }

  FileMark level_mark(std::size_t level) const { return level < text_.level_marks.size() ? text_.level_marks[level] : text_.mark; }

  std::vector<LevelNames> named_levels() const {
    std::vector<LevelNames> out;
    for (std::size_t i = 0; i < text_.levels.size(); ++i) out.push_back({&text_.levels[i], level_mark(i)});
    return out;
  }

  void take_domains() {
    vertices_.reserve(text_.domains.size());
    by_name_.reserve(text_.domains.size());
    for (const auto& d : text_.domains) {
      const auto v = static_cast<std::uint32_t>(vertices_.size());
      vertices_.push_back({d.name, d.mark, d.level, {}, {}, {}, d.nodes.size(), false, 0, 0});
      if (const auto why = unsound_name(d.name); !why.empty()) refuse_name(d.mark, noun(), {}, d.name, why);
      if (const auto why = unsound_text(d.link_speed, "\"\\#"); !why.empty())
        faults_.add(d.mark, "this can not be a link speed: " + why, {}, shown(d.link_speed));
      const auto [first, fresh] = by_name_.emplace(d.name, v);
      if (!fresh)
        faults_.add(d.mark, fmt::format("{} {} is defined twice, first on line {}", noun(), d.name, vertices_[first->second].mark.line));
    }
  }

  void take_children() {
    for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
      std::set<std::uint32_t> seen;
      for (const auto& c : text_of(v).children) {
        const auto found = by_name_.find(c.name);
        if (found == by_name_.end()) {
          faults_.add(c.mark, fmt::format("{} {} lists the child {}, which is defined nowhere", noun(), vertices_[v].name, c.name));
        } else if (!seen.insert(found->second).second) {
          faults_.add(c.mark, fmt::format("{} {} lists the child {} twice", noun(), vertices_[v].name, c.name));
        } else {
          vertices_[v].children.push_back(found->second);
          vertices_[found->second].parents.push_back(v);
        }
      }
    }
  }

  void take_nodes() {
    std::unordered_map<std::string_view, std::uint32_t> where;
    std::size_t total = 0;
    for (const auto& d : text_.domains) total += d.nodes.size();
    where.reserve(total);
    for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
      std::vector<std::string> unknown;
      FileMark unknown_mark;
      // Two leaves that share many nodes are one fault, not a thousand.
      std::map<std::uint32_t, std::pair<FileMark, std::vector<std::string>>> twice;
      vertices_[v].nodes.reserve(text_of(v).nodes.size());
      for (const auto& n : text_of(v).nodes) {
        if (const auto why = unsound_name(n.name); !why.empty()) {
          refuse_name(n.mark, "node", {}, n.name, why);
          continue;
        }
        const auto [first, fresh] = where.emplace(n.name, v);
        if (!fresh) {
          auto& listed = twice[first->second];
          listed.first = n.mark;
          listed.second.push_back(n.name);
          continue;
        }
        if (const auto index = find_(n.name)) {
          vertices_[v].nodes.push_back(*index);
        } else {
          if (unknown.empty()) unknown_mark = n.mark;
          unknown.push_back(n.name);
        }
      }
      for (auto& [other, listed] : twice) refuse_twice(v, other, listed.first, std::move(listed.second));
      if (!unknown.empty()) unknown_nodes(v, unknown_mark, std::move(unknown));
    }
  }

  void refuse_twice(std::uint32_t v, std::uint32_t other, FileMark mark, std::vector<std::string> names) {
    const bool one = names.size() == 1;
    const auto list = some_names(std::move(names));
    if (other == v) faults_.add(mark, fmt::format("{} {} lists {} {} twice", noun(), vertices_[v].name, one ? "node" : "nodes", list));
    else
      faults_.add(mark, fmt::format("{} {} {} listed under both {} and {}", one ? "node" : "nodes", list, one ? "is" : "are", place(other),
                                    place(v)));
  }

  void unknown_nodes(std::uint32_t v, FileMark mark, std::vector<std::string> names) {
    const auto count = names.size();
    if (options_.skip_unknown_nodes) report_.skipped_nodes.insert(report_.skipped_nodes.end(), names.begin(), names.end());
    const auto list = some_names(std::move(names));
    const auto text = fmt::format("{} {} lists {} that the cluster does not know: {}", noun(), vertices_[v].name,
                                  count == 1 ? "a node" : fmt::format("{} nodes", count), list);
    if (options_.skip_unknown_nodes) report_.note(mark, text + "; left out");
    else faults_.add(mark, text, {}, {}, "add them to the cluster, or import with --skip-unknown-nodes");
  }

  void check_anything_to_place_on() {
    if (options_.incomplete) return;
    if (vertices_.empty()) {
      faults_.add(text_.mark, fmt::format("the topology has no {}: nothing to place on", noun()));
      return;
    }
    const auto named = std::any_of(vertices_.begin(), vertices_.end(), [](const Vertex& v) { return v.named_nodes != 0; });
    if (!named) {
      faults_.add(vertices_.front().mark, fmt::format("no {} has a node: nothing to place on", noun()), {}, vertices_.front().name);
      return;
    }
    const auto known = std::any_of(vertices_.begin(), vertices_.end(), [](const Vertex& v) { return !v.nodes.empty(); });
    if (!known && options_.skip_unknown_nodes)
      faults_.add(vertices_.front().mark, "the cluster knows none of the nodes: nothing is left to place on");
    for (const auto& v : vertices_)
      if (v.named_nodes == 0 && v.children.empty() && text_.kind == model::Topology::Kind::tree)
        report_.note(v.mark, fmt::format("leaf {} has no node", v.name));
  }

  bool check_no_children() {
    bool sound = true;
    for (const auto& v : vertices_) {
      if (v.children.empty()) continue;
      faults_.add(v.mark, "a block has no children", {}, v.name);
      sound = false;
    }
    return sound;
  }

  void check_blocks() {
    const auto& sizes = text_.block_sizes;
    if (sizes.empty()) return;
    const auto base = *std::min_element(sizes.begin(), sizes.end());
    std::set<std::uint32_t> seen;
    for (const auto s : sizes) {
      const auto factor = base == 0 ? 0 : s / base;
      if (base == 0 || s % base != 0 || (factor & (factor - 1)) != 0)
        faults_.add(text_.block_sizes_mark,
                    base::Error{base::Code::invalid_argument, fmt::format("block size {} is not {} times a power of two", s, base),
                                "BlockSizes", fmt::format("{0}, {1}, {2}, …", base, 2 * base, 4 * base), std::to_string(s),
                                fmt::format("{} is the base size: the smallest of the list", base)});
      else if (!seen.insert(s).second)
        faults_.add(text_.block_sizes_mark, "this block size is given twice", "BlockSizes", std::to_string(s));
    }
    for (const auto& v : vertices_) {
      if (v.named_nodes == 0) report_.note(v.mark, fmt::format("block {} has no node; it keeps its place in the aligned groups", v.name));
      else if (v.named_nodes < base)
        report_.note(v.mark, fmt::format("block {} has {} nodes, fewer than the base size {}: no whole segment or job of {} nodes "
                                         "fits into it",
                                         v.name, v.named_nodes, base, base));
    }
  }

  // Depth-first with a stack of our own: a long chain must not overflow the program's.
  bool check_cycles() {
    enum class Colour : std::uint8_t { white, grey, black };
    std::vector<Colour> colour(vertices_.size(), Colour::white);
    std::vector<std::size_t> depth(vertices_.size());  // on the path
    bool sound = true;
    for (std::uint32_t start = 0; start < vertices_.size(); ++start) {
      if (colour[start] != Colour::white) continue;
      std::vector<std::pair<std::uint32_t, std::size_t>> path{{start, 0}};
      colour[start] = Colour::grey;
      while (!path.empty()) {
        const auto v = path.back().first;
        if (path.back().second == vertices_[v].children.size()) {
          colour[v] = Colour::black;
          for (const auto c : vertices_[v].children) vertices_[v].height = std::max(vertices_[v].height, vertices_[c].height + 1);
          path.pop_back();
          continue;
        }
        const auto c = vertices_[v].children[path.back().second++];
        if (colour[c] == Colour::grey) {
          sound = false;
          report_cycle(path, depth[c]);
        } else if (colour[c] == Colour::white) {
          colour[c] = Colour::grey;
          depth[c] = path.size();
          path.emplace_back(c, 0);
        }
      }
    }
    return sound;
  }

  // The vertices of the path from `begin` on, a few of them by name: there may be as many cycles as vertices, each as long.
  void report_cycle(const std::vector<std::pair<std::uint32_t, std::size_t>>& path, std::size_t begin) {
    constexpr std::size_t most = 10;
    const auto length = path.size() - begin;
    std::vector<std::string> names;
    for (auto i = begin; i < path.size() && names.size() < most; ++i) names.push_back(vertices_[path[i].first].name);
    const auto& from = vertices_[path.back().first];
    if (length > most) names.push_back(fmt::format("… ({} switches) → {}", length, from.name));
    if (length == 1) faults_.add(from.mark, fmt::format("a cycle: switch {} lists itself", names[0]));
    else if (length == 2) faults_.add(from.mark, fmt::format("a cycle: {} ↔ {} list each other as children", names[0], names[1]));
    else faults_.add(from.mark, fmt::format("a cycle: {} → {}", fmt::join(names, " → "), names[0]));
  }

  // Before spines are merged, which looks at everything once per level.
  bool check_depth() {
    std::uint32_t top = 0;
    for (const auto& v : vertices_) top = std::max(top, v.height);
    if (top + 1 <= max_levels) return true;
    faults_.add(text_.mark, base::Error{base::Code::invalid_argument,
                                        "the tree is too deep",
                                        {},
                                        fmt::format("{} levels", max_levels),
                                        fmt::format("{} levels", top + 1),
                                        {}});
    return false;
  }

  // Spines of one fabric all list the same leaves: they are one domain to a scheduler. Repeated, because merged spines may
  // make their own parents equal.
  void merge_spines() {
    while (true) {
      std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> same;
      for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
        if (vertices_[v].merged_away || vertices_[v].children.empty() || vertices_[v].named_nodes != 0) continue;
        auto key = vertices_[v].children;
        std::sort(key.begin(), key.end());
        same[std::move(key)].push_back(v);
      }
      bool merged = false;
      for (const auto& [children, group] : same) {
        if (group.size() < 2) continue;
        merge(group);
        merged = true;
      }
      if (!merged) return;
    }
  }

  void merge(const std::vector<std::uint32_t>& group) {
    std::vector<std::string> names;
    for (const auto v : group) names.push_back(vertices_[v].name);
    auto& kept = vertices_[group.front()];
    auto joined_name = joined_domain_name(names);
    while (!by_name_.emplace(joined_name, group.front()).second) joined_name += '+';
    report_.note(kept.mark,
                 fmt::format("switches {} have the same children: merged into one domain {}", fmt::join(names, ", "), joined_name));
    const std::set<std::uint32_t> members(group.begin(), group.end());
    std::set<std::uint32_t> parents;
    for (const auto v : group) {
      for (const auto p : vertices_[v].parents) parents.insert(p);
      if (v != group.front()) vertices_[v].merged_away = true;
    }
    kept.name = std::move(joined_name);
    kept.parents.assign(parents.begin(), parents.end());
    for (const auto p : parents) {
      std::vector<std::uint32_t> children;
      bool placed = false;
      for (const auto c : vertices_[p].children) {
        if (members.count(c) == 0) children.push_back(c);
        else if (!std::exchange(placed, true)) children.push_back(group.front());
      }
      vertices_[p].children = std::move(children);
    }
    for (const auto c : kept.children) {
      auto& up = vertices_[c].parents;
      up.erase(std::remove_if(up.begin(), up.end(), [&](auto p) { return p != group.front() && members.count(p) != 0; }), up.end());
    }
  }

  bool refuse_two_parents() {
    bool sound = true;
    for (const auto& v : vertices_) {
      if (v.merged_away || v.parents.size() < 2) continue;
      sound = false;
      std::vector<std::string> places;
      for (const auto p : v.parents) places.push_back(place(p));
      faults_.add(v.mark,
                  fmt::format("switch {} is under {} whose children differ: this is not a tree", v.name, fmt::join(places, " and ")), {},
                  {}, "list the same children under each of them (they become one domain), or keep one");
    }
    return sound;
  }

  void measure_heights() {
    order_.clear();
    order_.reserve(vertices_.size());
    for (std::uint32_t start = 0; start < vertices_.size(); ++start) {
      if (vertices_[start].merged_away || !vertices_[start].parents.empty()) continue;
      std::vector<std::uint32_t> open{start};
      while (!open.empty()) {
        const auto v = open.back();
        open.pop_back();
        order_.push_back(v);
        for (auto c = vertices_[v].children.rbegin(); c != vertices_[v].children.rend(); ++c) open.push_back(*c);
      }
    }
    for (auto v = order_.rbegin(); v != order_.rend(); ++v)
      for (const auto c : vertices_[*v].children) vertices_[*v].height = std::max(vertices_[*v].height, vertices_[c].height + 1);
  }

  // Where no domain names its level: by height above the nodes.
  void number_levels() {
    if (written_levels_) return;
    std::uint32_t top = 0;
    for (const auto v : order_) top = std::max(top, vertices_[v].height);
    if (levels_.empty()) {
      for (auto h = static_cast<std::int64_t>(top); h >= 0; --h)
        levels_.push_back({text_.kind == model::Topology::Kind::block ? "block" : level_name_by_height(static_cast<std::size_t>(h)), {}});
    } else if (levels_.size() < top + 1) {
      faults_.add(level_mark(0), fmt::format("the tree has {} levels, but {} are named", top + 1, levels_.size()), "levels");
      return;
    }
    for (const auto v : order_) vertices_[v].level_number = static_cast<std::uint32_t>(levels_.size()) - 1 - vertices_[v].height;
  }

  // The levels that the domains name, if any does. `with_parents`: and each is narrower than its parent's, which only a graph
  // without cycles can be asked.
  void take_written_levels(bool with_parents) {
    levels_ = text_.levels;
    written_levels_ = std::any_of(vertices_.begin(), vertices_.end(), [](const Vertex& v) { return !v.level.empty(); });
    if (!written_levels_ || (levels_.empty() && options_.incomplete)) return;
    std::map<std::string, std::uint32_t> number;
    std::set<std::string> ambiguous;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < levels_.size(); ++i) {
      if (!number.emplace(levels_[i].name, i).second) ambiguous.insert(levels_[i].name);
      else names.push_back(levels_[i].name);
      for (const auto& a : levels_[i].aliases)
        if (!number.emplace(a, i).second) ambiguous.insert(a);
    }
    for (auto& v : vertices_) {
      const auto found = number.find(v.level);
      if (found != number.end()) v.level_number = found->second;
      else refuse_level(v, names);
    }
    if (!with_parents) return;
    const auto sure = [&](const Vertex& v) { return number.count(v.level) != 0 && ambiguous.count(v.level) == 0; };
    for (const auto& v : vertices_)
      for (const auto p : v.parents)
        if (const auto& parent = vertices_[p]; sure(v) && sure(parent) && parent.level_number >= v.level_number)
          faults_.add(v.mark, fmt::format("domain {} is on level {}, which is not narrower than its parent {}'s level {}", v.name,
                                          levels_[v.level_number].name, parent.name, levels_[parent.level_number].name));
  }

  void refuse_level(const Vertex& v, const std::vector<std::string>& names) {
    const auto near = base::nearest(v.level, names);
    faults_.add(v.mark, base::Error{base::Code::invalid_argument,
                                    v.level.empty() ? fmt::format("domain {} names no level, but others do", v.name)
                                                    : fmt::format("domain {} is on a level that is not known", v.name),
                                    "level", fmt::format("{}", fmt::join(names, ", ")), shown(v.level),
                                    near.empty() ? std::string{} : fmt::format("did you mean {}?", near)});
  }

  model::Topology assemble() {
    model::Topology t;
    t.name = text_.name;
    t.kind = text_.kind;
    t.levels = levels_;
    t.block_sizes = text_.block_sizes;
    std::sort(t.block_sizes.begin(), t.block_sizes.end());
    std::vector<std::uint32_t> position(vertices_.size(), nobody);
    for (std::uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
    std::size_t roots = 0;
    t.domains.reserve(order_.size());
    for (const auto v : order_) {
      auto& from = vertices_[v];
      model::Domain d;
      d.name = std::move(from.name);
      d.level = from.level_number;
      d.parent = from.parents.empty() ? -1 : static_cast<std::int32_t>(position[from.parents.front()]);
      d.children.reserve(from.children.size());
      for (const auto c : from.children) d.children.push_back(position[c]);
      d.nodes = std::move(from.nodes);
      d.link_speed = text_of(v).link_speed;  // of spines made one: the first's
      roots += from.parents.empty() ? 1U : 0U;
      t.domains.push_back(std::move(d));
    }
    t.joined = text_.joined.value_or(text_.kind == model::Topology::Kind::block || roots == 1);
    if (!t.joined && roots == 1) t.joined = true;
    if (!t.joined) report_.note(text_.mark, fmt::format("{} roots without a common switch: no job spans them", roots));
    return t;
  }

  const TopologyText& text_;
  const FindNode& find_;
  const BuildOptions& options_;
  ImportReport& report_;
  Faults& faults_;
  std::size_t faults_before_;
  std::vector<Vertex> vertices_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::uint32_t> order_;  // depth-first, those merged away left out
  std::vector<model::Level> levels_;
  bool written_levels_{};  // the domains name them
};

}  // namespace

void check_level_names(const std::vector<LevelNames>& levels, Faults& faults) {
  static const std::set<std::string, std::less<>> reserved{"node", "any", "root", "cluster", "host", "hostname"};
  std::set<std::string> seen;
  const auto take = [&](const std::string& name, FileMark mark) {
    if (const auto why = unsound_name(name, " \"\\,[]#/@=|:"); !why.empty())
      faults.add(mark, "this can not be the name of a level: " + why, "levels", shown(name), "use letters, digits, '-', '.', '_'");
    else if (reserved.count(name) != 0) faults.add(mark, "this level is always there and can not be given", "levels", name, "leave it out");
    else if (!seen.insert(name).second) faults.add(mark, "two levels have this name", "levels", name);
  };
  for (const auto& l : levels) {
    take(l.level->name, l.mark);
    for (const auto& a : l.level->aliases) take(a, l.mark);
  }
  if (levels.size() > max_levels)
    faults.add(levels[max_levels].mark, base::Error{base::Code::invalid_argument,
                                                    "there are too many levels",
                                                    "levels",
                                                    std::to_string(max_levels),
                                                    std::to_string(levels.size()),
                                                    {}});
}

std::string level_name_by_height(std::size_t height) {
  switch (height) {
    case 0: return "leaf";
    case 1: return "spine";
    case 2: return "core";
    default: return fmt::format("tier{}", height + 1);
  }
}

std::string joined_domain_name(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), base::natural_less);
  const auto all = fmt::format("{}", fmt::join(names, "+"));
  return all.size() <= 64 ? all : fmt::format("{}+{}", names.front(), names.size() - 1);
}

std::optional<model::Topology> build_topology(const TopologyText& text, const FindNode& find, const BuildOptions& options,
                                              ImportReport& report, Faults& faults) {
  return Builder(text, find, options, report, faults).run();
}

}  // namespace sy::wire

#include "cli/topo/topology_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/hostlist.hpp"

namespace sy::cli {
namespace {

using model::Topology;

struct Row {
  std::string name;  // indented
  std::size_t domains{1};
  DomainUse use;  // of one domain
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Cut to `width` characters of UTF-8.
std::string cut(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U && ++n == width) break;
  return text.substr(0, at) + "~";
}

// The columns behind the name: wide where there is room, else as narrow as what stands in them.
struct Columns {
  std::array<std::string_view, 5> heads{"NODES", "FREE", "BUSY", "DRAINED", "DOWN"};
  std::array<std::size_t, 5> widths{5, 8, 8, 8, 8};

  std::size_t total() const { return std::accumulate(widths.begin(), widths.end(), std::size_t{6}); }  // and the blanks between them
  void fit(const std::vector<std::array<std::string, 5>>& cells) {
    for (std::size_t c = 0; c < 5; ++c)
      for (const auto& row : cells) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string line(const std::string& name, std::size_t name_width, const std::array<std::string, 5>& cells) const {
    auto out = name + std::string(name_width - std::min(name_width, characters(name)) + 1, ' ');
    for (std::size_t c = 0; c < 5; ++c) out += fmt::format(" {:>{}}", cells[c], widths[c]);
    return out;
  }
};

class Drawing {
 public:
  Drawing(const Topology& t, const std::vector<DomainUse>& uses, bool fold) : t_(t), uses_(uses), fold_(fold) {}

  std::vector<Row> run() {
    std::vector<std::uint32_t> roots;
    for (std::uint32_t d = 0; d < t_.domains.size(); ++d)
      if (t_.domains[d].parent < 0) roots.push_back(d);
    draw(roots, 0);
    return std::move(rows_);
  }

 private:
  bool foldable(std::uint32_t a, std::uint32_t b) const {
    return t_.domains[a].children.empty() && t_.domains[b].children.empty() && uses_[a] == uses_[b] &&
           t_.domains[a].level == t_.domains[b].level;
  }
  void draw(const std::vector<std::uint32_t>& siblings, std::size_t depth) {
    for (std::size_t i = 0; i < siblings.size();) {
      std::size_t end = i + 1;
      while (fold_ && end < siblings.size() && foldable(siblings[i], siblings[end])) ++end;
      if (end - i < 3) end = i + 1;
      std::vector<std::string> names;
      for (std::size_t k = i; k < end; ++k) names.push_back(t_.domains[siblings[k]].name);
      rows_.push_back(
          {std::string(2 * std::min<std::size_t>(depth, 20), ' ') + base::fold_hostlist_in_order(names), end - i, uses_[siblings[i]]});
      if (end == i + 1) draw(t_.domains[siblings[i]].children, depth + 1);
      i = end;
    }
  }

  const Topology& t_;
  const std::vector<DomainUse>& uses_;
  bool fold_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<DomainUse> count_uses(const Topology& t, const std::vector<NodeUse>& uses) {
  std::vector<DomainUse> out(t.domains.size());
  for (std::size_t d = t.domains.size(); d-- > 0;) {
    for (const auto n : t.domains[d].nodes) {
      ++out[d].nodes;
      switch (n.value < uses.size() ? uses[n.value] : NodeUse::down) {
        case NodeUse::free: ++out[d].free; break;
        case NodeUse::busy: ++out[d].busy; break;
        case NodeUse::drained: ++out[d].drained; break;
        case NodeUse::down: ++out[d].down; break;
      }
    }
    if (t.domains[d].parent < 0) continue;
    auto& up = out[static_cast<std::size_t>(t.domains[d].parent)];  // parents stand before children
    up.nodes += out[d].nodes;
    up.free += out[d].free;
    up.busy += out[d].busy;
    up.drained += out[d].drained;
    up.down += out[d].down;
  }
  return out;
}

std::vector<std::string> draw_topology(const Topology& t, const std::vector<DomainUse>& uses, int width, bool fold) {
  const auto rows = Drawing(t, uses, fold).run();
  std::size_t longest = 6;
  std::vector<std::array<std::string, 5>> cells;
  for (const auto& r : rows) {
    longest = std::max(longest, characters(r.name));
    const auto nodes = std::to_string(r.use.nodes);
    cells.push_back({r.domains == 1 ? nodes : fmt::format("{}x{}", r.domains, nodes), std::to_string(r.use.free),
                     std::to_string(r.use.busy), std::to_string(r.use.drained), std::to_string(r.use.down)});
  }
  const auto room = static_cast<std::size_t>(std::max(width, 30));
  Columns columns;
  const std::array<Columns, 2> narrower{Columns{{"NODES", "FREE", "BUSY", "DRAIN", "DOWN"}, {5, 4, 4, 5, 4}},
                                        Columns{{"N", "FR", "BU", "DR", "DO"}, {1, 2, 2, 2, 2}}};
  columns.fit(cells);
  for (const auto& next : narrower) {
    if (columns.total() + std::min<std::size_t>(longest, 12) <= room) break;
    columns = next;
    columns.fit(cells);
  }
  const auto name_width = std::min(longest, room > columns.total() + 4 ? room - columns.total() : std::size_t{4});
  std::vector<std::string> out;
  std::array<std::string, 5> heads;
  std::copy(columns.heads.begin(), columns.heads.end(), heads.begin());
  out.push_back(columns.line("DOMAIN", name_width, heads));
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back(columns.line(cut(rows[i].name, name_width), name_width, cells[i]));
  return out;
}

std::vector<std::string> fold_words(const std::string& text, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 30));
  std::vector<std::string> out;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    const auto word = text.substr(at, end - at);
    if (!line.empty() && characters(line) + 1 + characters(word) > room) out.push_back(std::exchange(line, " "));
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  out.push_back(std::move(line));
  return out;
}

std::string domain_path(const Topology& t, std::uint32_t domain) {
  std::vector<std::string_view> names;
  for (auto d = static_cast<std::int32_t>(domain); d >= 0; d = t.domains[static_cast<std::size_t>(d)].parent)
    names.insert(names.begin(), t.domains[static_cast<std::size_t>(d)].name);
  return fmt::format("{}", fmt::join(names, " > "));
}

}  // namespace sy::cli

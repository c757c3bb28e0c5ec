#include "cli/topo/topology_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"

namespace sy::cli {
namespace {

using model::Topology;

struct Row {
  std::string name;  // indented
  std::size_t domains{1};
  DomainUse use;  // of one domain
};

// Cut to `width` characters; names are UTF-8, but nearly always ASCII.
std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, width > 0 ? width - 1 : 0) + "~";
}

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
  std::size_t name_width = 6, count_width = 5;
  const auto count_text = [](const Row& r) {
    return r.domains == 1 ? std::to_string(r.use.nodes) : fmt::format("{}x{}", r.domains, r.use.nodes);
  };
  for (const auto& r : rows) {
    name_width = std::max(name_width, r.name.size());
    count_width = std::max(count_width, count_text(r).size());
  }
  const auto rest = count_width + 4 * 9;
  const auto room = static_cast<std::size_t>(std::max(width, 60));
  name_width = std::min(name_width, room > rest + 12 ? room - rest - 2 : std::size_t{12});
  std::vector<std::string> out;
  out.push_back(
      fmt::format("{:<{}}  {:>{}} {:>8} {:>8} {:>8} {:>8}", "DOMAIN", name_width, "NODES", count_width, "FREE", "BUSY", "DRAINED", "DOWN"));
  for (const auto& r : rows)
    out.push_back(fmt::format("{:<{}}  {:>{}} {:>8} {:>8} {:>8} {:>8}", cut(r.name, name_width), name_width, count_text(r), count_width,
                              r.use.free, r.use.busy, r.use.drained, r.use.down));
  return out;
}

std::string domain_path(const Topology& t, std::uint32_t domain) {
  std::vector<std::string_view> names;
  for (auto d = static_cast<std::int32_t>(domain); d >= 0; d = t.domains[static_cast<std::size_t>(d)].parent)
    names.insert(names.begin(), t.domains[static_cast<std::size_t>(d)].name);
  return fmt::format("{}", fmt::join(names, " > "));
}

}  // namespace sy::cli

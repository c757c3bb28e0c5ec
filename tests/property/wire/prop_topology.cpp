// export ∘ import = identity, for every format, over generated topologies; an equal import is a no-op.
#include <fmt/format.h>

#include <algorithm>

#include "support/catch.hpp"
#include "wire/topology/export_topology.hpp"
#include "wire/topology/import_topology.hpp"

using namespace sy;

namespace {

struct Generated {
  model::Topology topology;
  std::vector<std::string> names;
};

// What names may hold beside letters: all that no format takes for something else.
std::string odd() {
  return *rc::gen::element<std::string>("", "", "", ":", "%2C", "+", "'", "{x}", "&a", "*", "!t", "|", ">", "@h", "`", "~", "\xc3\xbc",
                                        "\xe6\x9e\xb6", "-007");
}

std::string speed() { return *rc::gen::element<std::string>("", "", "4xNDR", "100", "100 Gb/s", "a:b,c%20"); }

// Names that hostlists like to fold, in several shapes.
std::vector<std::string> node_names(std::size_t count) {
  const auto style = *rc::gen::inRange(0, 4);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(style == 0   ? "n" + std::to_string(i + 1)
                    : style == 3 ? "node" + odd() + std::to_string(i)
                    : style == 1 ? "gpu-" + std::string(i < 10 ? "00" : "0") + std::to_string(i)
                                 : "r" + std::to_string(i / 4) + "c" + std::to_string(i % 4) + (i % 3 == 0 ? "x" : ""));
  return names;
}

// A subtree of exactly `height` levels below, in depth-first order. Heights decide levels in foreign formats, so every inner
// domain has at least one child that is exactly one level lower.
void grow(Generated& g, std::int32_t parent, std::uint32_t height, std::size_t& next_node) {
  auto& t = g.topology;
  const auto self = static_cast<std::uint32_t>(t.domains.size());
  model::Domain d;
  d.name = (height == 0 ? "leaf" : "sw") + odd() + std::to_string(self);
  d.link_speed = speed();
  d.level = static_cast<std::uint32_t>(t.levels.size()) - 1 - height;
  d.parent = parent;
  const auto nodes = height == 0 ? *rc::gen::inRange(0, 5) : *rc::gen::inRange(0, 4) == 0 ? 1 : 0;
  for (int i = 0; i < nodes && next_node < g.names.size(); ++i) d.nodes.push_back(base::NodeIndex{static_cast<std::uint32_t>(next_node++)});
  t.domains.push_back(std::move(d));
  if (parent >= 0) t.domains[static_cast<std::size_t>(parent)].children.push_back(self);
  if (height == 0) return;
  const auto children = *rc::gen::inRange(1, 4);
  const auto tallest = *rc::gen::inRange(0, children);
  for (int c = 0; c < children; ++c)
    grow(g, static_cast<std::int32_t>(self),
         c == tallest ? height - 1 : static_cast<std::uint32_t>(*rc::gen::inRange<int>(0, static_cast<int>(height))), next_node);
}

Generated tree() {
  Generated g;
  g.names = node_names(200);
  auto& t = g.topology;
  t.name = *rc::gen::element<std::string>("fabric", "t", "ib-0");
  t.kind = model::Topology::Kind::tree;
  const auto levels = *rc::gen::inRange(1, 4);
  const auto renamed = *rc::gen::arbitrary<bool>();
  for (int i = levels; i-- > 0;)
    t.levels.push_back(renamed ? model::Level{"lvl" + std::to_string(i), {"alias" + std::to_string(i)}}
                               : model::Level{wire::level_name_by_height(static_cast<std::size_t>(i)), {}});
  std::size_t next = 1;
  t.domains.push_back({"first", static_cast<std::uint32_t>(levels) - 1, -1, {}, {base::NodeIndex{0}}, false, true});
  const auto roots = *rc::gen::inRange(0, 3);
  for (int r = 0; r < roots; ++r) grow(g, -1, static_cast<std::uint32_t>(r == 0 ? levels - 1 : *rc::gen::inRange(0, levels)), next);
  if (roots == 0) t.levels.erase(t.levels.begin(), t.levels.end() - 1), t.domains[0].level = 0;
  t.joined = roots == 0 || *rc::gen::arbitrary<bool>();
  // In one order that is not the order of names.
  if (*rc::gen::arbitrary<bool>())
    for (auto& d : t.domains) std::reverse(d.nodes.begin(), d.nodes.end());
  return g;
}

Generated blocks() {
  Generated g;
  g.names = node_names(200);
  auto& t = g.topology;
  t.name = "b";
  t.kind = model::Topology::Kind::block;
  t.levels = {{"block", {}}};
  std::size_t next = 0;
  const auto count = *rc::gen::inRange(1, 9);
  for (int b = 0; b < count; ++b) {
    model::Domain d;
    d.name = "blk" + odd() + std::to_string(b);
    d.link_speed = speed();
    const auto nodes = b == 0 ? 4 : *rc::gen::inRange(0, 6);
    for (int i = 0; i < nodes; ++i) d.nodes.push_back(base::NodeIndex{static_cast<std::uint32_t>(next++)});
    t.domains.push_back(std::move(d));
  }
  const auto sizes = *rc::gen::inRange(0, 4);
  for (int s = 0; s < sizes; ++s) t.block_sizes.push_back(4U << static_cast<unsigned>(s));
  return g;
}

Generated flat() {
  Generated g;
  g.topology.name = *rc::gen::element<std::string>("f", "my-net");
  g.topology.kind = model::Topology::Kind::flat;
  return g;
}

void survives(const Generated& g, const std::string& format) {
  const auto text = wire::export_topology(g.topology, g.names, format);
  RC_ASSERT(text.has_value());
  wire::ClusterNodes cluster;
  cluster.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    for (std::uint32_t i = 0; i < g.names.size(); ++i)
      if (g.names[i] == name) return base::NodeIndex{i};
    return std::nullopt;
  };
  wire::Faults faults("f");
  wire::ImportRequest request;
  request.text = *text;  // the format is found by content
  const auto back = wire::import_topologies(request, cluster, faults);
  for (const auto& f : faults.list()) RC_LOG(to_text(f) + "\n" + *text);
  RC_ASSERT(faults.empty());
  RC_ASSERT(back->topologies.size() == 1U);
  if (!wire::same_topology(back->topologies[0], g.topology)) {
    for (const auto& l : wire::topology_diff(g.topology, back->topologies[0], g.names)) RC_LOG(l);
    RC_LOG(*text);
    RC_FAIL("it came back different");
  }
  RC_ASSERT(wire::topology_diff(g.topology, back->topologies[0], g.names).empty());
}

}  // namespace

TEST_CASE("export then import is the identity for trees, in every format that holds them") {
  for (const auto* format : {"yaml", "slurm-tree", "slurm-yaml", "topograph"}) check_property(format, [&] { survives(tree(), format); });
}

TEST_CASE("export then import is the identity for blocks, in every format that holds them") {
  for (const auto* format : {"yaml", "slurm-block", "slurm-yaml", "topograph"}) check_property(format, [&] { survives(blocks(), format); });
}

TEST_CASE("export then import is the identity for flat topologies, in every format that holds them") {
  for (const auto* format : {"yaml", "slurm-yaml"}) check_property(format, [&] { survives(flat(), format); });
}

namespace {

// The same text imported again is the same topology; and its export in any format that holds it is that topology too.
void imports_equal(const std::string& text, const std::string& format) {
  const auto import = [&](const std::string& from, const std::string& as, const wire::ClusterNodes& cluster) {
    wire::Faults faults("f");
    wire::ImportRequest request;
    request.text = from;
    request.format = as;
    request.name = "t";
    auto out = wire::import_topologies(request, cluster, faults);
    for (const auto& f : faults.list()) RC_LOG(to_text(f) + "\n" + from);
    RC_ASSERT(out.has_value());
    return std::move(*out);
  };
  const auto first = import(text, format, {});
  const auto names = first.node_names;
  wire::ClusterNodes cluster;
  cluster.find = [&](std::string_view name) -> std::optional<base::NodeIndex> {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? std::nullopt : std::optional{base::NodeIndex{static_cast<std::uint32_t>(at - names.begin())}};
  };
  const auto again = import(text, format, cluster);
  RC_ASSERT(again.topologies.size() == first.topologies.size());
  for (std::size_t i = 0; i < first.topologies.size(); ++i) {
    const auto& t = first.topologies[i];
    RC_ASSERT(wire::same_topology(t, again.topologies[i]));
    RC_ASSERT(wire::topology_diff(t, again.topologies[i], names).empty());
    const auto yaml = wire::export_topology(t, names, "yaml");
    RC_ASSERT(yaml.has_value());
    RC_ASSERT(wire::same_topology(import(*yaml, "yaml", cluster).topologies.at(0), t));
  }
}

int some(int least, int most) { return *rc::gen::inRange(least, most + 1); }

}  // namespace

TEST_CASE("an equal import is a no-op, and what came in by a format that is only read survives its export") {
  check_property("ibnetdiscover", [] {  // leaves below spines
    const int leaves = some(1, 5), spines = some(0, 3);
    std::string text;
    for (int l = 0, host = 0; l < leaves; ++l) {
      text += fmt::format("Switch 40 \"S-a{}\" # \"M;LEAF-{}:x\"\n", l, l);
      for (int h = some(1, 4), port = 1; h > 0; --h, ++host, ++port)
        text += fmt::format("[{}] \"H-{}\"[1](0{}) # \"node{} mlx5_0\" lid 7 {}\n", port, host, host, host, some(0, 1) ? "4xNDR" : "4xHDR");
      for (int s = 0; s < spines; ++s)
        if (some(0, 4) > 0) text += fmt::format("[{}] \"S-b{}\"[{}] # \"M;SPINE-{}:x\" lid 9 4xXDR\n", 20 + s, s, l + 1, s);
    }
    for (int s = 0; s < spines; ++s) text += fmt::format("Switch 40 \"S-b{}\" # \"M;SPINE-{}:x\"\n", s, s);
    imports_equal(text, "ibnetdiscover");
  });
  check_property("hypernode", [] {
    const int racks = some(1, 5);
    std::string text, members;
    for (int r = 0, node = 0; r < racks; ++r) {
      text += fmt::format("kind: HyperNode\nmetadata: {{name: rack{}}}\nspec:\n  tier: 1\n  members:\n", r);
      for (int n = some(1, 4); n > 0; --n) text += fmt::format("  - {{type: Node, selector: {{exactMatch: {{name: node{}}}}}}}\n", node++);
      text += "---\n";
      members += fmt::format("  - {{type: HyperNode, selector: {{exactMatch: {{name: rack{}}}}}}}\n", r);
    }
    if (some(0, 1)) text += "kind: HyperNode\nmetadata: {name: spine}\nspec:\n  tier: 2\n  members:\n" + members;
    imports_equal(text, "hypernode");
  });
  check_property("labels", [] {
    std::string text = "levels: [{key: example.org/zone, name: zone}, rack]\nnodes:\n";
    for (int n = 0, count = some(1, 12); n < count; ++n) {
      text += fmt::format("- {{names: n{}, labels: {{example.org/zone: z{}", n, some(0, 2));
      text += some(0, 5) == 0 ? "}}\n" : fmt::format(", rack: \"r {}\"}}}}\n", some(0, 2));
    }
    imports_equal(text, "labels");
  });
  check_property("topograph graph", [] {
    std::string text;
    for (int n = 0, count = some(1, 10); n < count; ++n) {
      const int leaf = some(0, 3);
      text += fmt::format("{}{{\"id\":\"n{}\",\"network_layers\":[\"l{}\",\"s{}\"],\"labels\":{{\"x/accelerator\":\"nv{}\"}}}}",
                          n == 0 ? "" : ",", n, leaf, leaf / 2, some(0, 2));
    }
    imports_equal("{\"instances\":[" + text + "]}", "topograph");
  });
}

TEST_CASE("a kind that a format can not hold is refused with the format to use") {
  const std::vector<std::string> names{"n1"};
  model::Topology t;
  t.name = "t";
  t.kind = model::Topology::Kind::block;
  CHECK(to_text(wire::export_topology(t, names, "slurm-tree").error()) ==
        "--format: the topology t is not of kind tree (given: slurm-tree); use slurm-block or yaml");
  CHECK(to_text(wire::export_topology(t, names, "slurm").error()).find("slurm-tree, slurm-block, slurm-yaml, topograph, yaml") !=
        std::string::npos);
}

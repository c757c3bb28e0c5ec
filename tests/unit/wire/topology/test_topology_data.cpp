// Real files beside the checkout, and what shared/data/README.md says that each must give.
#include <algorithm>

#include "support/catch.hpp"
#include "support/shared_data.hpp"
#include "unit/wire/topology/topology_case.hpp"

using namespace sy;
using namespace sy::test;

namespace {
std::optional<TopologyCase> import_file(const std::string& name) {
  const auto path = shared_file("data/topologies/" + name);
  if (!path) return std::nullopt;
  return import_text(read_text(*path));
}
std::vector<std::size_t> leaf_sizes(const model::Topology& t) {
  std::vector<std::size_t> out;
  for (const auto& d : t.domains)
    if (d.children.empty()) out.push_back(d.nodes.size());
  std::sort(out.rbegin(), out.rend());
  return out;
}
std::size_t nodes_of(const model::Topology& t) {
  std::size_t n = 0;
  for (const auto& d : t.domains) n += d.nodes.size();
  return n;
}
}  // namespace

TEST_CASE("data: topograph models give the tree and the blocks they describe") {
  if (const auto c = import_file("topograph-model-small-tree.yaml")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->tree(0) == "S1 [spine]\n  S2 [leaf] I[21-22,25]\n  S3 [leaf] I[34-36]\n");
    CHECK(c->tree(1) == "nvl2 [block] I[21-22,25]\nnvl3 [block] I[34-36]\n");
  }
  if (const auto c = import_file("topograph-model-large.yaml")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->imported->topologies[0].domains.size() == 1 + 6 + 12);
    CHECK(c->imported->topologies[0].levels.size() == 3);
    CHECK(leaf_sizes(c->imported->topologies[0]) == std::vector<std::size_t>(12, 8));
    CHECK(leaf_sizes(c->imported->topologies[1]) == std::vector<std::size_t>(12, 8));
    CHECK(c->imported->topologies[1].kind == model::Topology::Kind::block);
  }
  if (const auto c = import_file("topograph-model-nvl72.yaml")) {
    REQUIRE_FALSE(c->refused());
    CHECK(leaf_sizes(c->imported->topologies[0]) == std::vector<std::size_t>(4, 18));
    CHECK(leaf_sizes(c->imported->topologies[1]) == std::vector<std::size_t>(4, 18));
  }
  if (const auto c = import_file("topograph-model-dual-irregular.yaml")) {
    REQUIRE_FALSE(c->refused());
    const auto& tree = c->imported->topologies[0];
    // Two switches with 14 and 15 racks that hold nodes; two slots without a rack are listed and stay as empty leaves.
    std::size_t with_nodes = 0, empty = 0;
    for (const auto& d : tree.domains)
      if (d.children.empty()) ++(d.nodes.empty() ? empty : with_nodes);
    CHECK(with_nodes == 14 + 15);
    CHECK(empty == 2);
    const auto& blocks = c->imported->topologies[1];
    REQUIRE(blocks.levels.size() == 2);
    CHECK(blocks.levels[0].name == "domain");
    CHECK(blocks.domains.size() == 2 + 29);
    CHECK(nodes_of(tree) == nodes_of(blocks));
  }
}

TEST_CASE("data: the NDR fabric of 119 hosts gives 8 domains under their spines") {
  const auto c = import_file("ibnetdiscover-ndr-582hca.out.gz");
  if (!c) return;
  REQUIRE_FALSE(c->refused());
  const auto& t = c->only();
  CHECK(leaf_sizes(t) == std::vector<std::size_t>{18, 18, 17, 16, 15, 14, 11, 10});
  CHECK(nodes_of(t) == 119);
  CHECK(t.domains.size() == 9);
  CHECK(t.joined);
  const auto report = c->report();
  CHECK(report.find("69 adapters have the vendor's description instead of a host name; left out\n") != std::string::npos);
  CHECK(report.find("hosts on half of a domain's leaf switches or fewer, left out: B11-P1-CUFM-02\n") != std::string::npos);
  CHECK(report.find("40 aggregation nodes of switches; left out\n") != std::string::npos);
}

TEST_CASE("data: a broken ibnetdiscover dump is refused") {
  const auto c = import_file("ibnetdiscover-bad.out");
  if (!c) return;
  CHECK(c->refused());
  CHECK(c->fault_text() == "f: no adapter with a host name is connected to a switch: nothing to place on\n");
}

TEST_CASE("data: ibtopotool's dumps give small trees") {
  if (const auto c = import_file("ibnetdiscover-1.out")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->tree() ==
          "fabric [spine]\n  S-0008f10400410015 [leaf] H-0008f10403960984,H-005442b100004900\n"
          "  S-005442ba00003080 [leaf] H-0008f[10403960558,10403961354]\n");
  }
  if (const auto c = import_file("ibnetdiscover-4.out")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->tree() == "S-0021283a8389a0a0 [leaf] nsn33-43\n");
  }
}

TEST_CASE("data: Slurm's files load") {
  if (const auto c = import_file("slurm-block-dra.conf")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->only().block_sizes == std::vector<std::uint32_t>{8, 16, 32});
    CHECK(leaf_sizes(c->only()) == std::vector<std::size_t>(12, 8));
  }
  if (const auto c = import_file("slurm-tree-oci.conf")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->only().domains.size() == 1 + 6 + 12);
    CHECK(leaf_sizes(c->only()) == std::vector<std::size_t>(12, 8));
    CHECK(c->only().joined);
  }
  if (const auto c = import_file("slurm-tree-small.conf")) {
    REQUIRE_FALSE(c->refused());
    CHECK(c->tree() ==
          "s4 [spine]\n  s0 [leaf] tara-c-[001-004]\n  s1 [leaf] tara-c-[005-006]\n  s2 [leaf] tara-m-[001-002]\n"
          "  s3 [leaf] tara-dgx1-[001-002]\n");
  }
}

TEST_CASE("data: the multi-parent file is refused, naming its two cycles") {
  const auto c = import_file("slurm-multi-parent.conf");
  if (!c) return;
  CHECK(c->refused());
  const auto text = c->fault_text();
  CHECK(text.find("a cycle: S-0008f1050010851e ↔ S-0008f105001086a2 list each other as children") != std::string::npos);
  CHECK(text.find("a cycle: S-0008f105001086a2 ↔ S-0008f10500108530 list each other as children") != std::string::npos);
}

TEST_CASE("data: KAI's file gives level names, NetQ's is refused by name") {
  if (const auto c = import_file("kai-topology-aliases.yaml")) {
    REQUIRE_FALSE(c->refused());
    REQUIRE(c->imported->label_levels.size() == 2);
    CHECK(c->imported->label_levels[0].name == "rack");
  }
  if (const auto c = import_file("netq-topologyGraph.json")) {
    CHECK(c->refused());
    CHECK(c->fault_text().find("NetQ") != std::string::npos);
  }
}

TEST_CASE("data: the yardstick's topology.yaml files load, ring and torus3d are refused by name") {
  for (const auto* name : {"tree2", "tree3", "tree-disjoint", "block4", "block18", "block18s", "block18c", "block-incomplete", "flat",
                           "tree2+TopoOptional", "tree2+dragonfly"})
    if (const auto path = shared_file(std::string("vectors/slurm-topologies/") + name + ".yaml")) {
      INFO(name);
      const auto c = import_text(read_text(*path), "n[01-72]");
      CHECK_FALSE(c.refused());
    }
  for (const auto* name : {"ring", "torus3d"})
    if (const auto path = shared_file(std::string("vectors/slurm-topologies/") + name + ".yaml")) {
      const auto c = import_text(read_text(*path), "n[01-72]");
      CHECK(c.refused());
      CHECK(c.fault_text().find(std::string("kind ") + name + " are not carried out yet") != std::string::npos);
    }
}

// The shapes of vectors/topology-files.md, each a test named after its row.
#include "support/catch.hpp"
#include "unit/wire/topology/topology_case.hpp"

using namespace sy;
using namespace sy::test;

TEST_CASE("topology file 1: blocks of 17, the same file sent again changes nothing") {
  const std::string text = "BlockName=b1 Nodes=n[1-17]\nBlockName=b2 Nodes=n[18-34]\nBlockName=b3 Nodes=n[35-51]\nBlockSizes=17\n";
  const auto first = import_text(text, "n[1-51]");
  const auto again = import_text("# sent again\n" + text, "n[1-51]");
  REQUIRE_FALSE(first.refused());
  REQUIRE_FALSE(again.refused());
  CHECK(wire::same_topology(first.only(), again.only()));
  CHECK(wire::topology_diff(first.only(), again.only(), first.names).empty());
  auto newer = again.only();
  newer.version = 7;
  CHECK(wire::same_topology(first.only(), newer));
}

TEST_CASE("topology file 2: membership is the file's, whatever the state of a node") {
  // Nothing about power or drain reaches an import: the same text gives the same members.
  const auto a = import_text("BlockName=b1 Nodes=n[1-4]\nBlockSizes=4\n", "n[1-4]");
  CHECK(a.tree() == "b1 [block] n[1-4]\n");
}

TEST_CASE("topology file 3: a root switch alone is refused") {
  const auto c = import_text("SwitchName=root\n");
  CHECK(c.refused());
  CHECK(c.fault_text() == "f:1: no switch has a node: nothing to place on (given: root)\n");
}

TEST_CASE("topology file 4: empty files, blank lines and comments only are refused") {
  for (const auto* text : {"", "\n \n\t\n", "# a\n   # b\n"}) {
    const auto c = import_text(text);
    CHECK(c.refused());
    CHECK(c.fault_text() == "f: the file is empty: nothing to place on\n");
    wire::ImportRequest slurm;
    slurm.format = "slurm";
    const auto named = import_text(text, "", slurm);
    CHECK(named.refused());
  }
}

TEST_CASE("topology file 5: a child switch that is defined nowhere is refused, both named") {
  const auto c = import_text("SwitchName=root Switches=s[0-1]\nSwitchName=s0 Nodes=n1\n");
  CHECK(c.fault_text() == "f:1: switch root lists the child s1, which is defined nowhere\n");
}

TEST_CASE("topology file 6: a leaf under two spines makes the spines one domain") {
  const auto c = import_text(
      "SwitchName=spine1 Switches=leaf1,leaf2\nSwitchName=spine2 Switches=leaf2,leaf1\n"
      "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "spine1+spine2 [spine]\n  leaf1 [leaf] n[1-2]\n  leaf2 [leaf] n[3-4]\n");
  CHECK(c.report() == "f:1: switches spine1, spine2 have the same children: merged into one domain spine1+spine2\n");
  CHECK(c.only().joined);
  // Merged spines may make their own parents equal.
  const auto three = import_text(
      "SwitchName=core1 Switches=sp[1-2]\nSwitchName=core2 Switches=sp[1-2]\nSwitchName=sp1 Switches=l[1-2]\n"
      "SwitchName=sp2 Switches=l[1-2]\nSwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\n");
  REQUIRE_FALSE(three.refused());
  CHECK(three.tree() == "core1+core2 [core]\n  sp1+sp2 [spine]\n    l1 [leaf] n1\n    l2 [leaf] n2\n");
  // Unequal children: not a tree.
  const auto unequal = import_text(
      "SwitchName=spine1 Switches=leaf1,leaf2\nSwitchName=spine2 Switches=leaf2\n"
      "SwitchName=leaf1 Nodes=n1\nSwitchName=leaf2 Nodes=n2\n");
  CHECK(unequal.fault_text() ==
        "f:4: switch leaf2 is under spine1 (line 1) and spine2 (line 2) whose children differ: this is not a tree; list the "
        "same children under each of them (they become one domain), or keep one\n");
}

TEST_CASE("topology file 7: two roots without a common parent are a forest that no job spans") {
  const auto c = import_text("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n");
  REQUIRE_FALSE(c.refused());
  CHECK_FALSE(c.only().joined);
  CHECK(c.report() == "2 roots without a common switch: no job spans them\n");
  // Told so in Switchyard's format: jobs may.
  const auto yaml = import_text("levels: [leaf]\ndomains:\n- {name: a, level: leaf, nodes: n1}\n- {name: b, level: leaf, nodes: n2}\n");
  REQUIRE_FALSE(yaml.refused());
  CHECK(yaml.only().joined);
}

TEST_CASE("topology file 8: unknown nodes are refused, or skipped and listed when asked") {
  const std::string text = "SwitchName=a Nodes=n[1-4]\n";
  const auto refused = import_text(text, "n[1-2]");
  CHECK(refused.fault_text() ==
        "f:1: switch a lists 2 nodes that the cluster does not know: n[3-4]; add them to the cluster, or import with "
        "--skip-unknown-nodes\n");
  wire::ImportRequest skip;
  skip.skip_unknown_nodes = true;
  const auto skipped = import_text(text, "n[1-2]", skip);
  REQUIRE_FALSE(skipped.refused());
  CHECK(skipped.tree() == "a [leaf] n[1-2]\n");
  CHECK(skipped.imported->report.skipped_nodes == std::vector<std::string>{"n3", "n4"});
  CHECK(skipped.report() == "f:1: switch a lists 2 nodes that the cluster does not know: n[3-4]; left out\n");
  const auto nothing = import_text(text, "m1", skip);
  CHECK(nothing.fault_text() == "f:1: the cluster knows none of the nodes: nothing is left to place on\n");
}

TEST_CASE("topology file 9: every spine lists all leaves") {
  std::string text;
  for (int s = 1; s <= 8; ++s) text += "SwitchName=spine" + std::to_string(s) + " Switches=leaf[1-4]\n";
  for (int l = 1; l <= 4; ++l) text += "SwitchName=leaf" + std::to_string(l) + " Nodes=n" + std::to_string(l) + "\n";
  const auto c = import_text(text);
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree().rfind("spine1+spine2+spine3+spine4+spine5+spine6+spine7+spine8 [spine]\n  leaf1 [leaf] n1\n", 0) == 0);
  CHECK(c.only().domains.size() == 5);
}

TEST_CASE("topology file 10: a switch with both nodes and switches, branches of unequal depth") {
  const auto c = import_text(
      "SwitchName=root Switches=mid,s0 Nodes=login1\nSwitchName=mid Switches=s1\nSwitchName=s0 Nodes=n1\nSwitchName=s1 "
      "Nodes=n2\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "root [core] login1\n  mid [spine]\n    s1 [leaf] n2\n  s0 [leaf] n1\n");
}

TEST_CASE("topology file 11: nodes without a label go to a domain unknown, reported") {
  const auto c = import_text(
      "levels: [{key: zone}, {key: example.com/rack, name: rack}]\nnodes:\n"
      "- {names: \"n[1-2]\", labels: {zone: z1, example.com/rack: r1}}\n- {names: n3, labels: {zone: z1}}\n- {names: n4}\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "z1 [zone]\n  r1 [rack] n[1-2]\n  z1.unknown [rack] n3\nunknown [zone]\n  unknown.unknown [rack] n4\n");
  CHECK(c.report() ==
        "2 nodes are without a label for level rack: put into the domain unknown: n[3-4]\n"
        "1 node is without a label for level zone: put into the domain unknown: n4\n");
}

TEST_CASE("topology file 12: an empty leaf is accepted with a warning") {
  const auto c = import_text("SwitchName=root Switches=s[0-1]\nSwitchName=s0 Nodes=n1\nSwitchName=s1\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.report() == "f:3: leaf s1 has no node\n");
  CHECK(c.only().domains.size() == 3);
}

TEST_CASE("topology file 13: unequal blocks, padding blocks and sizes that skip a step are accepted") {
  const auto c =
      import_text("BlockName=b1 Nodes=n[1-18]\nBlockName=pad1\nBlockName=b2 Nodes=n[19-38]\nBlockName=pad2\nBlockSizes=18,72,288\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.only().block_sizes == std::vector<std::uint32_t>{18, 72, 288});
  CHECK(c.tree() == "b1 [block] n[1-18]\npad1 [block]\nb2 [block] n[19-38]\npad2 [block]\n");
  CHECK(c.only().joined);
}

TEST_CASE("topology file 14: sizes that are not base x 2^k are refused, a block smaller than the base warned about") {
  const auto refused = import_text("BlockName=b1 Nodes=n[1-18]\nBlockSizes=18,54\n");
  CHECK(refused.fault_text() ==
        "f:2: BlockSizes: block size 54 is not 18 times a power of two (given: 54) (limit: 18, 36, 72, …); 18 is the base "
        "size: "
        "the smallest of the list\n");
  const auto warned = import_text("BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-7]\nBlockSizes=4,8\n");
  REQUIRE_FALSE(warned.refused());
  CHECK(warned.report() == "f:2: block b2 has 3 nodes, fewer than the base size 4: no whole segment or job of 4 nodes fits into it\n");
}

TEST_CASE("topology file 15: ranges with holes and mixed prefixes parse, a node under two leaves is refused naming both") {
  const auto good = import_text("SwitchName=a Nodes=n[1-3,7,9-10],gpu[01-02],login\n");
  REQUIRE_FALSE(good.refused());
  CHECK(good.tree() == "a [leaf] n[1-3,7,9-10],gpu[01-02],login\n");
  const auto bad = import_text("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[3-5],n4\n");
  CHECK(bad.fault_text() == "f:2: node n3 is listed under both a (line 1) and b (line 2)\nf:2: switch b lists node n4 twice\n");
}

TEST_CASE("topology file 16: what has host names is imported from ibnetdiscover, the rest reported, nothing left refused") {
  const auto one = import_text(
      "switchguid=0x1\nSwitch 36 \"S-1a1a\" # \"leaf1\"\n[1] \"H-0001\"[1](1) # \"n1 HCA-1\" lid 1\n[2] \"H-0002\"[1](2) # "
      "\"MT4129 "
      "ConnectX7   Mellanox Technologies\" lid 2\nSwitch 36 \"S-2b2b\" # \"lonely\"\n");
  REQUIRE_FALSE(one.refused());
  CHECK(one.tree() == "leaf1 [leaf] n1\n");
  CHECK(one.report() ==
        "1 adapters have the vendor's description instead of a host name; left out\nswitches that no host is below, left out: "
        "lonely\n");
  const auto nothing = import_text("vendid=0x2c9\nCa 1 \"H-0001\" # \"n1 HCA-1\"\n");
  CHECK(nothing.fault_text() == "f: no adapter with a host name is connected to a switch: nothing to place on\n");
}

TEST_CASE("topology file 17: disconnected trunks and a stand-alone leaf are a forest") {
  const auto c = import_text(
      "SwitchName=t1 Switches=a,b\nSwitchName=t2 Switches=c\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c "
      "Nodes=n3\nSwitchName=alone Nodes=n4\n");
  REQUIRE_FALSE(c.refused());
  CHECK_FALSE(c.only().joined);
  CHECK(c.tree() == "t1 [spine]\n  a [leaf] n1\n  b [leaf] n2\nt2 [spine]\n  c [leaf] n3\nalone [leaf] n4\n");
}

TEST_CASE("topology file 18: hosts with the same set of leaf switches form one domain") {
  std::string text;
  for (const auto* leaf : {"S-a1", "S-a2"})
    text += std::string("Switch 8 \"") + leaf + "\" # \"" + leaf + "\"\n[1] \"H-" + leaf + "1\"[1] # \"n1 mlx5_0\"\n[2] \"H-" + leaf +
            "2\"[1] # \"n2 mlx5_0\"\n[7] \"S-sp\"[1] # \"spine\"\n";
  text += "Switch 8 \"S-b1\" # \"S-b1\"\n[1] \"H-b11\"[1] # \"n3 mlx5_0\"\n[7] \"S-sp\"[1] # \"spine\"\nswitchguid=0x1\n";
  const auto c = import_text(text);
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "spine [spine]\n  S-a1+S-a2 [leaf] n[1-2]\n  S-b1 [leaf] n3\n");
}

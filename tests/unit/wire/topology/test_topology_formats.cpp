// The syntax of each format and its refusals, with file and line.
#include "support/catch.hpp"
#include "unit/wire/topology/topology_case.hpp"
#include "wire/topology/export_topology.hpp"
#include "wire/topology/name_pattern.hpp"

using namespace sy;
using namespace sy::test;

TEST_CASE("topology.conf: continuation lines, comments, spaces around = and letter case") {
  const auto c = import_text(
      "# comment\nswitchname = root \\\n  SWITCHES=s[0-\\\n1] # to the end\nSwitchName=s0 Nodes=\"n[1-2]\" LinkSpeed=100\n"
      "SWITCHNAME=s1 nodes=n3\r\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "root [spine]\n  s0 [leaf] n[1-2]\n  s1 [leaf] n3\n");
}

TEST_CASE("topology.conf: every fault is listed with its line and the nearest key") {
  const auto c = import_text(
      "SwitchName=a Node=n1\nSwichName=b\nSwitchName=c Nodes=n[1-\nBlockName=d Nodes=n9\nSwitchName=e Nodes=\nInclude "
      "other.conf\n"
      "SwitchName=f Nodes=n1 Nodes=n2\n");
  CHECK(c.refused());
  const auto text = c.fault_text();
  CHECK(text.find("f:1: Node: this key is not known in a SwitchName line; did you mean Nodes?\n") != std::string::npos);
  CHECK(text.find("f:2: SwichName: a line starts with SwitchName, BlockName or BlockSizes; did you mean SwitchName?\n") !=
        std::string::npos);
  CHECK(text.find("f:3: Nodes: ") != std::string::npos);
  CHECK(text.find("switches and blocks are mixed in one file") != std::string::npos);
  CHECK(text.find("f:5: Nodes: the value is missing\n") != std::string::npos);
  CHECK(text.find("f:6: Include: Include is not followed; put the lines into one file\n") != std::string::npos);
  CHECK(text.find("f:7: Nodes: this key is written twice in one line\n") != std::string::npos);
}

TEST_CASE("cycles are named by their members") {
  const auto two = import_text("SwitchName=a Switches=b Nodes=n1\nSwitchName=b Switches=a\n");
  CHECK(two.fault_text() == "f:2: a cycle: a ↔ b list each other as children\n");
  const auto self = import_text("SwitchName=a Switches=a Nodes=n1\n");
  CHECK(self.fault_text() == "f:1: a cycle: switch a lists itself\n");
  const auto three = import_text("SwitchName=a Switches=b Nodes=n1\nSwitchName=b Switches=c\nSwitchName=c Switches=a\n");
  CHECK(three.fault_text() == "f:3: a cycle: a → b → c → a\n");
  std::string ring;
  for (int i = 0; i < 20; ++i)
    ring += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string((i + 1) % 20) + " Nodes=n" + std::to_string(i) + "\n";
  CHECK(import_text(ring).fault_text() == "f:20: a cycle: s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → s8 → s9 → … (20 switches) → s19 → s0\n");
}

TEST_CASE("a tree deeper than levels are known is refused before its spines are compared") {
  std::string text;
  for (int i = 0; i < 40; ++i)
    for (const std::string side : {"a", "b"})
      text += "SwitchName=" + side + std::to_string(i) + " Switches=" + (i == 39 ? "leaf" : side + std::to_string(i + 1)) + "\n";
  CHECK(import_text(text + "SwitchName=leaf Nodes=n1\n").fault_text() == "f: the tree is too deep (given: 41 levels) (limit: 32 levels)\n");
}

TEST_CASE("topology.yaml: several topologies, and the cluster's default") {
  const std::string text =
      "---\n- topology: t\n  cluster_default: false\n  tree:\n    switches:\n      - switch: root\n        children: "
      "s[0-1]\n"
      "      - switch: s0\n        nodes: n[1-2]\n      - switch: s1\n        nodes: n[3-4]\n- topology: b\n  "
      "cluster_default: true\n"
      "  block:\n    block_sizes: [2, 4]\n    blocks:\n      - {block: b0, nodes: \"n[1-2]\"}\n      - {block: b1, nodes: "
      "\"n[3-4]\"}\n"
      "- topology: f\n  flat: true\n";
  const auto c = import_text(text);
  REQUIRE_FALSE(c.refused());
  REQUIRE(c.imported->topologies.size() == 3);
  CHECK(c.imported->cluster_default == 1);
  CHECK(c.tree(0) == "root [spine]\n  s0 [leaf] n[1-2]\n  s1 [leaf] n[3-4]\n");
  CHECK(c.tree(1) == "b0 [block] n[1-2]\nb1 [block] n[3-4]\n");
  CHECK(c.imported->topologies[2].kind == model::Topology::Kind::flat);
  wire::ImportRequest pick;
  pick.topology = "b";
  CHECK(import_text(text, "", pick).imported->topologies.size() == 1);
  pick.topology = "bb";
  CHECK(import_text(text, "", pick).fault_text() ==
        "f: --topology-name: the file has no topology of this name (given: bb) (limit: t, b, f)\n");
}

TEST_CASE("SL15: malformed topology.yaml is refused naming the path in the file") {
  const auto c = import_text(
      "- topology: a\n  tree: {switches: [{switch: s, nodes: [x]}]}\n- topology: b\n  tree: {switches: []}\n  flat: true\n"
      "- topology: c\n  ring: {rings: []}\n- topology: d\n  torus3d: {}\n- topology: e\n  block: {block_sizes: [x], blocks: "
      "3}\n"
      "- topology: a\n  falt: true\n");
  CHECK(c.refused());
  CHECK(c.fault_text() ==
        "f:2: [0].tree.switches[0].nodes: a text belongs here (given: a list)\n"
        "f:5: [1].flat: a topology has one kind (given: tree, flat); keep one of them\n"
        "f:7: [2].ring: topologies of kind ring are not carried out yet (limit: tree, block, flat)\n"
        "f:9: [3].torus3d: topologies of kind torus3d are not carried out yet (limit: tree, block, flat)\n"
        "f:11: [4].block.block_sizes[0]: a whole number belongs here (given: x) (limit: 1 to 1000000)\n"
        "f:11: [4].block.blocks: a list belongs here (given: 3)\n"
        "f:12: [5].topology: two topologies have this name (given: a)\n"
        "f:12: [5].topology: the topology has no kind; add one of tree, block, flat, ring, torus3d\n"
        "f:13: [5].falt: this key is not known here (limit: topology, cluster_default, tree, block, flat, ring, torus3d); "
        "did you "
        "mean flat?\n");
}

TEST_CASE("Switchyard YAML: levels with aliases, parents, and refusals that name the known levels") {
  const auto good = import_text(
      "name: fabric\nlevels: [core, {name: rack, aliases: [leaf]}]\ndomains:\n- {name: c, level: core}\n"
      "- {name: r1, level: rack, parent: c, nodes: \"n[1-2]\"}\n- {name: r2, level: leaf, parent: c, nodes: [n3, n4]}\n");
  REQUIRE_FALSE(good.refused());
  CHECK(good.tree() == "c [core]\n  r1 [rack] n[1-2]\n  r2 [rack] n[3-4]\n");
  CHECK(good.only().levels[1].aliases == std::vector<std::string>{"leaf"});
  const auto bad = import_text(
      "levels: [core, rack]\ndomains:\n- {name: c, level: rack}\n- {name: r1, level: rak, parent: c, nodes: n1}\n- {name: "
      "r2, level: "
      "rack, parent: x, nodes: n2}\n- {name: r3, level: rack, parent: c, nodes: n3}\n- {name: r4, level: core, parent: c, "
      "nodes: n4}\n");
  CHECK(bad.fault_text().rfind("f:5: domain r2 names the parent x, which is defined nowhere\nf:4: level: ", 0) == 0);
  CHECK(bad.faults.count() == 4);
  const auto levels = import_text(
      "levels: [core, rack]\ndomains:\n- {name: c, level: rack}\n- {name: r1, level: rak, parent: c, nodes: n1}\n- {name: "
      "r3, level: "
      "rack, parent: c, nodes: n3}\n");
  CHECK(levels.fault_text() ==
        "f:4: level: domain r1 is on a level that is not known (given: rak) (limit: core, rack); did you mean rack?\n"
        "f:5: domain r3 is on level rack, which is not narrower than its parent c's level rack\n");
  const auto reserved = import_text("levels: [node, a/b, x, x]\ndomains: [{name: c, level: x, nodes: n1}]\n");
  CHECK(reserved.faults.count() == 3);
}

TEST_CASE("HyperNodes: tiers, exact names, patterns and labels over the cluster's nodes") {
  const std::string text =
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: s0}\nspec:\n  tier: 1\n  tierName: "
      "rack\n  members:\n"
      "  - {type: Node, selector: {regexMatch: {pattern: \"^n[1-2]$\"}}}\n---\n"
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: s1}\nspec:\n  tier: 1\n  members:\n"
      "  - {type: Node, selector: {exactMatch: {name: n3}}}\n---\n"
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: top}\nspec:\n  tier: 2\n  members:\n"
      "  - {type: HyperNode, selector: {regexMatch: {pattern: \"s[01]\"}}}\n";
  const auto c = import_text(text, "n[1-12]");
  REQUIRE_FALSE(c.refused());
  CHECK(c.tree() == "top [tier2]\n  s0 [rack] n[1-2]\n  s1 [rack] n3\n");
  const auto blind = import_text(text);
  CHECK(blind.fault_text() ==
        "f:8: spec.members[0]: patterns and labels select from the cluster's nodes, and no cluster is known; give "
        "--cluster, or name "
        "the nodes with exactMatch\n");
}

TEST_CASE("name patterns match as Go's and can not be made to run for ever") {
  const auto matches = [](const char* pattern, std::string_view name) {
    const auto p = wire::NamePattern::compile(pattern);
    REQUIRE(p);
    return p->matches(name);
  };
  CHECK(matches("node-[01]", "node-0"));
  CHECK(matches("node-[01]", "xnode-1y"));
  CHECK_FALSE(matches("^node-[01]$", "node-2"));
  CHECK(matches("^(a|bc)+d?\\d{2,3}$", "abca12"));
  CHECK_FALSE(matches("^(a|bc)+d?\\d{2,3}$", "abca1"));
  CHECK_FALSE(matches("^(a*)*b$", std::string(200, 'a')));
  CHECK(matches("[^a-c]x", "dx"));
  CHECK(matches("n{2}", "ann"));
  for (const auto* bad : {"(", "a)", "[a", "a**", "*a", "\\q", "a{3,2}", "(?i)a", "((a{255}){255}){255}", ""})
    CHECK_FALSE(wire::NamePattern::compile(bad));
}

TEST_CASE("level names alone: KAI's Topology gives the levels for node labels") {
  const auto c = import_text(
      "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: network}\nspec:\n  levels:\n  - nodeLabel: "
      "accelerator.nvidia.com/rack\n    alias: rack\n  - nodeLabel: kubernetes.io/hostname\n    alias: node\n");
  REQUIRE_FALSE(c.refused());
  CHECK(c.imported->topologies.empty());
  REQUIRE(c.imported->label_levels.size() == 2);
  CHECK(c.imported->label_levels[0].key == "accelerator.nvidia.com/rack");
  CHECK(c.imported->label_levels[0].name == "rack");
}

TEST_CASE("a fault in the levels hides none in the domains, and each stands where it is written") {
  const auto c = import_text(
      "name: f\nkind: tree\nlevels:\n- rack\n- {name: rack, aliases: [any]}\n- node\ndomains:\n- {name: a, level: rak, nodes: \"n[1-2]\"}\n"
      "- {name: b, level: rack, parent: zz, nodes: \"n[2-3]\"}\n- {name: b, nodes: n4}\n");
  CHECK(c.fault_text() ==
        "f:9: domain b names the parent zz, which is defined nowhere\n"
        "f:5: levels: two levels have this name (given: rack)\n"
        "f:5: levels: this level is always there and can not be given (given: any); leave it out\n"
        "f:6: levels: this level is always there and can not be given (given: node); leave it out\n"
        "f:10: switch b is defined twice, first on line 9\n"
        "f:8: level: domain a is on a level that is not known (given: rak) (limit: rack, node); did you mean rack?\n"
        "f:10: level: domain b names no level, but others do (limit: rack, node)\n"
        "f:9: node n2 is listed under both a (line 8) and b (line 9)\n");
  // The list is on one line: its column is the level's.
  const auto column = import_text("name: f\nlevels: [spine, spine]\ndomains: [{name: a, level: spine, nodes: n1}]\n");
  REQUIRE(column.faults.list().size() == 1);
  CHECK(column.faults.list()[0].mark == wire::FileMark{2, 17});
  // A level without a name is no level that is left out.
  CHECK(import_text("levels: [{name: \"\"}]\ndomains: [{name: a, nodes: n1}]\n").fault_text() ==
        "f:1: levels: this can not be the name of a level: it is empty; use letters, digits, '-', '.', '_'\n");
  // The wrong order of levels shows beside a node that is written twice; which of two levels called spine is meant, nobody knows.
  const auto order = import_text(
      "levels: [spine, rack]\ndomains:\n- {name: r, level: rack}\n- {name: s, level: spine, parent: r, nodes: n1}\n- {name: t, level: "
      "rack, "
      "nodes: n1}\n");
  CHECK(order.fault_text() ==
        "f:4: domain s is on level spine, which is not narrower than its parent r's level rack\n"
        "f:5: node n1 is listed under both s (line 4) and t (line 5)\n");
  CHECK(import_text("levels: [spine, rack, spine]\ndomains:\n- {name: r, level: rack}\n- {name: s, level: spine, parent: r, nodes: n1}\n")
            .fault_text() == "f:1: levels: two levels have this name (given: spine)\n");
  // Too few names for the depth, beside an unknown child.
  CHECK(import_text("# switchyard: levels=leaf\nSwitchName=r Switches=a,zz\nSwitchName=a Nodes=n1\n").fault_text() ==
        "f:2: switch r lists the child zz, which is defined nowhere\nf:1: levels: the tree has 2 levels, but 1 are named\n");
}

TEST_CASE("topology.conf: a key where a value belongs is a missing value, and no name holds '='") {
  CHECK(import_text("SwitchName= Nodes=n10\nSwitchName=a Nodes= LinkSpeed=3\nSwitchName=b Nodes=n1\n").fault_text() ==
        "f:1: SwitchName: the value is missing\nf:2: Nodes: the value is missing\n");
  CHECK(import_text("SwitchName=a=b Nodes=Foo=3,n1\n").fault_text() ==
        "f:1: this can not be the name of a switch: it holds '=' (given: a=b)\n"
        "f:1: this can not be the name of a node: it holds '=' (given: Foo=3)\n");
  CHECK(import_text("SwitchName = a Nodes = n1\n").tree() == "a [leaf] n1\n");
}

TEST_CASE("KAI's levels are checked with or without a cluster: an empty label, and the level node under another label") {
  const std::string text =
      "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: t}\nspec:\n  levels:\n  - {nodeLabel: \"\"}\n"
      "  - {nodeLabel: rack, alias: node}\n  - {foo: 1}\n  - {nodeLabel: zone}\n  - {nodeLabel: x/zone}\n";
  const std::string expected =
      "f:6: spec.levels[0].nodeLabel: a node label's key belongs here\n"
      "f:7: spec.levels[1].alias: this level is always there and can not be given (given: node); leave it out, or call it something else\n"
      "f:8: spec.levels[2].nodeLabel: this key is missing or empty\n"
      "f:8: spec.levels[2].foo: this key is not known here (limit: nodeLabel, alias)\n"
      "f:10: levels: two levels have this name (given: zone)\n";
  CHECK(import_text(text).fault_text() == expected);
  CHECK(import_text(text, "n[1-2]").fault_text() == expected);
  CHECK(import_text("levels: [{key: \"\"}, {key: rack, name: node}, \"\"]\nnodes: [{names: n1}]\n").fault_text() ==
        "f:1: levels[0].key: a node label's key belongs here\n"
        "f:1: levels[1].name: this level is always there and can not be given (given: node); leave it out, or call it something else\n"
        "f:1: levels[2]: a node label's key belongs here\n");
}

TEST_CASE("formats are found by content, unknown ones and NetQ are refused by name") {
  using F = wire::TopologyFormat;
  CHECK(wire::detect_format("  switchname=a\n") == F::slurm);
  CHECK(wire::detect_format("BlockSizes=4\n") == F::slurm);
  CHECK(wire::detect_format("---\n- topology: t\n") == F::slurm_yaml);
  CHECK(wire::detect_format("switches: {}\nblocks: []\n") == F::topograph);
  CHECK(wire::detect_format("{\"instances\":[]}") == F::topograph);
  CHECK(wire::detect_format("[{\"links\":[{\"compounded_links\":[]}]}]") == F::netq);
  CHECK(wire::detect_format("vendid=0x1\n") == F::ibnetdiscover);
  CHECK(wire::detect_format("hello") == std::nullopt);
  CHECK(import_text("[{\"links\":[{\"compounded_links\":[]}]}]").fault_text() ==
        "f: a NetQ topology graph is not a source of topologies yet; export the fabric with ibnetdiscover or Topograph\n");
  wire::ImportRequest wrong;
  wrong.format = "slurm-yml";
  CHECK(import_text("x", "", wrong).fault_text() ==
        "f: format: this format is not known (given: slurm-yml) (limit: yaml, slurm, slurm-yaml, topograph, ibnetdiscover, "
        "hypernode, labels, kai, netq); did you mean slurm-yaml?\n");
}

TEST_CASE("names that no host list could hold are refused, wherever they come from") {
  const auto id = import_text("switchguid=0x1\nSwitch 8 \"S-a1\" # \"M!0;LEAF-1:x\"\n[1]\t\"H-,1\"[1](01) # \"ConnectX\" lid 2\n");
  CHECK(id.refused());
  CHECK(id.fault_text().find("f:3: the port names no device at its other end") == 0);
  const auto host = import_text(
      "switchguid=0x1\nSwitch 8 \"S-a1\" # \"M!0;LEAF-1:x\"\n"
      "[1]\t\"H-1\"[1](01) # \"a,b HCA-1\" lid 2\n[2]\t\"H-2\"[1](01) # \"c HCA-1\" lid 3\n");
  REQUIRE_FALSE(host.refused());
  CHECK(host.tree() == "LEAF-1 [leaf] c\n");  // as an adapter that tells no host
  wire::ImportRequest hypernode;
  hypernode.format = "hypernode";
  CHECK(import_text(
            "kind: HyperNode\nmetadata: {name: h}\nspec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: \"a,b\"}}}]}\n", "",
            hypernode)
            .fault_text()
            .find("this can not be the name of a node") != std::string::npos);
}

TEST_CASE("names with control characters or broken UTF-8 are refused with file, line and the character, in every import") {
  const std::string nul(1, '\0');
  CHECK(import_text("# switchyard: name=t(joine\x10" + nul + "d joined=false\nSwitchName=b Nodes=n1\n").fault_text() ==
        "f:1: name: this can not be the name of a topology: it holds the control character \\x10 (given: t(joine\\x10\\x00d)\n");
  CHECK(import_text("SwitchName=a Nodes=n1\n# switchyard: levels=a/b\xab,c\nSwitchName=b Nodes=n2\n").fault_text() ==
        "f:2: levels: this can not be the name of a level: it holds the byte \\xab, which is not UTF-8 (given: b\\xab); use letters, "
        "digits, '-', '.', '_'\n");
  CHECK(import_text("SwitchName=a Nodes=n1\nSwitchName=b\x07 Nodes=n2\xab\n").fault_text() ==
        "f:2: this can not be the name of a switch: it holds the control character \\x07 (given: b\\x07)\n"
        "f:2: this can not be the name of a node: it holds the byte \\xab, which is not UTF-8 (given: n2\\xab)\n");
  CHECK(import_text("SwitchName=a Nodes=n1 LinkSpeed=\x1b[31m\n").fault_text() ==
        "f:1: this can not be a link speed: it holds the control character \\x1b (given: \\x1b[31m)\n");
  // U+009B begins a terminal's escape sequence as ESC [ does.
  CHECK(import_text("name: \"t\"\nkind: tree\nlevels:\n- {name: l, aliases: [\"a\\x9b\"]}\ndomains:\n- {name: d, level: l, nodes: n1}\n")
            .fault_text() ==
        "f:4: levels: this can not be the name of a level: it holds the control character \\u009b (given: a\\xc2\\x9b); use letters, "
        "digits, '-', '.', '_'\n");
  CHECK(import_text("name: my fabric\nkind: flat\n").fault_text() ==
        "f:1: name: this can not be the name of a topology: it holds ' ' (given: my fabric)\n");
  // Letters of other languages are names.
  const auto umlaut = import_text("name: f\xc3\xbcnf\nkind: tree\nlevels: [l]\ndomains:\n- {name: \xe6\x9e\xb6, level: l, nodes: n1}\n");
  REQUIRE_FALSE(umlaut.refused());
  CHECK(umlaut.only().name == "f\xc3\xbcnf");
}

TEST_CASE("a Topograph graph gives its tree and the accelerator blocks") {
  const auto c = import_text(
      "{\"instances\":[{\"id\":\"n1\",\"network_layers\":[\"l1\",\"s\"],\"labels\":{\"x/accelerator\":\"nvl1\"}},"
      "{\"id\":\"n2\",\"network_layers\":[\"l2\",\"s\"],\"labels\":{\"x/accelerator\":\"nvl1\"}}]}");
  REQUIRE_FALSE(c.refused());
  REQUIRE(c.imported->topologies.size() == 2);
  CHECK(c.tree(0) == "s [spine]\n  l1 [leaf] n1\n  l2 [leaf] n2\n");
  CHECK(c.tree(1) == "nvl1 [block] n[1-2]\n");
}

TEST_CASE("the difference to the version in force is told by domain") {
  const auto a = import_text("SwitchName=r Switches=a,b\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n", "n[1-9]");
  const auto b = import_text("SwitchName=r Switches=a,c\nSwitchName=a Nodes=n[1,5]\nSwitchName=c Nodes=n[3-4]\n", "n[1-9]");
  const auto d = wire::topology_diff(a.only(), b.only(), a.names);
  CHECK(d == std::vector<std::string>{"- b: n[3-4]", "~ a: + n5 - n2", "+ c under r: n[3-4]"});
}

TEST_CASE("ibnetdiscover: a domain's link speed is that of most cables below its switches") {
  const auto c = import_text(
      "switchguid=0x1\nSwitch 8 \"S-a1\" # \"M!0;LEAF-1:x\"\n[1]\t\"H-1\"[1](01) # \"n1 HCA-1\" lid 2 4xNDR\n[2]\t\"H-2\"[1](02) # \"n2 "
      "HCA-1\" lid 3 "
      "4xNDR\n"
      "[3]\t\"H-3\"[1](03) # \"n3 HCA-1\" lid 4 4xHDR\n[4]\t\"S-b1\"[1] # \"M!0;SPINE-1:x\" lid 5 4xXDR\n"
      "Switch 8 \"S-a2\" # \"M!0;LEAF-2:x\"\n[1]\t\"H-4\"[1](04) # \"n4 HCA-1\" lid 6\n[4]\t\"S-b1\"[2] # \"M!0;SPINE-1:x\" lid 5 4xXDR\n"
      "Switch 8 \"S-b1\" # \"M!0;SPINE-1:x\"\n");
  REQUIRE_FALSE(c.refused());
  std::string speeds;
  for (const auto& d : c.only().domains) speeds += d.name + "=" + d.link_speed + " ";
  CHECK(speeds == "SPINE-1=4xXDR LEAF-1=4xNDR LEAF-2= ");
}

TEST_CASE("link speeds are kept, told when they change, and written again") {
  const auto a = import_text("SwitchName=r Switches=a\nSwitchName=a Nodes=n[1-2] LinkSpeed=100G\n", "n[1-2]");
  const auto b = import_text("SwitchName=r Switches=a\nSwitchName=a Nodes=n[1-2] LinkSpeed=400G\n", "n[1-2]");
  CHECK(a.only().domains[1].link_speed == "100G");
  CHECK(wire::topology_diff(a.only(), b.only(), a.names) == std::vector<std::string>{"~ a: link speed 100G → 400G"});
  auto named = b.only();
  named.name = "fabric";
  for (const auto* format : {"yaml", "slurm-tree", "slurm-yaml", "topograph"}) {
    const auto text = wire::export_topology(named, b.names, format);
    REQUIRE(text);
    CHECK(wire::same_topology(import_text(*text, "n[1-2]").only(), named));
  }
}

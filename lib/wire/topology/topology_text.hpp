// A topology as some file tells it: names with their lines, before any node index, level or merge is decided.
// Not the scheduler's topology (model/topology.hpp): build_topology makes that, or lists every fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/topology.hpp"
#include "wire/fault.hpp"

namespace sy::wire {

struct NamedMark {
  std::string name;
  FileMark mark;
};

// A switch, a block, a rack, a HyperNode.
struct DomainText {
  std::string name;
  FileMark mark;
  std::vector<NamedMark> children;  // domains
  std::vector<NamedMark> nodes;     // those that hang directly here
  std::string level;                // empty: by its height above the leaves
  std::string link_speed{};          // as written; empty: not given
};

struct TopologyText {
  std::string name;  // empty: the file names none
  FileMark mark;
  model::Topology::Kind kind{model::Topology::Kind::tree};
  std::vector<model::Level> levels;  // widest first; empty: named from below (leaf, spine, core)
  std::vector<FileMark> level_marks{};  // by level; shorter: not known, and mark counts
  std::vector<DomainText> domains;   // in the file's order
  std::optional<bool> joined;        // absent: a tree is joined when it has one root, blocks always are
  std::vector<std::uint32_t> block_sizes;
  FileMark block_sizes_mark;
  bool cluster_default{};
};

// What an import wants to say besides refusing: merged spines, empty leaves, adapters without a host name.
struct ImportReport {
  std::vector<std::pair<FileMark, std::string>> notes;
  std::vector<std::string> skipped_nodes;  // unknown to the cluster, left out because that was asked for

  void note(FileMark mark, std::string text) { notes.emplace_back(mark, std::move(text)); }
};

// One level of a topology that is built from node labels: the label's key, and the level's name.
struct LabelLevel {
  std::string key;
  std::string name;  // the alias where one is given, else the key
  FileMark mark;
};

// Everything one file holds.
struct TopologyFile {
  std::vector<TopologyText> topologies;
  std::vector<LabelLevel> label_levels;  // of a file that gives level names only (KAI)
  ImportReport report;
};

}  // namespace sy::wire

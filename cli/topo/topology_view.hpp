// A topology drawn for a terminal: free, busy, drained and down nodes per domain, equal neighbours folded into one line.
// Pure: what is where comes in, lines go out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/topology.hpp"

namespace sy::cli {

enum class NodeUse : std::uint8_t { free, busy, drained, down };

struct DomainUse {
  std::size_t nodes{}, free{}, busy{}, drained{}, down{};
  bool operator==(const DomainUse&) const = default;
};

// By domain; each counts everything below it. `uses` by NodeIndex.
std::vector<DomainUse> count_uses(const model::Topology&, const std::vector<NodeUse>& uses);

// One heading, one line a domain, children indented. With `fold`, three or more neighbours without children whose numbers
// are equal become one line. Where a line would be longer than `width` (at least 30), columns get narrow, then names are cut.
std::vector<std::string> draw_topology(const model::Topology&, const std::vector<DomainUse>&, int width, bool fold);

// Lines of at most `width` (at least 30) characters, broken between words; those after the first begin with two blanks.
std::vector<std::string> fold_words(const std::string& text, int width);

// The domains from the root to this one: "core > spine1 > leaf3".
std::string domain_path(const model::Topology&, std::uint32_t domain);

}  // namespace sy::cli

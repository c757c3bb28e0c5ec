#include "wire/topology/topology_param.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace sy::wire {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

constexpr std::array<std::string_view, 6> of_no_effect{"dragonfly",        "routepart",       "routetree",
                                                       "switchasnoderank", "blockasnoderank", "topomaxsizeunroll"};

}  // namespace

TopologyParam read_topology_param(std::string_view text) {
  const bool bare = text.find_first_of("\n=") == std::string_view::npos;
  std::string_view value = bare ? text : std::string_view{};
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    line = trimmed(line.substr(0, line.find('#')));
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && lowered(trimmed(line.substr(0, equals))) == "topologyparam")
      value = trimmed(line.substr(equals + 1));
  }
  TopologyParam out;
  while (!value.empty()) {
    const auto comma = std::min(value.find(','), value.size());
    const auto word = trimmed(value.substr(0, comma));
    value.remove_prefix(std::min(comma + 1, value.size()));
    if (word.empty()) continue;
    const auto name = lowered(word.substr(0, word.find('=')));
    if (name == "topooptional") out.topo_optional = true;
    else if (std::find(of_no_effect.begin(), of_no_effect.end(), name) != of_no_effect.end()) out.ignored.emplace_back(word);
    else out.unknown.emplace_back(word);
  }
  return out;
}

}  // namespace sy::wire

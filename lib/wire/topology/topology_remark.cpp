#include "wire/topology/topology_remark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace sy::wire {
namespace {

constexpr std::string_view opening = "# switchyard:";

struct Remark {
  std::string name;
  std::optional<bool> joined;
  std::vector<model::Level> levels;
  std::vector<std::uint32_t> block_sizes;
  std::map<std::string, std::string> speeds;  // by domain
};

// Reading numbers levels by height above the nodes: level names can be kept only where that is how they are.
bool levels_follow_heights(const model::Topology& t) {
  std::vector<std::uint32_t> height(t.domains.size());
  for (std::size_t i = t.domains.size(); i-- > 0;) {
    for (const auto c : t.domains[i].children) height[i] = std::max(height[i], height[c] + 1);
    if (!t.domains[i].virtual_group && t.domains[i].level + height[i] + 1 != t.levels.size()) return false;
  }
  return true;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const auto at = text.find(separator);
    out.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

// In a list of words: what separates them is written as %XX.
std::string as_word(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == ' ' || c == ',' || c == ':' || c == '%' ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  return out;
}

std::string from_word(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    unsigned code = 0;
    if (word[i] == '%' && i + 2 < word.size() &&
        std::from_chars(word.data() + i + 1, word.data() + i + 3, code, 16).ptr == word.data() + i + 3) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += word[i];
    }
  }
  return out;
}

Remark read_remark(std::string_view line) {
  Remark r;
  for (const auto& word : split(line, ' ')) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    const auto key = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    if (key == "name") r.name = value;
    if (key == "joined") r.joined = value == "true";
    if (key == "sizes")
      for (const auto& size : split(value, ',')) {
        std::uint32_t n{};
        if (std::from_chars(size.data(), size.data() + size.size(), n).ec == std::errc{}) r.block_sizes.push_back(n);
      }
    if (key == "speeds")
      for (const auto& speed : split(value, ','))
        if (const auto colon = speed.rfind(':'); colon != std::string::npos)
          r.speeds[speed.substr(0, colon)] = from_word(speed.substr(colon + 1));
    if (key == "levels" && !value.empty())
      for (const auto& level : split(value, ',')) {
        auto names = split(level, '/');
        model::Level l{names.front(), {}};
        l.aliases.assign(names.begin() + 1, names.end());
        r.levels.push_back(std::move(l));
      }
  }
  return r;
}

}  // namespace

std::string write_remark(const model::Topology& t, bool with_speeds) {
  std::string levels;
  for (const auto& l : t.levels) {
    levels += levels.empty() ? " levels=" : ",";
    levels += l.name;
    for (const auto& a : l.aliases) levels += "/" + a;
  }
  const auto name = t.name.empty() ? std::string{} : " name=" + t.name;
  const auto sizes = t.block_sizes.empty() ? std::string{} : fmt::format(" sizes={}", fmt::join(t.block_sizes, ","));
  std::string speeds;
  for (const auto& d : t.domains)
    if (with_speeds && !d.virtual_group && !d.link_speed.empty())
      speeds += fmt::format("{}{}:{}", speeds.empty() ? " speeds=" : ",", d.name, as_word(d.link_speed));
  return fmt::format("{}{} joined={}{}{}{}\n", opening, name, t.joined, levels_follow_heights(t) ? levels : std::string{}, sizes, speeds);
}

void apply_remarks(std::string_view text, TopologyText& t) {
  FileMark mark;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    ++mark.line;
    if (line.substr(0, opening.size()) != opening) continue;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto r = read_remark(line.substr(opening.size()));
    if (!r.name.empty() && !t.name.empty() && r.name != t.name) continue;
    if (t.mark.line == 0) t.mark = mark;
    if (t.name.empty()) t.name = r.name;
    if (r.joined) t.joined = r.joined;
    if (!r.levels.empty()) t.levels = r.levels, t.level_marks.assign(r.levels.size(), mark);
    for (auto& d : t.domains)
      if (const auto found = r.speeds.find(d.name); found != r.speeds.end() && d.link_speed.empty()) d.link_speed = found->second;
    if (t.block_sizes.empty() && !r.block_sizes.empty()) {
      t.block_sizes = r.block_sizes;
      t.kind = model::Topology::Kind::block;
    }
  }
}

}  // namespace sy::wire

#include "wire/config_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/hostlist.hpp"
#include "base/time_text.hpp"

namespace sy::wire {
namespace {

using base::Code;
using base::Error;

constexpr std::array<std::pair<LogLevel, std::string_view>, 5> log_levels{{{LogLevel::trace, "trace"},
                                                                           {LogLevel::debug, "debug"},
                                                                           {LogLevel::info, "info"},
                                                                           {LogLevel::warning, "warning"},
                                                                           {LogLevel::error, "error"}}};

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// A whole number of decimal digits, at most `most`.
std::optional<std::int64_t> whole(std::string_view text, std::int64_t most) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t v = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    v = v * 10 + (c - '0');
  }
  return v <= most ? std::optional<std::int64_t>{v} : std::nullopt;
}

struct GresWords {
  std::string name, type;
  std::int64_t count{1};
  std::vector<std::string> devices;
};

constexpr const char* gres_hint = "write name:count or name:type:count, as in gpu:2 or gpu:a100:4";

base::Result<GresWords> parse_gres(std::string_view text) {
  const auto refuse = [&](std::string message) {
    return base::fail(Error{Code::invalid_argument, std::move(message), {}, {}, std::string(text.substr(0, 80)), gres_hint});
  };
  std::vector<std::string_view> parts;
  std::string_view rest = text;
  while (true) {
    const auto colon = rest.find(':');
    parts.push_back(rest.substr(0, colon));
    if (colon == std::string_view::npos || parts.size() > 3) break;
    rest = rest.substr(colon + 1);
  }
  if (parts.size() > 3) return refuse("the GRES has too many colons");
  GresWords w;
  w.name = std::string(parts[0]);
  if (!is_plain_name(w.name)) return refuse("the GRES has no usable name");
  if (parts.size() == 3) w.type = std::string(parts[1]);
  if (parts.size() == 2 && !whole(parts[1], 1'000'000'000)) w.type = std::string(parts[1]);
  else if (parts.size() > 1) {
    const auto n = whole(parts.back(), static_cast<std::int64_t>(max_gres_per_node));
    if (!n || *n == 0) return refuse(fmt::format("a GRES count is a whole number from 1 to {}", max_gres_per_node));
    w.count = *n;
  }
  if (!w.type.empty() && !is_plain_name(w.type)) return refuse("the GRES type is not usable");
  if (parts.size() == 3 && w.type.empty()) return refuse("the GRES type is empty");
  return w;
}

std::optional<GresWords> read_gres_mapping(const YamlNode& item, const std::string& path, Faults& faults) {
  const std::size_t before = faults.count();
  YamlMap m(item, path, faults);
  GresWords w;
  m.require("name");
  w.name = m.text("name").value_or("");
  if (m.has("name") && !is_plain_name(w.name)) m.refuse("name", "the GRES has no usable name", w.name);
  w.type = m.text("type").value_or("");
  if (!w.type.empty() && !is_plain_name(w.type)) m.refuse("type", "the GRES type is not usable", w.type);
  if (const auto texts = m.text_list("devices")) {
    auto devices = base::expand_hostlist(fmt::format("{}", fmt::join(*texts, ",")), max_gres_per_node);
    if (!devices) m.refuse("devices", devices.error());
    else w.devices = std::move(*devices);
    for (const std::string& d : w.devices)
      if (!d.starts_with("/")) {
        m.refuse("devices", "a device is an absolute path", d);
        break;
      }
  }
  const auto count = m.integer("count", 1, static_cast<std::int64_t>(max_gres_per_node));
  w.count = count.value_or(w.devices.empty() ? 1 : static_cast<std::int64_t>(w.devices.size()));
  if (count && !w.devices.empty() && static_cast<std::size_t>(*count) != w.devices.size())
    m.refuse("count", fmt::format("the count does not agree with the {} devices", w.devices.size()), fmt::format("{}", *count),
             "leave the count out");
  m.finish();
  return faults.count() == before ? std::optional<GresWords>{std::move(w)} : std::nullopt;
}

}  // namespace

std::string_view log_level_name(LogLevel level) {
  for (const auto& [l, name] : log_levels)
    if (l == level) return name;
  return "info";
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && is_alnum(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_node_name(std::string_view name) {
  // "ALL" is every node in a partition; "controller" is how the controller signs its requests.
  return is_plain_name(name) && name != "ALL" && name != "controller";
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 255 &&
         std::all_of(host.begin(), host.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == ':'; });
}

base::Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [&](std::string message) {
    return base::fail(Error{Code::invalid_argument,
                            std::move(message),
                            {},
                            {},
                            std::string(text.substr(0, 80)),
                            "write address:port, as in 0.0.0.0:6830 or [::1]:6830"});
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse("the port is missing");
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (!is_host(host) || (!brackets && host.find(':') != std::string_view::npos)) return refuse("the address can not be read");
  const auto port = whole(text.substr(colon + 1), 65'535);
  if (!port) return refuse("the port is not a number from 0 to 65535");
  return Endpoint{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string to_text(const Endpoint& e) {
  if (e.address.find(':') != std::string::npos) return fmt::format("[{}]:{}", e.address, e.port);
  return fmt::format("{}:{}", e.address, e.port);
}

std::optional<std::string> read_path(YamlMap& m, std::string_view key, std::size_t max_bytes) {
  auto path = m.text(key);
  if (!path) return std::nullopt;
  if (!path->starts_with("/")) m.refuse(key, "the path must begin with /", *path);
  else if (path->size() > max_bytes) m.refuse(key, fmt::format("the path is longer than {} bytes", max_bytes), path->substr(0, 80));
  else if (path->find('\0') != std::string::npos) m.refuse(key, "a path can not hold a NUL byte");
  else return path;
  return std::nullopt;
}

std::optional<base::Duration> read_span(YamlMap& m, std::string_view key, base::Duration least, base::Duration most) {
  const auto span = m.parsed(key, base::parse_span);
  if (!span || (*span >= least && *span <= most)) return span;
  m.refuse(key, Error{Code::invalid_argument,
                      "the span of time is out of range",
                      {},
                      fmt::format("{} to {}", base::format_span(least), base::format_span(most)),
                      base::format_span(*span),
                      {}});
  return std::nullopt;
}

std::optional<LogLevel> read_log_level(YamlMap& m, std::string_view key) {
  std::vector<std::string> words;
  for (const auto& [level, name] : log_levels) words.emplace_back(name);
  const auto word = m.word(key, words);
  if (!word) return std::nullopt;
  for (const auto& [level, name] : log_levels)
    if (name == *word) return level;
  return std::nullopt;
}

std::optional<Endpoint> read_endpoint(YamlMap& m, std::string_view key) { return m.parsed(key, parse_endpoint); }

std::optional<std::vector<std::string>> read_sorted_names(YamlMap& m, std::string_view key) {
  auto names = m.text_list(key);
  if (!names) return std::nullopt;
  for (const std::string& name : *names)
    if (name.empty() || name.size() > 255 || name.find_first_of(" \t\n,:/") != std::string::npos || name.find('\0') != std::string::npos) {
      m.refuse(key, "this can not be the name of a user or group", name.substr(0, 80), "write a list: [ann, ben]");
      return std::nullopt;
    }
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  return names;
}

std::optional<std::uint32_t> read_count(YamlMap& m, std::string_view key, std::int64_t least, std::int64_t most) {
  const auto n = m.integer(key, least, most);
  return n ? std::optional<std::uint32_t>{static_cast<std::uint32_t>(*n)} : std::nullopt;
}

std::optional<std::vector<model::GresInstance>> read_gres(YamlMap& m, std::string_view key, Faults& faults) {
  const YamlNode* node = m.child(key);
  if (node == nullptr) return std::nullopt;
  std::vector<GresWords> list;
  bool sound = true;
  const auto take = [&](const YamlNode& item, const std::string& path) {
    std::optional<GresWords> words;
    if (item.is_scalar()) {
      auto parsed = parse_gres(item.scalar);
      if (parsed) {
        words = std::move(*parsed);
      } else {
        Error e = parsed.error();
        e.field = path;
        faults.add(item.mark, std::move(e));
      }
    } else {
      words = read_gres_mapping(item, path, faults);
    }
    sound = sound && words.has_value();
    if (words) list.push_back(std::move(*words));
  };
  if (node->is_sequence()) m.each(key, take);
  else take(*node, m.path_of(key));
  if (!sound) return std::nullopt;

  std::vector<model::GresInstance> out;
  std::map<std::string, std::uint32_t> next_index;
  std::set<std::pair<std::string, std::string>> seen;
  for (const GresWords& w : list) {
    if (!seen.insert({w.name, w.type}).second) {
      m.refuse(key, "this GRES is named twice", w.type.empty() ? w.name : fmt::format("{}:{}", w.name, w.type), "give one count for each");
      return std::nullopt;
    }
    if (out.size() + static_cast<std::size_t>(w.count) > max_gres_per_node) {
      m.refuse(key, fmt::format("a node has at most {} GRES instances", max_gres_per_node));
      return std::nullopt;
    }
    for (std::int64_t i = 0; i < w.count; ++i) {
      model::GresInstance g;
      g.name = w.name;
      g.type = w.type;
      g.index = next_index[w.name]++;
      if (!w.devices.empty()) g.device = w.devices[static_cast<std::size_t>(i)];
      out.push_back(std::move(g));
    }
  }
  std::sort(out.begin(), out.end(), [](const model::GresInstance& a, const model::GresInstance& b) {
    return std::tie(a.name, a.type, a.index) < std::tie(b.name, b.type, b.index);
  });
  return out;
}

base::Error error_in_file_order(const Faults& faults) {
  std::vector<Fault> list = faults.list();
  std::stable_sort(list.begin(), list.end(), [](const Fault& a, const Fault& b) {
    return std::tie(a.mark.line, a.mark.column) < std::tie(b.mark.line, b.mark.column);
  });
  Faults sorted(faults.file(), list.size());
  for (const Fault& f : list) sorted.add(f);
  Error e = sorted.to_error();
  if (faults.count() > list.size()) e.message += fmt::format("\nand {} more", faults.count() - list.size());
  return e;
}

}  // namespace sy::wire

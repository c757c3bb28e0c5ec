// Words that both configuration files use: paths, spans with bounds, endpoints, GRES, log levels, names.
// Not the files themselves (config.hpp, agent_config.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/node.hpp"
#include "wire/config.hpp"
#include "wire/yaml_reader.hpp"

namespace sy::wire {

inline constexpr std::size_t max_gres_per_node = 4096;  // instances; they are numbered in 16 bits

// Each reads one key and adds a fault where it is wrong; an absent key gives nullopt.
std::optional<std::string> read_path(YamlMap&, std::string_view key, std::size_t max_bytes = 4096);
std::optional<base::Duration> read_span(YamlMap&, std::string_view key, base::Duration least, base::Duration most);
std::optional<LogLevel> read_log_level(YamlMap&, std::string_view key);
std::optional<Endpoint> read_endpoint(YamlMap&, std::string_view key);
std::optional<std::vector<std::string>> read_sorted_names(YamlMap&, std::string_view key);  // users, groups
std::optional<std::uint32_t> read_count(YamlMap&, std::string_view key, std::int64_t least, std::int64_t most);

// "gpu:2", "gpu:a100:4" or {name, type, count, devices: "/dev/nvidia[0-3]"}; instances numbered per name in the order written,
// result sorted by name, type, index.
std::optional<std::vector<model::GresInstance>> read_gres(YamlMap&, std::string_view key, Faults&);

// Letters, digits, '-', '_', '.', beginning with a letter or digit, at most 63; never a word with a meaning of its own.
bool is_node_name(std::string_view);
// Like a node's, without reserved words.
bool is_plain_name(std::string_view);
// What may stand in an address: a host name or a numeric address.
bool is_host(std::string_view);

// The faults in the order of the file, whatever the order they were found in.
base::Error error_in_file_order(const Faults&);

}  // namespace sy::wire

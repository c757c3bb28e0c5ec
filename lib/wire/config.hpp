// The controller's configuration file, /etc/switchyard/switchyard.yaml: strict YAML to the settings of the daemon and the
// command that configures the core. Reads no file itself, and does not know which users exist or which nodes are enrolled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/command.hpp"

namespace sy::wire {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };
std::string_view log_level_name(LogLevel);  // "info"

// "0.0.0.0:6830", "[::1]:0". Port 0: the kernel chooses (see ports_file).
struct Endpoint {
  std::string address;
  std::uint16_t port{};
  bool operator==(const Endpoint&) const = default;
};
base::Result<Endpoint> parse_endpoint(std::string_view);
std::string to_text(const Endpoint&);

struct Limits {
  std::uint32_t connections{4096};              // open at once, all listeners together
  std::uint32_t connections_per_user{1024};
  std::uint64_t body_bytes{16ULL << 20U};       // of one request
  double requests_per_second{2000};             // per user, on average
  std::uint32_t burst{4000};                    // per user, at once
  base::Duration idle_timeout{std::chrono::seconds{60}};     // a connection without a request
  base::Duration request_timeout{std::chrono::seconds{30}};  // from the first byte of a request to its last
  base::Duration agent_timeout{std::chrono::seconds{10}};    // the controller's own requests to agents
  bool operator==(const Limits&) const = default;
};

struct Administrators {
  std::vector<std::string> users{"root"};       // sorted
  std::vector<std::string> groups;              // sorted
  bool operator==(const Administrators&) const = default;
};

// What the daemon needs and the core does not.
struct DaemonSettings {
  std::string state_dir{"/var/lib/switchyard"};
  std::string socket{"/run/switchyard/switchyardd.sock"};
  Endpoint listen{"0.0.0.0", 6830};             // for agents: signed requests only
  std::string ports_file;                       // empty: none; else "agents=PORT" is written there once listening
  LogLevel log_level{LogLevel::info};
  Limits limits;
  Administrators administrators;
  base::Duration heartbeat{std::chrono::seconds{10}};     // told to agents
  base::Duration silent_after{std::chrono::seconds{60}};  // without a heartbeat: the node is silent
  base::Duration keep_events{std::chrono::hours{24 * 7}};
  base::Duration keep_answers{std::chrono::hours{24}};    // of requests with an Idempotency-Key
  std::string prolog, epilog;                   // paths on the nodes; empty: none
  bool operator==(const DaemonSettings&) const = default;
};

struct Config {
  DaemonSettings daemon;
  core::Configure cluster;
};

inline constexpr std::size_t max_config_bytes = 16U << 20U;

// `file` is how messages call it. All faults at once: the error's message has one line for each, with file, line and column.
// A node or partition that refers to what is not there is a fault, so is one written twice; "ALL" names every node.
base::Result<Config> read_config(std::string_view text, std::string_view file);

// The settings, as written in the file, that differ and are read at start only ("controller.listen"): SIGHUP keeps the old ones and
// says so.
std::vector<std::string> needs_restart(const DaemonSettings& running, const DaemonSettings& wanted);

}  // namespace sy::wire

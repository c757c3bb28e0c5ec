#include "wire/config.hpp"

#include <fmt/format.h>

#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "wire/config_cluster.hpp"
#include "wire/config_words.hpp"

namespace sy::wire {
namespace {

using base::Code;
using base::Duration;
using base::Error;

constexpr Duration day = std::chrono::hours{24};
constexpr std::size_t max_socket_path = 107;  // sun_path with its final zero

// An absent section is read as an empty one, so that its defaults stand and no key is required twice.
const YamlNode& section(YamlMap& file, std::string_view key) {
  static const YamlNode empty{};
  const YamlNode* n = file.child(key);
  return n != nullptr ? *n : empty;
}

template <class T>
void set(T& where, std::optional<T> value) {
  if (value) where = std::move(*value);
}

void read_controller(YamlMap& file, Faults& faults, DaemonSettings& out) {
  YamlMap m(section(file, "controller"), "controller", faults);
  set(out.state_dir, read_path(m, "state_dir"));
  set(out.socket, read_path(m, "socket", max_socket_path));
  set(out.listen, read_endpoint(m, "listen"));
  set(out.ports_file, read_path(m, "ports_file"));
  set(out.log_level, read_log_level(m, "log_level"));
  set(out.keep_events, read_span(m, "keep_events", std::chrono::minutes{1}, 3650 * day));
  set(out.keep_answers, read_span(m, "keep_answers", std::chrono::minutes{1}, 365 * day));
  m.finish();
}

void read_limits(YamlMap& file, Faults& faults, Limits& out) {
  YamlMap m(section(file, "limits"), "limits", faults);
  set(out.connections, read_count(m, "connections", 16, 1'000'000));
  set(out.connections_per_user, read_count(m, "connections_per_user", 1, 1'000'000));
  if (const auto bytes = m.parsed("body", base::parse_bytes)) {
    constexpr std::uint64_t least = 64U << 10U, most = 1ULL << 30U;
    if (*bytes >= least && *bytes <= most) out.body_bytes = *bytes;
    else
      m.refuse("body", Error{Code::invalid_argument, "the size is out of range", {}, "64KiB to 1GiB", fmt::format("{} bytes", *bytes), {}});
  }
  set(out.requests_per_second, m.number("requests_per_second", 0.1, 1e9));
  set(out.burst, read_count(m, "burst", 1, 1'000'000'000));
  set(out.idle_timeout, read_span(m, "idle_timeout", std::chrono::milliseconds{100}, day));
  set(out.request_timeout, read_span(m, "request_timeout", std::chrono::milliseconds{100}, day));
  set(out.agent_timeout, read_span(m, "agent_timeout", std::chrono::milliseconds{100}, day));
  m.finish();
}

void read_administrators(YamlMap& file, Faults& faults, Administrators& out) {
  if (file.child("administrators") == nullptr) return;
  YamlMap m(section(file, "administrators"), "administrators", faults);
  const std::size_t before = faults.count();
  out.users = read_sorted_names(m, "users").value_or(std::vector<std::string>{});
  out.groups = read_sorted_names(m, "groups").value_or(std::vector<std::string>{});
  m.finish();
  if (faults.count() == before && out.users.empty() && out.groups.empty())
    file.refuse("administrators", "nobody could administer this cluster", {}, "write users: [root]");
}

void read_agents(YamlMap& file, Faults& faults, DaemonSettings& daemon, model::Settings& out) {
  YamlMap m(section(file, "agents"), "agents", faults);
  set(daemon.heartbeat, read_span(m, "heartbeat", std::chrono::milliseconds{50}, std::chrono::hours{1}));
  set(daemon.silent_after, read_span(m, "silent_after", std::chrono::milliseconds{100}, day));
  if (daemon.silent_after < 2 * daemon.heartbeat)
    m.refuse("silent_after", Error{Code::invalid_argument,
                                   "one late heartbeat would make a node silent",
                                   {},
                                   fmt::format("at least {}, two heartbeats", base::format_span(2 * daemon.heartbeat)),
                                   base::format_span(daemon.silent_after),
                                   {}});
  if (const auto word = m.word("on_lost", {"wait", "assume_dead"}))
    out.on_lost = *word == "wait" ? model::Settings::OnLost::wait : model::Settings::OnLost::assume_dead;
  if (const YamlNode* lease = m.child("lease"); lease != nullptr && lease->is_scalar() && !lease->quoted && lease->scalar == "off")
    out.lease.reset();
  else out.lease = read_span(m, "lease", std::chrono::milliseconds{200}, 30 * day);
  if (out.lease && *out.lease <= daemon.silent_after)
    m.refuse("lease", Error{Code::invalid_argument,
                            "agents would end their jobs before their silence is noticed",
                            {},
                            fmt::format("more than {}, silent_after", base::format_span(daemon.silent_after)),
                            base::format_span(*out.lease),
                            {}});
  set(out.fence_program, read_path(m, "fence_program"));
  set(daemon.prolog, read_path(m, "prolog"));
  set(daemon.epilog, read_path(m, "epilog"));
  set(out.kill_grace, read_span(m, "kill_grace", Duration{0}, std::chrono::hours{1}));
  set(out.launch_backoff, read_span(m, "launch_backoff", std::chrono::milliseconds{100}, day));
  set(out.max_launch_failures, read_count(m, "max_launch_failures", 1, 1000));
  m.finish();
}

void read_jobs(YamlMap& file, Faults& faults, model::Settings& out) {
  YamlMap m(section(file, "jobs"), "jobs", faults);
  set(out.keep_ended, read_span(m, "keep_ended", std::chrono::seconds{1}, 365 * day));
  if (const auto n = m.integer("max_jobs", 1, 100'000'000)) out.max_jobs = static_cast<std::uint64_t>(*n);
  set(out.default_time, read_span(m, "default_time", std::chrono::seconds{1}, 3650 * day));
  if (const auto memory = m.parsed("default_memory_per_cpu", base::parse_memory)) out.default_memory_per_cpu = *memory;
  set(out.allow_root_jobs, m.boolean("allow_root"));
  set(out.overtime, read_span(m, "overtime", Duration{0}, 30 * day));
  m.finish();
}

void read_file(const YamlNode& document, Faults& faults, Config& out) {
  YamlMap file(document, "", faults);
  model::Settings& settings = out.cluster.settings;
  if (const auto name = file.text("cluster")) {
    if (is_plain_name(*name)) settings.cluster_name = *name;
    else
      file.refuse("cluster", "this can not be a cluster's name", name->substr(0, 80), "use letters, digits, '-', '_' and '.', at most 63");
  }
  read_controller(file, faults, out.daemon);
  read_limits(file, faults, out.daemon.limits);
  read_administrators(file, faults, out.daemon.administrators);
  read_agents(file, faults, out.daemon, settings);
  read_jobs(file, faults, settings);
  set(settings.default_topology, file.text("default_topology"));
  settings.literal_switch_wait = file.word("switch_wait", {"ladder", "literal"}).value_or("ladder") == "literal";
  read_cluster(file, out.cluster, faults);
  file.finish();
}

}  // namespace

base::Result<Config> read_config(std::string_view text, std::string_view file) {
  Faults faults{std::string(file)};
  YamlLimits limits;
  limits.bytes = max_config_bytes;
  limits.nodes = 500'000;
  Config config;
  if (const auto document = read_yaml_document(text, faults, limits)) read_file(*document, faults, config);
  if (!faults.empty()) return base::fail(error_in_file_order(faults));
  return config;
}

std::vector<std::string> needs_restart(const DaemonSettings& running, const DaemonSettings& wanted) {
  std::vector<std::string> out;
  const auto note = [&](bool same, const char* name) {
    if (!same) out.emplace_back(name);
  };
  note(running.state_dir == wanted.state_dir, "controller.state_dir");
  note(running.socket == wanted.socket, "controller.socket");
  note(running.listen == wanted.listen, "controller.listen");
  note(running.ports_file == wanted.ports_file, "controller.ports_file");
  note(running.limits.connections == wanted.limits.connections, "limits.connections");
  note(running.limits.connections_per_user == wanted.limits.connections_per_user, "limits.connections_per_user");
  note(running.limits.body_bytes == wanted.limits.body_bytes, "limits.body");
  note(running.limits.idle_timeout == wanted.limits.idle_timeout, "limits.idle_timeout");
  note(running.limits.request_timeout == wanted.limits.request_timeout, "limits.request_timeout");
  return out;
}

}  // namespace sy::wire

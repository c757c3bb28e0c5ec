#include "wire/agent_config.hpp"

#include <algorithm>

#include "base/size_text.hpp"
#include "wire/config_words.hpp"

namespace sy::wire {
namespace {

constexpr std::size_t max_agent_config_bytes = 1U << 20U;

template <class T>
void set(T& where, std::optional<T> value) {
  if (value) where = std::move(*value);
}

void read_identity(YamlMap& m, AgentSettings& out) {
  if (const auto name = m.text("name")) {
    if (is_node_name(*name)) out.name = *name;
    else
      m.refuse("name", "this can not be a node's name", name->substr(0, 80),
               "use letters, digits, '-', '_' and '.', at most 63; ALL and controller have a meaning of their own");
  }
  if (const auto address = m.text("address")) {
    if (is_host(*address)) out.node_address = *address;
    else m.refuse("address", "this can not be a host's address", address->substr(0, 80));
  }
  m.require("controller");
  if (const auto controller = read_endpoint(m, "controller")) {
    out.controller = *controller;
    if (controller->port == 0)
      m.refuse("controller", "the controller's port can not be 0", to_text(*controller), "write the port it listens on, as in head:6830");
  }
  set(out.listen, read_endpoint(m, "listen"));
  if (const auto port = read_count(m, "port", 0, 65'535)) {
    out.listen.port = static_cast<std::uint16_t>(*port);
    if (m.has("listen")) m.refuse("port", "listen names a port already", {}, "keep one of them");
  }
}

void read_offer(YamlMap& m, Faults& faults, AgentSettings& out) {
  out.cpus = read_count(m, "cpus", 1, 65'536);
  out.sockets = read_count(m, "sockets", 1, 1024);
  out.cores_per_socket = read_count(m, "cores_per_socket", 1, 65'536);
  out.threads_per_core = read_count(m, "threads_per_core", 1, 1024);
  out.memory = m.parsed("memory", base::parse_memory);
  if (out.memory && out.memory->value == 0) m.refuse("memory", "a node has some memory", "0", "leave it out to take what the machine has");
  out.gres = read_gres(m, "gres", faults);
  m.each_entry("labels", [&](const YamlNode& item, const std::string& path) {
    if (!item.is_scalar() || item.scalar.empty() || item.scalar.size() > 255 || item.key.size() > 255) {
      faults.add(item.mark, "a label is a short word", path, {}, "write labels: {rack: r1}");
      return;
    }
    out.labels.emplace_back(item.key, item.scalar);
  });
  std::sort(out.labels.begin(), out.labels.end());
}

}  // namespace

base::Result<AgentSettings> read_agent_config(std::string_view text, std::string_view file) {
  Faults faults{std::string(file)};
  YamlLimits limits;
  limits.bytes = max_agent_config_bytes;
  limits.nodes = 50'000;
  AgentSettings out;
  if (const auto document = read_yaml_document(text, faults, limits)) {
    YamlMap m(*document, "", faults);
    read_identity(m, out);
    read_offer(m, faults, out);
    set(out.spool, read_path(m, "spool"));
    set(out.job_files, read_path(m, "job_files"));
    set(out.key_dir, read_path(m, "key_dir"));
    set(out.supervisor, read_path(m, "supervisor"));
    set(out.boot_id_file, read_path(m, "boot_id_file"));
    set(out.cgroup_root, read_path(m, "cgroup_root"));
    set(out.prolog, read_path(m, "prolog"));
    set(out.epilog, read_path(m, "epilog"));
    set(out.allow_root, m.boolean("allow_root"));
    set(out.log_level, read_log_level(m, "log_level"));
    set(out.request_timeout, read_span(m, "request_timeout", std::chrono::milliseconds{100}, std::chrono::hours{1}));
    m.finish();
  }
  if (!faults.empty()) return base::fail(error_in_file_order(faults));
  return out;
}

}  // namespace sy::wire

// The cluster as it is set up: partitions, settings in force.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/time_text.hpp"
#include "core/decide/access.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/small_body.hpp"
#include "http/problem.hpp"
#include "wire/views.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

std::string text_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ",") + http::json_string(each);
  return "[" + out + "]";
}
std::string seconds_or_null(const std::optional<base::Duration>& d) {
  return d && *d != base::Duration::max() ? std::to_string(base::to_seconds(*d)) : "null";
}
}  // namespace

void list_partitions(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {}); !fit) return call->fail(fit.error());
  const model::State& state = call->state();
  std::string body = "{\"partitions\":[";
  for (std::size_t i = 0; i < state.partitions.size(); ++i) {
    if (i > 0) body += ',';
    wire::append_partition(body, state.partitions[i], state, core::refused_by(state.partitions[i], call->who).has_value());
  }
  body += fmt::format("],\"sequence\":{}}}", state.sequence.value);
  call->reply_json(std::move(body));
}

void get_partition(const CallPtr& call) {
  const model::Partition* partition = call->state().find_partition(call->captures.at(0));
  if (partition == nullptr)
    return call->fail({Code::not_found, "there is no such partition", "name", {}, call->captures.at(0).substr(0, 80), "sinfo lists them"});
  std::string body;
  wire::append_partition(body, *partition, call->state(), core::refused_by(*partition, call->who).has_value());
  call->reply_json(std::move(body));
}

void get_config(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {}); !fit) return call->fail(fit.error());
  const model::State& state = call->state();
  const model::Settings& s = state.settings;
  const wire::DaemonSettings& d = call->controller.settings();
  std::string default_partition;
  for (const model::Partition& partition : state.partitions)
    if (partition.is_default) default_partition = partition.name;
  std::string body = fmt::format(
      R"({{"cluster_name":{},"version":{},"api_version":1,"epoch":{},"sequence":{},"default_partition":{},"default_topology":{},"switch_wait":"{}",)",
      http::json_string(s.cluster_name), http::json_string(SWITCHYARD_VERSION), state.epoch, state.sequence.value,
      default_partition.empty() ? "null" : http::json_string(default_partition), http::json_string(s.default_topology),
      s.literal_switch_wait ? "literal" : "ladder");
  body += fmt::format(
      R"("on_lost":"{}","lease_s":{},"kill_grace_s":{},"keep_ended_s":{},"launch_backoff_s":{},"max_launch_failures":{},"overtime_s":{},)"
      R"("allow_root_jobs":{},"fence_program":{},"max_jobs":{},"default_time_s":{},"default_memory_per_cpu_mib":{},)",
      s.on_lost == model::Settings::OnLost::wait ? "wait" : "assume_dead", seconds_or_null(s.lease), base::to_seconds(s.kill_grace),
      base::to_seconds(s.keep_ended), base::to_seconds(s.launch_backoff), s.max_launch_failures, base::to_seconds(s.overtime),
      s.allow_root_jobs, !s.fence_program.empty(), s.max_jobs, seconds_or_null(s.default_time),
      s.default_memory_per_cpu ? std::to_string(s.default_memory_per_cpu->value) : "null");
  body += fmt::format(R"("socket":{},"state_dir":{},"heartbeat_s":{},"silent_after_s":{},"administrators":{},"administrator_groups":{},)"
                      R"("limits":{{"connections":{},"body_bytes":{},"requests_per_second":{}}}}})",
                      http::json_string(d.socket), http::json_string(d.state_dir), base::to_seconds(d.heartbeat),
                      base::to_seconds(d.silent_after), text_list(d.administrators.users), text_list(d.administrators.groups),
                      d.limits.connections, d.limits.body_bytes, d.limits.requests_per_second);
  call->reply_json(std::move(body));
}

// The file is the controller's own: nothing of the request decides what is read.
void reconfigure(const CallPtr& call) {
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  if (!call->controller.read_configuration_again)
    return call->fail({Code::unavailable, "the configuration can not be read again here", {}, {}, {}, {}});
  const auto warnings = call->controller.read_configuration_again();
  if (!warnings) return call->fail(warnings.error());
  std::string body = "{\"warnings\":[";
  for (std::size_t i = 0; i < warnings->size(); ++i) body += (i > 0 ? "," : "") + http::json_string((*warnings)[i]);
  call->reply_json(body + "]}");
}

}  // namespace sy::daemon::handlers

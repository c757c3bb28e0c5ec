// The cluster as it is set up: partitions, topologies, settings in force.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/time_text.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/small_body.hpp"
#include "http/problem.hpp"
#include "wire/fault.hpp"
#include "wire/topology/import_topology.hpp"
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
    wire::append_partition(body, state.partitions[i], state);
  }
  body += fmt::format("],\"sequence\":{}}}", state.sequence.value);
  call->reply_json(std::move(body));
}

void get_partition(const CallPtr& call) {
  const model::Partition* partition = call->state().find_partition(call->captures.at(0));
  if (partition == nullptr)
    return call->fail({Code::not_found, "there is no such partition", "name", {}, call->captures.at(0).substr(0, 80), "sinfo lists them"});
  std::string body;
  wire::append_partition(body, *partition, call->state());
  call->reply_json(std::move(body));
}

void list_topologies(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {}); !fit) return call->fail(fit.error());
  const model::State& state = call->state();
  std::string body = "{\"topologies\":[";
  bool first = true;
  for (const auto& [name, topology] : state.topologies) {
    if (!first) body += ',';
    first = false;
    wire::append_topology(body, topology, state);
  }
  body += fmt::format("],\"sequence\":{}}}", state.sequence.value);
  call->reply_json(std::move(body));
}

void get_topology(const CallPtr& call) {
  const auto at = call->state().topologies.find(call->captures.at(0));
  if (at == call->state().topologies.end())
    return call->fail({Code::not_found, "there is no such topology", "name", {}, call->captures.at(0).substr(0, 80), {}});
  std::string body;
  wire::append_topology(body, at->second, call->state());
  call->reply_json(std::move(body));
}

namespace {
struct ImportBody {
  std::string format, text;
  std::string topology;   // the one wanted of several in the text
  std::string file;       // what messages call the text
  bool dry_run{}, skip_unknown_nodes{};
};

base::Result<ImportBody> read_import(const Call& call) {
  auto json = small_body(call, {"format", "text", "topology", "file", "dry_run", "skip_unknown_nodes"});
  if (!json) return base::fail(json.error());
  ImportBody body;
  const auto text = json->find("text");
  if (text == json->end() || !text->is_string()) return base::fail(Code::invalid_argument, "must be the topology file's text", "text");
  body.text = text->get<std::string>();
  auto format = text_of(*json, "format", 64, false);
  if (!format) return base::fail(format.error());
  body.format = std::move(*format);
  auto topology = text_of(*json, "topology", 255, false), file = text_of(*json, "file", 4096, false);
  if (!topology) return base::fail(topology.error());
  if (!file) return base::fail(file.error());
  body.topology = std::move(*topology);
  body.file = file->empty() ? "text" : std::move(*file);
  auto dry = flag_of(*json, "dry_run"), skip = flag_of(*json, "skip_unknown_nodes");
  if (!dry) return base::fail(dry.error());
  if (!skip) return base::fail(skip.error());
  body.dry_run = *dry;
  body.skip_unknown_nodes = *skip;
  return body;
}
}  // namespace

// All or nothing: with any fault the answer lists every one, and the version in force stays.
void import_topology(const CallPtr& call) {
  const auto body = read_import(*call);
  if (!body) return call->fail(body.error());
  const std::string& name = call->captures.at(0);
  const model::State& state = call->state();
  std::vector<std::string> names(state.nodes.size());
  wire::ClusterNodes cluster;
  cluster.find = [&state](std::string_view node) -> std::optional<base::NodeIndex> {
    const model::Node* found = state.find_node(node);
    return found != nullptr ? std::optional(found->index) : std::nullopt;
  };
  for (const model::Node& node : state.nodes) names[node.index.value] = node.name;
  cluster.all = [&state] {
    std::vector<wire::KnownNode> all;
    for (const model::Node& node : state.nodes)
      if (!node.removed) all.push_back({node.name, node.labels});
    return all;
  };
  wire::Faults faults(body->file);
  const wire::ImportRequest request{body->text, body->format, body->topology, name, body->skip_unknown_nodes};
  auto imported = wire::import_topologies(request, cluster, faults);
  if (!imported || imported->topologies.empty()) {
    if (!faults.empty()) return call->fail(faults.to_error());
    return call->fail({Code::invalid_argument, "the text holds no topology", "text", {}, {}, {}});
  }
  model::Topology topology = std::move(imported->topologies[imported->cluster_default]);
  topology.name = name;
  const auto in_force = state.topologies.find(name);
  const auto changes = wire::topology_diff(in_force != state.topologies.end() ? in_force->second : model::Topology{}, topology, names);
  const auto notes = wire::report_lines(imported->report, body->file);
  if (!body->dry_run) {
    const auto outcome = call->execute(core::ImportTopology{std::move(topology)});
    if (!outcome.reply) return call->fail(outcome.reply.error());
  }
  const auto now = call->state().topologies.find(name);
  call->reply_json(fmt::format("{{\"name\":{},\"dry_run\":{},\"changes\":{},\"notes\":{},\"skipped_nodes\":{},\"version\":{}}}",
                               http::json_string(name), body->dry_run, text_list(changes), text_list(notes),
                               text_list(imported->report.skipped_nodes), now == call->state().topologies.end() ? 0 : now->second.version));
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
      R"({{"cluster_name":{},"version":{},"api_version":1,"epoch":{},"sequence":{},"default_partition":{},"default_topology":{},)",
      http::json_string(s.cluster_name), http::json_string(SWITCHYARD_VERSION), state.epoch, state.sequence.value,
      default_partition.empty() ? "null" : http::json_string(default_partition), http::json_string(s.default_topology));
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

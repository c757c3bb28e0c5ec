// Topologies: what is in force, in any format; files checked and imported; how well things are placed in it.
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/hostlist.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/small_body.hpp"
#include "http/problem.hpp"
#include "sched/placement/chooser.hpp"
#include "sched/placement/placement.hpp"
#include "sched/placement/quality.hpp"
#include "wire/enum_names.hpp"
#include "wire/fault.hpp"
#include "wire/topology/export_topology.hpp"
#include "wire/topology/import_topology.hpp"
#include "wire/views.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;
namespace placement = sched::placement;

std::string text_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ",") + http::json_string(each);
  return "[" + out + "]";
}

std::vector<std::string> node_names(const model::State& state) {
  std::vector<std::string> names(state.nodes.size());
  for (const model::Node& node : state.nodes) names[node.index.value] = node.name;
  return names;
}

// The one named in the path; nullptr when it is not there, and then the call is answered.
const model::Topology* named(const CallPtr& call) {
  const auto at = call->state().topologies.find(call->captures.at(0));
  if (at != call->state().topologies.end()) return &at->second;
  std::vector<std::string> known;
  for (const auto& [name, topology] : call->state().topologies) known.push_back(name);
  call->fail({Code::not_found, "there is no such topology", "name", fmt::format("{}", fmt::join(known, ", ")),
              call->captures.at(0).substr(0, 80), "sy topo import brings one into force"});
  return nullptr;
}

// Dense, with what each node does now.
struct Picture {
  std::shared_ptr<const model::TopologyIndex> made;
  const model::TopologyIndex& index;
  std::vector<sched::NodeNow> nodes;
};
Picture picture_of(const model::State& state, const model::Topology& topology) {
  std::shared_ptr<const model::TopologyIndex> index;
  if (state.shape)
    if (const auto at = state.shape->indexes.find(topology.name); at != state.shape->indexes.end()) index = at->second;
  if (!index) index = std::make_shared<const model::TopologyIndex>(model::TopologyIndex::build(topology, node_names(state)));
  Picture p{index, *index, {}};
  for (const model::Node& node : state.nodes) p.nodes.push_back(sched::node_now(state, node));
  sched::nodes_of_exclusive_domains(state).for_each([&](base::NodeIndex n) { p.nodes[n.value].exclusive = true; });
  return p;
}
// The one that is meant when nobody names one: of the default partition, else of the cluster, else the first.
std::string usual_topology(const model::State& state) {
  std::vector<std::string> names;
  for (const model::Partition& p : state.partitions)
    if (p.is_default) names.push_back(sched::topology_name(p, state.settings.default_topology));
  names.push_back(state.settings.default_topology);
  names.emplace_back("default");
  for (const std::string& name : names)
    if (state.topologies.contains(name)) return name;
  return state.topologies.empty() ? std::string() : state.topologies.begin()->first;
}
}  // namespace

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
  body += fmt::format("],\"usual\":{},\"sequence\":{}}}", http::json_string(usual_topology(state)), state.sequence.value);
  call->reply_json(std::move(body));
}

void get_topology(const CallPtr& call) {
  const model::Topology* topology = named(call);
  if (topology == nullptr) return;
  std::string body;
  wire::append_topology(body, *topology, call->state());
  call->reply_json(std::move(body));
}

void export_topology(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {"format"}); !fit) return call->fail(fit.error());
  const model::Topology* topology = named(call);
  if (topology == nullptr) return;
  const std::string* format = call->target.parameter("format");
  const auto text = wire::export_topology(*topology, node_names(call->state()), format == nullptr ? "yaml" : *format);
  if (!text) {
    base::Error e = text.error();
    e.field = "format";
    return call->fail(e);
  }
  http::Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = *text;
  call->reply(std::move(response));
}

// Free, busy, drained and down nodes of each domain.
void topology_use(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {}); !fit) return call->fail(fit.error());
  const model::Topology* topology = named(call);
  if (topology == nullptr) return;
  const Picture p = picture_of(call->state(), *topology);
  const auto uses = placement::domain_uses(p.index, p.nodes);
  std::vector<std::string> kept;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].exclusive && p.nodes[i].jobs == 0) kept.push_back(call->state().nodes[i].name);
  std::string body = fmt::format("{{\"name\":{},\"version\":{},\"kept\":{},\"domains\":[", http::json_string(topology->name),
                                 topology->version, http::json_string(kept.empty() ? std::string() : base::fold_hostlist(kept)));
  for (std::uint32_t d = 0; d < uses.size(); ++d) {
    const auto& domain = p.index.domain(d);
    const auto& u = uses[d];
    body += fmt::format("{}{{\"name\":{},\"level\":{},\"nodes\":{},\"free\":{},\"busy\":{},\"drained\":{},\"down\":{}}}", d == 0 ? "" : ",",
                        http::json_string(d == model::TopologyIndex::root ? "any" : domain.name),
                        http::json_string(p.index.level_name(domain.level)), u.nodes, u.free, u.busy, u.drained, u.down);
  }
  call->reply_json(body + "]}");
}

// Per running job: domains used, the fewest, the level that holds it. For all: fragmentation, the largest free piece per level.
void topology_quality(const CallPtr& call) {
  if (auto fit = only_parameters(call->target, {}); !fit) return call->fail(fit.error());
  const model::State& state = call->state();
  const model::Topology* topology = named(call);
  if (topology == nullptr) return;
  const Picture p = picture_of(state, *topology);
  std::string body = fmt::format("{{\"topology\":{},\"version\":{},\"fragmentation\":{},\"largest_free\":[",
                                 http::json_string(topology->name), topology->version, placement::fragmentation(p.index, p.nodes));
  bool first = true;
  for (const auto& f : placement::largest_free(p.index, p.nodes)) {
    body += fmt::format("{}{{\"level\":{},\"domain\":{},\"free\":{}}}", first ? "" : ",", http::json_string(f.level),
                        http::json_string(f.domain), f.free);
    first = false;
  }
  body += "],\"jobs\":[";
  first = true;
  for (const base::JobId id : state.live) {
    const model::Job& job = state.jobs.at(id);
    if (!job.attempt) continue;
    std::vector<base::NodeIndex> nodes;
    for (const auto& grant : job.attempt->nodes)
      if (p.index.position_of(grant.node.value) >= 0) nodes.push_back(grant.node);
    if (nodes.empty()) continue;  // all of it is somewhere else
    const auto q = placement::quality_of(p.index, nodes);
    body += fmt::format("{}{{\"id\":{},\"user\":{},\"nodes\":{},\"domains\":{},\"least\":{},\"level\":{}}}", first ? "" : ",", id.value,
                        http::json_string(job.user), q.nodes, q.used, q.least, http::json_string(q.level));
    first = false;
  }
  call->reply_json(body + "]}");
}

namespace {
struct ImportBody {
  std::string format, text;
  std::string topology;   // the one wanted of several in the text
  std::string file;       // what messages call the text
  std::string name;       // what to call one that the text does not name
  bool dry_run{}, skip_unknown_nodes{};
};

base::Result<ImportBody> read_import(const Call& call) {
  auto json = small_body(call, {"format", "text", "topology", "file", "name", "dry_run", "skip_unknown_nodes"});
  if (!json) return base::fail(json.error());
  ImportBody body;
  const auto text = json->find("text");
  if (text == json->end() || !text->is_string()) return base::fail(Code::invalid_argument, "must be the topology file's text", "text");
  body.text = text->get<std::string>();
  for (const auto& [name, most, to] : {std::tuple{"format", 64, &body.format}, std::tuple{"topology", 255, &body.topology},
                                       std::tuple{"file", 4096, &body.file}, std::tuple{"name", 255, &body.name}}) {
    auto value = text_of(*json, name, static_cast<std::size_t>(most), false);
    if (!value) return base::fail(value.error());
    *to = std::move(*value);
  }
  if (body.file.empty()) body.file = "text";
  if (body.name.empty()) body.name = "default";
  auto dry = flag_of(*json, "dry_run"), skip = flag_of(*json, "skip_unknown_nodes");
  if (!dry) return base::fail(dry.error());
  if (!skip) return base::fail(skip.error());
  body.dry_run = *dry;
  body.skip_unknown_nodes = *skip;
  return body;
}

// Against the cluster's nodes and what they report. Any fault: all of them.
base::Result<wire::Imported> read_file(const Call& call, const ImportBody& body) {
  const model::State& state = call.state();
  wire::ClusterNodes cluster;
  cluster.find = [&state](std::string_view node) -> std::optional<base::NodeIndex> {
    const model::Node* found = state.find_node(node);
    return found != nullptr ? std::optional(found->index) : std::nullopt;
  };
  cluster.all = [&state] {
    std::vector<wire::KnownNode> all;
    for (const model::Node& node : state.nodes)
      if (!node.removed) all.push_back({node.name, node.labels});
    return all;
  };
  wire::Faults faults(body.file);
  const wire::ImportRequest request{body.text, body.format, body.topology, body.name, body.skip_unknown_nodes};
  auto imported = wire::import_topologies(request, cluster, faults);
  if (imported && !imported->topologies.empty()) return std::move(*imported);
  if (!faults.empty()) return base::fail(faults.to_error());
  return base::fail(Code::invalid_argument, "the text holds no topology", "text");
}

std::vector<std::string> changes_of(const model::State& state, const model::Topology& wanted) {
  const auto in_force = state.topologies.find(wanted.name);
  return wire::topology_diff(in_force != state.topologies.end() ? in_force->second : model::Topology{}, wanted, node_names(state));
}

std::uint64_t version_of(const model::State& state, const std::string& name) {
  const auto at = state.topologies.find(name);
  return at == state.topologies.end() ? 0 : at->second.version;
}

// What the file told, and whether anybody will see it at work.
std::string notes_of(const model::State& state, const wire::Imported& imported, const std::string& file,
                     const std::vector<std::string>& names) {
  auto notes = wire::report_lines(imported.report, file);
  for (const std::string& name : names) {
    const auto uses = [&](const model::Partition& p) { return sched::topology_name(p, state.settings.default_topology) == name; };
    if (std::ranges::none_of(state.partitions, uses))
      notes.push_back(
          fmt::format("no partition uses topology {0}: write \"default_topology: {0}\" into the configuration, or \"topology: {0}\" "
                      "at a partition, then scontrol reconfigure",
                      name));
  }
  return text_list(notes);
}
}  // namespace

// All or nothing: with any fault the answer lists every one, and the version in force stays.
void import_topology(const CallPtr& call) {
  auto body = read_import(*call);
  if (!body) return call->fail(body.error());
  const std::string& name = body->name = call->captures.at(0);
  auto imported = read_file(*call, *body);
  if (!imported) return call->fail(imported.error());
  model::Topology topology = std::move(imported->topologies[imported->cluster_default]);
  topology.name = name;
  const auto changes = changes_of(call->state(), topology);
  if (!body->dry_run) {
    const auto outcome = call->execute(core::ImportTopologies{{std::move(topology)}});
    if (!outcome.reply) return call->fail(outcome.reply.error());
  }
  call->reply_json(fmt::format("{{\"name\":{},\"dry_run\":{},\"changes\":{},\"notes\":{},\"skipped_nodes\":{},\"version\":{}}}",
                               http::json_string(name), body->dry_run, text_list(changes),
                               notes_of(call->state(), *imported, body->file, {name}), text_list(imported->report.skipped_nodes),
                               version_of(call->state(), name)));
}

// Every topology of one file, in one transaction.
void import_topologies(const CallPtr& call) {
  const auto body = read_import(*call);
  if (!body) return call->fail(body.error());
  auto imported = read_file(*call, *body);
  if (!imported) return call->fail(imported.error());
  std::vector<std::pair<std::string, std::vector<std::string>>> parts;
  for (const auto& t : imported->topologies) parts.emplace_back(t.name, changes_of(call->state(), t));
  if (!body->dry_run) {
    const auto outcome = call->execute(core::ImportTopologies{std::move(imported->topologies)});
    if (!outcome.reply) return call->fail(outcome.reply.error());
  }
  std::string list;
  std::vector<std::string> names;
  for (const auto& [name, changes] : parts) {
    names.push_back(name);
    list += fmt::format("{}{{\"name\":{},\"changes\":{},\"version\":{}}}", list.empty() ? "" : ",", http::json_string(name),
                        text_list(changes), version_of(call->state(), name));
  }
  call->reply_json(fmt::format("{{\"topologies\":[{}],\"dry_run\":{},\"notes\":{},\"skipped_nodes\":{}}}", list, body->dry_run,
                               notes_of(call->state(), *imported, body->file, names), text_list(imported->report.skipped_nodes)));
}

// What a file holds, or every fault of it. Changes nothing.
void check_topologies(const CallPtr& call) {
  const auto body = read_import(*call);
  if (!body) return call->fail(body.error());
  const auto imported = read_file(*call, *body);
  if (!imported) return call->fail(imported.error());
  std::string list;
  for (const auto& t : imported->topologies) {
    std::size_t nodes = 0;
    for (const auto& d : t.domains) nodes += d.nodes.size();
    std::vector<std::string> levels;
    for (const auto& level : t.levels) levels.push_back(level.name);
    list +=
        fmt::format("{}{{\"name\":{},\"kind\":\"{}\",\"levels\":{},\"joined\":{},\"domains\":{},\"nodes\":{}}}", list.empty() ? "" : ",",
                    http::json_string(t.name), wire::enum_name(t.kind), text_list(levels), t.joined, t.domains.size(), nodes);
  }
  call->reply_json(fmt::format("{{\"format\":{},\"topologies\":[{}],\"notes\":{},\"skipped_nodes\":{}}}",
                               http::json_string(std::string(wire::format_name(imported->format))), list,
                               text_list(wire::report_lines(imported->report, body->file)), text_list(imported->report.skipped_nodes)));
}

}  // namespace sy::daemon::handlers

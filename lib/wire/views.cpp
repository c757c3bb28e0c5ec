#include "wire/views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.hpp"
#include "sched/placement/placement.hpp"
#include "wire/enum_names.hpp"
#include "wire/json_text.hpp"

namespace sy::wire {

namespace {

// Members one after another: the comma, the quoted name, the colon.
class ObjectText {
 public:
  // only: members that are written; null: all.
  explicit ObjectText(std::string& out, const NodeMembers* only = nullptr) : out_(out), only_(only) { out_ += '{'; }
  ~ObjectText() { out_ += '}'; }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  bool wants(std::string_view name) const { return only_ == nullptr || only_->has(name); }
  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
    return out_;
  }
  void text(std::string_view name, std::string_view value) {
    if (wants(name)) append_quoted(key(name), value);
  }
  void number(std::string_view name, std::int64_t value) {
    if (wants(name)) append_integer(key(name), value);
  }
  void flag(std::string_view name, bool value) {
    if (wants(name)) key(name) += value ? "true" : "false";
  }
  void cpus(std::string_view name, base::Cpus value) {
    if (wants(name)) append_cpus(key(name), value);
  }
  void time(std::string_view name, const std::optional<base::Time>& value) {
    if (!wants(name)) return;
    if (value) append_integer(key(name), base::micros(*value));
    else key(name) += "null";
  }
  void span(std::string_view name, const std::optional<base::Duration>& value) {
    append_seconds(key(name), value.value_or(base::Duration::max()));
  }
  template <class List, class Write>
  void list(std::string_view name, const List& items, Write write) {
    if (!wants(name)) return;
    key(name) += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write(item);
    }
    out_ += ']';
  }
  void texts(std::string_view name, const std::vector<std::string>& items) {
    list(name, items, [&](const std::string& item) { append_quoted(out_, item); });
  }

 private:
  std::string& out_;
  const NodeMembers* only_;
  bool first_{true};
};

void append_causes(ObjectText& object, std::string& out, const std::vector<model::Cause>& causes) {
  object.list("causes", causes, [&](const model::Cause& cause) {
    ObjectText item{out};
    item.text("kind", enum_name(cause.kind));
    item.number("nodes", cause.nodes);
  });
}

void append_domains(ObjectText& object, std::string& out, std::string_view name, const std::vector<model::DomainCount>& domains) {
  object.list(name, domains, [&](const model::DomainCount& d) {
    ObjectText domain{out};
    domain.text("domain", d.domain);
    domain.number("offered", d.offered);
    domain.number("asked", d.asked);
  });
}

const std::string& node_name(base::NodeIndex n, const model::State& state) {
  static const std::string gone = "?";
  return n.value < state.nodes.size() ? state.nodes[n.value].name : gone;
}

// "gpu:a100:2(IDX:0-1)" per name and type, as Slurm's GresUsed.
std::string gres_used_text(const model::Node& node) {
  const auto& gres = node.shape.gres;
  std::string out;
  for (std::size_t i = 0; i < gres.size();) {
    std::size_t j = i;
    std::vector<std::string> used;
    for (; j < gres.size() && gres[j].name == gres[i].name && gres[j].type == gres[i].type; ++j)
      if (j < node.gres_holder.size() && node.gres_holder[j].value != 0) used.push_back(std::to_string(gres[j].index));
    if (!out.empty()) out += ',';
    out += gres[i].name;
    if (!gres[i].type.empty()) out += ':' + gres[i].type;
    std::string indices = base::fold_hostlist(used);
    if (indices.size() >= 2 && indices.front() == '[') indices = indices.substr(1, indices.size() - 2);
    out += fmt::format(":{}(IDX:{})", used.size(), used.empty() ? "N/A" : indices);
    i = j;
  }
  return out;
}

}  // namespace

std::string hostlist_of(const std::vector<base::NodeIndex>& nodes, const model::State& state) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const auto n : nodes) names.push_back(node_name(n, state));
  return names.size() == 1 ? names.front() : base::fold_hostlist(std::move(names));
}

std::string hostlist_in_order(const std::vector<model::NodeGrant>& grants, const model::State& state) {
  if (grants.size() == 1) return node_name(grants.front().node, state);
  std::vector<std::string> names;
  names.reserve(grants.size());
  for (const auto& grant : grants) names.push_back(node_name(grant.node, state));
  return base::fold_hostlist_in_order(names);
}

std::string gres_text(const std::vector<base::GresCount>& counts) {
  std::string out;
  for (const auto& g : counts) {
    if (!out.empty()) out += ',';
    out += g.name;
    if (!g.type.empty()) out += ':' + g.type;
    out += ':' + std::to_string(g.count);
  }
  return out;
}

void append_verdict(std::string& out, const model::Verdict& verdict) {
  ObjectText object{out};
  object.text("kind", enum_name(verdict.kind));
  object.text("reason", model::reason_name(verdict.reason));
  object.number("offered", verdict.offered);
  object.number("asked", verdict.asked);
  object.number("ahead", verdict.ahead);
  object.text("text", model::to_text(verdict));
  append_causes(object, out, verdict.causes);
  object.list("rungs", verdict.rungs, [&](const model::RungVerdict& rung) {
    ObjectText item{out};
    item.text("level", rung.level);
    append_domains(item, out, "best", rung.best);
    append_causes(item, out, rung.causes);
    item.time("opens_us", rung.opens);
  });
  object.time("until_us", verdict.until);
}

void append_placement(std::string& out, const model::PlacementRecord& record, const model::State& state) {
  ObjectText object{out};
  object.text("topology", record.topology);
  object.number("version", static_cast<std::int64_t>(record.version));
  object.texts("levels", record.levels);
  object.text("level", record.level);
  object.texts("domains", record.domains);
  object.number("leaves_used", record.leaves_used);
  object.number("leaves_least", record.leaves_least);
  object.number("fragmentation_growth", record.fragmentation_growth);
  append_domains(object, out, "beaten", record.beaten);
  std::int64_t first = 0;
  object.list("ranks", record.parts, [&](const model::PlacedPart& part) {
    ObjectText item{out};
    item.number("first", first);
    item.number("count", part.tasks);
    item.text("node", part.node.value < state.nodes.size() ? state.nodes[part.node.value].name : std::string{"?"});
    item.texts("path", part.path < record.paths.size() ? record.paths[part.path] : std::vector<std::string>{});
    if (record.segmented && part.segment) item.number("segment", *part.segment);
    if (part.group < record.groups.size()) {
      item.text("group", record.groups[part.group]);
      item.number("replica", part.replica);
    }
    first += part.tasks;
  });
}

const std::vector<std::string>& NodeMembers::known() {
  static const std::vector<std::string> names{"name",
                                              "state",
                                              "contact",
                                              "drained",
                                              "down",
                                              "reason",
                                              "reason_at_us",
                                              "reason_by",
                                              "cpus",
                                              "cpus_held",
                                              "memory_mib",
                                              "memory_held_mib",
                                              "sockets",
                                              "cores_per_socket",
                                              "threads_per_core",
                                              "gres",
                                              "gres_text",
                                              "gres_used_text",
                                              "features",
                                              "weight",
                                              "address",
                                              "port",
                                              "boot_id",
                                              "boot_time_us",
                                              "registered_at_us",
                                              "version",
                                              "partitions",
                                              "jobs",
                                              "enrolled"};
  return names;
}

base::Result<NodeMembers> NodeMembers::parse(std::string_view list) {
  NodeMembers members;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string name{list.substr(0, comma)};
    if (std::find(known().begin(), known().end(), name) == known().end())
      return base::fail(base::Code::invalid_argument, "a node has no such field", "fields", name.substr(0, 80),
                        fmt::format("known are {}", fmt::join(known(), ", ")));
    members.only_.push_back(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  std::sort(members.only_.begin(), members.only_.end());
  return members;
}

bool NodeMembers::has(std::string_view name) const {
  return only_.empty() || std::binary_search(only_.begin(), only_.end(), name, std::less<>{});
}

void append_answer(std::string& out, const sched::placement::Answer& a, const model::ClusterShape& shape, const model::TopologyIndex& index,
                   std::int64_t fragmentation) {
  ObjectText object{out};
  append_verdict(object.key("verdict"), a.verdict);
  if (a.placed()) {
    std::vector<std::string> names;
    for (const auto& n : a.nodes) names.push_back(shape.nodes[n.node.value].name);
    object.text("nodes", base::fold_hostlist(names));
    object.text("nodes_in_rank_order", base::fold_hostlist_in_order(names));
    object.text("level", a.level);
    object.texts("domains", a.domains);
    object.number("leaves_used", a.leaves_used);
    object.number("leaves_least", a.leaves_least);
    object.number("fragmentation", fragmentation);
    object.number("fragmentation_growth", a.fragmentation_growth);
    std::int64_t rank = 0;
    object.list("ranks", a.nodes, [&](const sched::placement::PlacedNode& n) {
      ObjectText item{out};
      const auto position = index.position_of(n.node.value);
      item.number("rank", rank);
      item.text("node", shape.nodes[n.node.value].name);
      item.number("tasks", n.tasks);
      item.text("path", position < 0 ? std::string{} : fmt::format("{}", fmt::join(index.path(static_cast<std::uint32_t>(position)), ".")));
      item.number("segment", n.segment);
      item.number("group", n.group);
      item.number("replica", n.replica);
      rank += n.tasks;
    });
    append_domains(object, out, "beaten", a.beaten);
  }
  ObjectText work{object.key("work")};
  work.number("nodes", static_cast<std::int64_t>(a.work.nodes_looked_at));
  work.number("domains", static_cast<std::int64_t>(a.work.domains_looked_at));
  work.number("search_steps", static_cast<std::int64_t>(a.work.search_steps));
}

void append_node(std::string& out, const model::Node& node, const model::State& state, const NodeMembers& members) {
  ObjectText object{out, &members};
  object.text("name", node.name);
  object.text("state", model::node_state_name(node));
  object.text("contact", enum_name(node.contact));
  object.flag("drained", node.drained);
  object.flag("down", node.down);
  object.text("reason", node.reason);
  object.time("reason_at_us", node.reason_at);
  object.text("reason_by", node.reason_by);
  object.cpus("cpus", node.total.cpus);
  object.cpus("cpus_held", node.held.cpus);
  object.number("memory_mib", node.total.memory.value);
  object.number("memory_held_mib", node.held.memory.value);
  object.number("sockets", node.shape.sockets);
  object.number("cores_per_socket", node.shape.cores_per_socket);
  object.number("threads_per_core", node.shape.threads_per_core);
  object.list("gres", node.shape.gres, [&](const model::GresInstance& g) {
    ObjectText item{out};
    item.text("name", g.name);
    item.text("type", g.type);
    item.number("index", g.index);
  });
  if (object.wants("gres_text")) object.text("gres_text", gres_text(node.total.gres));
  if (object.wants("gres_used_text")) object.text("gres_used_text", gres_used_text(node));
  object.texts("features", node.features);
  object.number("weight", node.weight);
  object.text("address", node.address);
  object.number("port", node.port);
  object.text("boot_id", node.boot_id);
  object.time("boot_time_us", node.boot_time);
  object.time("registered_at_us", node.registered_at);
  object.text("version", node.version);
  if (object.wants("partitions")) {
    std::vector<std::string> partitions;
    for (const auto& p : state.partitions)
      if (p.nodes.contains(node.index)) partitions.push_back(p.name);
    object.texts("partitions", partitions);
  }
  object.list("jobs", node.jobs, [&](base::JobId id) { append_unsigned(out, id.value); });
  object.flag("enrolled", !node.public_key.empty());
}

void append_partition(std::string& out, const model::Partition& partition, const model::State& state, bool closed) {
  std::vector<base::NodeIndex> nodes;
  base::Cpus cpus;
  partition.nodes.for_each([&](base::NodeIndex n) {
    if (n.value >= state.nodes.size() || state.nodes[n.value].removed) return;
    nodes.push_back(n);
    cpus += state.nodes[n.value].total.cpus;
  });
  ObjectText object{out};
  object.text("name", partition.name);
  object.flag("default", partition.is_default);
  object.text("state", enum_name(partition.state));
  object.flag("allow_root", partition.allow_root || state.settings.allow_root_jobs);
  object.text("nodes", hostlist_of(nodes, state));
  object.number("node_count", static_cast<std::int64_t>(nodes.size()));
  object.cpus("cpus", cpus);
  object.span("max_time_s", partition.max_time);
  const auto cluster_time = std::min(partition.max_time.value_or(state.settings.default_time), state.settings.default_time);
  object.span("default_time_s", partition.default_time.value_or(cluster_time));
  const auto per_node = partition.default_memory_per_node;
  const auto per_cpu =
      per_node || partition.default_memory_per_cpu ? partition.default_memory_per_cpu : state.settings.default_memory_per_cpu;
  if (per_node) object.number("default_memory_per_node_mib", per_node->value);
  if (per_cpu) object.number("default_memory_per_cpu_mib", per_cpu->value);
  object.number("min_nodes", partition.min_nodes);
  if (partition.max_nodes) object.number("max_nodes", *partition.max_nodes);
  else object.key("max_nodes") += "null";
  object.number("priority_tier", partition.priority_tier);
  object.flag("exclusive_node", partition.exclusive_node);
  object.flag("hidden", partition.hidden);
  object.flag("closed", closed);
  object.texts("allow_groups", partition.allow_groups);
  object.texts("allow_users", partition.allow_users);
  object.texts("deny_groups", partition.deny_groups);
  object.texts("deny_users", partition.deny_users);
  object.text("topology", partition.topology.empty() ? state.settings.default_topology : partition.topology);
  object.text("packing", partition.topology_optional ? "none" : "narrowest");
  object.text("weights", partition.weight_first ? "first" : "break_ties");
}

void append_topology(std::string& out, const model::Topology& topology, const model::State& state) {
  ObjectText object{out};
  object.text("name", topology.name);
  object.text("kind", enum_name(topology.kind));
  object.list("levels", topology.levels, [&](const model::Level& level) {
    ObjectText item{out};
    item.text("name", level.name);
    item.texts("aliases", level.aliases);
  });
  object.flag("joined", topology.joined);
  object.list("block_sizes", topology.block_sizes, [&](std::uint32_t size) { append_unsigned(out, size); });
  object.number("version", static_cast<std::int64_t>(topology.version));
  object.list("domains", topology.domains, [&](const model::Domain& domain) {
    ObjectText item{out};
    item.text("name", domain.name);
    item.text("level", domain.level < topology.levels.size() ? topology.levels[domain.level].name : std::string{});
    const bool has_parent = domain.parent >= 0 && static_cast<std::size_t>(domain.parent) < topology.domains.size();
    if (has_parent) item.text("parent", topology.domains[static_cast<std::size_t>(domain.parent)].name);
    else item.key("parent") += "null";
    std::vector<std::string> names;  // in the topology's order, which decides ranks
    names.reserve(domain.nodes.size());
    for (const auto n : domain.nodes) names.push_back(state.nodes.at(n.value).name);
    item.text("nodes", base::fold_hostlist_in_order(names));
    if (!domain.link_speed.empty()) item.text("link_speed", domain.link_speed);
  });
}

}  // namespace sy::wire

#include "cli/nodes/node_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hostlist.hpp"
#include "base/time_text.hpp"
#include "cli/text.hpp"
#include "cli/text_argument.hpp"

namespace sy::cli {

namespace {

bool silent(Json node) {
  const std::string_view contact = node["contact"].text("up");
  return contact != "up";
}
bool out_of_use(Json node) {
  const std::string_view state = node["state"].text();
  return state != "idle" && state != "mixed" && state != "allocated";
}

}  // namespace

std::string node_state(Json node, bool compact) {
  static constexpr std::array<std::array<std::string_view, 2>, 9> names{{{"idle", "idle"},
                                                                         {"mixed", "mix"},
                                                                         {"allocated", "alloc"},
                                                                         {"drained", "drain"},
                                                                         {"draining", "drng"},
                                                                         {"down", "down"},
                                                                         {"unknown", "unk"},
                                                                         {"fenced", "down"},
                                                                         {"completing", "comp"}}};
  const std::string_view state = node["state"].text("unknown");
  std::string text{state};
  for (const auto& [name, brief] : names)
    if (name == state) text = compact || name == "fenced" ? brief : name;
  if (silent(node)) text += '*';
  return text;
}

int node_state_rank(Json node) {
  const std::string_view state = node["state"].text();
  const int base = state == "mixed" ? 5 : state == "allocated" ? 3 : state == "idle" ? 2 : state == "unknown" ? 0 : 1;
  return base + (state == "drained" || state == "draining" ? 10 : 0) + (silent(node) ? 100 : 0);
}

CpuCounts count_cpus(const std::vector<Json>& nodes) {
  CpuCounts sum;
  for (const Json node : nodes) {
    const auto total = node["cpus"].integer();
    const auto held = std::min<std::int64_t>(total, static_cast<std::int64_t>(node["cpus_held"].number() + 0.999));
    sum.total += total;
    sum.allocated += held;
    (out_of_use(node) || silent(node) ? sum.other : sum.idle) += total - held;
  }
  return sum;
}

Who who_of(std::string_view text) {
  if (text.empty()) return {"Unknown", {}};
  const auto open = text.find(" (");
  if (!text.starts_with("uid ") || open == std::string_view::npos || text.back() != ')') return {text, {}};
  return {text.substr(open + 2, text.size() - open - 3), text.substr(4, open - 4)};
}

std::string limit_text(Json seconds, std::string_view when_null) {
  return seconds.is_number() ? base::format_walltime(base::Duration{base::seconds{seconds.integer()}}) : std::string{when_null};
}

namespace {

using Out = std::string&;
using Group = const NodeGroup&;
using View = const NodeView&;

Json first(Group group) { return group.nodes.empty() ? Json{} : group.nodes.front(); }
std::string_view or_null(std::string_view text) { return text.empty() ? std::string_view{"(null)"} : text; }

// A fixed text; a member of the node; the least of a number over the nodes.
template <Text t>
void A(Out out, Group, View) {
  out += s<t>;
}
template <Text t>
void N(Out out, Group group, View) {
  out += or_null(first(group)[s<t>].text());
}
template <Text t>
void L(Out out, Group group, View) {
  std::int64_t least = INT64_MAX, most = 0;
  for (const Json node : group.nodes) {
    const auto n = node[s<t>].integer();
    least = std::min(least, n);
    most = std::max(most, n);
  }
  out += group.nodes.empty() ? "0" : std::to_string(least);
  if (!group.nodes.empty() && most > least) out += '+';
}

void nodes_count(Out out, Group group, View) { out += std::to_string(group.nodes.size()); }
void node_list(Out out, Group group, View) {
  std::vector<std::string> names;
  for (const Json node : group.nodes) names.emplace_back(node["name"].text());
  out += base::fold_hostlist(std::move(names));
}
void state_long(Out out, Group group, View) { out += group.nodes.empty() ? "n/a" : node_state(first(group), false); }
void state_compact(Out out, Group group, View) { out += group.nodes.empty() ? "n/a" : node_state(first(group), true); }

struct NodeCounts {
  std::size_t allocated{}, idle{}, other{};
};
NodeCounts count_nodes(Group group) {
  NodeCounts n;
  for (const Json node : group.nodes) {
    const std::string_view state = node["state"].text();
    if (state == "allocated" || state == "mixed" || state == "draining") ++n.allocated;
    else if (state == "idle" && !silent(node)) ++n.idle;
    else ++n.other;
  }
  return n;
}
void nodes_ai(Out out, Group group, View) {
  const auto n = count_nodes(group);
  fmt::format_to(std::back_inserter(out), "{}/{}", n.allocated, n.idle);
}
void nodes_aiot(Out out, Group group, View) {
  const auto n = count_nodes(group);
  fmt::format_to(std::back_inserter(out), "{}/{}/{}/{}", n.allocated, n.idle, n.other, group.nodes.size());
}
void cpus_aiot(Out out, Group group, View) {
  const auto n = count_cpus(group.nodes);
  fmt::format_to(std::back_inserter(out), "{}/{}/{}/{}", n.allocated, n.idle, n.other, n.total);
}
std::int64_t least_of(Group group, std::string_view member) {
  std::int64_t least = INT64_MAX;
  for (const Json node : group.nodes) least = std::min(least, node[member].integer(1));
  return group.nodes.empty() ? 0 : least;
}
void sct(Out out, Group group, View) {
  fmt::format_to(std::back_inserter(out), "{}:{}:{}", least_of(group, "sockets"), least_of(group, "cores_per_socket"),
                 least_of(group, "threads_per_core"));
}
void alloc_memory(Out out, Group group, View) { out += std::to_string(first(group)["memory_held_mib"].integer()); }
void reason(Out out, Group group, View) {
  const auto text = first(group)["reason"].text();
  out += text.empty() ? std::string_view{"none"} : text;
}
void reason_time(Out out, Group group, View view) {
  const Json at = first(group)["reason_at_us"];
  out += view.times.micros(at.is_number() ? std::optional{at.integer()} : std::nullopt, "Unknown");
}
void reason_user(Out out, Group group, View) { out += who_of(first(group)["reason_by"].text()).name; }
void reason_user_long(Out out, Group group, View) {
  const auto [name, uid] = who_of(first(group)["reason_by"].text());
  out += name;
  if (!uid.empty()) fmt::format_to(std::back_inserter(out), "({})", uid);
}
void features(Out out, Group group, View) {
  std::vector<std::string> names;
  first(group)["features"].for_each([&](Json f) { names.emplace_back(f.text()); });
  out += or_null(join(names));
}
void address(Out out, Group group, View) {
  const auto text = first(group)["address"].text();
  out += text.empty() ? first(group)["name"].text() : text;
}
void version_text(Out out, Group group, View) {
  const auto text = first(group)["version"].text();
  out += text.empty() ? std::string_view{"N/A"} : text;
}
void port(Out out, Group group, View) { out += std::to_string(first(group)["port"].integer()); }
void cluster(Out out, Group, View view) { out += view.cluster.empty() ? std::string_view{"N/A"} : view.cluster; }

void partition_marked(Out out, Group group, View) {
  out += group.partition["name"].text();
  if (group.partition["default"].boolean()) out += '*';
}
void partition_name(Out out, Group group, View) { out += group.partition["name"].text(); }
void available(Out out, Group group, View) {
  const auto state = group.partition["state"].text("up");
  out += state == "inactive" ? std::string_view{"inact"} : state;
}
void max_time(Out out, Group group, View) { out += limit_text(group.partition["max_time_s"], "infinite"); }
void default_time(Out out, Group group, View) { out += limit_text(group.partition["default_time_s"], "n/a"); }
void job_size(Out out, Group group, View) {
  const auto least = std::max<std::int64_t>(1, group.partition["min_nodes"].integer());
  const Json most = group.partition["max_nodes"];
  const std::string upper_end = most.is_number() ? std::to_string(most.integer()) : "infinite";
  out += most.is_number() && most.integer() == least ? upper_end : fmt::format("{}-{}", least, upper_end);
}
void groups(Out out, Group group, View) {
  std::vector<std::string> names;
  group.partition["allow_groups"].for_each([&](Json g) { names.emplace_back(g.text()); });
  out += names.empty() ? "all" : join(names);
}
void oversubscribe(Out out, Group group, View) { out += group.partition["exclusive_node"].boolean() ? "EXCLUSIVE" : "NO"; }
void tier(Out out, Group group, View) { out += std::to_string(group.partition["priority_tier"].integer(1)); }

using enum NodeField::Kind;

// clang-format off
constexpr NodeField table[] = {
    {{"Available", 'a', "AVAIL"}, partition, available},
    {{"NodeAI", 'A', "NODES(A/I)"}, counted, nodes_ai},
    {{"features_act", 'b', "ACTIVE_FEATURES"}, key, features, "features"},
    {{"MaxCPUsPerNode", 'B', "MAX_CPUS_PER_NODE"}, partition, A<"UNLIMITED">},
    {{"CPUs", 'c', "CPUS"}, least, L<"cpus">, "cpus"},
    {{"CPUsState", 'C', "CPUS(A/I/O/T)"}, counted, cpus_aiot, "cpus,cpus_held"},
    {{"Disk", 'd', "TMP_DISK"}, key, A<"0">},
    {{"Nodes", 'D', "NODES"}, counted, nodes_count},
    {{"FreeMem", 'e', "FREE_MEM"}, key, A<"N/A">},
    {{"Reason", 'E', "REASON"}, key, reason, "reason"},
    {{"Features", 'f', "AVAIL_FEATURES"}, key, features, "features"},
    {{"NodeAIOT", 'F', "NODES(A/I/O/T)"}, counted, nodes_aiot},
    {{"Groups", 'g', "GROUPS"}, partition, groups},
    {{"Gres", 'G', "GRES"}, key, N<"gres_text">, "gres_text"},
    {{"OverSubscribe", 'h', "OVERSUBSCRIBE"}, partition, oversubscribe},
    {{"Timestamp", 'H', "TIMESTAMP"}, key, reason_time, "reason_at_us"},
    {{"Reservation", 'i', "RESERVATION"}, key, A<"">},
    {{"PriorityJobFactor", 'I', "PRIO_JOB_FACTOR"}, partition, A<"1">},
    {{"Time", 'l', "TIMELIMIT"}, partition, max_time},
    {{"DefaultTime", 'L', "DEFAULTTIME"}, partition, default_time},
    {{"Memory", 'm', "MEMORY"}, least, L<"memory_mib">, "memory_mib"},
    {{"PreemptMode", 'M', "PREEMPT_MODE"}, partition, A<"OFF">},
    {{"NodeHost", 'n', "HOSTNAMES"}, key, N<"name">},
    {{"NodeList", 'N', "NODELIST"}, counted, node_list},
    {{"NodeAddr", 'o', "NODE_ADDR"}, key, address, "address"},
    {{"CPUsLoad", 'O', "CPU_LOAD"}, key, A<"N/A">},
    {{"PriorityTier", 'p', "PRIO_TIER"}, partition, tier},
    {{"Partition", 'P', "PARTITION"}, partition, partition_marked},
    {{"Root", 'r', "ROOT"}, partition, A<"no">},
    {{"PartitionName", 'R', "PARTITION"}, partition, partition_name},
    {{"Size", 's', "JOB_SIZE"}, partition, job_size},
    {{"AllocNodes", 'S', "ALLOCNODES"}, partition, A<"all">},
    {{"StateCompact", 't', "STATE"}, key, state_compact},
    {{"StateLong", 'T', "STATE"}, key, state_long},
    {{"User", 'u', "USER"}, key, reason_user, "reason_by"},
    {{"UserLong", 'U', "USER"}, key, reason_user_long, "reason_by"},
    {{"Version", 'v', "VERSION"}, key, version_text, "version"},
    {{"Cluster", 'V', "CLUSTER"}, key, cluster},
    {{"Weight", 'w', "WEIGHT"}, least, L<"weight">, "weight"},
    {{"Sockets", 'X', "SOCKETS"}, least, L<"sockets">, "sockets"},
    {{"Cores", 'Y', "CORES"}, least, L<"cores_per_socket">, "cores_per_socket"},
    {{"SocketCoreThread", 'z', "S:C:T"}, least, sct, "sockets,cores_per_socket,threads_per_core"},
    {{"Threads", 'Z', "THREADS"}, least, L<"threads_per_core">, "threads_per_core"},
    // by name only
    {{"AllocMem", 0, "ALLOCMEM"}, key, alloc_memory, "memory_held_mib"},
    {{"Comment", 0, "COMMENT"}, key, A<"(null)">},
    {{"Extra", 0, "EXTRA"}, key, A<"(null)">},
    {{"GresUsed", 0, "GRES_USED"}, key, N<"gres_used_text">, "gres_used_text"},
    {{"Port", 0, "PORT"}, key, port, "port"},
    {{"StateComplete", 0, "STATECOMPLETE"}, key, state_long},
};
// clang-format on

}  // namespace

std::span<const NodeField> node_fields() { return table; }

std::span<const FieldName> node_field_names() {
  static const std::vector<FieldName> names = [] {
    std::vector<FieldName> list;
    for (const auto& field : table) list.push_back(field.name);
    return list;
  }();
  return names;
}

}  // namespace sy::cli

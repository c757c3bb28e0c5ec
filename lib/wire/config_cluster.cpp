#include "wire/config_cluster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/features.hpp"
#include "base/hostlist.hpp"
#include "base/option_table.hpp"
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "wire/config_words.hpp"

namespace sy::wire {
namespace {

using base::Code;
using base::Error;
using core::NodeDeclaration;
using core::PartitionDeclaration;

// Where each name was declared first.
using Declared = std::map<std::string, FileMark, std::less<>>;

std::optional<std::vector<std::string>> read_hostlist(YamlMap& m, std::string_view key) {
  const auto texts = m.text_list(key);
  if (!texts) return std::nullopt;
  auto names = base::expand_hostlist(fmt::format("{}", fmt::join(*texts, ",")));
  if (names) return std::move(*names);
  m.refuse(key, names.error());
  return std::nullopt;
}

std::vector<std::string> read_features(YamlMap& m, std::string_view key) {
  auto list = m.text_list(key).value_or(std::vector<std::string>{});
  for (const std::string& f : list) {
    const auto e = base::parse_features(f);
    if (e && e->op == base::FeatureExpression::Op::feature && e->feature == f) continue;
    m.refuse(key, "this can not be a feature's name", f.substr(0, 80), "write a list of words: [a100, ib]");
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// Sockets, cores and threads are for placement inside the node; their product is its CPUs.
void read_layout(YamlMap& m, model::NodeShape& shape, std::optional<std::uint32_t> cpus) {
  const auto sockets = read_count(m, "sockets", 1, 1024);
  const auto cores = read_count(m, "cores_per_socket", 1, 65'536);
  const auto threads = read_count(m, "threads_per_core", 1, 1024);
  shape.sockets = sockets.value_or(1);
  shape.threads_per_core = threads.value_or(1);
  if (cores) {
    shape.cores_per_socket = *cores;
  } else {
    const std::uint32_t per = shape.sockets * shape.threads_per_core;
    shape.cores_per_socket = std::max<std::uint32_t>(1, cpus.value_or(per) / per);
  }
  const std::uint64_t product = std::uint64_t{shape.sockets} * shape.cores_per_socket * shape.threads_per_core;
  if (cpus && (sockets || cores || threads) && product != *cpus)
    m.refuse("cpus",
             fmt::format("{} sockets of {} cores of {} threads are {} CPUs", shape.sockets, shape.cores_per_socket, shape.threads_per_core,
                         product),
             fmt::format("{}", *cpus), "leave one of them out");
  shape.cpus = cpus.value_or(static_cast<std::uint32_t>(std::min<std::uint64_t>(product, 65'536)));
}

std::optional<model::NodeShape> read_shape(YamlMap& m, Faults& faults) {
  static constexpr std::string_view keys[] = {"cpus", "memory", "gres", "sockets", "cores_per_socket", "threads_per_core"};
  const bool declared = std::any_of(std::begin(keys), std::end(keys), [&](std::string_view k) { return m.has(k); });
  model::NodeShape shape;
  read_layout(m, shape, read_count(m, "cpus", 1, 65'536));
  const auto memory = m.parsed("memory", base::parse_memory);
  shape.memory = memory.value_or(base::Mebibytes{});
  if (memory && memory->value == 0)
    m.refuse("memory", "a node has some memory", "0", "leave memory, CPUs and GRES out to take what registers");
  shape.gres = read_gres(m, "gres", faults).value_or(std::vector<model::GresInstance>{});
  if (!declared) return std::nullopt;
  const bool some_cpus = m.has("cpus") || (m.has("sockets") && m.has("cores_per_socket"));
  if (!some_cpus || !m.has("memory"))
    m.refuse(some_cpus ? "memory" : "cpus", "a node is declared with its CPUs and its memory, or with neither", {},
             "add what is missing, or leave cpus, memory and gres out to take what registers");
  return shape;
}

void read_node_group(const YamlNode& item, const std::string& path, Faults& faults, Declared& declared, std::vector<NodeDeclaration>& out) {
  YamlMap m(item, path, faults);
  m.require("names");
  const auto names = read_hostlist(m, "names").value_or(std::vector<std::string>{});
  NodeDeclaration common;
  common.shape = read_shape(m, faults);
  common.features = read_features(m, "features");
  common.weight = read_count(m, "weight", 0, 1'000'000'000).value_or(common.weight);
  common.port = static_cast<std::uint16_t>(read_count(m, "port", 1, 65'535).value_or(common.port));
  auto addresses = read_hostlist(m, "address").value_or(std::vector<std::string>{});
  for (const std::string& a : addresses)
    if (!is_host(a)) {
      m.refuse("address", "this can not be a host's address", a.substr(0, 80));
      break;
    }
  if (addresses.size() > 1 && addresses.size() != names.size())
    m.refuse("address", fmt::format("there are {} addresses for {} names", addresses.size(), names.size()), {},
             "write one address for each name, or one for all");
  m.finish();

  if (out.size() + names.size() > base::max_hostlist_names) {
    m.refuse("names", fmt::format("the cluster has more than {} nodes", base::max_hostlist_names));
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_node_name(names[i])) {
      m.refuse("names", "this can not be a node's name", names[i].substr(0, 80),
               "use letters, digits, '-', '_' and '.', at most 63; ALL and controller have a meaning of their own");
      return;
    }
    const auto [first, fresh] = declared.emplace(names[i], m.mark_of("names"));
    if (!fresh) {
      m.refuse("names", fmt::format("this node is declared twice, first on line {}", first->second.line), names[i], "keep one of them");
      return;
    }
    NodeDeclaration d = common;
    d.name = names[i];
    if (!addresses.empty()) d.address = addresses[std::min(i, addresses.size() - 1)];
    out.push_back(std::move(d));
  }
}

// "1-00:00:00", "30" (minutes) and UNLIMITED as in Slurm, or "24h" as elsewhere in this file.
base::Result<std::optional<base::Duration>> parse_limit(std::string_view text) {
  auto slurm = base::parse_walltime(text);
  if (slurm) {
    if (*slurm && (*slurm)->count() == 0)
      return base::fail(
          Error{Code::invalid_argument, "a time limit of 0 lets no job run", {}, {}, std::string(text), "write UNLIMITED for no limit"});
    return slurm;
  }
  auto ours = base::parse_span(text);
  if (ours && ours->count() > 0) return std::optional<base::Duration>{*ours};
  Error e = slurm.error();
  e.hint = "write 1-00:00:00, 24h, 90m or UNLIMITED";
  return base::fail(std::move(e));
}

void read_times(YamlMap& m, model::Partition& p) {
  p.max_time = m.parsed("max_time", parse_limit).value_or(std::nullopt);
  p.default_time = m.parsed("default_time", parse_limit).value_or(std::nullopt);
  if (p.max_time && p.default_time && *p.default_time > *p.max_time)
    m.refuse("default_time", Error{Code::invalid_argument,
                                   "the default is more than the partition allows",
                                   {},
                                   base::format_walltime(p.max_time),
                                   base::format_walltime(p.default_time),
                                   {}});
}

void read_sizes(YamlMap& m, model::Partition& p) {
  constexpr auto most = static_cast<std::int64_t>(base::max_hostlist_names);
  p.min_nodes = read_count(m, "min_nodes", 0, most).value_or(0);
  p.max_nodes = read_count(m, "max_nodes", 1, most);
  if (p.max_nodes && p.min_nodes > *p.max_nodes)
    m.refuse("min_nodes", "no number of nodes fits between min_nodes and max_nodes", fmt::format("{} to {}", p.min_nodes, *p.max_nodes));
  p.default_memory_per_cpu = m.parsed("default_memory_per_cpu", base::parse_memory);
  p.default_memory_per_node = m.parsed("default_memory_per_node", base::parse_memory);
  if (p.default_memory_per_cpu && p.default_memory_per_node)
    m.refuse("default_memory_per_node", "memory is given per CPU and per node", {}, "keep one of them");
}

void read_access(YamlMap& m, model::Partition& p) {
  using Names = std::vector<std::string>;
  p.allow_users = read_sorted_names(m, "allow_users").value_or(Names{});
  p.deny_users = read_sorted_names(m, "deny_users").value_or(Names{});
  p.allow_groups = read_sorted_names(m, "allow_groups").value_or(Names{});
  p.deny_groups = read_sorted_names(m, "deny_groups").value_or(Names{});
  p.allow_root = m.boolean("allow_root").value_or(p.allow_root);
  p.hidden = m.boolean("hidden").value_or(p.hidden);
  // An empty list would admit everyone, which is not what an empty list looks like.
  for (const std::string_view key : {"allow_users", "allow_groups"})
    if (const YamlNode* n = m.child(key); n != nullptr && n->is_sequence() && n->items.empty())
      m.refuse(key, "an empty list admits nobody and everybody", {}, "leave the key out to admit everyone");
}

model::PartitionState read_state(YamlMap& m) {
  const auto word = m.word("state", {"up", "down", "drain", "inactive"}).value_or("up");
  if (word == "down") return model::PartitionState::down;
  if (word == "drain") return model::PartitionState::drain;
  return word == "inactive" ? model::PartitionState::inactive : model::PartitionState::up;
}

void check_members(YamlMap& m, const std::vector<std::string>& names, const Declared& declared) {
  std::vector<std::string> known;
  for (const std::string& name : names) {
    if (declared.contains(name)) continue;
    // Comparing with very many names is not worth a hint.
    if (known.empty() && declared.size() <= 10'000)
      for (const auto& [n, mark] : declared) known.push_back(n);
    const std::string near = base::nearest(name, known);
    m.refuse("nodes", "no such node is declared", name.substr(0, 80),
             near.empty() ? "declare it under nodes" : fmt::format("did you mean {}?", near));
    return;
  }
}

void read_partition(const YamlNode& item, const std::string& path, Faults& faults, const Declared& nodes, Declared& declared,
                    std::vector<PartitionDeclaration>& out) {
  YamlMap m(item, path, faults);
  PartitionDeclaration d;
  model::Partition& p = d.settings;
  m.require("name");
  p.name = m.text("name").value_or("");
  if (!p.name.empty() && !is_plain_name(p.name))
    m.refuse("name", "this can not be a partition's name", p.name.substr(0, 80), "use letters, digits, '-', '_' and '.', at most 63");
  m.require("nodes");
  d.node_names = read_hostlist(m, "nodes").value_or(std::vector<std::string>{});
  if (d.node_names == std::vector<std::string>{"ALL"}) p.all_nodes = true;
  else check_members(m, d.node_names, nodes);
  p.is_default = m.boolean("default").value_or(false);
  p.state = read_state(m);
  p.priority_tier = static_cast<std::int32_t>(read_count(m, "priority_tier", 0, 65'533).value_or(1));
  p.exclusive_node = m.boolean("exclusive").value_or(false);
  p.topology = m.text("topology").value_or("");
  p.topology_optional = m.word("packing", {"narrowest", "none"}).value_or("narrowest") == "none";
  p.weight_first = m.word("weights", {"break_ties", "first"}).value_or("break_ties") == "first";
  read_times(m, p);
  read_sizes(m, p);
  read_access(m, p);
  if (!p.name.empty()) {
    const auto [first, fresh] = declared.emplace(p.name, m.mark_of("name"));
    if (!fresh)
      m.refuse("name", fmt::format("this partition is declared twice, first on line {}", first->second.line), p.name, "keep one of them");
  }
  for (const PartitionDeclaration& other : out)
    if (p.is_default && other.settings.is_default) {
      m.refuse("default", fmt::format("{} is the default partition already", other.settings.name), "true", "keep one of them");
      break;
    }
  m.finish();
  out.push_back(std::move(d));
}

}  // namespace

void read_cluster(YamlMap& file, core::Configure& out, Faults& faults) {
  Declared nodes, partitions;
  file.each("nodes", [&](const YamlNode& item, const std::string& path) { read_node_group(item, path, faults, nodes, out.nodes); });
  file.each("partitions",
            [&](const YamlNode& item, const std::string& path) { read_partition(item, path, faults, nodes, partitions, out.partitions); });
  const YamlNode* list = file.child("partitions");
  if (list == nullptr || (list->is_sequence() && list->items.empty()))
    file.refuse("partitions", "there is no partition, so no job could run", {},
                "add one: partitions: [{name: batch, nodes: ALL, default: true}]");
  if (out.partitions.size() == 1) out.partitions[0].settings.is_default = true;
}

}  // namespace sy::wire

#include "cli/offline/trial_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/hostlist.hpp"

namespace sy::cli {
namespace {

void rank_names(sched::ClusterShape& shape) {
  std::vector<std::uint32_t> order(shape.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return base::natural_less(shape.nodes[a].name, shape.nodes[b].name); });
  for (std::uint32_t i = 0; i < order.size(); ++i) shape.nodes[order[i]].name_rank = i;
}

}  // namespace

base::Result<TrialCluster> make_trial_cluster(const TopologyInput& input, const model::Topology& topology) {
  TrialCluster out;
  for (std::size_t i = 0; i < input.names.size(); ++i) {
    sched::ClusterShape::NodeInfo info;
    info.name = input.names[i];
    base::Resources used;
    if (input.cluster.empty()) {
      info.total.cpus = base::whole_cpus(1);
    } else {
      info.total = model::total_of(input.cluster[i].shape);
      info.features = input.cluster[i].features;
      info.weight = input.cluster[i].weight;
      used = input.cluster[i].used;
    }
    sched::NodeNow now;
    now.free = info.total;
    now.free -= used;
    now.jobs = used == base::Resources{} ? 0 : 1;
    now.usable = true;
    out.shape.nodes.push_back(std::move(info));
    out.nodes.push_back(std::move(now));
  }
  if (out.nodes.empty())
    return base::fail(base::Code::invalid_argument, "the topology names no nodes", "--topology", {}, "give the nodes with --cluster FILE");
  rank_names(out.shape);
  const auto faults = model::check_topology(topology, out.nodes.size());
  if (!faults.empty()) return base::fail(base::Code::invalid_argument, faults.front(), "--topology");
  out.topology = model::TopologyIndex::build(topology, sched::placement::node_names(out.shape));
  return out;
}

base::Result<void> take_nodes(TrialCluster& cluster, const std::string& hostlist, const std::string& option, bool down) {
  const auto names = base::expand_hostlist(hostlist);
  if (!names) {
    auto e = names.error();
    e.field = option;
    return base::fail(std::move(e));
  }
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < cluster.shape.nodes.size(); ++i) index.emplace(cluster.shape.nodes[i].name, i);
  for (const auto& name : *names) {
    const auto found = index.find(name);
    if (found == index.end()) return base::fail(base::Code::not_found, "the cluster has no such node", option, name);
    auto& now = cluster.nodes[found->second];
    if (down) {
      now.usable = false;
      continue;
    }
    now.free = {};
    now.jobs = 1;
  }
  return {};
}

}  // namespace sy::cli

#include "sched/placement/chooser.hpp"

#include <algorithm>
#include <set>

#include "model/job_target.hpp"
#include "sched/placement/record.hpp"

namespace sy::sched {

void ClusterNow::take(const std::vector<NodeGrant>& grants, const Needs& needs, Uid uid) {
  for (const auto& g : grants) {
    NodeNow& n = nodes_[g.node.value];
    n.free -= g.held;
    n.sole_user = n.jobs == 0 || n.sole_user == uid ? uid : Uid{~0U};
    ++n.jobs;
    n.exclusive = n.exclusive || needs.whole_nodes;
    n.exclusive_user = n.exclusive_user || needs.exclusive_user;
    changes_.push_back(g.node);
  }
}

void ClusterNow::started(const WaitingJob& job, const std::vector<NodeGrant>& grants) {
  if (!running_of_.contains(job.uid)) return;
  RunningJob r{job.id, job.uid, job.spec, {}};
  for (const auto& g : grants) r.nodes.push_back(g.node);
  started_.push_back(std::move(r));
}

bool ClusterNow::waits(JobId id) const {
  const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), id, [](const WaitingJob& job, JobId i) { return job.id < i; });
  return at != waiting_.end() && at->id == id;
}

void ClusterNow::close(const std::vector<NodeIndex>& closed) {
  for (const auto n : closed) {
    nodes_[n.value].exclusive = true;
    changes_.push_back(n);
  }
}

std::uint64_t ClusterNow::search_budget() const {
  struct Effort {
    std::uint64_t pass, request, least;
  };
  const Effort e = thorough_ ? Effort{200'000, 100'000, 1'000} : Effort{8'000, 4'000, 200};
  return std::clamp(e.pass - std::min(searched_, e.pass), e.least, e.request);
}

std::string topology_name(const Partition& partition, const std::string& default_topology) {
  if (!partition.topology.empty()) return partition.topology;
  return default_topology.empty() ? "default" : default_topology;
}

const model::Topology* topology_of(const ClusterShape& shape, std::size_t partition) {
  const auto found = shape.topologies.find(topology_name(shape.partitions[partition], shape.default_topology));
  return found == shape.topologies.end() ? nullptr : &found->second;
}

std::shared_ptr<const model::TopologyIndex> index_of(const ClusterShape& shape, std::size_t partition) {
  const auto* topology = topology_of(shape, partition);
  if (const auto made = shape.indexes.find(topology == nullptr ? std::string() : topology->name); made != shape.indexes.end())
    return made->second;
  const auto names = placement::node_names(shape);
  return std::make_shared<const model::TopologyIndex>(topology == nullptr ? model::TopologyIndex::flat(names)
                                                                          : model::TopologyIndex::build(*topology, names));
}

ClusterNow::Placer& ClusterNow::placer(std::uint32_t partition) {
  const auto* topology = topology_of(*shape_, partition);
  auto& placer = placers_[topology == nullptr ? std::string() : topology->name];
  if (!placer) {
    placer = std::make_unique<Placer>(index_of(*shape_, partition), *shape_, nodes_);
    placer->read = changes_.size();
  }
  for (; placer->read < changes_.size(); ++placer->read) placer->engine.changed(changes_[placer->read]);
  return *placer;
}

placement::Engine& ClusterNow::engine(std::uint32_t partition) { return placer(partition).engine; }
const model::TopologyIndex& ClusterNow::topology(std::uint32_t partition) { return *placer(partition).index; }

NodeSet nodes_of_exclusive_domains(const State& state) {
  NodeSet out;
  std::shared_ptr<const ClusterShape> shape = state.shape;
  for (const auto id : state.live) {
    const Job& job = state.jobs.at(id);
    const std::string& level_name = job.spec->groups.front().exclusive_level;
    if (level_name.empty() || !job.attempt) continue;
    if (job.attempt->placement && !job.attempt->placement->closed.empty()) {
      for (const auto n : job.attempt->placement->closed) out.insert(n);
      continue;
    }
    // Started by a release that did not keep them: its domains in the topology of now.
    if (!shape) shape = make_shape(state);
    const auto p = std::find_if(shape->partitions.begin(), shape->partitions.end(),
                                [&](const Partition& x) { return x.name == job.attempt->partition; });
    if (p == shape->partitions.end()) continue;
    const auto t = index_of(*shape, static_cast<std::size_t>(p - shape->partitions.begin()));
    const auto level = t->find_level(level_name);
    if (!level) continue;  // the topology has changed since
    for (const auto& grant : job.attempt->nodes) {
      if (*level == t->node_level()) out.insert(grant.node);
      const auto at = t->position_of(grant.node.value);
      const auto d = at < 0 ? -1 : t->ancestor(t->leaf_at(static_cast<std::uint32_t>(at)), *level);
      if (d < 0) continue;
      const auto& domain = t->domain(static_cast<std::uint32_t>(d));
      for (auto q = domain.begin; q < domain.end; ++q) out.insert(NodeIndex{t->node_at(q)});
    }
  }
  return out;
}

bool place_matters(const ClusterShape& shape, std::size_t partition, const Group& g) {
  return topology_of(shape, partition) != nullptr || !g.children.empty() || g.replicas > 1 || !g.segments.empty() || !g.spread.empty() ||
         !g.affinity.empty() || !g.anti_affinity.empty() || !g.exclusive_level.empty() || !g.pack.prefer.empty() ||
         !g.pack.require.empty() || !g.pack.ladder.empty();
}

Group with_partition(const ClusterShape& shape, std::size_t partition, const Settings& settings, Group g) {
  const Partition& p = shape.partitions[partition];
  if (!g.memory_per_node && !g.memory_per_cpu) {
    if (p.default_memory_per_node) g.memory_per_node = p.default_memory_per_node;
    else if (p.default_memory_per_cpu) g.memory_per_cpu = p.default_memory_per_cpu;
    else g.memory_per_cpu = settings.default_memory_per_cpu;
  }
  if (p.max_nodes && g.nodes_given) {
    g.nodes.max = std::max(g.nodes.min, std::min(g.nodes.max, *p.max_nodes));
    std::erase_if(g.nodes.choices, [&](std::uint32_t n) { return n > g.nodes.max; });
  }
  for (auto& child : g.children) child = with_partition(shape, partition, settings, std::move(child));
  return g;
}

placement::Options options_for(const ClusterShape& shape, std::size_t partition, const Settings& settings, Uid uid) {
  const Partition& p = shape.partitions[partition];
  placement::Options o;
  o.allowed = &p.nodes;
  o.packing = p.topology_optional ? placement::Packing::none : placement::Packing::narrowest;
  o.whole_nodes = p.exclusive_node;
  o.literal_switch_wait = settings.literal_switch_wait;
  o.weight_first = p.weight_first || topology_of(shape, partition) == nullptr;
  o.max_nodes = p.max_nodes.value_or(0);
  o.uid = uid;
  return o;
}

// The second grant for one node (another group of a gang, another segment) is added to the first.
static void add_grant(std::vector<NodeGrant>& grants, NodeGrant g) {
  const auto same = std::find_if(grants.begin(), grants.end(), [&](const NodeGrant& x) { return x.node == g.node; });
  if (same == grants.end()) {
    grants.push_back(std::move(g));
    return;
  }
  same->tasks += g.tasks;
  same->held += g.held;
  same->used += g.used;
}

namespace {
void add_needs(std::vector<Needs>& out, const Partition& p, const Settings& s, const Group& g, Uid uid) {
  if (g.children.empty()) out.push_back(needs_of(g, &p, s, uid));
  for (const auto& child : g.children) add_needs(out, p, s, child, uid);
}
}  // namespace

Chooser::Chooser(const ClusterShape& shape, std::uint32_t partition, const Settings& settings, std::shared_ptr<const JobSpec> spec, Uid uid)
    : partition_(partition), spec_(std::move(spec)), uid_(uid) {
  const Group& group = spec_->groups.front();
  group_ = with_partition(shape, partition, settings, group);
  options_ = options_for(shape, partition, settings, uid);
  targets_ = model::jobs_named_in(group);
  avoided_ = model::jobs_avoided_in(group);
  depends_on_wait_ = group.switches || !group.pack.ladder.empty();
  place_matters_ = place_matters(shape, partition, group);
  add_needs(group_needs_, shape.partitions[partition], settings, group, uid);
  // Of several groups some may want whole nodes: those hold all of theirs, which keeps others away by itself.
  needs_ = needs_of(group, &shape.partitions[partition], settings, uid);
  needs_.whole_nodes = group_needs_.size() == 1 && group_needs_.front().whole_nodes;
}

// Where the jobs are that the request names, as the targets that it names them by. Those started in this pass only where it keeps
// away from them: who wants to be near them gets his turn in the next one, with all that go before him. Of its own name are the jobs
// that go before it themselves.
std::vector<placement::Member> Chooser::members(const ClusterNow& cluster) const {
  std::vector<placement::Member> out;
  const auto add = [&](const std::string& text, const std::vector<RunningJob>& jobs) {
    const auto target = model::job_target(text);
    const std::string_view name = target->name.empty() ? std::string_view(spec_->name) : target->name;
    for (const auto& job : jobs)
      if (job.uid == uid_ && (target->id ? job.id.value == *target->id : job.spec->name == name))
        for (const auto node : job.nodes) out.push_back({text, node, 1});
  };
  for (const auto& text : targets_) {
    add(text, cluster.running());
    if (model::means_own_name(text) && std::find(avoided_.begin(), avoided_.end(), text) == avoided_.end()) add(text, cluster.started());
  }
  for (const auto& text : avoided_) add(text, cluster.started());
  return out;
}

// A job named by its number that neither runs nor waits has ended: nobody who must be near it will ever start.
void Chooser::tell_who_has_ended(const ClusterNow& cluster, std::string& detail) const {
  for (const auto& text : targets_) {
    const auto target = model::job_target(text);
    if (!target->id || cluster.waits(JobId{*target->id})) continue;
    const std::string absent = text + " does not run";
    if (const auto at = detail.find(absent); at != std::string::npos) detail.replace(at, absent.size(), text + " has ended");
  }
}

tl::expected<Chosen, Verdict> Chooser::choose(ClusterNow& cluster, Duration waited, Time eligible) {
  placement::Options o = options_;
  o.waited = std::max(waited, Duration{});
  o.eligible = eligible;
  if (!targets_.empty()) o.members = members(cluster);
  o.budget = cluster.search_budget();
  auto answer = cluster.engine(partition_).place(group_, o);
  cluster.spend_search(answer.work.search_steps);
  cluster.count_looked_at(answer.work.nodes_looked_at);
  if (!answer.placed()) {
    tell_who_has_ended(cluster, answer.verdict.detail);
    return tl::unexpected(std::move(answer.verdict));
  }
  std::vector<const Resources*> free;
  std::vector<std::uint32_t> tasks;
  for (const auto& n : answer.nodes) {
    free.push_back(&cluster.node(n.node).free);
    tasks.push_back(n.tasks);
  }
  std::vector<std::vector<GresRequest>> job_gres(answer.nodes.size());
  if (group_needs_.size() == 1 && !needs().gres_per_job.empty())
    if (auto parts = split_job_gres(needs(), free, tasks)) job_gres = std::move(*parts);
  Chosen out;
  auto& grants = out.nodes;
  std::set<std::uint32_t> distinct;
  for (const auto& n : answer.nodes) distinct.insert(n.node.value);
  const bool repeats = distinct.size() < answer.nodes.size();  // groups, segments or spread tasks that share a node
  for (std::size_t i = 0; i < answer.nodes.size(); ++i) {
    const auto& n = answer.nodes[i];
    Resources left = *free[i];
    if (repeats)
      for (const auto& g : grants)
        if (g.node == n.node) left -= g.held;
    const Needs& of = group_needs_[std::min<std::size_t>(n.group, group_needs_.size() - 1)];
    NodeGrant g = make_grant(of, n.node, cluster.shape().nodes[n.node.value].total, left, n.tasks, job_gres[i]);
    if (repeats) add_grant(grants, std::move(g));
    else grants.push_back(std::move(g));
  }
  cluster.close(answer.closed);
  if (!place_matters_) return out;
  std::vector<NodeIndex> order;
  for (const auto& g : grants) order.push_back(g.node);
  const auto* topology = topology_of(cluster.shape(), partition_);
  out.placement = placement::make_record(answer, group_, cluster.topology(partition_), topology == nullptr ? 0 : topology->version, order);
  return out;
}

}  // namespace sy::sched

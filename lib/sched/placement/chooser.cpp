#include "sched/placement/chooser.hpp"

#include <algorithm>

#include "model/job_target.hpp"
#include "sched/placement/first_choice.hpp"

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

namespace {
void add_needs(std::vector<Needs>& out, const Partition& p, const Settings& s, const Group& g, Uid uid) {
  if (g.children.empty()) out.push_back(needs_of(g, &p, s, uid));
  for (const auto& child : g.children) add_needs(out, p, s, child, uid);
}
}  // namespace

tl::expected<Chooser, Verdict> Chooser::make(ClusterNow& cluster, std::uint32_t partition, const Settings& settings,
                                             std::shared_ptr<const JobSpec> spec, Uid uid) {
  const Group& group = spec->groups.front();
  auto fitting = fitting_nodes(cluster.shape(), partition, settings, group, uid);
  if (!fitting) {
    Verdict v;
    v.kind = Verdict::Kind::never;
    v.reason = Reason::bad_constraints;
    Error e = fitting.error();
    e.hint.clear();  // the one who refuses adds its own
    v.detail = to_text(e);
    return tl::unexpected(std::move(v));
  }
  Chooser c;
  c.by_engine_ = needs_engine(cluster.shape(), partition, group);
  if (c.by_engine_) {
    c.group_ = with_partition(cluster.shape(), partition, settings, group);
    c.options_ = options_for(cluster.shape(), partition, settings, uid);
    c.targets_ = model::jobs_named_in(group);
    c.avoided_ = model::jobs_avoided_in(group);
    c.uid_ = uid;
    c.depends_on_wait_ = group.switches || !group.pack.ladder.empty();
    add_needs(c.group_needs_, cluster.shape().partitions[partition], settings, group, uid);
    // Of several groups some may want whole nodes: those hold all of theirs, which keeps others away by itself.
    fitting->needs.whole_nodes = c.group_needs_.size() == 1 && c.group_needs_.front().whole_nodes;
  } else if (Verdict idle = fits_when_idle(cluster.shape(), partition, *fitting, group); !idle.fits()) {
    return tl::unexpected(std::move(idle));
  }
  c.fitting_ = std::move(*fitting);
  c.partition_ = partition;
  c.spec_ = std::move(spec);
  NodeSet all;
  for (const auto& a : c.fitting_.alternatives) all |= a;
  c.nodes_ = all.to_vector();
  c.slots_.resize(c.nodes_.size());
  return c;
}

void Chooser::refresh(ClusterNow& cluster) {
  const auto look = [&](std::size_t i) {
    const NodeNow& now = cluster.node(nodes_[i]);
    slots_[i] = may_join(needs(), now) ? slots(needs(), cluster.shape().nodes[nodes_[i].value].total, now.free) : 0;
  };
  const auto& changes = cluster.changes();
  if (fresh_) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) look(i);
    cluster.count_looked_at(nodes_.size());
    fresh_ = false;
  } else {
    for (std::size_t c = read_; c < changes.size(); ++c) {
      auto it = std::lower_bound(nodes_.begin(), nodes_.end(), changes[c]);
      if (it != nodes_.end() && *it == changes[c]) look(static_cast<std::size_t>(it - nodes_.begin()));
    }
    cluster.count_looked_at(changes.size() - read_);
  }
  read_ = changes.size();
}

tl::expected<Chosen, Verdict> Chooser::choose(ClusterNow& cluster, Duration waited, Time eligible) {
  if (by_engine_) return choose_by_engine(cluster, waited, eligible);
  refresh(cluster);
  const ClusterShape& shape = cluster.shape();
  for (const auto& alternative : fitting_.alternatives) {
    std::vector<Offer> offers;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (slots_[i] == 0 || !alternative.contains(nodes_[i])) continue;
      const auto& info = shape.nodes[nodes_[i].value];
      const Resources& free = cluster.node(nodes_[i]).free;
      offers.push_back({nodes_[i], slots_[i], free.cpus.value, info.weight, info.name_rank, &free});
    }
    auto taken = first_choice(fitting_, std::move(offers));
    if (!taken) continue;
    Chosen out;
    for (const auto& t : *taken)
      out.nodes.push_back(make_grant(needs(), t.node, shape.nodes[t.node.value].total, cluster.node(t.node).free, t.tasks, t.job_gres));
    return out;
  }
  return tl::unexpected(why_not(cluster));
}

namespace {
void add(std::vector<Cause>& causes, Cause::Kind kind) {
  auto it = std::find_if(causes.begin(), causes.end(), [&](const Cause& c) { return c.kind == kind; });
  if (it == causes.end()) causes.push_back({kind, 1});
  else ++it->nodes;
}
}  // namespace

Verdict Chooser::why_not(const ClusterNow& cluster) const {
  Verdict v;
  v.kind = Verdict::Kind::not_now;
  v.causes = fitting_.causes;
  v.asked = needs().choices.empty() ? needs().min_nodes : needs().choices.front();
  std::uint32_t up = 0;
  bool named_is_out = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeNow& now = cluster.node(nodes_[i]);
    if (now.usable) ++up;
    else named_is_out = named_is_out || fitting_.required.contains(nodes_[i]);
    if (slots_[i] > 0) ++v.offered;
    else add(v.causes, !now.usable ? (now.drained ? Cause::Kind::drained : Cause::Kind::down) : Cause::Kind::busy);
  }
  v.reason = named_is_out ? Reason::req_node_not_avail : up < v.asked ? Reason::node_down : Reason::resources;
  return v;
}

}  // namespace sy::sched

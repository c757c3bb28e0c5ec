#include <algorithm>
#include <unordered_map>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"
#include "sched/eligible/eligible.hpp"
#include "sched/feasible/needs.hpp"
#include "sched/placement/chooser.hpp"

namespace sy::core::verbs {

namespace {

// A pass looked at an older State: each start is checked again against this one and the starts accepted before it.
class Applying {
 public:
  Applying(const State& state, Time now) : state_(state), now_(now), exclusive_(sched::nodes_of_exclusive_domains(state)) {}

  // The attempt that starts, or nothing when the start is stale.
  std::optional<Attempt> accept(const PlannedStart& s) {
    const Job* job = state_.find_job(s.job);
    const Partition* p = state_.find_partition(s.partition);
    if (job == nullptr || p == nullptr || !may_start(*job, *p) || s.nodes.empty()) return stale(s);
    const sched::Needs needs = sched::needs_of(job->spec->groups.front(), p, state_.settings, job->uid);
    std::vector<NodeGrant> grants = s.nodes;
    for (auto& g : grants) {
      if (!p->nodes.contains(g.node) || !fits(needs, g) || twice(grants, g.node)) return stale(s);
      auto instances = pick_instances(g);
      if (!instances) return stale(s);
      g.gres_instances = std::move(*instances);
      g.phase = NodePhase::launching;
    }
    for (const auto& g : grants) take(needs, g);
    Attempt a;
    a.number = AttemptNumber{job->last_attempt.value + 1};
    a.partition = p->name;
    a.nodes = std::move(grants);
    a.time_limit = time_limit_for(*job->spec, *p, state_.settings);
    a.planned_at = now_;
    a.placement = s.placement;
    return a;
  }

 private:
  struct NodeCopy {
    sched::NodeNow now;
    std::vector<JobId> holders;
  };

  bool may_start(const Job& job, const Partition& p) const {
    const auto& asked = job.spec->partitions;
    return job.state == JobState::pending && !job.held_by_user && !job.held_by_admin && job.eligible <= now_ &&
           std::find(asked.begin(), asked.end(), p.name) != asked.end() && sched::within_partition(p, *job.spec, state_.settings).fits();
  }

  // A stale start takes that pass's later starts on the same nodes with it: they were planned around it (design T2).
  std::nullopt_t stale(const PlannedStart& s) {
    for (const auto& g : s.nodes)
      if (g.node.value < state_.nodes.size()) closed_.insert(g.node);
    return std::nullopt;
  }

  static bool twice(const std::vector<NodeGrant>& grants, NodeIndex node) {
    return std::count_if(grants.begin(), grants.end(), [&](const NodeGrant& g) { return g.node == node; }) > 1;
  }

  bool fits(const sched::Needs& needs, const NodeGrant& g) {
    if (g.node.value >= state_.nodes.size() || closed_.contains(g.node)) return false;
    if (g.held.any_negative() || g.used.any_negative() || !g.used.fits_in(g.held)) return false;
    const sched::NodeNow& now = copy_of(g.node).now;
    return sched::may_join(needs, now) && g.held.fits_in(now.free);
  }

  // The lowest free instances of each kind that is held.
  std::optional<std::vector<GresInstanceIndex>> pick_instances(const NodeGrant& g) {
    const Node& node = state_.nodes[g.node.value];
    const auto& holders = copy_of(g.node).holders;
    std::vector<GresInstanceIndex> out;
    for (const auto& wanted : g.held.gres) {
      std::int64_t missing = wanted.count;
      for (std::size_t i = 0; i < holders.size() && missing > 0; ++i) {
        const auto& instance = node.shape.gres[i];
        if (holders[i] != JobId{} || instance.name != wanted.name || instance.type != wanted.type) continue;
        out.push_back(static_cast<GresInstanceIndex>(i));
        --missing;
      }
      if (missing > 0) return std::nullopt;
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  NodeCopy& copy_of(NodeIndex n) {
    auto [it, fresh] = nodes_.try_emplace(n);
    if (fresh) it->second = {sched::node_now(state_, state_.nodes[n.value]), state_.nodes[n.value].gres_holder};
    if (fresh && exclusive_.contains(n)) it->second.now.exclusive = true;
    return it->second;
  }

  void take(const sched::Needs& needs, const NodeGrant& g) {
    NodeCopy& c = copy_of(g.node);
    c.now.free -= g.held;
    c.now.sole_user = c.now.jobs == 0 || c.now.sole_user == needs.uid ? needs.uid : Uid{~0U};
    ++c.now.jobs;
    c.now.exclusive = c.now.exclusive || needs.whole_nodes;
    c.now.exclusive_user = c.now.exclusive_user || needs.exclusive_user;
    for (auto i : g.gres_instances) c.holders[i] = JobId{~0ULL};
  }

  const State& state_;
  Time now_;
  NodeSet exclusive_;                    // in domains that running jobs have for themselves
  NodeSet closed_;
  std::unordered_map<NodeIndex, NodeCopy> nodes_;
};

}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const ApplyPlan& action) {
  if (asked.who.role != Role::system) return fail(Code::forbidden, "only the scheduler applies plans");
  Decision d;
  Applying applying(state, asked.now);
  std::set<JobId> seen;
  std::uint32_t starts = 0, dropped = 0;
  for (const auto& s : action.starts) {
    auto attempt = seen.insert(s.job).second ? applying.accept(s) : std::nullopt;
    if (attempt) {
      d.facts.push_back(JobStarted{s.job, std::move(*attempt)});
      ++starts;
    } else {
      ++dropped;
    }
  }
  if (starts + dropped > 0) d.facts.push_back(PlanApplied{action.snapshot, action.policy_version, starts, dropped});
  return d;
}

}  // namespace sy::core::verbs

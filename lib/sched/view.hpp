// What a scheduling pass looks at: a compact image of the cluster and of the waiting jobs, detached from State so that the
// pass runs on its own thread. Not the live State, and not the answer (pass.hpp).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/node_set.hpp"
#include "model/state.hpp"

namespace sy::sched {

using namespace sy::base;
using namespace sy::model;

// What is free on one node at the instant that is asked about (now, or a future instant of the timeline).
struct NodeNow {
  Resources free;
  std::uint32_t jobs{};                  // live jobs on it
  Uid sole_user{~0U};                    // set when all of them belong to one user
  bool usable{};                         // up, not drained, not down
  bool drained{};
  bool exclusive{};                      // held by a whole-node job
  bool exclusive_user{};                 // held by jobs that share with their own user only
};

struct WaitingJob {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  Uid uid;
  Time submitted;
  Time eligible;
  bool held_by_user{}, held_by_admin{}, launch_failed{};
  bool names_jobs{};                     // its affinities mean other jobs: model::names_jobs
  std::uint32_t request{not_classed};    // equal numbers: equal requests; whoever keeps an image of the queue gives them
  static constexpr std::uint32_t not_classed = ~0U;
};

// A job that holds nodes, for those that want to be near it or away from it.
struct RunningJob {
  JobId id;
  Uid uid;
  std::shared_ptr<const JobSpec> spec;
  std::vector<NodeIndex> nodes;
};

struct View {
  Sequence snapshot;
  std::uint64_t policy_version{};
  Settings settings;
  std::shared_ptr<const ClusterShape> shape;
  std::vector<NodeNow> nodes;            // by NodeIndex
  std::vector<WaitingJob> waiting;       // by id
  std::vector<RunningJob> running;       // by id; only of the users in running_of
  std::set<Uid> running_of;              // whose waiting jobs name other jobs
  bool thorough{true};                   // searches may take their time: nobody waits for this pass
};

WaitingJob waiting_job(const Job&);
// Fills View.running and running_of from its waiting jobs.
void look_at_running_jobs(View&, const State&);

// What is free on one node now, by the jobs on it; not whether it lies in a domain that somebody else has for himself
// (nodes_of_exclusive_domains).
NodeNow node_now(const State&, const Node&);
// The shape comes from State.shape, or make_shape where that is null.
View make_view(const State&, std::shared_ptr<const ClusterShape>);

}  // namespace sy::sched

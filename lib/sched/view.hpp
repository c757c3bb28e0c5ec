// What a scheduling pass looks at: a compact image of the cluster and of the waiting jobs, detached from State so that the
// pass runs on its own thread. Not the live State, and not the answer (pass.hpp).
#pragma once

#include <map>
#include <memory>
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
  std::uint32_t request{not_classed};    // equal numbers: equal requests; whoever keeps an image of the queue gives them
  static constexpr std::uint32_t not_classed = ~0U;
};

struct View {
  Sequence snapshot;
  std::uint64_t policy_version{};
  Settings settings;
  std::shared_ptr<const ClusterShape> shape;
  std::vector<NodeNow> nodes;            // by NodeIndex
  std::vector<WaitingJob> waiting;       // by id
};

// What is free on one node now, by the jobs on it; not whether it lies in a domain that somebody else has for himself
// (nodes_of_exclusive_domains).
NodeNow node_now(const State&, const Node&);
// The shape comes from State.shape, or make_shape where that is null.
View make_view(const State&, std::shared_ptr<const ClusterShape>);

}  // namespace sy::sched

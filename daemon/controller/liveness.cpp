#include "daemon/controller/liveness.hpp"

#include <utility>

#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {
model::Principal ourselves() {
  model::Principal who;
  who.role = model::Role::system;
  who.user = "switchyard";
  return who;
}
}  // namespace

Liveness::Liveness(http::Loop& loop, Ledger& ledger, Options options)
    : ledger_(ledger), options_(std::move(options)), began_(options_.now()), last_check_(began_), timer_(loop) {}

void Liveness::start() {
  began_ = last_check_ = options_.now();
  last_.clear();
  tick();
}

void Liveness::tick() {
  timer_.start(options_.check_every, [this] {
    check();
    tick();
  });
}

void Liveness::heard(base::NodeIndex node) {
  last_[node] = options_.now();
  const auto& nodes = ledger_.state().nodes;
  if (node.value < nodes.size() && nodes[node.value].contact == model::Contact::silent) ledger_.execute(ourselves(), core::NodeHeard{node});
}

void Liveness::check() {
  const Monotonic now = options_.now();
  const bool was_away = now - std::exchange(last_check_, now) > options_.longest_gap;
  if (was_away || ledger_.fault()) {  // nobody could reach us in any useful sense: that time does not count
    began_ = now;
    return;
  }
  const auto& settings = ledger_.state().settings;
  std::vector<std::pair<base::NodeIndex, bool>> late;  // true: the lease is over
  for (const model::Node& node : ledger_.state().nodes) {
    if (node.removed || (node.contact != model::Contact::up && node.contact != model::Contact::silent)) continue;
    const auto at = last_.find(node.index);
    const auto silence = now - (at != last_.end() && at->second > began_ ? at->second : began_);
    if (node.contact == model::Contact::up && silence >= options_.silent_after) late.emplace_back(node.index, false);
    if (node.contact == model::Contact::silent && settings.lease && !node.jobs.empty() &&
        silence >= *settings.lease + settings.kill_grace + options_.lease_margin)
      late.emplace_back(node.index, true);
  }
  for (const auto& [node, lease_over] : late) {
    log_warning("node {}: {}", ledger_.state().nodes[node.value].name, lease_over ? "its lease is over" : "has not been heard");
    if (lease_over) ledger_.execute(ourselves(), core::FenceNode{node, "lease"});
    else ledger_.execute(ourselves(), core::NodeSilent{node});
  }
}

}  // namespace sy::daemon

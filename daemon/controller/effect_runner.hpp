// Carries effects out: messages to agents and fence programs. Never blocks, bounds what is under way per node, and tries
// again with growing pauses. It remembers nothing that matters: after a failure it asks pending_effects what is still due.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/step.hpp"
#include "daemon/controller/agent_link.hpp"
#include "daemon/controller/blob_cache.hpp"
#include "daemon/controller/ledger.hpp"
#include "daemon/runtime/users.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

class EffectRunner {
 public:
  struct Options {
    std::function<base::Time()> now;
    base::Duration first_pause{std::chrono::milliseconds{500}};
    base::Duration longest_pause{std::chrono::seconds{20}};
    base::Duration capability_life{std::chrono::seconds{120}};
    std::string prolog, epilog;                              // paths on the nodes
    std::function<void(base::NodeIndex)> fence;              // starts the site's fence program
  };
  EffectRunner(http::Loop&, Ledger&, AgentLink&, BlobCache&, UserCache&, Options);
  ~EffectRunner();                                           // answers that are still to come find nobody

  void run(const std::vector<core::Effect>&);                // committed ones only
  void run_pending(base::NodeIndex);                         // what is still due there, once State is on disk
  void run_all_pending();                                    // at start, and after memory was loaded again
  void set_hooks(std::string prolog, std::string epilog);
  void set_fence(std::function<void(base::NodeIndex)> fence) { options_.fence = std::move(fence); }

  struct Counters {
    std::uint64_t sent{}, failed{}, launches{}, refused{};
    std::size_t under_way{};
  };
  Counters counters() const;

 private:
  using Key = std::tuple<std::size_t, std::uint64_t, std::uint32_t>;  // kind, job, attempt
  struct Lane {                                              // one node
    explicit Lane(http::Loop& loop) : retry(loop) {}
    std::set<Key> under_way;
    base::Duration pause{};
    http::Timer retry;
    bool resting{};                                          // a failure lately: what is due is asked again after the pause
    std::vector<std::pair<core::SignalOnNode, int>> signals; // kept over the pause: State does not know them
  };
  Lane& lane(base::NodeIndex);
  void start(const core::Effect&);
  void run_committed(std::vector<core::Effect>);
  void launch(const core::LaunchOnNode&);
  void launch_with(const core::LaunchOnNode&, const BlobText& script, const BlobText& environment);
  void end(const core::EndOnNode&);
  void signal(const core::SignalOnNode&, int tries);
  void time_limit(const core::SetTimeLimitOnNode&);
  template <class Message>
  Message capability(base::JobId, base::AttemptNumber, const model::Node&) const;
  void send(const model::Node&, Key, const char* target, std::string body, std::function<bool(const http::Response&)> judge,
            std::function<void()> given_up = {});
  void rest(base::NodeIndex, const std::string& why);
  void refused(const core::LaunchOnNode&, const http::Response&);
  std::optional<std::size_t> rank_to_launch(const core::LaunchOnNode&) const;
  bool reachable(base::NodeIndex) const;

  http::Loop& loop_;
  Ledger& ledger_;
  AgentLink& link_;
  BlobCache& blobs_;
  UserCache& users_;
  Options options_;
  std::map<base::NodeIndex, std::unique_ptr<Lane>> lanes_;
  Counters counters_;
  std::uint64_t signals_sent_{};
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};  // the link outlives us, and holds what awaits its answers
};

}  // namespace sy::daemon

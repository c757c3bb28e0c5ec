// The one owner of State: runs commands on it, commits what they changed in groups, and lets nothing out before its
// sequence number is on disk (design D1). When a commit fails, memory is discarded and loaded again (D8).
// Not the routes, the scheduling or the agents: they call execute and are told what was committed.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/step.hpp"
#include "daemon/runtime/worker.hpp"
#include "daemon/store/store.hpp"
#include "http/loop.hpp"

namespace sy::daemon {

class Ledger {
 public:
  struct Options {
    std::function<base::Time()> now;                        // wall clock
    base::Duration retry{std::chrono::seconds{5}};          // after a failed commit, until a commit works again
  };
  // What a commit brought, told on the loop after it.
  struct Committed {
    base::Sequence sequence;
    std::vector<base::JobId> jobs;                          // changed
    std::vector<core::Effect> effects;                      // now due
    std::vector<StoredReply> replies;                       // those that the store knows from now on
  };
  struct Outcome {
    base::Result<core::Reply> reply;
    base::Sequence sequence;                                // what the reply rests on
  };
  // Null: committed. Otherwise why nothing may leave.
  using Waiter = std::function<void(const base::Error*)>;

  Ledger(http::Loop&, Store&, Options);
  ~Ledger();

  // Loads, checks, begins this controller's epoch and commits that; blocks. Before the loop runs.
  base::Result<void> open();

  const model::State& state() const { return state_; }
  base::Sequence committed() const { return committed_; }
  const std::optional<base::Error>& fault() const { return fault_; }   // set: no work is accepted
  std::uint64_t generation() const { return generation_; }            // rises when memory was discarded

  // Decides and applies at once; refusals come back at once too. What rests on it must wait: when_committed.
  Outcome execute(const model::Principal& who, core::Action action, std::vector<Blob> blobs = {}) {
    return execute_at(options_.now(), who, std::move(action), std::move(blobs));
  }
  Outcome execute_at(base::Time now, const model::Principal&, core::Action, std::vector<Blob> blobs = {});
  // Stored with what was executed in this turn of the loop: an answer given again to the same Idempotency-Key.
  void keep(StoredReply);
  // Calls when everything up to `sequence` is on disk; at once when it is.
  void when_committed(base::Sequence, Waiter);
  // Everything executed so far is on disk (or has failed): for an orderly end.
  void when_quiet(std::function<void()>);
  // Refuses work from now on, saying why.
  void refuse_work(base::Error why) { refusal_ = std::move(why); }

  // Set once. changed: State has changed in memory (nothing may leave yet). reloaded: memory was discarded and loaded again.
  std::function<void(const std::vector<core::Event>&)> changed;
  std::function<void(const Committed&)> on_committed;
  std::function<void()> reloaded;

  struct Counters {
    std::uint64_t commands{}, refused{}, commits{}, failed_commits{}, events{};
    double commit_seconds{};                                 // of all commits together
    std::size_t waiting{};
  };
  Counters counters() const;

 private:
  struct Waiting {
    base::Sequence sequence;
    Waiter then;
  };
  void schedule_flush();
  void flush();
  void committed_batch(const std::optional<std::string>& failure, double seconds, const Committed&);
  void fail(const std::string& why);
  void reload();
  void release(base::Sequence);
  core::StepResult begin_epoch(model::State&) const;

  http::Loop& loop_;
  Store& store_;
  Options options_;
  model::State state_;
  base::Sequence committed_;
  std::optional<base::Error> fault_, refusal_;
  std::uint64_t generation_{};

  Batch pending_;
  std::vector<core::Effect> pending_effects_;
  std::deque<Waiting> waiting_;
  std::vector<std::function<void()>> quiet_;
  bool committing_{}, flush_posted_{};
  Counters counters_;
  http::Timer retry_;
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};
  Worker disk_;                                              // last: its thread ends before what it uses
};

}  // namespace sy::daemon

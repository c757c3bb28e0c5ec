// Runs scheduling passes on a thread of its own over a View, soon after something changed, and applies what they start.
// Not the pass itself (sched::plan_pass) and not the check of its starts (core's ApplyPlan). Forecasts are published beside
// State and never stored (design T5).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/view_image.hpp"
#include "daemon/controller/ledger.hpp"
#include "daemon/runtime/clock.hpp"
#include "sched/pass.hpp"

namespace sy::daemon {

class Planner {
 public:
  struct Options {
    std::function<base::Time()> now;
    base::Duration coalesce{std::chrono::milliseconds{2}};   // from the end of a pass to the next: changes meanwhile share it
    base::Duration longest_rest{std::chrono::seconds{1}};    // at most so long after a pass that took long
    base::Duration at_least{std::chrono::seconds{15}};       // while jobs wait, a pass at least so often
    base::Duration thorough{std::chrono::seconds{10}};       // a pass whose searches take long at most so often
    base::Duration in_time{std::chrono::seconds{30}};        // a due pass that takes longer: not ready (design D6)
    std::function<sched::Plan(const sched::View&, base::Time)> pass{sched::plan_pass};
  };
  Planner(http::Loop&, Ledger&, Options);

  void changed(const std::vector<core::Event>&);             // decides whether a pass is due
  void reloaded();                                           // plans made from discarded memory are dropped
  void due();                                                // a pass, soon
  void pause(bool);                                          // no passes while the daemon drains

  // The last plan; never null. What it does not name has not been looked at yet.
  std::shared_ptr<const sched::Plan> plan() const { return plan_; }
  // Every job on which a pass had a say is forecast; the sequence is that of the state the plan was made from.
  bool in_time() const;

  struct Counters {
    std::uint64_t passes{}, starts{}, dropped_plans{};
    double last_seconds{}, all_seconds{};
    std::uint64_t jobs_looked_at{}, nodes_looked_at{};
  };
  const Counters& counters() const { return counters_; }

 private:
  void start_pass();
  void finished(std::uint64_t generation, std::shared_ptr<sched::Plan>, double seconds);
  void rest_after(double view_seconds, double pass_seconds);
  void sleep_until_next();

  Ledger& ledger_;
  Options options_;
  std::shared_ptr<const sched::Plan> plan_;
  bool running_{}, due_{}, paused_{}, search_ended_{};
  Monotonic due_since_{}, running_since_{}, next_{}, thorough_at_{};
  std::optional<base::Time> next_change_;                    // when the first cause of the last plan is expected to end
  core::ViewImage image_;
  Counters counters_;
  http::Timer soon_, later_;
  Worker thread_;
};

}  // namespace sy::daemon

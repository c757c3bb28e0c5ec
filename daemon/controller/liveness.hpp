// Who has been heard when, by the monotonic clock: a node that is silent for too long is told to the core, and so is one that is
// back. With leases on, a node silent for longer than its agent may run jobs without us is fenced by that alone.
// Not stored: after a start every node has its full time again, so only time in which we were reachable counts.
#pragma once

#include <functional>
#include <map>

#include "daemon/controller/ledger.hpp"
#include "daemon/runtime/clock.hpp"

namespace sy::daemon {

class Liveness {
 public:
  struct Options {
    base::Duration silent_after{std::chrono::seconds{60}};
    base::Duration check_every{std::chrono::seconds{1}};
    base::Duration longest_gap{std::chrono::seconds{10}};   // between two checks; more: we were stopped, or the machine slept
    base::Duration lease_margin{std::chrono::seconds{60}};  // beyond lease and kill grace, for clocks that drift
    std::function<Monotonic()> now{monotonic_now};
  };
  Liveness(http::Loop&, Ledger&, Options);

  void start();                                             // the time of all nodes begins now
  void heard(base::NodeIndex);                              // a signed request of that node came in
  void set_silent_after(base::Duration d) { options_.silent_after = d; }
  void check();                                             // what the timer does

 private:
  void tick();

  Ledger& ledger_;
  Options options_;
  Monotonic began_, last_check_;
  std::map<base::NodeIndex, Monotonic> last_;
  http::Timer timer_;
};

}  // namespace sy::daemon

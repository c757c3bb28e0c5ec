// Takes requests from both listeners: finds the route, establishes who asks, checks that they may, bounds how often, and gives an
// answer again to a repeated Idempotency-Key (design D2). Not the answers themselves: handlers.hpp.
#pragma once

#include <memory>
#include <string>

#include "daemon/api/call.hpp"
#include "daemon/api/long_polls.hpp"
#include "daemon/api/rate_limit.hpp"
#include "daemon/api/repeated_requests.hpp"
#include "daemon/api/routes.hpp"
#include "daemon/runtime/signing.hpp"

namespace sy::daemon {

class Api {
 public:
  explicit Api(Controller&);

  // Answers once, on the loop. `open` says whether the client is still there.
  void handle(Listener, http::Request, Call::Answer, std::function<bool()> open = {});
  http::Handler handler(Listener);

  LongPolls& long_polls() { return long_polls_; }
  struct Counters {
    std::uint64_t requests{}, refused_access{}, limited{}, repeated{}, by_class[6]{};
  };
  const Counters& counters() const { return counters_; }
  void watch_servers(std::function<http::ServerCounters()> counters) { servers_ = std::move(counters); }
  http::ServerCounters server_counters() const { return servers_ ? servers_() : http::ServerCounters{}; }

 private:
  void identify_user(const CallPtr&);
  void identify_agent(const CallPtr&);
  void admit(const CallPtr&);
  model::Principal principal_of(const User&) const;

  Controller& controller_;
  RateLimit rate_limit_;
  RepeatedRequests repeated_;
  LongPolls long_polls_;
  NonceCache nonces_;
  Counters counters_;
  std::function<http::ServerCounters()> servers_;
};

}  // namespace sy::daemon

// One request on its way through the API: who asks, what for, and the way its answer takes — held until the sequence number it
// rests on is committed (design D1). Not a route and not a handler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "daemon/controller/controller.hpp"
#include "http/message.hpp"
#include "http/server.hpp"
#include "model/principal.hpp"

namespace sy::daemon {

class Api;
struct Route;

class Call : public std::enable_shared_from_this<Call> {
 public:
  using Answer = std::function<void(http::Response)>;

  Call(Api& owner, Controller& c, http::Request r, http::Target t, Answer a)
      : api(owner), controller(c), request(std::move(r)), target(std::move(t)), answer_(std::move(a)) {}

  Api& api;
  Controller& controller;
  http::Request request;
  http::Target target;
  const Route* route{};
  std::vector<std::string> captures;      // what stood for {id}, {name}
  model::Principal who;
  base::NodeIndex node;                   // for agents
  std::function<bool()> open{[] { return true; }};   // is the client still there?
  std::function<void(const http::Response&)> before_reply;  // told once, in the turn in which the handler answers

  const model::State& state() const { return controller.state(); }
  // Runs the command as this principal. What comes back has happened in memory; the reply waits for the disk.
  Ledger::Outcome execute(core::Action action, std::vector<Blob> blobs = {}) {
    return controller.ledger().execute(who, std::move(action), std::move(blobs));
  }

  // Each handler answers once, now or later. Everything rests on the State as it is when the handler answers.
  void reply(http::Response);
  void reply_json(std::string body, int status = 200);
  void fail(const base::Error&);
  // Rests on nothing that is stored (health, refusals before State was looked at).
  void reply_at_once(http::Response);

 private:
  Answer answer_;
};
using CallPtr = std::shared_ptr<Call>;

// A parameter as a number within limits; absent: `otherwise`.
base::Result<std::uint64_t> number_parameter(const http::Target&, std::string_view name, std::uint64_t otherwise, std::uint64_t min,
                                             std::uint64_t max);
// "a,b,c" → its parts; absent: none. At most 10,000.
base::Result<std::vector<std::string>> list_parameter(const http::Target&, std::string_view name);
// Refuses parameters that the route does not know, with the nearest that it does.
base::Result<void> only_parameters(const http::Target&, const std::vector<std::string>& known);

}  // namespace sy::daemon

// The one table of everything that can be asked: method, path, who may, on which listener, and the function that answers.
// A test walks all of it for every role on both listeners. Not the answers: one file per noun beside this one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "daemon/api/call.hpp"

namespace sy::daemon {

enum class Listener : std::uint8_t { local, agents };     // the unix socket; TCP

enum class Access : std::uint8_t {
  anyone,           // health: no identity needed
  user,             // whoever the kernel says it is
  owner,            // a user; whether it is theirs is decided by the one ownership check of the core, for every verb
  administrator,
  agent,            // a request signed by an enrolled agent
  enrolment         // carries a single-use token instead of a signature
};

using Handler = void (*)(const CallPtr&);

struct Route {
  std::string_view method;
  std::string_view path;        // "/v1/jobs/{id}/cancel"
  Listener listener;
  Access access;
  Handler handler;
  bool may_be_given_twice{};    // honours Idempotency-Key: its first answer is kept
};

std::span<const Route> routes();
// Which route; captures gets what stood in the braces. Null: none; `other_methods` then names those the path does have.
const Route* find_route(Listener, std::string_view method, const std::vector<std::string>& segments, std::vector<std::string>& captures,
                        std::string& other_methods);

}  // namespace sy::daemon

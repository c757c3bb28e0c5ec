// The door to the agents: a signed request goes out, an answer comes back on the loop. One of the few interfaces: the tests
// and the simulator stand another behind it. Not what is said (wire/agent_messages.hpp) and not when (effect_runner.hpp).
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "http/message.hpp"
#include "model/node.hpp"

namespace sy::daemon {

class AgentLink {
 public:
  using Done = std::function<void(base::Result<http::Response>)>;
  virtual ~AgentLink() = default;
  // POSTs `body` to `target` at the node's address. Never repeats by itself.
  virtual void post(const model::Node&, std::string target, std::string body, Done) = 0;
};

}  // namespace sy::daemon

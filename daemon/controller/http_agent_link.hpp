// Requests to agents over HTTP, signed with the controller's key.
// Not the retries: effect_runner.hpp.
#pragma once

#include <functional>

#include "daemon/controller/agent_link.hpp"
#include "daemon/runtime/signing.hpp"
#include "http/client.hpp"

namespace sy::daemon {

class HttpAgentLink final : public AgentLink {
 public:
  HttpAgentLink(http::Loop& loop, const KeyPair& key, http::ClientOptions options) : client_(loop, options), key_(key) {}
  void post(const model::Node&, std::string target, std::string body, Done) override;

 private:
  http::Client client_;
  const KeyPair& key_;
};

}  // namespace sy::daemon

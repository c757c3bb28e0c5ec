// Who this agent is and whom it trusts: its own key, the controller's key, and the node's name, kept in its key folder.
// Not the requests that they sign.
#pragma once

#include <string>

#include "base/result.hpp"
#include "daemon/runtime/crypto.hpp"
#include "wire/agent_config.hpp"

namespace sy::daemon {

struct Identity {
  std::string node;
  std::string controller_key;  // base64
  KeyPair key;
};

std::string key_folder(const wire::AgentSettings&);
// not_found: never enrolled; the message says how.
base::Result<Identity> load_identity(const wire::AgentSettings&);
// One-off: makes a key unless there is one, shows the token to the controller, checks the controller's key against the
// fingerprint in the token, and keeps it. The token is NAME.SECRET.FINGERPRINT.
base::Result<Identity> enrol(const wire::AgentSettings&, const std::string& token);

}  // namespace sy::daemon

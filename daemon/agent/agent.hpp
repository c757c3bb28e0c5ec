// switchyard-agent put together: answers the controller's signed requests, registers, sends heartbeats, repeats reports until
// they are acknowledged, and keeps the lease. What happens to attempts is attempts.hpp; it holds no state of its own that matters.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "daemon/agent/attempts.hpp"
#include "daemon/agent/identity.hpp"
#include "daemon/agent/machine.hpp"
#include "daemon/agent/spool.hpp"
#include "daemon/runtime/signing.hpp"
#include "daemon/runtime/worker.hpp"
#include "http/client.hpp"
#include "http/server.hpp"
#include "wire/agent_config.hpp"

namespace sy::daemon {

class Agent {
 public:
  Agent(http::Loop&, const wire::AgentSettings&, Identity, Machine, Spool);
  // Listens, recovers what is in the spool, and begins to register.
  base::Result<void> start();
  std::uint16_t port() const { return port_; }

 private:
  using Reply = base::Result<http::Response>;
  void handle(const http::Request&, const http::Responder&);
  http::Response serve(const http::Request&, const http::Responder&, bool& later);
  void launch(wire::LaunchMessage, http::Responder);
  base::Result<void> check(const wire::Capability&);
  template <class Message, class Act>
  http::Response with(const http::Request&, Act);

  wire::RegisterMessage registration() const;
  void post(const std::string& target, std::string body, std::function<void(Reply)>);
  void register_node();
  void registered(const Reply&);
  void beat();
  void send_reports();
  void take_acknowledgements(const Reply&);
  void tend();
  void controller_answered(std::int64_t asked_at_us);
  void later_register();

  http::Loop& loop_;
  wire::AgentSettings settings_;
  Identity identity_;
  Machine machine_;
  Spool spool_;
  NonceCache signatures_, capabilities_;
  Worker worker_;
  http::Client client_;
  http::Timer heartbeat_, retry_reports_, tend_, retry_register_;
  std::unique_ptr<Attempts> attempts_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_{};
  bool registered_{}, registering_{}, reporting_{};
  base::Duration beat_every_{std::chrono::seconds{10}};
  base::Duration register_pause_{}, report_pause_{};
  std::optional<base::Duration> lease_;
};

}  // namespace sy::daemon

// What agents say: enrolment, registration, heartbeats, reports. The listener has already checked who they are.
#include <charconv>

#include "daemon/api/handlers.hpp"
#include "daemon/runtime/crypto.hpp"
#include "daemon/runtime/log.hpp"
#include "http/problem.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

// "10.0.0.3:41234" → "10.0.0.3"
std::string host_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}
}  // namespace

void enrol_agent(const CallPtr& call) {
  auto message = wire::message_from_text<wire::EnrolMessage>(call->request.body);
  if (!message) return call->fail(message.error());
  if (key_fingerprint(message->public_key).empty())
    return call->fail({Code::invalid_argument, "is no Ed25519 public key in base64", "public_key", {}, {}, {}});
  call->who = switchyard_itself();
  const auto outcome = call->execute(core::EnrolNode{sha256_hex(message->token), message->public_key});
  if (!outcome.reply) return call->fail(outcome.reply.error());
  const model::Node& node = call->state().nodes.at(outcome.reply->node.value);
  log_info("node {} is enrolled, from {}", node.name, call->request.peer.address);
  wire::EnrolAnswer answer{node.name, call->state().settings.cluster_name, call->controller.key().public_key()};
  call->reply_json(wire::message_text(answer));
}

void register_agent(const CallPtr& call) {
  auto message = wire::message_from_text<wire::RegisterMessage>(call->request.body);
  if (!message) return call->fail(message.error());
  core::RegisterNode command;
  command.node = call->node;
  command.shape = std::move(message->shape);
  command.boot_id = std::move(message->boot_id);
  command.spool_id = std::move(message->spool_id);
  command.version = std::move(message->version);
  command.address = message->address.empty() ? host_of(call->request.peer.address) : std::move(message->address);
  command.port = message->port;
  command.boot_time = message->boot_time;
  command.labels = std::move(message->labels);
  for (const wire::AttemptSeen& seen : message->attempts) command.attempts.push_back({seen.job, seen.attempt, seen.phase});
  const auto outcome = call->execute(std::move(command));
  if (!outcome.reply) return call->fail(outcome.reply.error());
  call->controller.liveness().heard(call->node);
  log_info("node {} has registered from {}", call->who.node, call->request.peer.address);
  wire::RegisterAnswer answer{call->state().epoch, call->controller.settings().heartbeat, call->state().settings.lease, {}};
  for (const core::AttemptOnNode& each : outcome.reply->to_kill) answer.fenced.push_back({each.job, each.attempt});
  call->reply_json(wire::message_text(answer));
}

void heartbeat(const CallPtr& call) {
  const auto message = wire::message_from_text<wire::HeartbeatMessage>(call->request.body);
  if (!message) return call->fail(message.error());
  const model::Node& node = call->state().nodes.at(call->node.value);
  // Another boot or spool, a node that never registered or was cut off: a heartbeat says too little.
  const bool register_again = node.boot_id != message->boot_id || node.spool_id != message->spool_id ||
                              (node.contact != model::Contact::up && node.contact != model::Contact::silent);
  if (!register_again) call->controller.liveness().heard(call->node);
  call->reply_json(wire::message_text(wire::HeartbeatAnswer{call->state().epoch, register_again}));
}

// Each report is a command of its own; what the core refuses as meaningless is acknowledged too, or it would come for ever.
void take_reports(const CallPtr& call) {
  auto message = wire::message_from_text<wire::ReportsMessage>(call->request.body);
  if (!message) return call->fail(message.error());
  call->controller.liveness().heard(call->node);
  wire::ReportsAnswer answer;
  for (wire::AttemptReport& report : message->reports) {
    const auto outcome = call->execute(core::ReportAttempt{call->node, report.job, report.attempt, report.what, report.blame,
                                                           std::move(report.reason), std::move(report.exit), report.at});
    if (!outcome.reply && outcome.reply.error().code == Code::unavailable) return call->fail(outcome.reply.error());
    if (!outcome.reply) log_warning("node {} reports job {}: {}", call->who.node, report.job.value, base::to_text(outcome.reply.error()));
    answer.acknowledged.push_back({report.job, report.attempt, report.what});
  }
  call->reply_json(wire::message_text(answer));
}

}  // namespace sy::daemon::handlers

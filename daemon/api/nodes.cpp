// What nodes are and what administrators do with them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/api/handlers.hpp"
#include "daemon/api/small_body.hpp"
#include "daemon/runtime/crypto.hpp"
#include "http/problem.hpp"
#include "wire/views.hpp"

namespace sy::daemon::handlers {

namespace {
using base::Code;

base::Result<const model::Node*> node_of(const Call& call) {
  const model::Node* node = call.state().find_node(call.captures.at(0));
  if (node == nullptr)
    return base::fail(Code::not_found, "there is no such node", "name", call.captures.at(0).substr(0, 80), "sinfo -N lists them");
  return node;
}

base::Result<wire::NodeMembers> members_asked(const Call& call) {
  if (auto fit = only_parameters(call.target, {"fields"}); !fit) return base::fail(fit.error());
  const std::string* text = call.target.parameter("fields");
  return wire::NodeMembers::parse(text != nullptr ? *text : std::string{});
}

void act(const CallPtr& call, base::NodeIndex index, core::Action action) {
  const auto outcome = call->execute(std::move(action));
  if (!outcome.reply) return call->fail(outcome.reply.error());
  const model::State& state = call->state();
  std::string body;
  wire::append_node(body, state.nodes.at(index.value), state);
  call->reply_json(std::move(body));
}
}  // namespace

void list_nodes(const CallPtr& call) {
  const auto members = members_asked(*call);
  if (!members) return call->fail(members.error());
  const model::State& state = call->state();
  std::string body = "{\"nodes\":[";
  bool first = true;
  for (const model::Node& node : state.nodes) {
    if (node.removed) continue;
    if (!first) body += ',';
    first = false;
    wire::append_node(body, node, state, *members);
  }
  body += fmt::format("],\"sequence\":{}}}", state.sequence.value);
  call->reply_json(std::move(body));
}

void get_node(const CallPtr& call) {
  const auto node = node_of(*call);
  if (!node) return call->fail(node.error());
  const auto members = members_asked(*call);
  if (!members) return call->fail(members.error());
  std::string body;
  wire::append_node(body, **node, call->state(), *members);
  call->reply_json(std::move(body));
}

// The node need not be known yet. The token is told once and only its digest is kept.
void issue_enrolment(const CallPtr& call) {
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  const std::string& name = call->captures.at(0);
  const std::string fingerprint = key_fingerprint(call->controller.key().public_key());
  const std::string token = name + "." + random_hex(24) + "." + fingerprint;
  const base::Time expires = call->controller.now() + base::minutes{10};
  const auto outcome = call->execute(core::IssueEnrolToken{name, sha256_hex(token), expires});
  if (!outcome.reply) return call->fail(outcome.reply.error());
  http::Response response;
  response.body = fmt::format("{{\"token\":{},\"expires_us\":{},\"fingerprint\":{}}}", http::json_string(token), base::micros(expires),
                              http::json_string(fingerprint));
  response.headers.emplace_back("Cache-Control", "no-store");
  call->reply(std::move(response));
}

namespace {
void take_out(const CallPtr& call, bool down) {
  const auto node = node_of(*call);
  if (!node) return call->fail(node.error());
  auto body = small_body(*call, {"reason"});
  if (!body) return call->fail(body.error());
  auto reason = text_of(*body, "reason", 1024, true);
  if (!reason) return call->fail(reason.error());
  const base::NodeIndex index = (*node)->index;
  if (down) act(call, index, core::DownNode{index, std::move(*reason)});
  else act(call, index, core::DrainNode{index, std::move(*reason)});
}
}  // namespace

void drain_node(const CallPtr& call) { take_out(call, false); }
void down_node(const CallPtr& call) { take_out(call, true); }

void resume_node(const CallPtr& call) {
  const auto node = node_of(*call);
  if (!node) return call->fail(node.error());
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  act(call, (*node)->index, core::ResumeNode{(*node)->index});
}

void fence_node(const CallPtr& call) {
  const auto node = node_of(*call);
  if (!node) return call->fail(node.error());
  if (auto body = small_body(*call, {}); !body) return call->fail(body.error());
  act(call, (*node)->index, core::FenceNode{(*node)->index, "sy fence"});
}

}  // namespace sy::daemon::handlers

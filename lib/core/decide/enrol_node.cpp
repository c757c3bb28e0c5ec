#include <fmt/format.h>

#include <algorithm>

#include "core/decide/access.hpp"
#include "core/decide/verbs.hpp"

namespace sy::core::verbs {

namespace {
bool is_host_name(std::string_view s) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  return !s.empty() && s.size() <= 253 && s.front() != '-' && s != "ALL" && std::all_of(s.begin(), s.end(), good);
}
}  // namespace

Result<Decision> decide(const State&, const Asked& asked, const IssueEnrolToken& action) {
  if (auto ok = administrators_only(asked.who, "enrol nodes"); !ok) return fail(ok.error());
  if (!is_host_name(action.node))
    return fail(Error{Code::invalid_argument, "this can not be the name of a node", "node",
                      "letters, digits, '-', '.' and '_', at most 253", action.node, ""});
  if (action.token_digest.empty() || action.expires <= asked.now)
    return fail(Code::invalid_argument, "the token has no digest or has expired already", "expires");
  Decision d;
  d.facts.push_back(EnrolTokenIssued{{action.node, action.token_digest, action.expires}});
  return d;
}

// The token is the credential: whoever brings it once, in time, sets the node's key.
Result<Decision> decide(const State& state, const Asked& asked, const EnrolNode& action) {
  const auto& tokens = state.enrol_tokens;
  auto token = std::find_if(tokens.begin(), tokens.end(), [&](const auto& t) { return t.token_digest == action.token_digest; });
  if (token == tokens.end() || token->expires <= asked.now)
    return fail(Code::unauthenticated, "this enrolment token is unknown, used or expired", "token", "",
                "make a new one with: sy node enrol NAME");
  if (action.public_key.empty() || action.public_key.size() > 128)
    return fail(Code::invalid_argument, "the public key is missing or too long", "public_key");
  Decision d;
  d.facts.push_back(NodeEnrolled{token->node, action.public_key, action.token_digest});
  // Where evolve will put it: its place, its tombstone's, or the end.
  auto known = std::find_if(state.nodes.begin(), state.nodes.end(), [&](const Node& n) { return n.name == token->node; });
  d.reply.node = NodeIndex{static_cast<std::uint32_t>(known - state.nodes.begin())};
  return d;
}

}  // namespace sy::core::verbs

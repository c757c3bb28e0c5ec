#include "daemon/api/api.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/runtime/log.hpp"
#include "http/problem.hpp"

namespace sy::daemon {

namespace {
using base::Code;
using base::Error;

bool is_listed(const std::vector<std::string>& sorted, const std::string& name) {
  return std::find(sorted.begin(), sorted.end(), name) != sorted.end();
}
}  // namespace

Api::Api(Controller& controller) : controller_(controller), repeated_(controller), long_polls_(controller) {
  controller_.on_committed = [this](const Ledger::Committed& news) {
    repeated_.stored(news.replies);
    long_polls_.committed(news.sequence, news.jobs);
  };
  long_polls_.answer_all();  // what changed before this start is not remembered
  controller_.on_reloaded = [this] {
    repeated_.clear();
    long_polls_.answer_all();
  };
}

http::Handler Api::handler(Listener listener) {
  return [this, listener](http::Request request, const http::Responder& responder) {
    handle(
        listener, std::move(request), [responder](http::Response response) { responder(std::move(response)); },
        [responder] { return responder.open(); });
  };
}

void Api::handle(Listener listener, http::Request request, Call::Answer answer, std::function<bool()> open) {
  ++counters_.requests;
  auto counted = [this, answer = std::move(answer)](http::Response response) {
    ++counters_.by_class[std::clamp(response.status / 100, 0, 5)];
    answer(std::move(response));
  };
  auto target = http::parse_target(request.target);
  if (!target) {
    counted(http::problem(target.error()));
    return;
  }
  const auto call = std::make_shared<Call>(*this, controller_, std::move(request), std::move(*target), std::move(counted));
  if (open) call->open = std::move(open);
  std::string other_methods;
  call->route = find_route(listener, call->request.method, call->target.segments, call->captures, other_methods);
  if (call->route == nullptr && listener == Listener::agents && other_methods.empty()) {
    // Nothing but the agents' few requests is answered here, and strangers learn nothing about the rest.
    ++counters_.refused_access;
    call->reply_at_once(
        http::problem(Error{Code::forbidden, "this listener serves enrolled agents only", {}, {}, {}, "use the unix socket"}));
    return;
  }
  if (call->route == nullptr) {
    http::Response response =
        http::problem(Error{Code::not_found, "there is no such path", "path", {}, call->request.target.substr(0, 200), {}});
    if (!other_methods.empty()) {
      response = http::problem(
          405, Error{Code::invalid_argument, "this path does not take that method", "method", other_methods, call->request.method, {}});
      response.headers.emplace_back("Allow", other_methods);
    }
    call->reply_at_once(std::move(response));
    return;
  }
  switch (call->route->access) {
    case Access::anyone:
    case Access::enrolment: admit(call); return;
    case Access::agent: identify_agent(call); return;
    case Access::user:
    case Access::owner:
    case Access::administrator: identify_user(call); return;
  }
}

model::Principal Api::principal_of(const User& user) const {
  const wire::Administrators& administrators = controller_.settings().administrators;
  model::Principal who;
  who.role = model::Role::user;
  who.uid = user.uid;
  who.gid = user.gid;
  who.user = user.name;
  who.group = user.group;
  who.groups = user.group_names;
  const bool in_group = std::any_of(user.group_names.begin(), user.group_names.end(),
                                    [&](const std::string& name) { return is_listed(administrators.groups, name); });
  if (user.known && (is_listed(administrators.users, user.name) || in_group)) who.role = model::Role::administrator;
  return who;
}

void Api::identify_user(const CallPtr& call) {
  const http::Peer& peer = call->request.peer;
  if (!peer.local || peer.uid == ~0U) {
    ++counters_.refused_access;
    call->reply_at_once(http::problem(Error{Code::unauthenticated, "nobody vouches for who you are", {}, {}, {}, "use the unix socket"}));
    return;
  }
  controller_.users().find(base::Uid{peer.uid}, base::Gid{peer.gid}, [this, call](const User& user) {
    call->who = principal_of(user);
    if (call->route->access == Access::administrator && !call->who.is_administrator()) {
      ++counters_.refused_access;
      call->reply_at_once(
          http::problem(Error{Code::forbidden, "only an administrator may do this", {}, {}, call->who.user, "ask an administrator"}));
      return;
    }
    admit(call);
  });
}

void Api::identify_agent(const CallPtr& call) {
  const auto refuse = [&](const Error& error) {
    ++counters_.refused_access;
    log_warning("{} from {}: {}", call->request.target, call->request.peer.address, base::to_text(error));
    call->reply_at_once(http::problem(error));
  };
  if (controller_.ledger().fault()) {
    call->reply_at_once(http::problem(*controller_.ledger().fault()));
    return;
  }
  const SignatureHeaders headers{std::string(call->request.header(header_key)), std::string(call->request.header(header_time)),
                                 std::string(call->request.header(header_nonce)), std::string(call->request.header(header_signature))};
  const model::Node* node = controller_.state().find_node(headers.key);
  if (node == nullptr || node->public_key.empty())
    return refuse({Code::unauthenticated,
                   "this node is not enrolled",
                   std::string(header_key),
                   {},
                   headers.key.substr(0, 80),
                   "enrol it with a token from: sy node enrol"});
  const SignedParts parts{call->request.method, call->request.target, call->request.body, "controller"};
  if (auto checked = check_signature(node->public_key, headers, parts, controller_.now(), nonces_); !checked)
    return refuse(checked.error());
  call->node = node->index;
  call->who.role = model::Role::agent;
  call->who.node = node->name;
  call->who.user = "node " + node->name;
  admit(call);
}

void Api::admit(const CallPtr& call) {
  const wire::Limits& limits = controller_.settings().limits;
  const std::string principal = call->who.role == model::Role::agent ? call->who.user
                                : call->request.peer.local           ? fmt::format("uid {}", call->request.peer.uid)
                                                                     : std::string("strangers");
  if (auto taken = rate_limit_.take(principal, limits.requests_per_second, limits.burst, monotonic_now()); !taken) {
    ++counters_.limited;
    http::Response response = http::problem(taken.error());
    response.headers.emplace_back("Retry-After", "1");
    call->reply_at_once(std::move(response));
    return;
  }
  if (controller_.ledger().fault() && call->route->access != Access::anyone) {
    http::Response response = http::problem(*controller_.ledger().fault());
    response.headers.emplace_back("Retry-After", "5");
    call->reply_at_once(std::move(response));
    return;
  }
  if (repeated_.answer(call)) {
    ++counters_.repeated;
    return;
  }
  call->route->handler(call);
}

}  // namespace sy::daemon

#include "daemon/api/repeated_requests.hpp"

#include <algorithm>

#include "daemon/api/routes.hpp"
#include "daemon/runtime/crypto.hpp"
#include "http/problem.hpp"

namespace sy::daemon {

namespace {
http::Response again(int status, const std::string& body) {
  http::Response response;
  response.status = status;
  response.body = body;
  response.headers.emplace_back("Idempotency-Replayed", "true");
  return response;
}
bool key_is_fit(std::string_view key) {
  return !key.empty() && key.size() <= 255 && std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}
std::string principal_key(const Call& call) { return "uid " + std::to_string(call.who.uid.value); }
std::string entry_name(const std::string& principal, const std::string& route, const std::string& key) {
  return principal + "\n" + route + "\n" + key;
}
std::string route_key(const Call& call) {
  std::string out = call.request.method;
  for (const std::string& segment : call.target.segments) out += "/" + http::encode_component(segment);
  return out;
}
}  // namespace

base::Error RepeatedRequests::mismatch(const std::string& key) {
  return {base::Code::precondition,          "this key was used for another request", "Idempotency-Key", "one key for one request", key,
          "make a new key for a new request"};
}

bool RepeatedRequests::answer(const CallPtr& call) {
  if (!call->route->may_be_given_twice || !call->request.has_header("Idempotency-Key")) return false;
  const std::string key(call->request.header("Idempotency-Key"));
  if (!key_is_fit(key)) {
    call->fail(
        {base::Code::invalid_argument, "the key must be printable text without spaces", "Idempotency-Key", "1 to 255 characters", {}, {}});
    return true;
  }
  const std::string digest = sha256_hex(call->request.body);
  const std::string principal = principal_key(*call), route = route_key(*call), name = entry_name(principal, route, key);
  if (const auto at = entries_.find(name); at != entries_.end()) {
    if (at->second.digest != digest) call->fail(mismatch(key));
    else if (at->second.done) call->reply(again(at->second.response.status, at->second.response.body));
    else at->second.waiting.push_back(call);
    return true;
  }
  std::optional<StoredReply> stored;
  try {
    stored = controller_.store().reply(principal, route, key);
  } catch (const StoreFailure& failure) {
    call->fail({base::Code::unavailable, std::string("the answers given earlier can not be read: ") + failure.what(), {}, {}, {}, {}});
    return true;
  }
  if (stored && stored->expires > controller_.now()) {
    if (stored->request_digest != digest) call->fail(mismatch(key));
    else call->reply(again(stored->status, stored->body));
    return true;
  }
  first(call, name, digest);
  return false;
}

void RepeatedRequests::stored(const std::vector<StoredReply>& replies) {
  for (const StoredReply& each : replies) {
    const auto at = entries_.find(entry_name(each.principal, each.route, each.key));
    if (at != entries_.end() && at->second.done) entries_.erase(at);
  }
}

void RepeatedRequests::first(const CallPtr& call, const std::string& name, const std::string& digest) {
  entries_[name] = Entry{digest, false, {}, {}};
  // In the turn in which the command ran: the answer goes into the same transaction as its facts. A refusal changed nothing and is
  // judged anew next time.
  call->before_reply = [this, raw = call.get(), name, digest](const http::Response& response) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return;
    const auto waiting = std::exchange(at->second.waiting, {});
    const bool keep = response.status >= 200 && response.status < 300;
    if (keep) {
      at->second.done = true;
      at->second.response.status = response.status;
      at->second.response.body = response.body;
      controller_.ledger().keep(StoredReply{principal_key(*raw), route_key(*raw), std::string(raw->request.header("Idempotency-Key")),
                                            digest, response.status, response.body,
                                            controller_.now() + controller_.settings().keep_answers});
    } else {
      entries_.erase(at);
    }
    for (const CallPtr& each : waiting) {
      if (keep) each->reply(again(response.status, response.body));
      else each->reply(response);
    }
  };
}

}  // namespace sy::daemon

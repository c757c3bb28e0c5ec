#include "daemon/agent/identity.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "daemon/runtime/private_folder.hpp"
#include "http/blocking_client.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

using base::Code;
using base::fail;

namespace {

constexpr std::size_t largest_small_file = 4096;

std::string key_path(const wire::AgentSettings& s) { return key_folder(s) + "/node.key"; }
std::string controller_path(const wire::AgentSettings& s) { return key_folder(s) + "/controller.pub"; }
std::string name_path(const wire::AgentSettings& s) { return key_folder(s) + "/name"; }

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

// The controller's key decides whom we obey: a file that others can write would hand the node to them.
base::Result<std::string> read_private_line(const std::string& path) {
  struct stat s{};
  if (::lstat(path.c_str(), &s) != 0) return fail(Code::not_found, "the file is missing", "key_dir", path);
  if (!S_ISREG(s.st_mode) || (s.st_mode & 077) != 0)
    return fail(Code::forbidden, "others may read or write the file", "key_dir", path,
                "chmod 600 it after making sure that its content is right");
  auto text = read_file(path, largest_small_file);
  if (!text) return fail(text.error());
  return first_line(*text);
}

struct Token {
  std::string name, fingerprint;
};

// A node's name may hold dots: the last two parts are secret and fingerprint.
base::Result<Token> parse_token(const std::string& text) {
  const auto last = text.rfind('.');
  const auto middle = last == std::string::npos || last == 0 ? std::string::npos : text.rfind('.', last - 1);
  if (middle == std::string::npos || middle == 0 || last == middle + 1 || text.size() - last - 1 != 32)
    return fail(Code::invalid_argument, "this is no enrolment token", "--enrol", {}, "take the one line that `sy node enrol NAME` prints");
  return Token{text.substr(0, middle), text.substr(last + 1)};
}

}  // namespace

std::string key_folder(const wire::AgentSettings& s) { return s.key_dir.empty() ? s.spool + "/keys" : s.key_dir; }

base::Result<Identity> load_identity(const wire::AgentSettings& s) {
  auto controller = read_private_line(controller_path(s));
  if (!controller) {
    auto e = controller.error();
    if (e.code == Code::not_found) {
      e.message = "this node is not enrolled";
      e.hint = "run `sy node enrol NAME` on the head node, then `switchyard-agent --enrol TOKEN` here";
    }
    return fail(std::move(e));
  }
  auto name = read_private_line(name_path(s));
  if (!name) return fail(name.error());
  if (!s.name.empty() && s.name != *name)
    return fail(Code::conflict, "the settings name another node than the one that was enrolled: " + *name, "name", s.name,
                "correct the name, or enrol again with a token for it");
  auto key = KeyPair::load(key_path(s));
  if (!key) return fail(key.error());
  if (key_fingerprint(*controller).empty()) return fail(Code::invalid_argument, "the file holds no key", "key_dir", controller_path(s));
  return Identity{*name, *controller, *key};
}

base::Result<Identity> enrol(const wire::AgentSettings& s, const std::string& text) {
  const auto token = parse_token(text);
  if (!token) return fail(token.error());
  if (!s.name.empty() && s.name != token->name)
    return fail(Code::conflict, "the token is for node " + token->name, "name", s.name, "ask for a token with this node's name");
  for (const std::string& folder : {s.spool, key_folder(s)})
    if (const auto made = ensure_private_folder(folder); !made) return fail(made.error());
  auto key = KeyPair::load_or_create(key_path(s));
  if (!key) return fail(key.error());

  http::BlockingClient client{http::Endpoint{{}, s.controller.address, s.controller.port}};
  wire::EnrolMessage message;
  message.token = text;
  message.public_key = key->public_key();
  const auto reply = client.send("POST", "/v1/agent/enrol", wire::message_text(message), {{"Content-Type", "application/json"}});
  if (!reply) return fail(reply.error());
  if (reply->status != 200 && reply->status != 201)
    return fail(Code::forbidden, "the controller refused the token: " + reply->body.substr(0, 500), "--enrol", {},
                "tokens are valid once and for ten minutes: ask for a new one");
  const auto answer = wire::message_from_text<wire::EnrolAnswer>(reply->body);
  if (!answer) return fail(answer.error());
  if (!equal_in_constant_time(key_fingerprint(answer->controller_key), token->fingerprint))
    return fail(Code::forbidden, "the controller that answered is not the one that made the token: its key has another fingerprint",
                "controller", wire::to_text(s.controller), "check the address, and whether somebody stands between");
  if (answer->node != token->name)
    return fail(Code::internal, "the controller enrolled another node than the token names", "node", answer->node);
  // The name last: without it the node counts as not enrolled.
  for (const auto& [path, content] : {std::pair{controller_path(s), answer->controller_key}, std::pair{name_path(s), answer->node}})
    if (const auto written = write_file(path, content + "\n", 0600); !written) return fail(written.error());
  return Identity{answer->node, answer->controller_key, *key};
}

}  // namespace sy::daemon

// HTTP messages as plain values: what a handler gets, what it gives back, and what a client sends and receives.
// Not a parser and not a connection: server.hpp, client.hpp and blocking_client.hpp move these over sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sy::http {

using Header = std::pair<std::string, std::string>;

// Who is at the other end, as the kernel says it. Over TCP only the address is known.
struct Peer {
  bool local{};                 // a unix socket: uid, gid and pid are the kernel's (SO_PEERCRED)
  std::uint32_t uid{~0U};
  std::uint32_t gid{~0U};
  std::int32_t pid{};
  std::string address;          // "127.0.0.1:40312"; empty when local
};

struct Request {
  std::string method;           // "GET"
  std::string target;           // path and query as sent: "/v1/jobs?user=ann"
  std::vector<Header> headers;
  std::string body;
  Peer peer;                    // filled by the server; clients leave it alone

  // The first header of that name (any case), or empty.
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;
};

struct Response {
  int status{200};
  std::string content_type{"application/json"};
  std::string body;
  std::vector<Header> headers;
  bool close{};                 // close the connection after this reply

  std::string_view header(std::string_view name) const;
};

std::string_view reason_phrase(int status);          // "Not Found"
bool same_header(std::string_view a, std::string_view b);  // any case
// First header called `name`, or null.
const std::string* find_header(const std::vector<Header>&, std::string_view name);

// Path and query of a target, decoded. Refuses a target that is not "/…", bad or NUL escapes, more than 32 segments or
// 64 parameters. "/v1/jobs/7?fields=id,name" → segments {"v1","jobs","7"}, query {{"fields","id,name"}}.
struct Target {
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;
  const std::string* parameter(std::string_view name) const;  // null: not given
};
base::Result<Target> parse_target(std::string_view);
// Escapes all but unreserved characters, for one segment or one query value.
std::string encode_component(std::string_view);

// Where to connect: a unix socket's path, or host and port.
struct Endpoint {
  std::string path;             // not empty: a unix socket
  std::string host;
  std::uint16_t port{};
  bool operator==(const Endpoint&) const = default;
};
// "unix:/run/x.sock", "/run/x.sock", "host:6830", "[::1]:6830", "http://host:6830".
base::Result<Endpoint> parse_endpoint(std::string_view);
std::string to_text(const Endpoint&);                // "unix:/run/x.sock", "host:6830"

}  // namespace sy::http

// An HTTP/1.1 server: listens on unix sockets and TCP, hands whole requests to one function, sends what it answers.
// Not a router and not a judge of who may do what: the handler decides that from the request and its peer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"

namespace sy::http {

struct ServerOptions {
  std::size_t max_connections{4096};             // when full, the connection that has been idle longest makes room
  std::size_t max_per_user{0};                   // of one uid on unix sockets; 0: no limit of their own
  std::size_t max_header_bytes{16 * 1024};       // beyond: 431
  std::size_t max_body_bytes{8 * 1024 * 1024};   // beyond: 413
  std::size_t max_buffered_bytes{256 * 1024 * 1024};  // bodies of all connections together; beyond: 503
  base::Duration idle_timeout{base::seconds{60}};     // between requests
  base::Duration header_timeout{base::seconds{10}};   // first byte to end of header
  base::Duration body_timeout{base::seconds{30}};
  base::Duration write_timeout{base::seconds{30}};
  base::Duration handler_timeout{base::seconds{120}};  // longer than any long poll; then 503
};

struct ServerCounters {
  std::uint64_t accepted{}, refused{}, made_room{}, requests{}, malformed{}, timed_out{};
  std::size_t open{}, idle{}, buffered_bytes{};
};

// The right to answer one request, once, now or later. Only on the loop's thread. Copies share it: the first answer counts.
// When the last copy goes without an answer, the client gets a 500.
class Responder {
 public:
  class Exchange;               // one request on its way; the server's
  Responder() = default;
  explicit Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  void operator()(Response) const;
  bool open() const;            // false: answered, or the client has gone

 private:
  std::shared_ptr<Exchange> exchange_;
};

// Called on the loop's thread for each request. May answer at once or keep the responder (group commit, long polls).
// What it throws becomes a 500.
using Handler = std::function<void(Request, Responder)>;

class Server {
 public:
  Server(Loop&, ServerOptions, Handler);
  ~Server();                    // closes everything at once
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // A stale socket file is replaced; one that somebody listens on is a conflict.
  base::Result<void> listen_unix(const std::string& path, unsigned mode);
  // Port 0: the kernel chooses. Returns the port.
  base::Result<std::uint16_t> listen_tcp(const std::string& host, std::uint16_t port);

  // Accepts no more, lets running requests end (each with "Connection: close"), then calls done. After `limit` whatever
  // is left is closed.
  void drain(base::Duration limit, std::function<void()> done);
  ServerCounters counters() const;

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace sy::http

// A client for daemons: many servers, kept connections, never blocks; answers come on the loop's thread.
// It never repeats a request: who signed it with a nonce has to sign it anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "base/time.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"

namespace sy::http {

struct ClientOptions {
  base::Duration timeout{base::seconds{10}};        // from connecting to the last byte of the answer
  base::Duration idle_timeout{base::seconds{30}};   // a kept connection unused for so long is closed: below the server's
  std::size_t max_per_endpoint{2};                  // connections; more requests wait their turn
  std::size_t max_connections{1024};                // all endpoints together
  std::size_t max_queued{100'000};                  // waiting requests; beyond: too_many at once
  std::size_t max_body_bytes{64 * 1024 * 1024};
};

class Client {
 public:
  // An answer of any status, or an Error: unavailable (connection, time-out), too_many (queue full).
  using Done = std::function<void(base::Result<Response>)>;

  Client(Loop&, ClientOptions = {});
  ~Client();                                        // what is under way is dropped; its Done is not called
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const Endpoint&, Request, Done);
  void send(const Endpoint&, Request, base::Duration timeout, Done);
  std::size_t open_connections() const;

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace sy::http

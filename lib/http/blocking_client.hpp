// A small client that waits: one connection, one request after the other, as command-line programs want it.
// Not for daemons (client.hpp): it blocks. No Asio: it has to start quickly.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/time.hpp"
#include "http/message.hpp"

namespace sy::http {

struct BlockingOptions {
  base::Duration connect_timeout{base::seconds{5}};
  base::Duration reply_timeout{base::seconds{60}};   // from the request's last byte; long polls need more
  int attempts{3};                                   // for what may be sent again
  base::Duration pause{base::milliseconds{200}};     // before the second attempt; doubles
};

class BlockingClient {
 public:
  explicit BlockingClient(Endpoint, BlockingOptions = {});
  ~BlockingClient();
  BlockingClient(const BlockingClient&) = delete;
  BlockingClient& operator=(const BlockingClient&) = delete;

  // The connection is kept between calls. When it is lost, a request that may be repeated (GET, HEAD, PUT, or one with an
  // Idempotency-Key: the same key goes again) is sent again; others only when nothing of them was sent. An answer of any
  // status is a Response; an Error (unavailable) says what could not be reached and why.
  base::Result<Response> send(const Request&);
  base::Result<Response> get(std::string target);
  base::Result<Response> send(std::string method, std::string target, std::string body, std::vector<Header> headers = {});
  void set_reply_timeout(base::Duration limit) { options_.reply_timeout = limit; }

 private:
  struct Failure {
    base::Error error;
    bool sent{};
  };  // sent: the server may have acted on it
  tl::expected<Response, Failure> exchange(const Request&);
  tl::expected<void, base::Error> connect();
  void disconnect();

  Endpoint to_;
  BlockingOptions options_;
  int descriptor_{-1};
};

// 16 random bytes in hexadecimal, for Idempotency-Key headers.
std::string random_key();

}  // namespace sy::http

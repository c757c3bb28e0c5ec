// Reads one HTTP/1.1 response from bytes as they come: status, headers, body by length, chunks or end of stream.
// Not a connection: both clients feed it. Bounded: refuses headers over 64 KiB and bodies over its limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"

namespace sy::http {

class ResponseParser {
 public:
  // `head_request`: the response has no body whatever its headers say.
  explicit ResponseParser(bool head_request = false, std::size_t max_body = 1024 * 1024 * 1024);

  // Takes all of `bytes`. After done() further bytes are an error (we never send a second request before the first answer).
  base::Result<void> feed(std::string_view bytes);
  // The peer has closed: fine when the body runs to the end of the stream, an error in the middle of anything.
  base::Result<void> finish();

  bool done() const { return state_ == State::done; }
  bool started() const { return started_; }      // at least one byte came
  bool keep_alive() const { return keep_alive_; }
  Response take() { return std::move(response_); }

 private:
  enum class State { head, body, until_close, chunk_size, chunk_data, chunk_end, trailer, done };
  base::Result<void> consume();
  base::Result<void> read_head(std::string_view head);
  base::Result<void> read_framing();
  base::Result<bool> read_line(std::string_view& line);   // false: not yet whole
  base::Result<bool> read_chunk_part();

  State state_{State::head};
  bool head_request_, started_{}, keep_alive_{true}, old_version_{};
  std::size_t max_body_;
  std::string pending_;
  std::size_t at_{};              // read position in pending_
  std::uint64_t remaining_{};
  std::size_t trailer_bytes_{};
  Response response_;
};

// "METHOD target HTTP/1.1" with Host, Content-Length and the request's own headers; the body is not included.
std::string request_head(const Request&, const Endpoint&, bool keep_alive);

}  // namespace sy::http

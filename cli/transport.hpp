// The one door from the commands to the controller: a request goes out, an answer comes back. Its twin in the tests serves
// canned answers. Not HTTP itself (lib/http) and not the meaning of an answer (api.hpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sy::cli {

struct Request {
  std::string method{"GET"};
  std::string path;                                          // with its query, percent-encoded
  std::string body;                                          // JSON, or empty
  std::vector<std::pair<std::string, std::string>> headers;  // besides those every request carries
  int timeout_s{60};
};

struct Response {
  int status{};
  std::string body;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Error: Code::unavailable, with what was tried in `value`. `connect_failed` in `field` means nothing was sent.
  virtual base::Result<Response> send(const Request&) = 0;
};

}  // namespace sy::cli

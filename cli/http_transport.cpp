#include "cli/http_transport.hpp"

#include "http/blocking_client.hpp"

namespace sy::cli {

namespace {

class HttpTransport : public Transport {
 public:
  explicit HttpTransport(const std::string& socket) : socket_(socket), client_(endpoint(socket), options()) {}

  base::Result<Response> send(const Request& request) override {
    client_.set_reply_timeout(base::seconds{request.timeout_s});
    auto answer = client_.send(request.method, request.path, request.body, request.headers);
    if (answer) return Response{answer->status, std::move(answer->body)};
    base::Error error = answer.error();
    // A hint comes only with "nobody listens there"; anything else broke on the way.
    error.field = error.hint.empty() ? "connection_lost" : "connect_failed";
    error.value = socket_;
    return base::fail(std::move(error));
  }

 private:
  static http::Endpoint endpoint(const std::string& socket) {
    http::Endpoint to;
    to.path = socket;
    return to;
  }
  static http::BlockingOptions options() {
    http::BlockingOptions options;
    options.pause = base::milliseconds{50};
    return options;
  }
  std::string socket_;
  http::BlockingClient client_;
};

}  // namespace

std::unique_ptr<Transport> http_transport(const std::string& socket) { return std::make_unique<HttpTransport>(socket); }

}  // namespace sy::cli

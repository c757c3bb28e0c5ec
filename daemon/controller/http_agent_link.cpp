#include "daemon/controller/http_agent_link.hpp"

#include "daemon/runtime/clock.hpp"

namespace sy::daemon {

void HttpAgentLink::post(const model::Node& node, std::string target, std::string body, Done done) {
  http::Request request;
  request.method = "POST";
  request.target = std::move(target);
  request.body = std::move(body);
  const SignatureHeaders signature =
      sign_request(key_, "controller", {request.method, request.target, request.body, node.name}, wall_now());
  request.headers = {{"Content-Type", "application/json"},
                     {std::string(header_key), signature.key},
                     {std::string(header_time), signature.time},
                     {std::string(header_nonce), signature.nonce},
                     {std::string(header_signature), signature.signature}};
  const http::Endpoint to{{}, node.address.empty() ? node.name : node.address, node.port};
  client_.send(to, std::move(request), std::move(done));
}

}  // namespace sy::daemon

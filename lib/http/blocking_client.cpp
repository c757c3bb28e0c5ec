#include "http/blocking_client.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "http/response_parser.hpp"

namespace sy::http {

namespace {
using Moment = std::chrono::steady_clock::time_point;

base::Error unreachable(const Endpoint& to, const std::string& why, std::string hint = {}) {
  return base::Error{base::Code::unavailable, "can not reach " + to_text(to) + ": " + why, {}, {}, {}, std::move(hint)};
}

// Waits until `events` or the deadline. 0: ready; otherwise an errno.
int wait_for(int descriptor, short events, Moment deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd entry{descriptor, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<long long>(left, 3'600'000)));
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

int connect_within(int descriptor, const sockaddr* address, socklen_t length, Moment deadline) {
  while (::connect(descriptor, address, length) != 0) {
    if (errno == EAGAIN) {  // a unix socket whose backlog is full: there is nothing to poll for
      if (std::chrono::steady_clock::now() >= deadline) return ETIMEDOUT;
      const timespec pause{0, 5'000'000};
      ::nanosleep(&pause, nullptr);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EINPROGRESS) return errno;
    if (const int error = wait_for(descriptor, POLLOUT, deadline); error != 0) return error;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
  }
  return 0;
}

bool may_repeat(const Request& request) {
  return request.method == "GET" || request.method == "HEAD" || request.method == "PUT" || request.has_header("Idempotency-Key");
}

bool closed_by_peer(int descriptor) {
  char byte = 0;
  const auto count = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);  // stray bytes count as broken too
}
}  // namespace

BlockingClient::BlockingClient(Endpoint to, BlockingOptions options) : to_(std::move(to)), options_(options) {}
BlockingClient::~BlockingClient() { disconnect(); }

void BlockingClient::disconnect() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

tl::expected<void, base::Error> BlockingClient::connect() {
  const Moment deadline = std::chrono::steady_clock::now() + options_.connect_timeout;
  const auto attempt = [&](int family, const sockaddr* address, socklen_t length) {
    disconnect();
    descriptor_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int error = descriptor_ < 0 ? errno : connect_within(descriptor_, address, length, deadline);
    if (error != 0) disconnect();
    return error;
  };
  if (!to_.path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (to_.path.size() >= sizeof address.sun_path) return tl::unexpected(unreachable(to_, "the path is too long"));
    std::memcpy(address.sun_path, to_.path.c_str(), to_.path.size() + 1);
    const int error = attempt(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (error == 0) return {};
    return tl::unexpected(
        unreachable(to_, std::strerror(error), error == ENOENT || error == ECONNREFUSED ? "is switchyardd running?" : ""));
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(to_.host.c_str(), std::to_string(to_.port).c_str(), &hints, &found); error != 0)
    return tl::unexpected(unreachable(to_, ::gai_strerror(error)));
  int error = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    if ((error = attempt(each->ai_family, each->ai_addr, each->ai_addrlen)) == 0) break;
  ::freeaddrinfo(found);
  if (error != 0) return tl::unexpected(unreachable(to_, std::strerror(error)));
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {};
}

tl::expected<Response, BlockingClient::Failure> BlockingClient::exchange(const Request& request) {
  const auto lost = [&](const std::string& why, bool sent) {
    disconnect();
    return tl::unexpected(Failure{unreachable(to_, why), sent});
  };
  const std::string bytes = request_head(request, to_, true) + request.body;
  const Moment write_deadline = std::chrono::steady_clock::now() + options_.reply_timeout;
  ResponseParser parser(request.method == "HEAD");
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const int error = wait_for(descriptor_, POLLOUT, write_deadline); error != 0) return lost(std::strerror(error), true);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      break;  // the server may have refused early: its answer may be waiting
    } else if (errno != EINTR) {
      return lost(std::strerror(errno), true);
    }
  }
  const Moment deadline = std::chrono::steady_clock::now() + options_.reply_timeout;
  std::array<char, 65536> buffer{};
  while (!parser.done()) {
    const auto count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count > 0) {
      if (auto fed = parser.feed({buffer.data(), static_cast<std::size_t>(count)}); !fed) return lost(fed.error().message, true);
    } else if (count == 0) {
      if (auto finished = parser.finish(); !finished) return lost(finished.error().message, true);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const int error = wait_for(descriptor_, POLLIN, deadline);
      if (error != 0) return lost(error == ETIMEDOUT ? "no answer in time" : std::strerror(error), true);
    } else if (errno != EINTR) {
      return lost(std::strerror(errno), true);
    }
  }
  if (!parser.keep_alive()) disconnect();
  return parser.take();
}

base::Result<Response> BlockingClient::send(const Request& request) {
  base::Error last;
  base::Duration pause = options_.pause;
  for (int attempt = 1; attempt <= std::max(1, options_.attempts); ++attempt) {
    if (attempt > 1) {
      const timespec time{static_cast<time_t>(pause.count() / 1'000'000), static_cast<long>(pause.count() % 1'000'000) * 1000};
      ::nanosleep(&time, nullptr);
      pause *= 2;
    }
    if (descriptor_ >= 0 && closed_by_peer(descriptor_)) disconnect();
    if (descriptor_ < 0) {
      if (auto connected = connect(); !connected) {
        last = connected.error();
        continue;  // nothing was sent: any request may try again
      }
    }
    auto answer = exchange(request);
    if (answer) return std::move(*answer);
    last = answer.error().error;
    if (answer.error().sent && !may_repeat(request)) {
      last.hint = "the request may have been carried out: look before you repeat it";
      break;
    }
  }
  return base::fail(std::move(last));
}

base::Result<Response> BlockingClient::get(std::string target) { return send("GET", std::move(target), {}); }

base::Result<Response> BlockingClient::send(std::string method, std::string target, std::string body, std::vector<Header> headers) {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  request.headers = std::move(headers);
  if (!request.body.empty() && !request.has_header("Content-Type")) request.headers.emplace_back("Content-Type", "application/json");
  return send(request);
}

std::string random_key() {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const auto count = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (count > 0) have += static_cast<std::size_t>(count);
  }
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) out += {digits[byte >> 4U], digits[byte & 15U]};
  return out;
}

}  // namespace sy::http

// A server on its own thread for the tests, and raw sockets that can misbehave towards it.
// Not a client library: raw sockets here write exactly the bytes they are told.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "http/client.hpp"
#include "http/server.hpp"

namespace sy::http::testing {

struct TempFolder {
  TempFolder() {
    char pattern[] = "/tmp/sy-http-XXXXXX";
    path = ::mkdtemp(pattern);
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  std::string path;
};

// Runs a loop on its own thread; in(f) runs f there and waits for its result.
struct RunningLoop {
  RunningLoop() : thread([this] { loop.run(); }) {}
  ~RunningLoop() { halt(); }
  void halt() {
    if (!thread.joinable()) return;
    loop.stop();
    thread.join();
  }
  template <class F>
  auto in(F f) {
    using R = decltype(f());
    auto task = std::make_shared<std::packaged_task<R()>>(std::move(f));
    auto result = task->get_future();
    loop.post([task] { (*task)(); });
    return result.get();
  }
  Loop loop;
  std::thread thread;
};

struct RunningServer {
  explicit RunningServer(Handler handler, ServerOptions options = {}) {
    running.in([&] {
      server = std::make_unique<Server>(running.loop, options, std::move(handler));
      path = folder.path + "/s";
      unix_ok = server->listen_unix(path, 0666).has_value();
      port = server->listen_tcp("127.0.0.1", 0).value_or(0);
      return 0;
    });
  }
  ~RunningServer() {
    running.in([&] {
      server.reset();
      return 0;
    });
    running.halt();
  }
  ServerCounters counters() {
    return running.in([&] { return server->counters(); });
  }
  TempFolder folder;
  RunningLoop running;
  std::unique_ptr<Server> server;
  std::string path;
  std::uint16_t port{};
  bool unix_ok{};
};

class RawSocket {
 public:
  explicit RawSocket(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit RawSocket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawSocket(RawSocket&& o) noexcept : fd_(std::exchange(o.fd_, -1)), connected_(o.connected_) {}
  ~RawSocket() { hang_up(); }
  void hang_up() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool connected() const { return connected_; }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // Everything until the server closes.
  std::string read_all() {
    std::string out;
    char buffer[65536];
    for (ssize_t n = 0; (n = ::recv(fd_, buffer, sizeof buffer, 0)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
    return out;
  }
  // Until `marker` has come (or the server closes).
  std::string read_until(std::string_view marker) {
    std::string out;
    char c = 0;
    while (out.find(marker) == std::string::npos && ::recv(fd_, &c, 1, 0) == 1) out += c;
    return out;
  }
  bool closed_by_server() {
    char c = 0;
    return ::recv(fd_, &c, 1, 0) == 0;
  }

 private:
  int fd_;
  bool connected_{};
};

}  // namespace sy::http::testing

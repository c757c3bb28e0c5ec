#include "http/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "http/detail/listen.hpp"
#include "http/detail/session.hpp"
#include "http/problem.hpp"

namespace sy::http {

void Responder::operator()(Response response) const {
  if (exchange_) exchange_->answer(std::move(response));
}
bool Responder::open() const { return exchange_ && exchange_->open(); }

struct Server::Impl::Listener : std::enable_shared_from_this<Listener> {
  Listener(Loop& loop, int fd, bool is_local, std::string where)
      : descriptor(loop.impl().context, fd), retry(loop), local(is_local), path(std::move(where)) {}
  void stop() {
    ErrorCode ignored;
    retry.cancel();
    descriptor.close(ignored);
    if (!path.empty()) ::unlink(path.c_str());
    path.clear();
  }
  asio::posix::basic_stream_descriptor<Executor> descriptor;
  Timer retry;
  bool local;
  std::string path;
};

namespace {
Peer peer_of(int descriptor, bool local) {
  Peer peer;
  peer.local = local;
  if (local) {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0) {
      peer.uid = who.uid;
      peer.gid = who.gid;
      peer.pid = who.pid;
    }
    return peer;
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    peer.address = std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    peer.address = "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return peer;
}
}  // namespace

void Server::Impl::start_sweep() {
  const base::Duration shortest =
      std::min({options.idle_timeout, options.header_timeout, options.body_timeout, options.write_timeout, options.handler_timeout});
  const base::Duration pause = std::clamp(shortest / 4, base::Duration{base::milliseconds{20}}, base::Duration{base::milliseconds{500}});
  sweep.start(pause, [this] {
    const auto self = shared_from_this();
    const Moment now = std::chrono::steady_clock::now();
    const bool over = drain_deadline && now >= *drain_deadline;
    for (auto at = all.begin(); at != all.end();) {
      Session* session = *at++;  // it may leave the list
      if (over) session->close();
      else session->tick(now);
    }
    if (!closing) start_sweep();
  });
}

void Server::Impl::listen(int descriptor, bool local, std::string path) {
  auto listener = std::make_shared<Listener>(loop, descriptor, local, std::move(path));
  listeners.push_back(listener);
  accept(*listener);
}

void Server::Impl::accept(Listener& listener) {
  listener.descriptor.async_wait(
      asio::posix::descriptor_base::wait_read, [self = shared_from_this(), keep = listener.shared_from_this()](ErrorCode error) {
        if (error || self->closing) return;
        for (int taken = 0; taken < 64; ++taken) {  // others want their turn too
          const int descriptor = ::accept4(keep->descriptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
          if (descriptor >= 0) {
            self->admit(descriptor, keep->local);
            continue;
          }
          if (errno == EINTR || errno == ECONNABORTED) continue;
          if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      // Out of descriptors or memory: make room and come back, rather than spin on a socket that stays readable.
          if (!self->idle.empty()) self->idle.front()->close();
          keep->retry.start(base::milliseconds{50}, [self, raw = keep.get()] { self->accept(*raw); });
          return;
        }
        self->accept(*keep);
      });
}

void Server::Impl::stop_listening() {
  for (const auto& listener : listeners) listener->stop();
  listeners.clear();
}

void Server::Impl::admit(int descriptor, bool local) {
  ++counters.accepted;
  if (all.size() >= options.max_connections && !idle.empty()) {
    ++counters.made_room;
    idle.front()->close();
  }
  const Peer peer = peer_of(descriptor, local);
  const bool too_many = local && options.max_per_user > 0 && open_by_user[peer.uid] >= options.max_per_user;
  if (too_many || all.size() >= options.max_connections) {
    ++counters.refused;
    static constexpr std::string_view full =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";
    [[maybe_unused]] const auto sent = ::send(descriptor, full.data(), full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(descriptor);
    return;
  }
  if (!local) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Socket socket(loop.impl().context.get_executor());
  ErrorCode error;
  socket.assign(asio::generic::stream_protocol(local ? AF_UNIX : AF_INET, 0), descriptor, error);
  if (error) {
    ::close(descriptor);
    return;
  }
  std::make_shared<Session>(shared_from_this(), std::move(socket), peer)->start();
}

void Server::Impl::left() {
  if (drained && all.empty()) loop.post(std::exchange(drained, nullptr));
}

Server::Server(Loop& loop, ServerOptions options, Handler handler) : impl_(std::make_shared<Impl>(loop, options, std::move(handler))) {
  impl_->start_sweep();
}

Server::~Server() {
  impl_->closing = true;
  impl_->drained = nullptr;
  impl_->sweep.cancel();
  impl_->stop_listening();
  while (!impl_->all.empty()) {
    const auto session = impl_->all.front()->shared_from_this();
    session->close();
  }
}

base::Result<void> Server::listen_unix(const std::string& path, unsigned mode) {
  auto descriptor = listen_on_unix(path, mode);
  if (!descriptor) return base::fail(descriptor.error());
  impl_->listen(*descriptor, true, path);
  return {};
}

base::Result<std::uint16_t> Server::listen_tcp(const std::string& host, std::uint16_t port) {
  auto listener = listen_on_tcp(host, port);
  if (!listener) return base::fail(listener.error());
  impl_->listen(listener->descriptor, false, {});
  return listener->port;
}

void Server::drain(base::Duration limit, std::function<void()> done) {
  impl_->stop_listening();
  while (!impl_->idle.empty()) impl_->idle.front()->close();
  for (Session* session : impl_->all) session->close_after_reply();
  impl_->drain_deadline = std::chrono::steady_clock::now() + limit;
  impl_->drained = std::move(done);
  impl_->left();
}

ServerCounters Server::counters() const {
  ServerCounters counters = impl_->counters;
  counters.open = impl_->all.size();
  counters.idle = impl_->idle.size();
  return counters;
}

}  // namespace sy::http

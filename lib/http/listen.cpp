#include "http/detail/listen.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sy::http {

namespace {
constexpr int backlog = 4096;

tl::unexpected<base::Error> failed(const std::string& what, const std::string& value, int error, std::string hint = {}) {
  return base::fail(base::Code::unavailable, what + ": " + std::strerror(error), "listen", value, std::move(hint));
}

bool somebody_listens(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const bool answered = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(probe);
  return answered;
}
}  // namespace

base::Result<int> listen_on_unix(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return base::fail(base::Error{base::Code::invalid_argument, "the path of a unix socket is empty or too long", "listen",
                                  "107 characters", path, "choose a shorter path"});
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode))
      return base::fail(base::Code::conflict, "something that is not a socket is in the way", "listen", path, "move it away");
    if (somebody_listens(address))
      return base::fail(base::Code::conflict, "another process listens there", "listen", path, "stop it first");
    ::unlink(path.c_str());
  }
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return failed("can not make a unix socket", path, errno);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::chmod(path.c_str(), mode) != 0 ||
      ::listen(descriptor, backlog) != 0) {
    const int error = errno;
    ::close(descriptor);
    return failed("can not listen on the unix socket", path, error, "its folder must exist and be writable");
  }
  return descriptor;
}

base::Result<TcpListener> listen_on_tcp(const std::string& host, std::uint16_t port) {
  const std::string where = host + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    return base::fail(base::Code::invalid_argument, std::string("the address is not known: ") + ::gai_strerror(error), "listen", where);
  const int descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = descriptor < 0 ? errno : 0;
  if (error == 0) {
    const int on = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 || ::listen(descriptor, backlog) != 0) error = errno;
  }
  ::freeaddrinfo(found);
  if (error != 0) {
    if (descriptor >= 0) ::close(descriptor);
    return failed("can not listen", where, error);
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &length);
  const std::uint16_t chosen = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return TcpListener{descriptor, ntohs(chosen)};
}

}  // namespace sy::http

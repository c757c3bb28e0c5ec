// Listening sockets as plain descriptors. Not their use: server.cpp accepts from them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace sy::http {

// Non-blocking, close-on-exec, listening.
base::Result<int> listen_on_unix(const std::string& path, unsigned mode);
struct TcpListener {
  int descriptor{-1};
  std::uint16_t port{};
};
base::Result<TcpListener> listen_on_tcp(const std::string& host, std::uint16_t port);

}  // namespace sy::http

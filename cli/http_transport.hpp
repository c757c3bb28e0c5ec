// The transport that real commands use: lib/http's blocking client on the controller's socket.
#pragma once

#include <memory>
#include <string>

#include "cli/transport.hpp"

namespace sy::cli {
std::unique_ptr<Transport> http_transport(const std::string& socket);
}

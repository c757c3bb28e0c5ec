// What a node is told to launch: the job, its attempt and this node's part of it, put together from State.
// Not the script and environment (the caller adds the blobs) and not the capability's nonce and expiry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/runtime/users.hpp"
#include "model/state.hpp"
#include "wire/agent_messages.hpp"

namespace sy::daemon {

// `rank`: which of the attempt's nodes. `groups`: all of the user's.
wire::LaunchMessage make_launch(const model::State&, const model::Job&, std::size_t rank, const std::vector<base::Gid>& groups);

// An environment as one blob and back: entries end in NUL.
std::string join_environment(const std::vector<std::string>&);
std::vector<std::string> split_environment(std::string_view);

}  // namespace sy::daemon

// Who asks: resolved by the server from the connection, never from a body.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.hpp"

namespace sy::model {

enum class Role : std::uint8_t { nobody, user, administrator, agent, system };

struct Principal {
  Role role{Role::nobody};
  base::Uid uid{~0U};
  base::Gid gid{~0U};
  std::string user;                  // login name; "uid 1234" when the server knows none
  std::string group;
  std::vector<std::string> groups;   // names, for access rules of partitions
  std::string node;                  // for agents: which
  bool is_administrator() const { return role == Role::administrator || role == Role::system; }
};

}  // namespace sy::model

// Who a uid is and which groups it belongs to, as the machine's name service says, with a cache in front of it.
// Not who may do what. The name service may be slow (LDAP): look_up_user blocks, UserCache never does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.hpp"
#include "base/time.hpp"
#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/worker.hpp"

namespace sy::daemon {

struct User {
  base::Uid uid{~0U};
  base::Gid gid{~0U};
  std::string name;                       // "uid 1234" when nobody knows it
  std::string group;
  bool known{};
  std::vector<base::Gid> gids;            // all groups, the primary one first
  std::vector<std::string> group_names;   // of those that have a name
};

// Asks the name service; `gid` serves where it knows nothing.
User look_up_user(base::Uid uid, base::Gid gid);

class UserCache {
 public:
  using LookUp = std::function<User(base::Uid, base::Gid)>;
  explicit UserCache(Worker& worker, LookUp look_up = look_up_user) : worker_(worker), look_up_(std::move(look_up)) {}
  // Calls back at once when the user is known, later (on the loop) when it has to be asked for. What is older than a minute
  // still serves while it is asked for again, up to ten minutes.
  void find(base::Uid, base::Gid, std::function<void(const User&)>);
  // What is known now; null: nothing yet.
  const User* known(base::Uid) const;

 private:
  struct Entry {
    User user;
    Monotonic at{};
    bool have{}, asking{};
    std::vector<std::function<void(const User&)>> waiting;
  };
  void ask(base::Uid, base::Gid);

  Worker& worker_;
  LookUp look_up_;
  std::unordered_map<base::Uid, Entry> entries_;
};

}  // namespace sy::daemon

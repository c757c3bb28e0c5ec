#include "daemon/runtime/users.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sy::daemon {

namespace {
constexpr std::size_t most_cached = 100'000;

std::string group_name(gid_t gid) {
  std::vector<char> space(16'384);
  group entry{};
  group* found = nullptr;
  while (::getgrgid_r(gid, &entry, space.data(), space.size(), &found) == ERANGE && space.size() < 16U << 20U)
    space.resize(space.size() * 2);
  return found != nullptr ? found->gr_name : std::string{};
}
}  // namespace

User look_up_user(base::Uid uid, base::Gid gid) {
  User user;
  user.uid = uid;
  user.gid = gid;
  user.name = "uid " + std::to_string(uid.value);
  std::vector<char> space(16'384);
  passwd entry{};
  passwd* found = nullptr;
  while (::getpwuid_r(uid.value, &entry, space.data(), space.size(), &found) == ERANGE && space.size() < 1U << 20U)
    space.resize(space.size() * 2);
  if (found == nullptr) {
    user.gids.push_back(gid);
  } else {
    user.known = true;
    user.name = found->pw_name;
    user.gid = base::Gid{found->pw_gid};
    std::vector<gid_t> gids(64);
    int count = static_cast<int>(gids.size());
    while (::getgrouplist(found->pw_name, found->pw_gid, gids.data(), &count) < 0 && gids.size() < 65'536) {
      gids.resize(std::max<std::size_t>(gids.size() * 2, static_cast<std::size_t>(count)));
      count = static_cast<int>(gids.size());
    }
    user.gids.push_back(user.gid);
    for (int i = 0; i < count; ++i)
      if (gids[static_cast<std::size_t>(i)] != user.gid.value) user.gids.emplace_back(gids[static_cast<std::size_t>(i)]);
  }
  user.group = group_name(user.gid.value);
  for (const base::Gid each : user.gids)
    if (std::string name = group_name(each.value); !name.empty()) user.group_names.push_back(std::move(name));
  return user;
}

const User* UserCache::known(base::Uid uid) const {
  const auto at = entries_.find(uid);
  return at != entries_.end() && at->second.have ? &at->second.user : nullptr;
}

void UserCache::find(base::Uid uid, base::Gid gid, std::function<void(const User&)> then) {
  if (entries_.size() > most_cached) std::erase_if(entries_, [](const auto& each) { return !each.second.asking; });
  Entry& entry = entries_[uid];
  const auto age = monotonic_now() - entry.at;
  if (entry.have && age < std::chrono::minutes{10}) {
    if (age > std::chrono::minutes{1} && !entry.asking) ask(uid, gid);
    then(entry.user);
    return;
  }
  entry.waiting.push_back(std::move(then));
  if (!entry.asking) ask(uid, gid);
}

void UserCache::ask(base::Uid uid, base::Gid gid) {
  entries_[uid].asking = true;
  auto found = std::make_shared<User>();
  worker_.run([found, look_up = look_up_, uid, gid] { *found = look_up(uid, gid); },
              [this, found, uid] {
                Entry& entry = entries_[uid];
                entry.user = *found;
                entry.at = monotonic_now();
                entry.have = true;
                entry.asking = false;
                const auto waiting = std::exchange(entry.waiting, {});
                const User user = entry.user;  // a callback may drop the entry
                for (const auto& each : waiting) each(user);
              });
}

}  // namespace sy::daemon

#include "cli/users.hpp"

#include <pwd.h>

#include <cstdlib>

#include "cli/text.hpp"

namespace sy::cli {

std::string user_names(std::string_view list) {
  auto users = split_list(list);
  for (auto& user : users) {
    if (user.find_first_not_of("0123456789") != std::string::npos || user.size() > 10) continue;
    if (const passwd* entry = ::getpwuid(static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10))); entry != nullptr)
      user = entry->pw_name;
  }
  return join(users);
}

bool user_exists(const std::string& user) {
  const bool number = !user.empty() && user.size() <= 10 && user.find_first_not_of("0123456789") == std::string::npos;
  return ::getpwnam(user.c_str()) != nullptr ||
         (number && ::getpwuid(static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10))) != nullptr);
}

}  // namespace sy::cli

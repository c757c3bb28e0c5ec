#include "cli/filters.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/api.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"

namespace sy::cli {

std::optional<std::string> mistyped_filter(Context& context, std::string_view users, std::string_view partitions,
                                           std::string_view who_is_wrong) {
  for (const auto& user : split_list(users))
    if (user != context.me() && !user_exists(user)) return fmt::format("{}: {}", who_is_wrong, user);
  if (partitions.empty()) return {};
  const auto answer = call(context, get("/v1/partitions"));
  if (!answer) return {};
  std::set<std::string_view> known;
  answer->root()["partitions"].for_each([&](Json partition) { known.insert(partition["name"].text()); });
  for (const auto& partition : split_list(partitions))
    if (known.count(partition) == 0) return fmt::format("Invalid partition specified: {}", partition);
  return {};
}

}  // namespace sy::cli

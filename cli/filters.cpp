#include "cli/filters.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/api.hpp"
#include "cli/text.hpp"
#include "cli/users.hpp"
#include "model/annotation_names.hpp"

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

bool is_kept_back(Json partition) { return partition["hidden"].boolean() || partition["closed"].boolean(); }

base::Result<std::string> this_cluster(Context& context, std::string asked) {
  const std::string_view source = asked.empty() ? "SLURM_CLUSTERS" : "--clusters";
  if (asked.empty()) asked = context.env("SLURM_CLUSTERS").value_or("");
  if (asked.empty()) return std::string{};
  auto config = call(context, get("/v1/config"));
  if (!config) return base::fail(config.error());
  std::string here{config->root()["cluster_name"].text()};
  for (const auto& name : split_list(asked))
    if (name != here && lower(name) != "all")
      return base::fail(base::Code::not_found, fmt::format("No cluster '{}' known ({}); this one is '{}'", name, source, here));
  return here;
}

base::Result<void> add_where(WhereOption& to, const base::GivenOption& given) {
  const auto equals = given.value.find('=');
  const std::string name = lower(given.value.substr(0, equals));
  std::vector<std::string> known;
  for (const auto& [member, unused] : model::annotation_names) {
    const std::string option = model::option_of_annotation(member);
    known.push_back(option);
    if (equals == std::string::npos || (name != option && name != member)) continue;
    if (to.where.find(fmt::format("&{}=", member)) != std::string::npos)
      return base::fail(base::Code::invalid_argument, fmt::format("{} is asked for twice", option), given.as_written, given.value,
                        "write its values with commas, any of which will do");
    to.where += fmt::format("&{}={}", member, url_encode(given.value.substr(equals + 1)));
    return {};
  }
  return base::fail(base::Error{base::Code::invalid_argument, "is no condition", given.as_written, join(known, ", "), given.value,
                                "write NAME=VALUE, as in hint=nomultithread"});
}

}  // namespace sy::cli

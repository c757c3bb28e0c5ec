#include "core/decide/access.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sy::core {

std::string describe(const Principal& who) {
  if (who.role == Role::system) return "switchyard";
  if (who.role == Role::agent) return "node " + who.node;
  if (who.role == Role::nobody) return "nobody";
  return fmt::format("uid {} ({})", who.uid.value, who.user);
}

Result<const Job*> own_job(const State& state, const Principal& who, JobId id, std::string_view verb) {
  if (who.role == Role::nobody || who.role == Role::agent) return fail(Code::forbidden, fmt::format("you may not {} jobs", verb));
  const Job* job = state.find_job(id);
  if (job == nullptr)
    return fail(Code::not_found, fmt::format("there is no job {}", id.value), "job", std::to_string(id.value),
                "jobs that ended a while ago are in the accounting: sacct -j " + std::to_string(id.value));
  if (!who.is_administrator() && who.uid != job->uid)
    return fail(Code::forbidden, fmt::format("job {} belongs to {}: you may not {} it", id.value, job->user, verb), "job",
                std::to_string(id.value));
  return job;
}

Result<void> administrators_only(const Principal& who, std::string_view verb) {
  if (who.is_administrator()) return {};
  return fail(Code::forbidden, fmt::format("only administrators may {}", verb));
}

Result<const Node*> known_node(const State& state, NodeIndex index) {
  if (index.value >= state.nodes.size() || state.nodes[index.value].removed)
    return fail(Code::not_found, "there is no such node", "node", std::to_string(index.value));
  return &state.nodes[index.value];
}

Result<const Node*> node_itself(const State& state, const Principal& who, NodeIndex index) {
  auto node = known_node(state, index);
  if (!node) return node;
  if (who.role == Role::system || (who.role == Role::agent && who.node == (*node)->name)) return node;
  return fail(Code::forbidden, fmt::format("only the agent of node {} may report for it", (*node)->name));
}

std::optional<std::string> refused_by(const Partition& p, const Principal& who) {
  if (who.is_administrator()) return std::nullopt;
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const auto in_groups = [&](const std::vector<std::string>& list) {
    return has(list, who.group) || std::any_of(who.groups.begin(), who.groups.end(), [&](const auto& g) { return has(list, g); });
  };
  if (has(p.deny_users, who.user)) return fmt::format("partition {} is closed to user {}", p.name, who.user);
  if (in_groups(p.deny_groups)) return fmt::format("partition {} is closed to a group of user {}", p.name, who.user);
  if (!p.allow_users.empty() && !has(p.allow_users, who.user)) return fmt::format("partition {} is not open to user {}", p.name, who.user);
  if (!p.allow_groups.empty() && !in_groups(p.allow_groups))
    return fmt::format("partition {} is open to the groups {} only", p.name, fmt::join(p.allow_groups, ", "));
  return std::nullopt;
}

}  // namespace sy::core

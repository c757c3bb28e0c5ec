#include "model/check_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/control_characters.hpp"
#include "model/group_tree.hpp"
#include "model/job_target.hpp"

namespace sy::model {

namespace {

constexpr std::uint32_t most_nodes = 1'000'000, most_tasks = 100'000'000;

tl::unexpected<base::Error> wrong(std::string field, std::string message, std::string limit, std::string value, std::string hint = {}) {
  return base::fail(
      base::Error{base::Code::invalid_argument, std::move(message), std::move(field), std::move(limit), std::move(value), std::move(hint)});
}

base::Result<void> check_gres(const std::vector<GresRequest>& list, const char* field) {
  if (list.size() > 64) return wrong(field, "names too many kinds", "64", std::to_string(list.size()));
  for (const auto& r : list) {
    for (const auto* text : {&r.name, &r.type})
      if (auto ok = plain_text(field, *text, 1024); !ok) return ok;
    if (r.name.empty()) return wrong(field, "names no GRES", "", "", "write name:count or name:type:count");
    if (r.count < 1 || r.count > 1'000'000'000) return wrong(field, "the count must be at least 1", "1", std::to_string(r.count));
  }
  return {};
}

base::Result<void> check_counts(const Group& g) {
  if (g.nodes.min < 1) return wrong("--nodes", "at least one node is needed", "1", std::to_string(g.nodes.min));
  if (g.nodes.max < g.nodes.min)
    return wrong("--nodes", "the maximum is less than the minimum", "", fmt::format("{}-{}", g.nodes.min, g.nodes.max));
  if (g.nodes.max > most_nodes) return wrong("--nodes", "is too large", std::to_string(most_nodes), std::to_string(g.nodes.max));
  if (!std::is_sorted(g.nodes.choices.begin(), g.nodes.choices.end()) || (!g.nodes.choices.empty() && g.nodes.choices.front() < 1))
    return wrong("--nodes", "the choices must ascend from 1", "", "");
  if (g.tasks_given && (g.tasks < 1 || g.tasks > most_tasks))
    return wrong("--ntasks", "is out of range", fmt::format("1-{}", most_tasks), std::to_string(g.tasks));
  if (g.tasks_per_node > most_tasks)
    return wrong("--ntasks-per-node", "is out of range", std::to_string(most_tasks), std::to_string(g.tasks_per_node));
  if (g.cpus_per_task.value < 1 || g.cpus_per_task.value > 1'000'000'000)
    return wrong("--cpus-per-task", "must be more than nothing", "", fmt::format("{}", g.cpus_per_task.value / 1000.0));
  for (const auto& m : {g.memory_per_node, g.memory_per_cpu})
    if (m && (m->value < 0 || m->value > (std::int64_t{1} << 40)))
      return wrong("--mem", "is out of range", "", fmt::format("{} MiB", m->value));
  return {};
}

base::Result<void> check_group(const Group& g) {
  if (auto ok = check_counts(g); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_node, "--gres"); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_task, "--gpus-per-task"); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_job, "--gpus"); !ok) return ok;
  if (g.switches && *g.switches < 1) return wrong("--switches", "at least one switch is needed", "1", "0");
  const std::pair<const char*, const std::string*> lists[] = {
      {"--constraint", &g.constraint}, {"--nodelist", &g.nodelist}, {"--exclude", &g.exclude}};
  for (const auto& [field, text] : lists)
    if (auto ok = plain_text(field, *text, 65'536); !ok) return ok;
  return {};
}

// Groups inside groups: who asks for something is a leaf, and what is around it only bounds it.
class Tree {
 public:
  base::Result<void> check(const Group& g, const std::string& path, bool outermost) {
    if (auto ok = plain_text("groups.name", g.name, 1024); !ok) return ok;
    if (!g.name.empty()) {
      if (job_target(g.name)) return wrong(path + ".name", "\"job:\" means another job", "", g.name, "use another name");
      if (!names_.insert(g.name).second) return wrong(path + ".name", "two groups have this name", "", g.name, "name each group once");
    }
    if (!outermost && !g.exclusive_level.empty())
      return wrong(path + ".exclusive", "a domain can be kept for the whole job only", "", g.exclusive_level,
                   "write it beside the outermost groups");
    if (!outermost && g.sharing == Sharing::exclusive_user)
      return wrong(path + ".exclusive", "a job of groups can not be exclusive for its user", "nothing, node", "user");
    for (const auto* list : {&g.affinity, &g.anti_affinity})
      for (const auto& a : *list) targets_.emplace_back(path, a.target);
    if (g.min_replicas > g.replicas)
      return wrong(path + ".min_replicas", "is more than replicas", std::to_string(g.replicas), std::to_string(g.min_replicas));
    if (g.children.empty()) {
      if (++leaves_ > most_groups) return wrong("groups", "are too many", std::to_string(most_groups), "");
      if (g.min_tasks > 0 && (!g.tasks_given || g.min_tasks > g.tasks))
        return wrong(path + ".min_tasks", "is more than tasks", std::to_string(g.tasks_given ? g.tasks : 0), std::to_string(g.min_tasks));
      auto ok = check_group(g);
      if (!ok) ok.error().field = fmt::format("{}: {}", path, ok.error().field);
      return ok;
    }
    Group bounds;  // what a group around others may say
    bounds.name = g.name;
    bounds.replicas = g.replicas;
    bounds.min_replicas = g.min_replicas;
    bounds.pack = g.pack;
    bounds.switches = g.switches;
    bounds.switches_wait = g.switches_wait;
    bounds.spread = g.spread;
    bounds.affinity = g.affinity;
    bounds.anti_affinity = g.anti_affinity;
    bounds.exclusive_level = g.exclusive_level;
    Group without = g;
    without.children.clear();
    if (!(without == bounds))
      return wrong(path, "a group with groups inside asks for no nodes, tasks or resources itself", "replicas, pack, spread, affinity",
                   g.name, "write them in the groups inside");
    for (std::size_t i = 0; i < g.children.size(); ++i)
      if (auto ok = check(g.children[i], fmt::format("{}[{}]", outermost ? path : path + ".groups", i), false); !ok) return ok;
    return {};
  }

  base::Result<void> check_targets() const {
    for (const auto& [path, target] : targets_)
      if (!names_.contains(target) && !job_target(target))
        return wrong(path + ".affinity", "no group of this job has this name", fmt::format("{}", fmt::join(names_, ", ")), target,
                     "another job is job:NAME, job:NUMBER, or job:self for those of the same name");
    return {};
  }

 private:
  static constexpr std::size_t most_groups = 1000;
  std::set<std::string> names_;
  std::vector<std::pair<std::string, std::string>> targets_;
  std::size_t leaves_{};
};

}  // namespace

base::Result<void> plain_text(const char* field, const std::string& text, std::size_t limit) {
  if (text.size() > limit)
    return base::fail(base::Error{base::Code::too_large, "is too long", field, fmt::format("at most {} bytes", limit),
                                  fmt::format("{} bytes", text.size()), "write a shorter one"});
  if (base::find_control(text) != std::string::npos)
    return wrong(field, "contains a control character", "", base::show_control(std::string_view{text}.substr(0, 200)),
                 "write it without line breaks, tabs and escape sequences");
  return {};
}

base::Result<void> check_groups(const Group& group) {
  if (!has_groups(group) && group.replicas == 1 && group.affinity.empty() && group.anti_affinity.empty()) return check_group(group);
  Tree tree;
  if (auto ok = tree.check(group, "groups", true); !ok) return ok;
  return tree.check_targets();
}

}  // namespace sy::model

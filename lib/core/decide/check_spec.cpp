#include "core/decide/check_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/decide/access.hpp"
#include "model/group_tree.hpp"
#include "model/job_target.hpp"
#include "sched/pass.hpp"

namespace sy::core {

namespace {

constexpr std::size_t longest_name = 1024, longest_path = 4096, most_arguments = 4096, most_partitions = 64;
constexpr std::int64_t largest_nice = 2'147'483'645;
constexpr std::uint32_t most_nodes = 1'000'000, most_tasks = 100'000'000;

tl::unexpected<Error> wrong(std::string field, std::string message, std::string limit, std::string value, std::string hint = {}) {
  return fail(Error{Code::invalid_argument, std::move(message), std::move(field), std::move(limit), std::move(value), std::move(hint)});
}

Result<void> short_enough(const char* field, const std::string& text, std::size_t limit) {
  if (text.size() > limit)
    return fail(Error{Code::too_large, "is too long", field, fmt::format("{} bytes", limit), fmt::format("{} bytes", text.size()), ""});
  if (text.find('\0') != std::string::npos) return wrong(field, "contains a NUL byte", "", "");
  return {};
}

Result<void> check_texts(const JobSpec& s) {
  const std::pair<const char*, const std::string*> paths[] = {
      {"--chdir", &s.work_dir}, {"--input", &s.std_in}, {"--output", &s.std_out}, {"--error", &s.std_err}, {"script_name", &s.script_name}};
  for (const auto& [field, text] : paths)
    if (auto ok = short_enough(field, *text, longest_path); !ok) return ok;
  const auto& a = *s.annotations;
  const std::pair<const char*, const std::string*> names[] = {{"--job-name", &s.name},
                                                              {"--account", &a.account},
                                                              {"--qos", &a.qos},
                                                              {"--comment", &a.comment},
                                                              {"--wckey", &a.wckey},
                                                              {"--hint", &a.hint},
                                                              {"--distribution", &a.distribution},
                                                              {"--cpu-bind", &a.cpu_bind},
                                                              {"--mem-bind", &a.mem_bind},
                                                              {"--mail-type", &a.mail_type},
                                                              {"--mail-user", &a.mail_user},
                                                              {"submit_host", &s.submit_host}};
  for (const auto& [field, text] : names)
    if (auto ok = short_enough(field, *text, longest_name); !ok) return ok;
  if (!s.work_dir.empty() && s.work_dir.front() != '/') return wrong("--chdir", "must be an absolute path", "", s.work_dir);
  if (s.script_args.size() > most_arguments)
    return wrong("script_args", "are too many", std::to_string(most_arguments), std::to_string(s.script_args.size()));
  return {};
}

Result<void> check_gres(const std::vector<GresRequest>& list, const char* field) {
  if (list.size() > 64) return wrong(field, "names too many kinds", "64", std::to_string(list.size()));
  for (const auto& r : list) {
    if (r.name.empty()) return wrong(field, "names no GRES", "", "", "write name:count or name:type:count");
    if (r.count < 1 || r.count > 1'000'000'000) return wrong(field, "the count must be at least 1", "1", std::to_string(r.count));
  }
  return {};
}

Result<void> check_counts(const Group& g) {
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

Result<void> check_group(const Group& g) {
  if (auto ok = check_counts(g); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_node, "--gres"); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_task, "--gpus-per-task"); !ok) return ok;
  if (auto ok = check_gres(g.gres_per_job, "--gpus"); !ok) return ok;
  const std::pair<const char*, const std::string*> lists[] = {
      {"--constraint", &g.constraint}, {"--nodelist", &g.nodelist}, {"--exclude", &g.exclude}};
  for (const auto& [field, text] : lists)
    if (auto ok = short_enough(field, *text, 65'536); !ok) return ok;
  return {};
}

// Groups inside groups: who asks for something is a leaf, and what is around it only bounds it.
class Tree {
 public:
  Result<void> check(const Group& g, const std::string& path, bool outermost) {
    if (!g.name.empty()) {
      if (model::job_target(g.name)) return wrong(path + ".name", "\"job:\" means another job", "", g.name, "use another name");
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

  Result<void> check_targets() const {
    for (const auto& [path, target] : targets_)
      if (!names_.contains(target) && !model::job_target(target))
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

Result<void> check_times(const JobSpec& s) {
  if (s.time_limit && *s.time_limit <= Duration::zero())
    return wrong("--time", "must be more than nothing", "", fmt::format("{} s", to_seconds(*s.time_limit)));
  if (s.time_min && *s.time_min <= Duration::zero()) return wrong("--time-min", "must be more than nothing", "", "");
  if (s.time_min && s.time_limit && *s.time_min > *s.time_limit)
    return wrong("--time-min", "is more than --time", fmt::format("{} s", to_seconds(*s.time_limit)),
                 fmt::format("{} s", to_seconds(*s.time_min)));
  return {};
}

std::string names_of(const std::vector<Partition>& partitions, const Principal& who) {
  std::vector<std::string> names;
  for (const auto& p : partitions)
    if (!p.hidden && !refused_by(p, who)) names.push_back(p.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Neither the configuration nor an agent has said yet what some nodes have: they may be able to hold it.
bool others_may_hold(const State& state, const JobSpec& spec, const Verdict& v) {
  NodeSet all, unknown;
  for (const auto& name : spec.partitions)
    if (const Partition* p = state.find_partition(name))
      p->nodes.for_each([&](NodeIndex n) {
        const Node& node = state.nodes[n.value];
        all.insert(n);
        if (!node.shape_declared && !node.registered) unknown.insert(n);
      });
  return unknown.size() > 0 && all.size() >= v.asked && v.offered + unknown.size() >= v.asked;
}

bool is_about_partition(const Verdict& v) { return v.reason == Reason::partition_time_limit || v.reason == Reason::partition_node_limit; }

bool is_about_size(const Verdict& v) {
  if (v.reason != Reason::bad_constraints || v.asked == 0) return false;  // a name or an expression is wrong
  const auto known_to_fall = [](const Cause& c) { return c.kind == Cause::Kind::feature || c.kind == Cause::Kind::excluded; };
  return v.offered > 0 || std::none_of(v.causes.begin(), v.causes.end(), known_to_fall);
}

// The option that the verdict is about, for a user who has to change it.
std::string option_of(const Verdict& v, const Group& g) {
  if (has_groups(g)) return "groups";
  if (v.reason == Reason::partition_time_limit) return "--time";
  if (v.reason == Reason::partition_node_limit) return "--nodes";
  if (v.reason == Reason::partition_inactive) return "--partition";
  if (!v.rungs.empty()) {
    if (!g.pack.require.empty()) return "--within";
    if (!g.segments.empty()) return g.segments.front().sizes.empty() ? "--segment" : "--sizes";
    if (!g.spread.empty()) return "--spread";
  }
  if (v.offered > 0) return v.offered < v.asked ? "--nodes" : g.tasks_given ? "--ntasks" : "";
  auto worst = std::max_element(v.causes.begin(), v.causes.end(), [](const Cause& a, const Cause& b) { return a.nodes < b.nodes; });
  if (worst == v.causes.end()) return "";
  switch (worst->kind) {
    case Cause::Kind::cpus: return g.tasks_per_node > 1 ? "--ntasks-per-node" : "--cpus-per-task";
    case Cause::Kind::memory: return "--mem";
    case Cause::Kind::gres: return "--gres";
    case Cause::Kind::feature: return "--constraint";
    case Cause::Kind::excluded: return "--exclude";
    default: return "";
  }
}

}  // namespace

Result<void> check_spec(const JobSpec& s, const Principal& who) {
  if (s.groups.size() != 1) return fail(Code::internal, "the groups of a job were not joined", "groups");
  if (auto ok = check_texts(s); !ok) return ok;
  if (auto ok = check_times(s); !ok) return ok;
  if (s.nice < -largest_nice || s.nice > largest_nice)
    return wrong("--nice", "is out of range", fmt::format("±{}", largest_nice), std::to_string(s.nice));
  if (s.nice < 0 && !who.is_administrator())
    return fail(Code::forbidden, "only administrators may raise a priority with a negative nice", "--nice", std::to_string(s.nice));
  const Group& group = s.groups.front();
  if (!has_groups(group) && group.replicas == 1 && group.affinity.empty() && group.anti_affinity.empty()) return check_group(group);
  Tree tree;
  if (auto ok = tree.check(group, "groups", true); !ok) return ok;
  return tree.check_targets();
}

Result<void> check_jobs_named(const State& state, const JobSpec& spec, Uid uid) {
  for (const auto& text : model::jobs_named_in(spec.groups.front())) {
    const auto target = model::job_target(text);
    if (!target->id) continue;
    const Job* job = state.find_job(JobId{*target->id});
    if (job == nullptr || job->uid != uid || job->state == JobState::ended)
      return wrong("groups.affinity", "no job of yours that waits or runs has this number", "", text, "squeue --me lists them");
  }
  return {};
}

Result<std::vector<std::string>> resolve_partitions(const State& state, const Principal& who, const JobSpec& spec,
                                                    std::vector<std::string>& warnings) {
  std::vector<std::string> asked = spec.partitions;
  if (asked.size() > most_partitions)
    return wrong("--partition", "names too many", std::to_string(most_partitions), std::to_string(asked.size()));
  if (asked.empty()) {
    auto it = std::find_if(state.partitions.begin(), state.partitions.end(), [](const Partition& p) { return p.is_default; });
    if (it == state.partitions.end())
      return wrong("--partition", "this cluster has no default partition", "", "", "name one of: " + names_of(state.partitions, who));
    asked.push_back(it->name);
  }
  std::vector<std::string> usable;
  std::string refusal;
  for (const auto& name : asked) {
    const Partition* p = state.find_partition(name);
    if (p == nullptr)
      return fail(Error{Code::invalid_argument, "there is no such partition", "--partition", "", name,
                        "the partitions are: " + names_of(state.partitions, who)});
    std::optional<std::string> why = refused_by(*p, who);
    if (!why && p->state == PartitionState::drain) why = fmt::format("partition {} takes no new jobs", name);
    if (!why && who.uid == Uid{0} && !state.settings.allow_root_jobs && !p->allow_root)
      why = "jobs of root are refused; submit as the user the job is for";
    if (!why) {
      if (std::find(usable.begin(), usable.end(), name) == usable.end()) usable.push_back(name);
      continue;
    }
    if (asked.size() > 1) warnings.push_back(*why);
    refusal = *why;
  }
  if (usable.empty())
    return fail(Code::forbidden, refusal, "--partition", fmt::format("{}", fmt::join(asked, ",")),
                who.uid == Uid{0} ? "" : "you may use: " + names_of(state.partitions, who));
  return usable;
}

Result<void> check_possible(const State& state, const JobSpec& spec, Uid uid, std::vector<std::string>& warnings) {
  const auto shape = state.shape ? state.shape : make_shape(state);
  if (auto ok = sched::check_wishes(*shape, spec, warnings); !ok) return ok;
  const Verdict v = sched::could_ever_run(*shape, state.settings, spec, uid);
  if (v.kind != Verdict::Kind::never) return {};
  if (is_about_size(v) && others_may_hold(state, spec, v)) return {};
  return fail(Error{Code::impossible, v.detail.empty() ? to_text(v) : v.detail, option_of(v, spec.groups.front()), "", "",
                    is_about_partition(v) ? "scontrol show partition shows the limits" : "sinfo -N -l shows what the nodes have"});
}

}  // namespace sy::core

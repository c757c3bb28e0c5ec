#include "core/decide/check_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/decide/access.hpp"
#include "model/annotation_names.hpp"
#include "model/check_groups.hpp"
#include "model/group_tree.hpp"
#include "model/job_target.hpp"
#include "sched/pass.hpp"

namespace sy::core {

namespace {

constexpr std::size_t longest_name = 1024, longest_path = 4096, most_arguments = 4096, most_partitions = 64;
constexpr std::int64_t largest_nice = 2'147'483'645;

tl::unexpected<Error> wrong(std::string field, std::string message, std::string limit, std::string value, std::string hint = {}) {
  return fail(Error{Code::invalid_argument, std::move(message), std::move(field), std::move(limit), std::move(value), std::move(hint)});
}

Result<void> check_texts(const JobSpec& s) {
  const std::pair<const char*, const std::string*> paths[] = {
      {"--chdir", &s.work_dir}, {"--input", &s.std_in}, {"--output", &s.std_out}, {"--error", &s.std_err}, {"script_name", &s.script_name}};
  for (const auto& [field, text] : paths)
    if (auto ok = model::plain_text(field, *text, longest_path); !ok) return ok;
  for (const auto& [field, text] : {std::pair{"--job-name", &s.name}, {"submit_host", &s.submit_host}})
    if (auto ok = model::plain_text(field, *text, longest_name); !ok) return ok;
  for (const auto& [name, member] : model::annotation_names)
    if (auto ok = model::plain_text("", (*s.annotations).*member, longest_name); !ok) {
      ok.error().field = "--" + model::option_of_annotation(name);
      return ok;
    }
  if (!s.work_dir.empty() && s.work_dir.front() != '/') return wrong("--chdir", "must be an absolute path", "", s.work_dir);
  if (s.script_args.size() > most_arguments)
    return wrong("script_args", "are too many", std::to_string(most_arguments), std::to_string(s.script_args.size()));
  return {};
}

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
    if (!p.hidden && !refused_by(p, who) && p.state != PartitionState::drain && p.state != PartitionState::inactive)
      names.push_back(p.name);
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
    case Cause::Kind::gres: return g.gres_per_job.empty() ? "--gres" : "--gpus";
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
  return model::check_groups(s.groups.front());
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
  const Group& g = spec.groups.front();
  if (!has_groups(g) && g.nodes_given && g.tasks_given && g.tasks < g.nodes.min)
    warnings.push_back(fmt::format("every node gets a task: {} of the {} nodes asked for are used", std::max(g.tasks, 1U), g.nodes.min));
  const auto shape = state.shape ? state.shape : make_shape(state);
  if (auto ok = sched::check_wishes(*shape, spec, warnings); !ok) return ok;
  const Verdict v = sched::could_ever_run(*shape, state.settings, spec, uid);
  if (v.kind != Verdict::Kind::never) return {};
  if (is_about_size(v) && others_may_hold(state, spec, v)) return {};
  return fail(Error{Code::impossible, v.detail.empty() ? to_text(v) : v.detail, option_of(v, spec.groups.front()), "", "",
                    is_about_partition(v) ? "scontrol show partition shows the limits" : "sinfo -N -l shows what the nodes have"});
}

}  // namespace sy::core

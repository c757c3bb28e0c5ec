#include <fmt/format.h>

#include "core/attempt.hpp"
#include "core/decide/access.hpp"
#include "core/decide/check_spec.hpp"
#include "core/decide/verbs.hpp"
#include "model/group_tree.hpp"

namespace sy::core::verbs {

namespace {

bool changes_more_than_time(const JobChange& c) {
  return c.partitions || c.nice || c.nodes || c.tasks || c.cpus_per_task || c.memory_per_node || c.memory_per_cpu || c.constraint ||
         c.nodelist || c.exclude || c.gres_per_node || c.account || c.qos || c.segment_size;
}

bool changes_the_group(const JobChange& c) {
  return c.nodes || c.tasks || c.cpus_per_task || c.memory_per_node || c.memory_per_cpu || c.constraint || c.nodelist || c.exclude ||
         c.gres_per_node || c.segment_size;
}

void change_group(Group& g, const JobChange& c) {
  if (c.nodes) {
    g.nodes = *c.nodes;
    g.nodes_given = true;
  }
  if (c.tasks) {
    g.tasks = *c.tasks;
    g.tasks_given = true;
  }
  if (c.cpus_per_task) g.cpus_per_task = *c.cpus_per_task;
  if (c.memory_per_node) {
    g.memory_per_node = *c.memory_per_node;
    if (*c.memory_per_node) g.memory_per_cpu.reset();
  }
  if (c.memory_per_cpu) {
    g.memory_per_cpu = *c.memory_per_cpu;
    if (*c.memory_per_cpu) g.memory_per_node.reset();
  }
  if (c.constraint) g.constraint = *c.constraint;
  if (c.nodelist) g.nodelist = *c.nodelist;
  if (c.exclude) g.exclude = *c.exclude;
  if (c.gres_per_node) g.gres_per_node = *c.gres_per_node;
  if (c.segment_size) {
    g.segments.clear();
    if (*c.segment_size > 0) {
      Segment s;
      s.size = *c.segment_size;
      g.segments.push_back(std::move(s));
    }
  }
}

JobSpec changed(const JobSpec& before, const JobChange& c) {
  JobSpec s = before;
  if (c.name) s.name = *c.name;
  if (c.comment) s.annotations.edit().comment = *c.comment;
  if (c.account) s.annotations.edit().account = *c.account;
  if (c.qos) s.annotations.edit().qos = *c.qos;
  if (c.partitions) s.partitions = *c.partitions;
  if (c.time_limit) s.time_limit = *c.time_limit;
  if (c.nice) s.nice = *c.nice;
  if (c.requeue) s.requeue = *c.requeue;
  change_group(s.groups.front(), c);
  return s;
}

// Its owner may shorten a running job; to lengthen it is an administrator's.
Result<void> change_running_limit(const Job& job, const Asked& asked, const JobChange& c, Decision& d) {
  const Duration limit = c.time_limit->value_or(Duration::max());
  if (limit <= Duration::zero()) return fail(Code::invalid_argument, "must be more than nothing", "--time");
  if (limit > job.attempt->time_limit && !asked.who.is_administrator())
    return fail(Code::forbidden, fmt::format("job {} is running: only administrators may raise its time limit", job.id.value), "--time");
  if (limit != job.attempt->time_limit) d.facts.push_back(TimeLimitChanged{job.id, limit});
  return {};
}

}  // namespace

Result<Decision> decide(const State& state, const Asked& asked, const UpdateJob& action) {
  auto found = own_job(state, asked.who, action.job, "update");
  if (!found) return fail(found.error());
  const Job& job = **found;
  const std::string id = std::to_string(job.id.value);
  const JobChange& c = action.change;
  Decision d;
  d.reply.job = job.id;
  if (job.state == JobState::ended || is_ending(job))
    return fail(Code::conflict, fmt::format("job {} {}", id, job.state == JobState::ended ? "has ended" : "is ending"), "job", id);

  if (has_groups(job.spec->groups.front()) && changes_the_group(c))
    return fail(Code::unsupported, "the groups of a job can not be changed", "job", id, "cancel it and submit it again");
  JobSpec next = changed(*job.spec, c);
  if (job.state != JobState::pending) {
    if (changes_more_than_time(c))
      return fail(Code::conflict, fmt::format("job {} is running: only its time limit, name, comment and requeue may change", id), "job",
                  id);
    if (c.time_limit)
      if (auto ok = change_running_limit(job, asked, c, d); !ok) return fail(ok.error());
    next.time_limit = job.spec->time_limit;
  }
  // A low priority that was allowed before does not become a refusal of an unrelated change.
  Principal judge = asked.who;
  if (!c.nice) judge.role = Role::administrator;
  else if (*c.nice < job.spec->nice && !asked.who.is_administrator())
    return fail(Code::forbidden, "only administrators may raise a priority", "--nice", std::to_string(*c.nice));
  if (auto ok = check_spec(next, judge); !ok) return fail(ok.error());
  if (c.partitions) {
    Principal owner = asked.who;
    if (owner.is_administrator()) owner.uid = job.uid;
    auto partitions = resolve_partitions(state, owner, next, d.reply.warnings);
    if (!partitions) return fail(partitions.error());
    next.partitions = std::move(*partitions);
  }
  if (next == *job.spec) return d;
  if (job.state == JobState::pending)
    if (auto ok = check_possible(state, next, job.uid, d.reply.warnings); !ok) return fail(ok.error());
  d.facts.push_back(JobUpdated{job.id, std::make_shared<const JobSpec>(std::move(next)), describe(asked.who)});
  return d;
}

}  // namespace sy::core::verbs

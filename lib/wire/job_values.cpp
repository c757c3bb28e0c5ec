#include "wire/job_values.hpp"

#include <algorithm>

#include "base/file_pattern.hpp"
#include "base/size_text.hpp"
#include "core/attempt.hpp"
#include "model/group_tree.hpp"

namespace sy::wire {

namespace {

const model::Group& group_of(const model::Job& job) {
  static const model::Group plain;
  return job.spec->groups.empty() ? plain : job.spec->groups.front();
}

// Of all copies of all groups.
template <class Count>
std::int64_t over_groups(const model::Job& job, Count count) {
  std::int64_t sum = 0;
  for (const auto& [group, copies] : model::leaves_of(group_of(job))) sum += copies * count(*group);
  return sum;
}

// GRES counted over the whole job as asked.
std::vector<base::GresCount> asked_gres(const model::Job& job) {
  base::Resources sum;
  const auto add = [&](const std::vector<model::GresRequest>& list, std::int64_t times) {
    for (const auto& g : list) sum.add_gres(g.name, g.type, g.count * times);
  };
  for (const auto& [group, copies] : model::leaves_of(group_of(job))) {
    add(group->gres_per_node, copies * model::nodes_of(*group));
    add(group->gres_per_task, copies * model::tasks_of(*group));
    add(group->gres_per_job, copies);
  }
  return sum.gres;
}

bool has_allocation(const model::Job& job) { return job.attempt.has_value() && job.state != model::JobState::pending; }

base::Resources held(const model::Job& job) {
  base::Resources sum;
  for (const auto& grant : job.attempt->nodes) sum += grant.held;
  return sum;
}

}  // namespace

bool was_requeued(const model::Job& job) {
  return job.state == model::JobState::ended && job.outcome == model::Outcome::cancelled && job.attempt && job.attempt->requeue_after;
}

std::int64_t job_node_count(const model::Job& job) {
  if (has_allocation(job)) return static_cast<std::int64_t>(job.attempt->nodes.size());
  return over_groups(job, model::nodes_of);
}

std::int64_t job_task_count(const model::Job& job) {
  if (has_allocation(job)) {
    std::int64_t sum = 0;
    for (const auto& grant : job.attempt->nodes) sum += grant.tasks;
    if (sum > 0) return sum;
  }
  return over_groups(job, model::tasks_of);
}

std::int64_t job_cpu_count(const model::Job& job) {
  if (has_allocation(job)) {
    std::int64_t sum = 0;
    for (const auto& grant : job.attempt->nodes) sum += base::cpu_count(grant.held.cpus);
    return sum;
  }
  return base::cpu_count(base::Cpus{over_groups(job, [](const model::Group& g) { return g.cpus_per_task.value * model::tasks_of(g); })});
}

base::Mebibytes job_memory(const model::Job& job) {
  if (has_allocation(job)) {
    base::Mebibytes sum;
    for (const auto& grant : job.attempt->nodes) sum += grant.held.memory;
    return sum;
  }
  return base::Mebibytes{over_groups(job, [](const model::Group& g) -> std::int64_t {
    if (g.memory_per_node) return g.memory_per_node->value * model::nodes_of(g);
    if (g.memory_per_cpu) return g.memory_per_cpu->value * base::cpu_count(g.cpus_per_task * model::tasks_of(g));
    return 0;
  })};
}

std::string job_partition(const model::Job& job, const model::State& state) {
  if (job.attempt && !job.attempt->partition.empty() && job.state != model::JobState::pending) return job.attempt->partition;
  std::string out;
  for (const auto& name : job.spec->partitions) {
    if (!out.empty()) out += ',';
    out += name;
  }
  if (!out.empty()) return out;
  for (const auto& p : state.partitions)
    if (p.is_default) return p.name;
  return {};
}

base::Duration job_time_limit(const model::Job& job, const model::State& state) {
  if (has_allocation(job)) return job.attempt->time_limit;
  if (job.spec->time_limit) return *job.spec->time_limit;
  for (const auto& p : state.partitions) {
    const bool wanted = job.spec->partitions.empty() ? p.is_default : p.name == job.spec->partitions.front();
    if (wanted) return core::time_limit_for(*job.spec, p, state.settings);
  }
  return state.settings.default_time;
}

base::Duration job_elapsed(const model::Job& job, base::Time now) {
  if (!has_allocation(job) || !job.attempt->started) return {};
  const auto& attempt = *job.attempt;
  base::Time end = now;
  if (job.ended) end = *job.ended;
  if (attempt.script_ended) end = std::min(end, *attempt.script_ended);
  base::Duration spent = end - *attempt.started;
  for (const auto& [from, to] : attempt.suspensions) spent -= std::max(base::Duration{}, to.value_or(end) - from);
  return std::max(base::Duration{}, spent);
}

std::string job_gres_text(const model::Job& job) {
  std::string out;
  std::vector<const std::vector<model::GresRequest>*> lists;
  for (const auto& leaf : model::leaves_of(group_of(job)))
    for (const auto* list : {&leaf.group->gres_per_node, &leaf.group->gres_per_task, &leaf.group->gres_per_job}) lists.push_back(list);
  for (const auto* list : lists)
    for (const auto& g : *list) {
      if (!out.empty()) out += ',';
      out += g.name;
      if (!g.type.empty()) out += ':' + g.type;
      out += ':' + std::to_string(g.count);
    }
  return out;
}

std::string job_tres(const model::Job& job) {
  const auto cpus = std::to_string(job_cpu_count(job));
  std::string out = "cpu=" + cpus;
  if (const auto memory = job_memory(job); memory.value > 0) out += ",mem=" + base::format_memory(memory);
  out += ",node=" + std::to_string(job_node_count(job)) + ",billing=" + cpus;
  std::vector<std::pair<std::string, std::int64_t>> totals;  // Slurm counts each name as a whole, then its types
  for (const auto& g : has_allocation(job) ? held(job).gres : asked_gres(job)) {
    if (totals.empty() || totals.back().first != g.name) totals.emplace_back(g.name, 0);
    totals.back().second += g.count;
    if (!g.type.empty()) totals.insert(totals.end() - 1, {g.name + ':' + g.type, g.count});
  }
  for (const auto& [name, count] : totals) out += ",gres/" + name + '=' + std::to_string(count);
  return out;
}

model::Verdict waiting_verdict(const model::Job& job, const sched::Forecast* forecast, base::Time now) {
  using model::Reason;
  Reason reason = Reason::none;
  if (job.held_by_admin) reason = Reason::job_held_admin;
  else if (job.held_by_user) reason = Reason::job_held_user;
  // A forecast of before the hold says something else; one that knows of it says more (launch failed, requeued).
  const Reason told = forecast != nullptr ? forecast->why->reason : Reason::none;
  const bool forecast_is_of_a_hold = told == Reason::job_held_admin || told == Reason::job_held_user || told == Reason::requeued_held ||
                                     told == Reason::launch_failed_requeued_held;
  if (forecast != nullptr && (reason == Reason::none) != forecast_is_of_a_hold) return forecast->verdict();
  if (reason == Reason::none && job.eligible > now) reason = job.launch_failures > 0 ? Reason::launch_backoff : Reason::begin_time;
  model::Verdict verdict;
  verdict.reason = reason;
  if (reason != Reason::none) verdict.kind = model::Verdict::Kind::not_now;
  if (reason == Reason::begin_time || reason == Reason::launch_backoff) verdict.until = job.eligible;
  return verdict;
}

std::string_view job_reason(const model::Job& job, const sched::Forecast* forecast, base::Time now) {
  using model::JobState, model::Outcome, model::Reason;
  if (job.state == JobState::pending) return model::reason_name(waiting_verdict(job, forecast, now).reason);
  if (job.state == JobState::lost) return model::reason_name(Reason::lost_node);
  if (job.state != JobState::ended) return model::reason_name(Reason::none);
  switch (job.outcome) {
    case Outcome::failed: return "NonZeroExitCode";
    case Outcome::timeout: return "TimeLimit";
    case Outcome::node_fail: return "NodeDown";
    case Outcome::out_of_memory: return "OutOfMemory";
    case Outcome::launch_failed: return "JobLaunchFailure";
    case Outcome::preempted: return "Preempted";
    case Outcome::deadline: return "DeadLine";
    case Outcome::boot_fail: return "BootFailure";
    case Outcome::none:
    case Outcome::completed:
    case Outcome::cancelled: break;
  }
  return model::reason_name(Reason::none);
}

std::string job_reason_text(const model::Job& job, const sched::Forecast* forecast, base::Time now) {
  if (job.state == model::JobState::pending) {
    const auto verdict = waiting_verdict(job, forecast, now);
    if (verdict.fits()) return "waits for the next scheduling pass";
    return model::to_text(verdict);
  }
  if (job.state == model::JobState::ended) return job.end_reason;
  return job.attempt ? job.attempt->why_ending : std::string{};
}

std::string job_stream_path(const model::Job& job, const model::State& state, Stream stream) {
  const auto& spec = *job.spec;
  const std::string out_pattern = spec.std_out.empty() ? "slurm-%j.out" : spec.std_out;
  const std::string& pattern = stream == Stream::in    ? spec.std_in
                               : stream == Stream::out ? out_pattern
                               : spec.std_err.empty()  ? out_pattern
                                                       : spec.std_err;
  base::FilePatternValues values;
  values.job_id = job.id.value;
  values.job_name = spec.name;
  values.user = job.user;
  values.step = "batch";
  values.restarts = job.restarts;
  if (job.attempt && !job.attempt->nodes.empty()) {
    const auto lead = job.attempt->nodes.front().node;
    if (lead.value < state.nodes.size()) values.node = state.nodes[lead.value].name;
  }
  std::string path = base::expand_file_pattern(pattern, values).value_or(pattern);
  if (path.empty() || path.front() == '/') return path;
  return spec.work_dir + (spec.work_dir.ends_with('/') ? "" : "/") + path;
}

}  // namespace sy::wire

#include "sched/eligible/eligible.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "model/group_tree.hpp"

namespace sy::sched {

namespace {

Verdict refuse(Verdict::Kind kind, Reason reason, std::string detail) {
  Verdict v;
  v.kind = kind;
  v.reason = reason;
  v.detail = std::move(detail);
  return v;
}

Duration walltime_asked(const Partition& p, const JobSpec& spec, const Settings& s) {
  if (spec.time_min) return *spec.time_min;
  if (spec.time_limit) return *spec.time_limit;
  return p.default_time.value_or(p.max_time ? std::min(*p.max_time, s.default_time) : s.default_time);
}

}  // namespace

Verdict job_is_eligible(const WaitingJob& job, Time now) {
  using enum Verdict::Kind;
  if (job.launch_failed && job.held_by_user) return refuse(not_now, Reason::launch_failed_requeued_held, "release it to try again");
  if (job.held_by_admin) return refuse(not_now, Reason::job_held_admin, {});
  if (job.held_by_user) return refuse(not_now, Reason::job_held_user, {});
  if (job.eligible <= now) return {};
  Verdict v = refuse(not_now, job.launch_failed ? Reason::launch_backoff : Reason::begin_time, {});
  v.until = job.eligible;
  return v;
}

Verdict within_partition(const Partition& p, const JobSpec& spec, const Settings& s) {
  using enum Verdict::Kind;
  if (p.state == PartitionState::down) return refuse(not_now, Reason::partition_down, fmt::format("partition {} is down", p.name));
  if (p.state == PartitionState::inactive)
    return refuse(not_now, Reason::partition_inactive, fmt::format("partition {} is inactive", p.name));
  const Duration asked = walltime_asked(p, spec, s);
  if (p.max_time && asked > *p.max_time)
    return refuse(never, Reason::partition_time_limit,
                  fmt::format("partition {} allows {}, asked {}", p.name, format_walltime(p.max_time),
                              format_walltime(asked == Duration::max() ? std::nullopt : std::optional(asked))));
  // Groups may share nodes: together they need at least what the largest needs, and at most what all ask for.
  std::int64_t least = 0, most = 0;
  bool all_by_nodes = true;
  for (const auto& [g, copies] : leaves_of(spec.groups.front())) {
    all_by_nodes = all_by_nodes && g->nodes_given;
    if (g->nodes_given) least = std::max<std::int64_t>(least, g->nodes.min);
    most += copies * g->nodes.max;
  }
  if (p.max_nodes && least > *p.max_nodes)
    return refuse(never, Reason::partition_node_limit, fmt::format("partition {} allows {} nodes, asked {}", p.name, *p.max_nodes, least));
  if (all_by_nodes && most < p.min_nodes)
    return refuse(never, Reason::partition_node_limit,
                  fmt::format("partition {} asks for at least {} nodes, asked {}", p.name, p.min_nodes, most));
  return {};
}

Verdict partition_is_gone(const std::string& name) {
  return refuse(Verdict::Kind::never, Reason::partition_inactive,
                fmt::format("partition {} does not exist any more; move the job to another or cancel it", name));
}

}  // namespace sy::sched

// The members of a SPEC (docs/api-v1.md) with their limits, said once for reading and writing.
// Not their meaning: submission (core) checks that. For .cpp files of wire.
#pragma once

#include <type_traits>

#include "model/job_spec.hpp"
#include "wire/value_traits.hpp"

namespace sy::wire {

class ReadContext;

// Members that must agree with each other whatever the cluster; found by read_object. In job_spec_json.cpp.
void validate(model::NodeRange&, ReadContext&);
void validate(model::GresRequest&, ReadContext&);
void validate(model::WarningSignal&, ReadContext&);
void validate(model::JobSpec&, ReadContext&);

inline constexpr std::int64_t most_seconds = std::int64_t{3'153'600'000};  // a hundred years
inline constexpr Limit span_limit = range_limit(0, most_seconds * 1'000'000);
inline constexpr Limit path_limit = text_limit(4096);
inline constexpr std::int64_t most_tasks = 16'777'216;
inline constexpr std::int64_t most_mib = std::int64_t{1} << 40U;

template <class A>
void describe(A& a, std::type_identity<model::GresRequest>) {
  using T = model::GresRequest;
  a("name", &T::name, text_limit(64));
  a("type", &T::type, text_limit(64));
  a("count", &T::count, range_limit(1, 1'000'000'000'000));
}

template <class A>
void describe(A& a, std::type_identity<model::NodeRange>) {
  using T = model::NodeRange;
  a.keep_defaults();
  a("min", &T::min, range_limit(1, most_tasks));
  if constexpr (A::reading) a.follow(&T::max, &T::min);
  a("max", &T::max, range_limit(1, most_tasks));
  a("choices", &T::choices, list_range_limit(1024, 1, most_tasks));
}

template <class A>
void describe(A& a, std::type_identity<model::Rung>) {
  using T = model::Rung;
  a("level", &T::level, text_limit(64));
  a("max_domains", &T::max_domains, range_limit(1, most_tasks));
  a("wait_s", &T::wait, span_limit);
}

template <class A>
void describe(A& a, std::type_identity<model::Segment>) {
  using T = model::Segment;
  a("level", &T::level, text_limit(64));
  a("size", &T::size, range_limit(0, most_tasks));
  a("sizes", &T::sizes, list_range_limit(4096, 1, most_tasks));
  a("remainder", &T::remainder);
  a("distinct", &T::distinct);
  a("consolidate", &T::consolidate);
}

template <class A>
void describe(A& a, std::type_identity<model::Spread>) {
  using T = model::Spread;
  a("level", &T::level, text_limit(64));
  a("mode", &T::mode);
  a("max_per_domain", &T::max_per_domain, range_limit(1, most_tasks));
  a("max_share", &T::max_share, range_limit(1, 100));
  a("min_domains", &T::min_domains, range_limit(1, most_tasks));
  a("max_skew", &T::max_skew, range_limit(1, most_tasks));
}

template <class A>
void describe(A& a, std::type_identity<model::Affinity>) {
  using T = model::Affinity;
  a("level", &T::level, text_limit(64));
  a("target", &T::target, text_limit(1024));
  a("require", &T::require);
}

template <class A>
void describe(A& a, std::type_identity<model::PackWish>) {
  using T = model::PackWish;
  a("prefer", &T::prefer, text_limit(64));
  a("require", &T::require, text_limit(64));
  a("ladder", &T::ladder, list_limit(32));
  a("order", &T::order);
  a("fill", &T::fill);
}

template <class A>
void describe(A& a, std::type_identity<model::Group>) {
  using T = model::Group;
  a("name", &T::name, text_limit(256));
  a.given("nodes", "nodes_given", &T::nodes, &T::nodes_given);
  a.given("tasks", "tasks_given", &T::tasks, &T::tasks_given, range_limit(1, most_tasks));
  a("min_tasks", &T::min_tasks, range_limit(0, most_tasks));
  a("tasks_per_node", &T::tasks_per_node, range_limit(0, 65'535));
  a("cpus_per_task", &T::cpus_per_task, range_limit(1, 65'535'000));
  a("memory_per_node_mib", &T::memory_per_node, range_limit(0, most_mib));
  a("memory_per_cpu_mib", &T::memory_per_cpu, range_limit(0, most_mib));
  a("gres_per_node", &T::gres_per_node, list_limit(64));
  a("gres_per_task", &T::gres_per_task, list_limit(64));
  a("gres_per_job", &T::gres_per_job, list_limit(64));
  a("constraint", &T::constraint, path_limit);
  a("nodelist", &T::nodelist, text_limit(65'536));
  a("exclude", &T::exclude, text_limit(65'536));
  a("sharing", &T::sharing);
  a("exclusive_level", &T::exclusive_level, text_limit(64));
  a("contiguous", &T::contiguous);
  a("replicas", &T::replicas, range_limit(1, most_tasks));
  a("min_replicas", &T::min_replicas, range_limit(0, most_tasks));
  a("pack", &T::pack);
  a("segments", &T::segments, list_limit(16));
  a("spread", &T::spread, list_limit(16));
  a("affinity", &T::affinity, list_limit(64));
  a("anti_affinity", &T::anti_affinity, list_limit(64));
  a("switches", &T::switches, range_limit(0, most_tasks));
  a("switches_wait_s", &T::switches_wait, span_limit);
  a("distribution", &T::distribution);
  a("plane_size", &T::plane_size, range_limit(0, most_tasks));
  a("children", &T::children, list_limit(256));
  if constexpr (A::reading) {  // docs/design/0003
    for (const auto* later : {"starts_after", "gang_timeout", "on_loss", "exclusive_scope"}) a.not_yet(later);
    a.not_yet("exclusive", "scope");
  }
}

template <class A>
void describe(A& a, std::type_identity<model::Annotations>) {
  using T = model::Annotations;
  a("account", &T::account);
  a("qos", &T::qos);
  a("comment", &T::comment, path_limit);
  a("wckey", &T::wckey);
  a("hint", &T::hint);
  a("distribution", &T::distribution);
  a("cpu_bind", &T::cpu_bind);
  a("mem_bind", &T::mem_bind);
  a("mail_type", &T::mail_type);
  a("mail_user", &T::mail_user);
}

template <class A>
void describe(A& a, std::type_identity<model::WarningSignal>) {
  using T = model::WarningSignal;
  a("signal", &T::number, range_limit(1, 64));
  a("before_end_s", &T::before_end, span_limit);
  a("batch_shell", &T::batch_shell);
}

template <class A>
void describe(A& a, std::type_identity<model::JobSpec>) {
  using T = model::JobSpec;
  a("name", &T::name);
  a("partitions", &T::partitions, list_limit(64));
  a("time_limit_s", &T::time_limit, span_limit);
  a("time_min_s", &T::time_min, span_limit);
  a("nice", &T::nice, range_limit(-2'147'483'645, 2'147'483'645));
  a("requeue", &T::requeue);
  a("hold", &T::hold);
  a("work_dir", &T::work_dir, path_limit);
  a("std_in", &T::std_in, path_limit);
  a("std_out", &T::std_out, path_limit);
  a("std_err", &T::std_err, path_limit);
  a("append_output", &T::append_output);
  a("warning_signal", &T::warning_signal);
  a("script_name", &T::script_name, path_limit);
  a("script_args", &T::script_args, list_limit(4096, 131'072));
  a("submit_host", &T::submit_host);
  a("no_kill", &T::no_kill);
  a("wait_all_nodes", &T::wait_all_nodes);
  a("kill_on_bad_exit", &T::kill_on_bad_exit);
  a("annotations", &T::annotations);
  a("groups", &T::groups, list_limit(64));
}

}  // namespace sy::wire

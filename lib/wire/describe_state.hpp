// The members of what the state is made of (jobs, attempts, nodes, partitions, settings, topologies), said once for the
// store's rows and for events. Not the views of the API: those choose and compute (job_fields.hpp, views.hpp).
#pragma once

#include <type_traits>

#include "model/state.hpp"
#include "wire/describe_spec.hpp"

namespace sy::wire {

template <class A>
void describe(A& a, std::type_identity<base::GresCount>) {
  using T = base::GresCount;
  a("name", &T::name);
  a("type", &T::type);
  a("count", &T::count);
}

template <class A>
void describe(A& a, std::type_identity<base::Resources>) {
  using T = base::Resources;
  a("cpus", &T::cpus);
  a("memory_mib", &T::memory);
  a("gres", &T::gres);
}

template <class A>
void describe(A& a, std::type_identity<model::NodeGrant>) {
  using T = model::NodeGrant;
  a("node", &T::node);
  a("tasks", &T::tasks);
  a("held", &T::held);
  a("used", &T::used);
  a("gres_instances", &T::gres_instances);
  a("phase", &T::phase);
}

template <>
inline constexpr bool is_shared<model::PlacementHandle> = true;

template <class A>
void describe(A& a, std::type_identity<model::DomainCount>) {
  using T = model::DomainCount;
  a("domain", &T::domain);
  a("offered", &T::offered);
  a("asked", &T::asked);
}

template <class A>
void describe(A& a, std::type_identity<model::PlacedPart>) {
  using T = model::PlacedPart;
  a("node", &T::node);
  a("tasks", &T::tasks);
  a("path", &T::path);
  a("group", &T::group);
  a("replica", &T::replica);
  a("segment", &T::segment);
}

template <class A>
void describe(A& a, std::type_identity<model::PlacementRecord>) {
  using T = model::PlacementRecord;
  a("topology", &T::topology);
  a("version", &T::version);
  a("levels", &T::levels);
  a("level", &T::level);
  a("domains", &T::domains);
  a("leaves_used", &T::leaves_used);
  a("leaves_least", &T::leaves_least);
  a("fragmentation_growth", &T::fragmentation_growth);
  a("beaten", &T::beaten);
  a("paths", &T::paths, list_limit(1U << 20U));
  a("groups", &T::groups);
  a("segmented", &T::segmented);
  a("closed", &T::closed, list_limit(1U << 24U));
  a("parts", &T::parts, list_limit(1U << 24U));
}

template <class A>
void describe(A& a, std::type_identity<model::ExitRecord>) {
  using T = model::ExitRecord;
  a("code", &T::code);
  a("signal", &T::signal);
  a("out_of_memory", &T::out_of_memory);
  a("timed_out", &T::timed_out);
  a("core_dumped", &T::core_dumped);
  a("cpu_time_s", &T::cpu_time);
  a("peak_memory_mib", &T::peak_memory);
  a("reason", &T::reason, text_limit(4096));
}

template <class A>
void describe(A& a, std::type_identity<model::Attempt>) {
  using T = model::Attempt;
  a("number", &T::number);
  a("partition", &T::partition);
  a("nodes", &T::nodes);
  a("time_limit_s", &T::time_limit);
  a("planned_at_us", &T::planned_at);
  a("started_us", &T::started);
  a("script_ended_us", &T::script_ended);
  a("suspensions_us", &T::suspensions);
  a("exit", &T::exit);
  a("ending_as", &T::ending_as);
  a("requeue_after", &T::requeue_after);
  a("hold_after", &T::hold_after);
  a("why_ending", &T::why_ending);
  a("ended_by", &T::ended_by);
  a("placement", &T::placement);
}

template <class A>
void describe(A& a, std::type_identity<model::Job>) {
  using T = model::Job;
  a("id", &T::id);
  a("spec", &T::spec);
  a("uid", &T::uid);
  a("gid", &T::gid);
  a("user", &T::user);
  a("group", &T::group);
  a("submitted_us", &T::submitted);
  a("eligible_us", &T::eligible);
  a("script_digest", &T::script_digest);
  a("env_digest", &T::env_digest);
  a("held_by_user", &T::held_by_user);
  a("held_by_admin", &T::held_by_admin);
  a("launch_failures", &T::launch_failures);
  a("restarts", &T::restarts);
  a("state", &T::state);
  a("lost_from", &T::lost_from);
  a("last_attempt", &T::last_attempt);
  a("attempt", &T::attempt);
  a("outcome", &T::outcome);
  a("ended_us", &T::ended);
  a("end_reason", &T::end_reason);
}

template <class A>
void describe(A& a, std::type_identity<model::GresInstance>) {
  using T = model::GresInstance;
  a("name", &T::name, text_limit(64));
  a("type", &T::type, text_limit(64));
  a("index", &T::index);
  a("capacity", &T::capacity);
  a("device", &T::device, path_limit);
}

template <class A>
void describe(A& a, std::type_identity<model::NodeShape>) {
  using T = model::NodeShape;
  a.keep_defaults();
  a("cpus", &T::cpus, range_limit(1, 65'535));
  a("sockets", &T::sockets, range_limit(1, 65'535));
  a("cores_per_socket", &T::cores_per_socket, range_limit(1, 65'535));
  a("threads_per_core", &T::threads_per_core, range_limit(1, 65'535));
  a("memory_mib", &T::memory, range_limit(0, most_mib));
  a("gres", &T::gres, list_limit(4096));
}

// What follows from grants (held, jobs, gres_holder) is derived at load and has no members here.
template <class A>
void describe(A& a, std::type_identity<model::Node>) {
  using T = model::Node;
  a("index", &T::index);
  a("name", &T::name);
  a("removed", &T::removed);
  a("declared", &T::declared);
  a("shape_declared", &T::shape_declared);
  a("shape", &T::shape);
  a("registered", &T::registered);
  a("features", &T::features);
  a("weight", &T::weight);
  a("labels", &T::labels);
  a("address", &T::address);
  a("port", &T::port);
  a("public_key", &T::public_key);
  a("boot_id", &T::boot_id);
  a("spool_id", &T::spool_id);
  a("version", &T::version);
  a("contact", &T::contact);
  a("drained", &T::drained);
  a("down", &T::down);
  a("reason", &T::reason);
  a("reason_at_us", &T::reason_at);
  a("reason_by", &T::reason_by);
  a("boot_time_us", &T::boot_time);
  a("registered_at_us", &T::registered_at);
  a("total", &T::total);
}

template <class A>
void describe(A& a, std::type_identity<model::Partition>) {
  using T = model::Partition;
  a.keep_defaults();
  a("name", &T::name);
  a("nodes", &T::nodes);
  a("all_nodes", &T::all_nodes);
  a("is_default", &T::is_default);
  a("state", &T::state);
  a("max_time_s", &T::max_time);
  a("default_time_s", &T::default_time);
  a("min_nodes", &T::min_nodes);
  a("max_nodes", &T::max_nodes);
  a("priority_tier", &T::priority_tier);
  a("exclusive_node", &T::exclusive_node);
  a("hidden", &T::hidden);
  a("allow_root", &T::allow_root);
  a("allow_users", &T::allow_users);
  a("deny_users", &T::deny_users);
  a("allow_groups", &T::allow_groups);
  a("deny_groups", &T::deny_groups);
  a("topology", &T::topology);
  a("topology_optional", &T::topology_optional);
  a("weight_first", &T::weight_first);
  a("default_memory_per_cpu_mib", &T::default_memory_per_cpu);
  a("default_memory_per_node_mib", &T::default_memory_per_node);
}

// Written whole: a later release may have other defaults, and these were in force.
template <class A>
void describe(A& a, std::type_identity<model::Settings>) {
  using T = model::Settings;
  a.keep_defaults();
  a("cluster_name", &T::cluster_name);
  a("on_lost", &T::on_lost);
  a("lease_s", &T::lease);
  a("kill_grace_s", &T::kill_grace);
  a("keep_ended_s", &T::keep_ended);
  a("launch_backoff_s", &T::launch_backoff);
  a("max_launch_failures", &T::max_launch_failures);
  a("overtime_s", &T::overtime);
  a("allow_root_jobs", &T::allow_root_jobs);
  a("fence_program", &T::fence_program);
  a("max_jobs", &T::max_jobs);
  a("default_topology", &T::default_topology);
  a("literal_switch_wait", &T::literal_switch_wait);
  a("default_time_s", &T::default_time);
  a("default_memory_per_cpu_mib", &T::default_memory_per_cpu);
}

template <class A>
void describe(A& a, std::type_identity<model::Level>) {
  using T = model::Level;
  a("name", &T::name);
  a("aliases", &T::aliases);
}

template <class A>
void describe(A& a, std::type_identity<model::Domain>) {
  using T = model::Domain;
  a("name", &T::name);
  a("level", &T::level);
  a("parent", &T::parent);
  a("children", &T::children);
  a("nodes", &T::nodes);
  a("virtual_group", &T::virtual_group);
  a("whole", &T::whole);
  a("link_speed", &T::link_speed);
}

template <class A>
void describe(A& a, std::type_identity<model::Topology>) {
  using T = model::Topology;
  a("name", &T::name);
  a("kind", &T::kind);
  a("levels", &T::levels);
  a("domains", &T::domains);
  a("joined", &T::joined);
  a("block_sizes", &T::block_sizes);
  a("version", &T::version);
}

template <class A>
void describe(A& a, std::type_identity<model::EnrolToken>) {
  using T = model::EnrolToken;
  a("node", &T::node);
  a("token_digest", &T::token_digest);
  a("expires_us", &T::expires);
}

}  // namespace sy::wire

#include "wire/job_change_json.hpp"

#include <nlohmann/json.hpp>

#include "wire/describe_spec.hpp"
#include "wire/read_members.hpp"

namespace sy::wire {

namespace {
// Members for which null is a value of its own are taken out first.
struct PlainMembers {
  std::optional<std::string> name, comment, account, qos, constraint, nodelist, exclude;
  std::optional<std::vector<std::string>> partitions;
  std::optional<std::int32_t> nice;
  std::optional<model::NodeRange> nodes;
  std::optional<std::uint32_t> tasks, segment_size;
  std::optional<base::Cpus> cpus_per_task;
  std::optional<std::vector<model::GresRequest>> gres_per_node;
  std::optional<bool> requeue;
};
struct NullableMembers {
  std::optional<base::Duration> time_limit;
  std::optional<base::Mebibytes> memory_per_node, memory_per_cpu;
};

template <class A>
void describe(A& a, std::type_identity<PlainMembers>) {
  using T = PlainMembers;
  a("name", &T::name);
  a("comment", &T::comment, text_limit(4096));
  a("account", &T::account);
  a("qos", &T::qos);
  a("partitions", &T::partitions, list_limit(256));
  a("nice", &T::nice);
  a("nodes", &T::nodes);
  a("tasks", &T::tasks, range_limit(1, most_tasks));
  a("cpus_per_task", &T::cpus_per_task, range_limit(1, 1'000'000'000));
  a("constraint", &T::constraint);
  a("nodelist", &T::nodelist, text_limit(65'536));
  a("exclude", &T::exclude, text_limit(65'536));
  a("gres_per_node", &T::gres_per_node, list_limit(64));
  a("requeue", &T::requeue);
  a("segment_size", &T::segment_size, range_limit(0, most_tasks));
}

template <class A>
void describe(A& a, std::type_identity<NullableMembers>) {
  using T = NullableMembers;
  a("time_limit_s", &T::time_limit, span_limit);
  a("memory_per_node_mib", &T::memory_per_node, range_limit(0, most_mib));
  a("memory_per_cpu_mib", &T::memory_per_cpu, range_limit(0, most_mib));
}
}  // namespace

base::Result<core::JobChange> job_change_from_json(const Json& json) {
  if (!json.is_object()) return base::fail(base::Code::invalid_argument, "a change is a JSON object", "body");
  if (json.empty()) return base::fail(base::Code::invalid_argument, "nothing is to be changed", "body", {}, "send at least one member");
  Json rest = json, nullable = Json::object();
  for (const char* name : {"time_limit_s", "memory_per_node_mib", "memory_per_cpu_mib"})
    if (const auto at = rest.find(name); at != rest.end()) {
      nullable[name] = std::move(*at);
      rest.erase(at);
    }
  for (const auto& [name, value] : rest.items())
    if (value.is_null()) return base::fail(base::Code::invalid_argument, "null is no value for this member", name);
  auto plain = read_described<PlainMembers>(rest, Source::request);
  if (!plain) return base::fail(plain.error());
  auto other = read_described<NullableMembers>(nullable, Source::request);
  if (!other) return base::fail(other.error());

  core::JobChange change;
  change.name = std::move(plain->name);
  change.comment = std::move(plain->comment);
  change.account = std::move(plain->account);
  change.qos = std::move(plain->qos);
  change.constraint = std::move(plain->constraint);
  change.nodelist = std::move(plain->nodelist);
  change.exclude = std::move(plain->exclude);
  change.partitions = std::move(plain->partitions);
  change.nice = plain->nice;
  change.nodes = std::move(plain->nodes);
  change.tasks = plain->tasks;
  change.segment_size = plain->segment_size;
  change.cpus_per_task = plain->cpus_per_task;
  change.gres_per_node = std::move(plain->gres_per_node);
  change.requeue = plain->requeue;
  if (nullable.contains("time_limit_s")) change.time_limit = other->time_limit;
  if (nullable.contains("memory_per_node_mib")) change.memory_per_node = other->memory_per_node;
  if (nullable.contains("memory_per_cpu_mib")) change.memory_per_cpu = other->memory_per_cpu;
  return change;
}

}  // namespace sy::wire

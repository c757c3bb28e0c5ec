#include "sched/request_class.hpp"

#include <string_view>

namespace sy::sched {

namespace {

void mix(std::size_t& h, std::uint64_t v) { h = (h ^ static_cast<std::size_t>(v)) * 0x9E3779B97F4A7C15ULL + (h >> 29); }

// A sieve: what differs most often. Equality decides.
std::size_t hash_of(const JobSpec& s) {
  const Group& g = s.groups.front();
  std::size_t h = 1;
  mix(h, g.nodes.min * 65'537ULL + g.nodes.max);
  mix(h, g.tasks * 2ULL + (g.tasks_given ? 1 : 0));
  mix(h, g.tasks_per_node);
  mix(h, static_cast<std::uint64_t>(g.cpus_per_task.value));
  mix(h, static_cast<std::uint64_t>(g.memory_per_node.value_or(Mebibytes{-1}).value));
  mix(h, static_cast<std::uint64_t>(g.memory_per_cpu.value_or(Mebibytes{-1}).value));
  mix(h, static_cast<std::uint64_t>(s.time_limit.value_or(Duration{-1}).count()));
  mix(h, std::hash<std::string_view>{}(g.constraint) + g.gres_per_node.size());
  for (const auto& p : s.partitions) mix(h, std::hash<std::string_view>{}(p));
  return h;
}

bool same_request(const WaitingJob& a, const WaitingJob& b) {
  return a.spec->time_limit == b.spec->time_limit && a.spec->time_min == b.spec->time_min && a.spec->partitions == b.spec->partitions &&
         a.spec->groups == b.spec->groups;
}

}  // namespace

std::uint32_t RequestClasses::of(const WaitingJob& job) {
  const auto matches = [&](const WaitingJob& other) {
    if (by_user_ && other.uid != job.uid) return false;
    return other.spec == job.spec || same_request(other, job);
  };
  // Neighbours in the queue are often equal: the class of the job before is tried first.
  if (last_ < examples_.size() && matches(*examples_[last_])) return last_;
  const std::size_t h = hash_of(*job.spec);
  for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it)
    if (matches(*examples_[it->second])) return last_ = it->second;
  last_ = static_cast<std::uint32_t>(examples_.size());
  examples_.push_back(&job);
  by_hash_.emplace(h, last_);
  return last_;
}

}  // namespace sy::sched

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
  return a.spec->time_limit == b.spec->time_limit && a.spec->time_min == b.spec->time_min &&
         a.spec->partitions == b.spec->partitions && a.spec->groups == b.spec->groups;
}

}  // namespace

std::uint32_t RequestClasses::of(const WaitingJob& job) {
  auto& known = by_spec_[job.spec.get()];
  for (const auto& [uid, c] : known)
    if (!by_user_ || uid == job.uid) return c;
  const std::size_t h = hash_of(*job.spec);
  for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it)
    if ((!by_user_ || examples_[it->second]->uid == job.uid) && same_request(*examples_[it->second], job)) {
      known.emplace_back(job.uid, it->second);
      return it->second;
    }
  const auto c = static_cast<std::uint32_t>(examples_.size());
  examples_.push_back(&job);
  by_hash_.emplace(h, c);
  known.emplace_back(job.uid, c);
  return c;
}

}  // namespace sy::sched

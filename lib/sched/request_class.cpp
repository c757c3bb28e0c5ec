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

bool same_request(const JobSpec& a, const JobSpec& b) {
  return a.time_limit == b.time_limit && a.time_min == b.time_min && a.partitions == b.partitions && a.groups == b.groups;
}

}  // namespace

std::uint32_t RequestClasses::of(const WaitingJob& job) {
  return job.request == WaitingJob::not_classed || by_user_ ? by_content(job) : by_number(job);
}

std::uint32_t RequestClasses::by_number(const WaitingJob& job) {
  if (job.request >= of_number_.size()) of_number_.resize(job.request + 1ULL, WaitingJob::not_classed);
  std::uint32_t& known = of_number_[job.request];
  if (known == WaitingJob::not_classed) known = add(job);
  return known;
}

std::uint32_t RequestClasses::by_content(const WaitingJob& job) {
  const auto matches = [&](const Example& other) {
    if ((by_user_ || job.names_jobs) && other.uid != job.uid) return false;
    if (job.names_jobs && other.spec->name != job.spec->name) return false;  // "job:self"
    return other.spec == job.spec || same_request(*other.spec, *job.spec);
  };
  // Neighbours in the queue are often equal: the class of the job before is tried first.
  if (last_ < examples_.size() && matches(examples_[last_])) return last_;
  const std::size_t h = hash_of(*job.spec);
  for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it)
    if (matches(examples_[it->second])) return last_ = it->second;
  last_ = add(job);
  by_hash_.emplace(h, last_);
  return last_;
}

std::uint32_t RequestClasses::add(const WaitingJob& job) {
  examples_.push_back({job.spec, job.uid});
  return static_cast<std::uint32_t>(examples_.size() - 1);
}

}  // namespace sy::sched

#include "model/verdict_text.hpp"

#include <fmt/format.h>

namespace sy::model {
namespace {

constexpr std::uint8_t last_reason = static_cast<std::uint8_t>(Reason::system_paused);

// What the reason means, in words; the numbers are added by to_text.
std::string_view sentence(Reason r) {
  switch (r) {
    case Reason::none: return "nothing is in the way";
    case Reason::priority: return "jobs before it hold the nodes";
    case Reason::resources: return "the cluster is too full now";
    case Reason::dependency: return "it waits for other jobs";
    case Reason::begin_time: return "its begin time has not come";
    case Reason::job_held_user: return "held by its user";
    case Reason::job_held_admin: return "held by an administrator";
    case Reason::requeued_held: return "put back in the queue and held";
    case Reason::launch_failed_requeued_held: return "held because its launch failed too often in a row";
    case Reason::partition_down: return "the partition starts no jobs";
    case Reason::partition_inactive: return "the partition is inactive";
    case Reason::partition_node_limit: return "the number of nodes is outside what the partition allows";
    case Reason::partition_time_limit: return "the time limit is over what the partition allows";
    case Reason::account_not_allowed: return "the partition does not admit this user";
    case Reason::req_node_not_avail: return "nodes asked for by name are not available";
    case Reason::node_down: return "too few nodes are up";
    case Reason::bad_constraints: return "no set of nodes of this cluster fits the request";
    case Reason::reservation: return "nodes are reserved";
    case Reason::licenses: return "licences are in use";
    case Reason::lost_node: return "the last attempt runs on a node that nobody has heard of (see sy fence)";
    case Reason::launch_backoff: return "a launch failed and is not tried again yet";
    case Reason::search_limit: return "the search for nodes ended before it was complete";
    case Reason::system_paused: return "the controller does not start jobs at the moment";
  }
  return "unknown reason";
}

std::string jobs_ahead(std::uint32_t n) { return fmt::format("{} {} before it", n, n == 1 ? "job is" : "jobs are"); }

std::string causes_text(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& c : causes) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", c.nodes, cause_name(c.kind));
  return out;
}

// The sentence with the numbers that belong to it.
std::string headline(const Verdict& v) {
  switch (v.reason) {
    case Reason::priority:
      if (v.ahead > 0) return jobs_ahead(v.ahead);
      break;
    case Reason::resources:
      if (v.asked == 0) break;
      if (v.offered >= v.asked) return fmt::format("{} {} free, {} asked", v.offered, v.offered == 1 ? "node" : "nodes", v.asked);
      return fmt::format("{} of {} {} free", v.offered, v.asked, v.asked == 1 ? "node" : "nodes");
    case Reason::node_down:
    case Reason::req_node_not_avail:
    case Reason::bad_constraints:
    case Reason::search_limit:
      // Enough nodes, but not where they are asked: that is no number.
      if (v.offered < v.asked) return fmt::format("{}: {} of {}", sentence(v.reason), v.offered, v.asked);
      break;
    case Reason::partition_node_limit:
      if (v.asked > 0 && v.detail.empty()) return fmt::format("{}: {} asked", sentence(v.reason), v.asked);
      break;
    default: break;
  }
  return std::string(sentence(v.reason));
}

}  // namespace

std::string_view reason_name(Reason r) {
  switch (r) {
    case Reason::none: return "None";
    case Reason::priority: return "Priority";
    case Reason::resources: return "Resources";
    case Reason::dependency: return "Dependency";
    case Reason::begin_time: return "BeginTime";
    case Reason::job_held_user: return "JobHeldUser";
    case Reason::job_held_admin: return "JobHeldAdmin";
    case Reason::requeued_held: return "job requeued in held state";
    case Reason::launch_failed_requeued_held: return "LaunchFailedRequeuedHeld";
    case Reason::partition_down: return "PartitionDown";
    case Reason::partition_inactive: return "PartitionInactive";
    case Reason::partition_node_limit: return "PartitionNodeLimit";
    case Reason::partition_time_limit: return "PartitionTimeLimit";
    case Reason::account_not_allowed: return "AccountNotAllowed";
    case Reason::req_node_not_avail: return "ReqNodeNotAvail";
    case Reason::node_down: return "NodeDown";
    case Reason::bad_constraints: return "BadConstraints";
    case Reason::reservation: return "Reservation";
    case Reason::licenses: return "Licenses";
    case Reason::lost_node: return "LostNode";
    case Reason::launch_backoff: return "LaunchBackoff";
    case Reason::search_limit: return "SearchLimit";
    case Reason::system_paused: return "SystemPaused";
  }
  return "None";
}

std::optional<Reason> reason_from_name(std::string_view name) {
  for (std::uint8_t i = 0; i <= last_reason; ++i)
    if (reason_name(static_cast<Reason>(i)) == name) return static_cast<Reason>(i);
  return std::nullopt;
}

std::string_view cause_name(Cause::Kind k) {
  switch (k) {
    case Cause::Kind::busy: return "busy";
    case Cause::Kind::drained: return "drained";
    case Cause::Kind::down: return "down";
    case Cause::Kind::reserved: return "reserved";
    case Cause::Kind::feature: return "without the features";
    case Cause::Kind::cpus: return "with too few CPUs";
    case Cause::Kind::memory: return "with too little memory";
    case Cause::Kind::gres: return "with too few GRES";
    case Cause::Kind::excluded: return "excluded";
    case Cause::Kind::not_in_partition: return "not in the partition";
    case Cause::Kind::no_domain: return "outside the topology";
    case Cause::Kind::kept: return "in a domain kept for another job";
    case Cause::Kind::affinity: return "ruled out by affinity";
    case Cause::Kind::other: return "other";
  }
  return "other";
}

std::string to_text(const Verdict& v) {
  if (v.kind == Verdict::Kind::fits) return v.detail.empty() ? "it can start now" : fmt::format("it can start now: {}", v.detail);
  std::string out = v.kind == Verdict::Kind::never ? "it can never start: " : "";
  out += headline(v);
  if (const std::string causes = causes_text(v.causes); !causes.empty()) out += ": " + causes;
  if (!v.detail.empty()) out += (v.causes.empty() ? ": " : "; ") + v.detail;
  return out;
}

std::vector<std::string> rung_lines(const Verdict& v) {
  std::vector<std::string> out;
  for (const RungVerdict& r : v.rungs) {
    std::string line = r.level.empty() ? "any:" : r.level + ":";
    if (r.best.empty()) line += " no domain";
    else if (r.best[0].offered == 0) line += fmt::format(" 0 of {}", r.best[0].asked);
    else
      for (std::size_t i = 0; i < r.best.size(); ++i)
        line += fmt::format("{} {} has {} of {}", i == 0 ? "" : ",", r.best[i].domain, r.best[i].offered, r.best[i].asked);
    if (!r.causes.empty() && r.causes != v.causes) line += fmt::format(" ({})", causes_text(r.causes));
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace sy::model

#include "daemon/supervisor/records.hpp"

#include <cstdlib>

#include "daemon/supervisor/fields.hpp"

namespace sy::supervisor {

namespace {
// The last field of every record: a file that was cut short at a field's edge does not pass for a whole one.
constexpr std::string_view complete = "complete";

std::string finish(Fields& f) {
  f.add(complete, "");
  return f.text();
}
std::optional<Fields> parse_complete(std::string_view text) {
  auto f = Fields::parse(text);
  if (f && !f->has(complete)) f.reset();
  return f;
}
}  // namespace

std::string to_text(const LaunchRecord& r) {
  Fields f;
  f.add("job", std::to_string(r.job));
  f.add_number("attempt", r.attempt);
  f.add("epoch", std::to_string(r.epoch));
  f.add("node", r.node);
  f.add_number("expires_us", r.expires_us);
  f.add("boot_id", r.boot_id);
  f.add_number("lead", r.lead ? 1 : 0);
  f.add_number("rank", r.rank);
  f.add_number("restarts", r.restarts);
  f.add("user", r.user);
  f.add_number("uid", r.uid);
  f.add_number("gid", r.gid);
  for (const auto g : r.groups) f.add_number("group", g);
  f.add("job_name", r.job_name);
  f.add("work_dir", r.work_dir);
  f.add("std_in", r.std_in);
  f.add("std_out", r.std_out);
  f.add("std_err", r.std_err);
  f.add_number("append_output", r.append_output ? 1 : 0);
  for (const auto& e : r.environment) f.add("env", e);
  for (const auto& a : r.script_args) f.add("arg", a);
  if (r.time_limit_us) f.add_number("time_limit_us", *r.time_limit_us);
  if (r.warning) {
    f.add_number("warning_signal", r.warning->signal);
    f.add_number("warning_before_us", r.warning->before_end_us);
    f.add_number("warning_batch_shell", r.warning->batch_shell ? 1 : 0);
  }
  f.add_number("kill_grace_us", r.kill_grace_us);
  f.add_number("memory_mib", r.memory_mib);
  f.add_number("cpus_milli", r.cpus_milli);
  for (const int c : r.bind_cpus) f.add_number("bind_cpu", c);
  f.add_number("cgroup_mode", static_cast<int>(r.cgroup.mode));
  f.add("cgroup_root", r.cgroup.root);
  f.add("cgroup_parent", r.cgroup.parent);
  f.add("prolog", r.prolog);
  f.add("epilog", r.epilog);
  for (const auto& e : r.hook_environment) f.add("hook_env", e);
  return finish(f);
}

std::optional<LaunchRecord> parse_launch(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  LaunchRecord r;
  r.job = std::strtoull(f->get("job").c_str(), nullptr, 10);
  r.attempt = static_cast<std::uint32_t>(f->number("attempt"));
  r.epoch = std::strtoull(f->get("epoch").c_str(), nullptr, 10);
  r.node = f->get("node");
  r.expires_us = f->number("expires_us");
  r.boot_id = f->get("boot_id");
  r.lead = f->number("lead") != 0;
  r.rank = static_cast<std::uint32_t>(f->number("rank"));
  r.restarts = static_cast<std::uint32_t>(f->number("restarts"));
  // A record without these must never run as uid 0 by default.
  if (!f->has("uid") || !f->has("gid") || r.job == 0) return std::nullopt;
  r.user = f->get("user");
  r.uid = static_cast<std::uint32_t>(f->number("uid"));
  r.gid = static_cast<std::uint32_t>(f->number("gid"));
  for (const auto& g : f->all("group")) r.groups.push_back(static_cast<std::uint32_t>(std::strtoul(g.c_str(), nullptr, 10)));
  r.job_name = f->get("job_name");
  r.work_dir = f->get("work_dir");
  r.std_in = f->get("std_in");
  r.std_out = f->get("std_out");
  r.std_err = f->get("std_err");
  r.append_output = f->number("append_output") != 0;
  r.environment = f->all("env");
  r.script_args = f->all("arg");
  if (f->has("time_limit_us")) r.time_limit_us = f->number("time_limit_us");
  if (f->has("warning_signal"))
    r.warning =
        Warning{static_cast<int>(f->number("warning_signal")), f->number("warning_before_us"), f->number("warning_batch_shell") != 0};
  r.kill_grace_us = f->number("kill_grace_us");
  r.memory_mib = f->number("memory_mib");
  r.cpus_milli = f->number("cpus_milli");
  for (const auto& c : f->all("bind_cpu")) r.bind_cpus.push_back(std::atoi(c.c_str()));
  r.cgroup.mode = static_cast<CgroupMode>(f->number("cgroup_mode"));
  r.cgroup.root = f->get("cgroup_root");
  r.cgroup.parent = f->get("cgroup_parent");
  r.prolog = f->get("prolog");
  r.epilog = f->get("epilog");
  r.hook_environment = f->all("hook_env");
  return r;
}

std::string to_text(const RunningRecord& r) {
  Fields f;
  f.add_number("at_us", r.at_us);
  return finish(f);
}
std::optional<RunningRecord> parse_running(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  return RunningRecord{f->number("at_us")};
}

std::string to_text(const ExitInfo& r) {
  Fields f;
  f.add_number("ran", r.ran ? 1 : 0);
  f.add_number("code", r.code);
  f.add_number("signal", r.signal);
  f.add_number("out_of_memory", r.out_of_memory ? 1 : 0);
  f.add_number("timed_out", r.timed_out ? 1 : 0);
  f.add_number("core_dumped", r.core_dumped ? 1 : 0);
  f.add_number("lease_over", r.lease_over ? 1 : 0);
  f.add_number("cpu_us", r.cpu_us);
  f.add_number("peak_memory_mib", r.peak_memory_mib);
  f.add("reason", r.reason);
  f.add_number("at_us", r.at_us);
  return finish(f);
}
std::optional<ExitInfo> parse_exit(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  ExitInfo r;
  r.ran = f->number("ran") != 0;
  r.code = static_cast<int>(f->number("code"));
  r.signal = static_cast<int>(f->number("signal"));
  r.out_of_memory = f->number("out_of_memory") != 0;
  r.timed_out = f->number("timed_out") != 0;
  r.core_dumped = f->number("core_dumped") != 0;
  r.lease_over = f->number("lease_over") != 0;
  r.cpu_us = f->number("cpu_us");
  r.peak_memory_mib = f->number("peak_memory_mib");
  r.reason = f->get("reason");
  r.at_us = f->number("at_us");
  return r;
}

std::string to_text(const RefusedRecord& r) {
  Fields f;
  f.add("blame", r.blame);
  f.add("reason", r.reason);
  f.add_number("at_us", r.at_us);
  return finish(f);
}
std::optional<RefusedRecord> parse_refused(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  return RefusedRecord{f->get("blame"), f->get("reason"), f->number("at_us")};
}

std::string to_text(const ClearedRecord& r) {
  Fields f;
  f.add("node_fault", r.node_fault);
  f.add_number("at_us", r.at_us);
  return finish(f);
}
std::optional<ClearedRecord> parse_cleared(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  return ClearedRecord{f->get("node_fault"), f->number("at_us")};
}

std::string to_text(const EndRequest& r) {
  Fields f;
  f.add_number("grace_us", r.grace_us);
  f.add("why", r.why);
  return finish(f);
}
std::optional<EndRequest> parse_end(std::string_view text) {
  const auto f = parse_complete(text);
  if (!f) return std::nullopt;
  return EndRequest{f->number("grace_us"), f->get("why")};
}

}  // namespace sy::supervisor

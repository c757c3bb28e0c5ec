#include "base/hostlist.hpp"
#include "cli/json_writer.hpp"
#include "cli/queue/squeue.hpp"
#include "cli/text.hpp"

namespace sy::cli {

namespace {

// Slurm's data parser wraps numbers that may be unset or infinite.
void wrapped(JsonWriter& w, std::string_view name, Json value, bool null_is_infinite = false) {
  const bool set = value.is_number();
  w.name(name).object().member("set", set).member("infinite", !set && null_is_infinite).member("number", value.integer()).close();
}

void seconds_of(JsonWriter& w, std::string_view name, Json us) {
  w.name(name).object().member("set", us.is_number()).member("infinite", false).member("number", us.integer() / 1'000'000).close();
}

void exit_code(JsonWriter& w, std::string_view name, Json job) {
  const bool killed = job["exit_signal"].integer() != 0;
  const bool ended = job["exit_code"].is_number();
  w.name(name).object();
  w.name("status").array().value(!ended ? "PENDING" : killed ? "SIGNALED" : job["exit_code"].integer() != 0 ? "ERROR" : "SUCCESS").close();
  wrapped(w, "return_code", job["exit_code"]);
  w.name("signal").object();
  w.name("id").object().member("set", killed).member("infinite", false).member("number", job["exit_signal"].integer()).close();
  w.member("name", "").close().close();
}

void resources(JsonWriter& w, Json job) {
  if (job["nodes"].text().empty()) {
    w.name("job_resources").null();
    return;
  }
  w.name("job_resources").object();
  w.member("select_type", "").member("cpus", job["cpus"].integer());
  w.name("nodes").object().member("count", job["node_count"].integer()).member("list", job["nodes"].text());
  w.name("allocation").array();
  if (auto names = base::expand_hostlist(job["nodes"].text()))
    for (const auto& name : *names) w.object().member("name", name).close();
  w.close().close();
  w.close();
}

void one_job(JsonWriter& w, Json job, std::string_view cluster) {
  w.object();
  for (const auto& [name, member] : {std::pair{"account", "account"},
                                     {"batch_host", "batch_host"},
                                     {"command", "command"},
                                     {"comment", "comment"},
                                     {"current_working_directory", "work_dir"},
                                     {"excluded_nodes", "exclude"},
                                     {"features", "constraint"},
                                     {"group_name", "group"},
                                     {"mail_user", "mail_user"},
                                     {"name", "name"},
                                     {"nodes", "nodes"},
                                     {"partition", "partition"},
                                     {"qos", "qos"},
                                     {"required_nodes", "nodelist"},
                                     {"scheduled_nodes", "planned_nodes"},
                                     {"standard_error", "std_err"},
                                     {"standard_input", "std_in"},
                                     {"standard_output", "std_out"},
                                     {"state_description", "reason_text"},
                                     {"state_reason", "reason"},
                                     {"user_name", "user"},
                                     {"wckey", "wckey"},
                                     {"tres_alloc_str", "tres"}})
    w.member(name, job[member].text());
  w.member("cluster", cluster);
  for (const auto& [name, member] :
       {std::pair{"job_id", "id"}, {"group_id", "gid"}, {"user_id", "uid"}, {"nice", "nice"}, {"restart_cnt", "restarts"}})
    w.member(name, job[member].integer());
  w.name("job_state").array().value(job["slurm_state"].text()).close();
  for (const auto& [name, member] :
       {std::pair{"accrue_time", "eligible_us"}, {"eligible_time", "eligible_us"}, {"submit_time", "submitted_us"}})
    seconds_of(w, name, job[member]);
  seconds_of(w, "start_time", job["started_us"].is_number() ? job["started_us"] : job["planned_start_us"]);
  seconds_of(w, "end_time", job["ended_us"]);
  const Json limit = job["time_limit_s"];
  w.name("time_limit")
      .object()
      .member("set", limit.is_number())
      .member("infinite", limit.is_null())
      .member("number", limit.integer() / 60)
      .close();
  for (const auto& [name, member] : {std::pair{"cpus", "cpus"},
                                     {"node_count", "node_count"},
                                     {"tasks", "tasks"},
                                     {"cpus_per_task", "cpus_per_task"},
                                     {"tasks_per_node", "tasks_per_node"},
                                     {"priority", "priority"},
                                     {"memory_per_node", "memory_per_node_mib"},
                                     {"memory_per_cpu", "memory_per_cpu_mib"},
                                     {"max_nodes", "max_nodes"}})
    wrapped(w, name, job[member]);
  w.name("array_job_id").object().member("set", true).member("infinite", false).member("number", 0).close();
  w.name("array_task_id").object().member("set", false).member("infinite", false).member("number", 0).close();
  w.member("array_task_string", "").member("dependency", "").member("licenses", "");
  const std::string_view gres = job["gres"].text();
  w.member("tres_per_node", gres.empty() ? std::string{} : "gres/" + join(split_list(gres), ",gres/"));
  w.member("hold", job["held_by_user"].boolean() || job["held_by_admin"].boolean());
  w.member("requeue", job["requeue"].boolean()).member("contiguous", job["contiguous"].boolean()).member("batch_flag", true);
  const std::string_view sharing = job["sharing"].text();
  w.name("shared").array();
  if (sharing == "exclusive_node") w.value("none");
  if (sharing == "exclusive_user") w.value("user");
  w.close();
  w.list("mail_type", split_list(job["mail_type"].text()));
  exit_code(w, "exit_code", job);
  exit_code(w, "derived_exit_code", job);
  resources(w, job);
  w.close();
}

}  // namespace

void write_meta(JsonWriter& w, std::string_view command, std::string_view cluster) {
  w.name("meta").object();
  w.name("plugin")
      .object()
      .member("type", "")
      .member("name", "")
      .member("data_parser", "data_parser/v0.0.44")
      .member("accounting_storage", "")
      .close();
  w.name("command").array().value(command).close();
  w.name("slurm").object();
  w.name("version").object().member("major", "26").member("minor", "05").member("micro", "3").close();
  w.member("release", "26.05.3").member("cluster", cluster).close();
  w.close();
  w.name("errors").array().close();
  w.name("warnings").array().close();
}

std::string squeue_json(const std::vector<Json>& jobs, std::string_view cluster, std::int64_t now_s) {
  JsonWriter w;
  w.object().name("jobs").array();
  for (const Json job : jobs) one_job(w, job, cluster);
  w.close();
  w.name("last_update").object().member("set", true).member("infinite", false).member("number", now_s).close();
  w.name("last_backfill").object().member("set", false).member("infinite", false).member("number", 0).close();
  write_meta(w, "squeue", cluster);
  w.close();
  return w.take();
}

}  // namespace sy::cli

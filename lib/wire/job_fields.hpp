// A job as the API shows it: the fields asked for, written straight as JSON text (docs/api-v1.md, "Job fields").
// Not the stored form (state_json.hpp): here names are resolved, texts computed and defaults filled in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/state.hpp"
#include "sched/pass.hpp"

namespace sy::wire {

// In the order of docs/api-v1.md.
enum class JobField : std::uint8_t {
  id,
  name,
  user,
  uid,
  group,
  gid,
  account,
  qos,
  partition,
  state,
  outcome,
  slurm_state,
  slurm_state_compact,
  reason,
  reason_text,
  submitted_us,
  eligible_us,
  started_us,
  ended_us,
  time_limit_s,
  elapsed_s,
  node_count,
  nodes,
  batch_host,
  cpus,
  tasks,
  cpus_per_task,
  tasks_per_node,
  memory_per_node_mib,
  memory_per_cpu_mib,
  memory_mib,
  gres,
  tres,
  constraint,
  nodelist,
  exclude,
  priority,
  nice,
  attempt,
  restarts,
  exit_code,
  exit_signal,
  cpu_time_s,
  peak_memory_mib,
  work_dir,
  std_in,
  std_out,
  std_err,
  command,
  comment,
  wckey,
  hint,
  distribution,
  cpu_bind,
  mem_bind,
  mail_type,
  mail_user,
  requeue,
  held_by_user,
  held_by_admin,
  planned_start_us,
  planned_nodes,
  sharing,
  contiguous,
  switches,
  segment_size,
  min_nodes,
  max_nodes,
  end_reason,
  verdict,
  placement,
  placed,
  gres_detail,
  spec
};
inline constexpr std::size_t job_field_count = static_cast<std::size_t>(JobField::spec) + 1;

std::string_view field_name(JobField);
std::span<const JobField> all_job_fields();
// "id,name,state": refuses an unknown one with the nearest. Empty text: all.
base::Result<std::vector<JobField>> parse_job_fields(std::string_view comma_list);

// Appends one object. `state` gives the names of nodes and partitions; the job itself may be an ended one from accounting.
// The forecast, where there is one, says why the job waits and when it is planned. Members without a value are null.
void append_job(std::string& out, const model::Job&, const model::State&, const sched::Forecast*, std::span<const JobField>,
                base::Time now);

}  // namespace sy::wire

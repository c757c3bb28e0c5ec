#include "wire/job_fields.hpp"

#include <algorithm>
#include <array>

#include "base/option_table.hpp"
#include "sched/priority/order.hpp"
#include "wire/enum_names.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/job_values.hpp"
#include "wire/json_text.hpp"
#include "wire/views.hpp"

namespace sy::wire {

namespace {

using model::Job;
using model::State;

constexpr auto names = std::to_array<std::string_view>({"id",
                                                        "name",
                                                        "user",
                                                        "uid",
                                                        "group",
                                                        "gid",
                                                        "account",
                                                        "qos",
                                                        "partition",
                                                        "state",
                                                        "outcome",
                                                        "slurm_state",
                                                        "slurm_state_compact",
                                                        "reason",
                                                        "reason_text",
                                                        "submitted_us",
                                                        "eligible_us",
                                                        "started_us",
                                                        "ended_us",
                                                        "time_limit_s",
                                                        "elapsed_s",
                                                        "node_count",
                                                        "nodes",
                                                        "batch_host",
                                                        "cpus",
                                                        "tasks",
                                                        "cpus_per_task",
                                                        "tasks_per_node",
                                                        "memory_per_node_mib",
                                                        "memory_per_cpu_mib",
                                                        "memory_mib",
                                                        "gres",
                                                        "tres",
                                                        "constraint",
                                                        "nodelist",
                                                        "exclude",
                                                        "priority",
                                                        "nice",
                                                        "attempt",
                                                        "restarts",
                                                        "exit_code",
                                                        "exit_signal",
                                                        "cpu_time_s",
                                                        "peak_memory_mib",
                                                        "work_dir",
                                                        "std_in",
                                                        "std_out",
                                                        "std_err",
                                                        "command",
                                                        "comment",
                                                        "wckey",
                                                        "hint",
                                                        "distribution",
                                                        "cpu_bind",
                                                        "mem_bind",
                                                        "mail_type",
                                                        "mail_user",
                                                        "requeue",
                                                        "held_by_user",
                                                        "held_by_admin",
                                                        "planned_start_us",
                                                        "planned_nodes",
                                                        "sharing",
                                                        "contiguous",
                                                        "switches",
                                                        "segment_size",
                                                        "min_nodes",
                                                        "max_nodes",
                                                        "end_reason",
                                                        "verdict",
                                                        "placement",
                                                        "placed",
                                                        "gres_detail",
                                                        "spec"});
static_assert(names.size() == job_field_count, "every field has a name");

constexpr auto all = [] {
  std::array<JobField, job_field_count> fields{};
  for (std::size_t i = 0; i < job_field_count; ++i) fields[i] = static_cast<JobField>(i);
  return fields;
}();

// One job being written. Members in the order of JobField.
class Writer {
 public:
  Writer(std::string& out, const Job& job, const State& state, const sched::Forecast* forecast, base::Time now)
      : out_(out),
        job_(job),
        spec_(*job.spec),
        group_(job.spec->groups.empty() ? plain() : job.spec->groups.front()),
        state_(state),
        forecast_(forecast),
        now_(now) {}

  void write(JobField field) {
    using F = JobField;
    switch (field) {
      case F::id: return unsigned_number(job_.id.value);
      case F::name: return text(spec_.name);
      case F::user: return text(job_.user);
      case F::uid: return unsigned_number(job_.uid.value);
      case F::group: return text(job_.group);
      case F::gid: return unsigned_number(job_.gid.value);
      case F::account: return text(spec_.annotations->account);
      case F::qos: return text(spec_.annotations->qos);
      case F::partition: return text(job_partition(job_, state_));
      case F::state: return text(enum_name(job_.state));
      case F::outcome: return text(enum_name(job_.outcome));
      case F::slurm_state: return text(was_requeued(job_) ? "REQUEUED" : model::slurm_state(job_.state, job_.outcome));
      case F::slurm_state_compact: return text(was_requeued(job_) ? "RQ" : model::slurm_state_compact(job_.state, job_.outcome));
      case F::reason: return text(job_reason(job_, forecast_, now_));
      case F::reason_text: return text(job_reason_text(job_, forecast_, now_));
      case F::submitted_us: return time(job_.submitted);
      case F::eligible_us: return time(job_.eligible);
      case F::started_us: return time(attempt() != nullptr ? attempt()->started : std::nullopt);
      case F::ended_us: return time(job_.ended);
      case F::time_limit_s: return append_seconds(out_, job_time_limit(job_, state_));
      case F::elapsed_s: return append_seconds(out_, job_elapsed(job_, now_));
      case F::node_count: return number(job_node_count(job_));
      case F::nodes: return text(attempt() != nullptr ? hostlist_in_order(attempt()->nodes, state_) : std::string{});
      case F::batch_host: return batch_host();
      case F::cpus: return number(job_cpu_count(job_));
      case F::tasks: return number(job_task_count(job_));
      case F::cpus_per_task: return append_cpus(out_, group_.cpus_per_task);
      case F::tasks_per_node: return number(group_.tasks_per_node);
      case F::memory_per_node_mib: return memory(group_.memory_per_node);
      case F::memory_per_cpu_mib: return memory(group_.memory_per_cpu);
      case F::memory_mib: return number(job_memory(job_).value);
      case F::gres: return text(job_gres_text(job_));
      case F::tres: return text(job_tres(job_));
      case F::constraint: return text(group_.constraint);
      case F::nodelist: return text(group_.nodelist);
      case F::exclude: return text(group_.exclude);
      case F::priority: return number(priority());
      case F::nice: return number(spec_.nice);
      case F::attempt: return unsigned_number(attempt() != nullptr ? attempt()->number.value : job_.last_attempt.value);
      case F::restarts: return unsigned_number(job_.restarts);
      case F::exit_code: return exit() != nullptr ? number(exit()->code) : null();
      case F::exit_signal: return exit() != nullptr ? number(exit()->signal) : null();
      case F::cpu_time_s: return exit() != nullptr ? append_seconds(out_, exit()->cpu_time) : null();
      case F::peak_memory_mib: return exit() != nullptr ? number(exit()->peak_memory.value) : null();
      case F::work_dir: return text(spec_.work_dir);
      case F::std_in: return text(job_stream_path(job_, state_, Stream::in));
      case F::std_out: return text(job_stream_path(job_, state_, Stream::out));
      case F::std_err: return text(job_stream_path(job_, state_, Stream::err));
      case F::command: return text(command_line());
      case F::comment: return text(spec_.annotations->comment);
      case F::wckey: return text(spec_.annotations->wckey);
      case F::hint: return text(spec_.annotations->hint);
      case F::distribution: return text(spec_.annotations->distribution);
      case F::cpu_bind: return text(spec_.annotations->cpu_bind);
      case F::mem_bind: return text(spec_.annotations->mem_bind);
      case F::mail_type: return text(spec_.annotations->mail_type);
      case F::mail_user: return text(spec_.annotations->mail_user);
      case F::requeue: return flag(spec_.requeue);
      case F::held_by_user: return flag(job_.held_by_user);
      case F::held_by_admin: return flag(job_.held_by_admin);
      case F::planned_start_us: return time(planned() != nullptr ? std::optional{planned()->start} : std::nullopt);
      case F::planned_nodes: return text(planned() != nullptr ? hostlist_of(planned()->nodes, state_) : std::string{});
      case F::sharing: return text(enum_name(group_.sharing));
      case F::contiguous: return flag(group_.contiguous);
      case F::switches: return group_.switches ? number(*group_.switches) : null();
      case F::segment_size: return group_.segments.empty() ? null() : number(group_.segments.front().size);
      case F::min_nodes: return number(group_.nodes_given ? group_.nodes.min : job_node_count(job_));
      case F::max_nodes: return group_.nodes_given ? number(group_.nodes.max) : null();
      case F::end_reason: return text(job_.end_reason);
      case F::verdict: return verdict();
      case F::placement: return placement();
      case F::placed: return placed();
      case F::gres_detail: return gres_detail();
      case F::spec: return append_job_spec(out_, spec_);
    }
  }

 private:
  static const model::Group& plain() {
    static const model::Group group;
    return group;
  }
  // The attempt that the view speaks of: none while the job waits for its next one.
  const model::Attempt* attempt() const { return job_.attempt && job_.state != model::JobState::pending ? &*job_.attempt : nullptr; }
  const model::ExitRecord* exit() const { return attempt() != nullptr && attempt()->exit ? &*attempt()->exit : nullptr; }
  const sched::Forecast* forecast() const { return job_.state == model::JobState::pending ? forecast_ : nullptr; }
  const sched::Forecast::Planned* planned() const { return forecast() != nullptr && forecast()->planned ? &*forecast()->planned : nullptr; }

  // What the pass used; before it has looked, and afterwards, the same rule. Held means 0, as in Slurm.
  std::int64_t priority() const {
    if (job_.state == model::JobState::pending && (job_.held_by_user || job_.held_by_admin)) return 0;
    if (forecast() != nullptr) return forecast()->priority;
    const std::string none;
    const std::string& name = attempt() != nullptr ? attempt()->partition : spec_.partitions.empty() ? none : spec_.partitions.front();
    const model::Partition* partition = state_.find_partition(name);
    return sched::priority_of(partition != nullptr ? partition->priority_tier : 1, spec_.nice);
  }

  // As squeue's %o shows it; nothing for a script from standard input or --wrap.
  std::string command_line() const {
    std::string line = spec_.script_name;
    if (!line.empty())
      for (const auto& argument : spec_.script_args) line += " " + argument;
    return line;
  }

  void null() { out_ += "null"; }
  void text(std::string_view value) { append_quoted(out_, value); }
  void number(std::int64_t value) { append_integer(out_, value); }
  void unsigned_number(std::uint64_t value) { append_unsigned(out_, value); }
  void flag(bool value) { out_ += value ? "true" : "false"; }
  void time(const std::optional<base::Time>& value) {
    if (value) append_integer(out_, base::micros(*value));
    else null();
  }
  void memory(const std::optional<base::Mebibytes>& value) {
    if (value) number(value->value);
    else null();
  }

  const model::Node* node(base::NodeIndex n) const { return n.value < state_.nodes.size() ? &state_.nodes[n.value] : nullptr; }
  std::string_view node_name(base::NodeIndex n) const {
    return node(n) != nullptr ? std::string_view{node(n)->name} : std::string_view{"?"};
  }

  void batch_host() {
    const bool has = attempt() != nullptr && !attempt()->nodes.empty();
    text(has ? node_name(attempt()->nodes.front().node) : std::string_view{});
  }

  void verdict() {
    if (job_.state != model::JobState::pending) return null();
    append_verdict(out_, waiting_verdict(job_, forecast_, now_));
  }

  // Per rank: [{"node":"n1","tasks":4}, …].
  void placement() {
    if (attempt() == nullptr) return null();
    out_ += '[';
    for (const auto& grant : attempt()->nodes) {
      if (&grant != attempt()->nodes.data()) out_ += ',';
      out_ += "{\"node\":";
      text(node_name(grant.node));
      out_ += ",\"tasks\":";
      number(grant.tasks);
      out_ += ",\"cpus\":";
      append_cpus(out_, grant.used.cpus);
      out_ += ",\"phase\":";
      text(enum_name(grant.phase));
      out_ += '}';
    }
    out_ += ']';
  }

  void placed() {
    if (attempt() == nullptr || !attempt()->placement) return null();
    append_placement(out_, *attempt()->placement, state_);
  }

  // [{"node":"n1","gres":[{"name":"gpu","type":"a100","index":0}]}], nodes without any left out.
  void gres_detail() {
    if (attempt() == nullptr) return null();
    out_ += '[';
    bool first = true;
    for (const auto& grant : attempt()->nodes) {
      const auto* on = node(grant.node);
      if (grant.gres_instances.empty() || on == nullptr) continue;
      if (!first) out_ += ',';
      first = false;
      out_ += "{\"node\":";
      text(on->name);
      out_ += ",\"gres\":[";
      bool first_instance = true;
      for (const auto i : grant.gres_instances) {
        if (i >= on->shape.gres.size()) continue;
        if (!first_instance) out_ += ',';
        first_instance = false;
        const auto& g = on->shape.gres[i];
        out_ += "{\"name\":";
        text(g.name);
        out_ += ",\"type\":";
        text(g.type);
        out_ += ",\"index\":";
        unsigned_number(g.index);
        out_ += '}';
      }
      out_ += "]}";
    }
    out_ += ']';
  }

  std::string& out_;
  const Job& job_;
  const model::JobSpec& spec_;
  const model::Group& group_;
  const State& state_;
  const sched::Forecast* forecast_;
  base::Time now_;
};

}  // namespace

std::string_view field_name(JobField field) { return names[static_cast<std::size_t>(field)]; }

std::span<const JobField> all_job_fields() { return all; }

base::Result<std::vector<JobField>> parse_job_fields(std::string_view list) {
  if (list.empty()) return std::vector<JobField>(all.begin(), all.end());
  std::vector<JobField> fields;
  while (true) {
    const auto comma = list.find(',');
    const auto word = list.substr(0, comma);
    const auto it = std::find(names.begin(), names.end(), word);
    if (it == names.end()) {
      const auto near = base::nearest(word, {names.begin(), names.end()});
      return base::fail(base::Code::invalid_argument, "a job has no such field", "fields", std::string{word.substr(0, 80)},
                        near.empty() ? "see docs/api-v1.md" : "did you mean " + near + "?");
    }
    const auto field = static_cast<JobField>(it - names.begin());
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    if (comma == std::string_view::npos) return fields;
    list.remove_prefix(comma + 1);
  }
}

void append_job(std::string& out, const Job& job, const State& state, const sched::Forecast* forecast, std::span<const JobField> fields,
                base::Time now) {
  Writer writer{out, job, state, forecast, now};
  out += '{';
  bool first = true;
  for (const auto field : fields) {
    if (!first) out += ',';
    first = false;
    out += '"';
    out += field_name(field);
    out += "\":";
    writer.write(field);
  }
  out += '}';
}

}  // namespace sy::wire

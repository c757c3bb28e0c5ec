#include "daemon/store/load_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <future>
#include <unordered_map>
#include <utility>

#include "wire/enum_names.hpp"
#include "wire/job_spec_json.hpp"
#include "wire/state_json.hpp"

namespace sy::daemon {

namespace {

using namespace sy::model;

// The requests of jobs, parsed on another processor while rows are read: most of a restart. Equal texts become one object: most
// queues are many jobs of few shapes.
class Requests {
 public:
  explicit Requests(const Connection& db) : db_(db) {}

  void add(Job& job, std::string_view text) {
    const auto [at, fresh] = by_text_.try_emplace(std::string{text});
    if (fresh) batch_.push_back(&*at);
    wanted_.emplace_back(&job, &at->second);
    if (batch_.size() >= batch_size) pass_on();
  }
  // After the last: every job gets its own.
  void finish() {
    check(parse(std::exchange(batch_, {})));
    while (!running_.empty()) wait_for_first();
    for (const auto& [job, spec] : wanted_) job->spec = *spec;
  }

 private:
  using Entry = std::pair<const std::string, std::shared_ptr<const JobSpec>>;
  using Fault = std::optional<base::Error>;
  static constexpr std::size_t batch_size = 1024, most_running = 2;

  static Fault parse(const std::vector<Entry*>& batch) {
    for (Entry* entry : batch) {
      auto spec = wire::job_spec_from_stored_text(entry->first);
      if (!spec) return spec.error();
      entry->second = std::make_shared<const JobSpec>(std::move(*spec));
    }
    return {};
  }
  // To the other thread; where that has enough to do, here.
  void pass_on() {
    using namespace std::chrono_literals;
    while (!running_.empty() && running_.front().wait_for(0s) == std::future_status::ready) wait_for_first();
    if (running_.size() < most_running) running_.push_back(std::async(std::launch::async, parse, std::exchange(batch_, {})));
    else check(parse(std::exchange(batch_, {})));
  }
  void wait_for_first() {
    const Fault fault = running_.front().get();
    running_.pop_front();
    check(fault);
  }
  void check(const Fault& fault) const {
    if (fault) trusted(base::Result<int>{base::fail(*fault)}, db_, "the request of a job");
  }

  const Connection& db_;
  std::unordered_map<std::string, std::shared_ptr<const JobSpec>> by_text_;  // entries stay where they are
  std::vector<Entry*> batch_;
  std::vector<std::pair<Job*, const std::shared_ptr<const JobSpec>*>> wanted_;
  std::deque<std::future<Fault>> running_;  // before the maps they write to are gone, each is waited for
};

template <class E>
E word(const Connection& db, std::string_view text) {
  const auto value = wire::enum_from_name<E>(text);
  if (!value) throw StoreFailure(fmt::format("the store {} holds the unknown word '{}': put back a backup", db.path(), text));
  return *value;
}

base::Digest digest(const Connection& db, std::string_view text) {
  const auto value = base::Digest::from_text(text);
  if (!value) throw StoreFailure(fmt::format("the store {} holds '{}' where a digest belongs: put back a backup", db.path(), text));
  return *value;
}

// All but the request, which is in the last column.
Job read_job(const Statement& row, const Connection& db) {
  int column = 0;
  const auto number = [&] { return row.integer(column++); };
  const auto text = [&] { return row.text(column++); };
  Job job;
  job.id = JobId{static_cast<std::uint64_t>(number())};
  job.uid = Uid{static_cast<std::uint32_t>(number())};
  job.gid = Gid{static_cast<std::uint32_t>(number())};
  job.user = text();
  job.group = text();
  job.submitted = base::time_from_micros(number());
  job.eligible = base::time_from_micros(number());
  job.script_digest = digest(db, text());
  job.env_digest = digest(db, text());
  job.held_by_user = number() != 0;
  job.held_by_admin = number() != 0;
  job.launch_failures = static_cast<std::uint32_t>(number());
  job.restarts = static_cast<std::uint32_t>(number());
  job.state = word<JobState>(db, text());
  job.lost_from = word<JobState>(db, text());
  job.last_attempt = AttemptNumber{static_cast<std::uint32_t>(number())};
  job.outcome = word<Outcome>(db, text());
  if (!row.null(column)) job.ended = base::time_from_micros(row.integer(column));
  ++column;
  job.end_reason = text();
  if (!row.null(column)) job.attempt = trusted(wire::attempt_from_text(row.text(column)), db, "an attempt");
  return job;
}

void load_counters(Connection& db, State& state) {
  auto& row = db.prepared("SELECT sequence, next_job_id, epoch, policy_version, settings FROM cluster");
  if (row.row()) {
    state.sequence = base::Sequence{static_cast<std::uint64_t>(row.integer(0))};
    state.next_job_id = JobId{static_cast<std::uint64_t>(row.integer(1))};
    state.epoch = static_cast<std::uint64_t>(row.integer(2));
    state.policy_version = static_cast<std::uint64_t>(row.integer(3));
    if (!row.null(4)) state.settings = trusted(wire::settings_from_text(row.text(4)), db, "settings");
  }
  row.reset();
}

void load_cluster(Connection& db, State& state) {
  auto& nodes = db.prepared("SELECT id, node FROM nodes ORDER BY id");
  while (nodes.row()) {
    if (static_cast<std::size_t>(nodes.integer(0)) != state.nodes.size())
      throw StoreFailure(fmt::format("the store {} lacks node number {}: put back a backup", db.path(), state.nodes.size()));
    state.nodes.push_back(trusted(wire::node_from_text(nodes.text(1)), db, "a node"));
  }
  auto& partitions = db.prepared("SELECT partition FROM partitions ORDER BY position");
  while (partitions.row()) state.partitions.push_back(trusted(wire::partition_from_text(partitions.text(0)), db, "a partition"));
  auto& topologies = db.prepared("SELECT name, topology FROM topologies");
  while (topologies.row())
    state.topologies.emplace(topologies.text(0), trusted(wire::topology_from_text(topologies.text(1)), db, "a topology"));
  auto& tokens = db.prepared("SELECT token FROM enrol_tokens ORDER BY position");
  while (tokens.row()) state.enrol_tokens.push_back(trusted(wire::enrol_token_from_text(tokens.text(0)), db, "an enrolment"));
}

}  // namespace

State load_state(Connection& db) {
  State state;
  Transaction transaction{db, Transaction::Kind::read};
  load_counters(db, state);
  load_cluster(db, state);
  Requests requests{db};
  auto& jobs = db.prepared(
      "SELECT id, uid, gid, user, user_group, submitted_us, eligible_us, script_digest, env_digest, held_by_user, held_by_admin, "
      "launch_failures, restarts, state, lost_from, last_attempt, outcome, ended_us, end_reason, attempt, spec "
      "FROM jobs ORDER BY id");
  constexpr int request_column = 20;
  while (jobs.row()) {
    Job job = read_job(jobs, db);
    const auto at = state.jobs.emplace_hint(state.jobs.end(), job.id, std::move(job));
    requests.add(at->second, jobs.text(request_column));
  }
  requests.finish();
  transaction.commit();
  rebuild_derived(state);
  return state;
}

}  // namespace sy::daemon

// A cluster in a box for tests of the pure core: State, virtual time, simulated agents with spools, and builders with
// defaults so that a test shows only what matters to it. Not the simulator (lib/sim): nothing here is random or timed.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/step.hpp"
#include "sched/pass.hpp"

namespace sy::test {

using namespace sy::core;

// A request, one call per option: ask().nodes(2).cpus(4).time(minutes{10}).
struct Ask {
  JobSpec spec;
  Ask() {
    spec.name = "job";
    spec.work_dir = "/home/ann";
  }
  Group& group() { return spec.groups.front(); }
  Ask& nodes(std::uint32_t min, std::uint32_t max = 0);
  Ask& choices(std::vector<std::uint32_t>);
  Ask& tasks(std::uint32_t n) {
    group().tasks = n;
    group().tasks_given = true;
    return *this;
  }
  Ask& tasks_per_node(std::uint32_t n) {
    group().tasks_per_node = n;
    return *this;
  }
  Ask& cpus(std::int64_t per_task) {
    group().cpus_per_task = whole_cpus(per_task);
    return *this;
  }
  Ask& memory(std::int64_t mib) {
    group().memory_per_node = Mebibytes{mib};
    return *this;
  }
  Ask& gres(std::string name, std::int64_t n, std::string type = {}) {
    group().gres_per_node.push_back({name, type, n});
    return *this;
  }
  Ask& gres_per_task(std::string name, std::int64_t n) {
    group().gres_per_task.push_back({name, {}, n});
    return *this;
  }
  Ask& gres_per_job(std::string name, std::int64_t n) {
    group().gres_per_job.push_back({name, {}, n});
    return *this;
  }
  Ask& features(std::string f) {
    group().constraint = std::move(f);
    return *this;
  }
  Ask& on(std::string hostlist) {
    group().nodelist = std::move(hostlist);
    return *this;
  }
  Ask& not_on(std::string hostlist) {
    group().exclude = std::move(hostlist);
    return *this;
  }
  Ask& exclusive() {
    group().sharing = Sharing::exclusive_node;
    return *this;
  }
  Ask& exclusive_user() {
    group().sharing = Sharing::exclusive_user;
    return *this;
  }
  Ask& contiguous() {
    group().contiguous = true;
    return *this;
  }
  Ask& time(Duration d) {
    spec.time_limit = d;
    return *this;
  }
  Ask& nice(std::int32_t n) {
    spec.nice = n;
    return *this;
  }
  Ask& partition(std::string p) {
    spec.partitions.push_back(std::move(p));
    return *this;
  }
  Ask& no_requeue() {
    spec.requeue = false;
    return *this;
  }
  Ask& no_kill() {
    spec.no_kill = true;
    return *this;
  }
  Ask& name(std::string n) {
    spec.name = std::move(n);
    return *this;
  }
};
inline Ask ask() { return {}; }

Principal system();
Principal admin();
Principal user(std::uint32_t uid = 1000, std::string name = "ann", std::vector<std::string> groups = {});
Principal agent(const std::string& node);

// What a node's agent remembers across restarts of itself, and how it behaves.
struct SimAgent {
  struct Record {
    NodePhase phase{NodePhase::accepted};
    bool lead{};
    bool script_ended{};
  };
  std::string name, boot{"boot-1"}, spool{"spool-1"};
  std::map<std::pair<std::uint64_t, std::uint32_t>, Record> records;
  bool reachable{true};
  enum class Refuses { nothing, as_node_fault, as_job_fault, as_nobodys_fault } refuses{Refuses::nothing};
  std::string refusal{"prolog failed"};
  int starts_of_scripts{};
};

class Cluster {
 public:
  // n1…nN in the default partition "batch", registered and up.
  explicit Cluster(std::uint32_t nodes = 4, std::uint32_t cpus = 4, std::int64_t memory = 8000, std::uint32_t gpus = 0);

  State state;
  Time now{time_from_seconds(1'700'000'000)};
  std::vector<Event> history;
  std::deque<Effect> outbox;                       // effects not delivered yet
  std::map<std::string, SimAgent> agents;
  Configure configuration;                         // in force; change it and call configure()
  bool check_after_every_step{true};

  // Runs one command, keeps its events and effects, checks the invariants.
  StepResult run(Action, const Principal& who = system());
  void configure() { expect(run(configuration, admin())); }

  JobId submit(Ask, const Principal& who = user());
  Error refused(Ask, const Principal& who = user());
  sched::Plan plan() const;
  sched::Plan pass();                              // plans and applies
  Verdict why(JobId) const;                        // what the pass says of a waiting job

  const Job& job(JobId id) const { return state.jobs.at(id); }
  const Node& node(const std::string& name) const { return *state.find_node(name); }
  NodeIndex index(const std::string& name) const { return node(name).index; }
  std::vector<std::string> nodes_of(JobId) const;  // rank order

  void deliver();                                  // all effects to the agents, and their reports back, until quiet
  void start(JobId id);                            // pass and deliver; the job must run then
  void finish(JobId, ExitRecord = {});             // the script ends; delivered
  StepResult report(const std::string& node, JobId, std::uint32_t attempt, ReportAttempt::What, ReportAttempt::Blame = {},
                    std::string reason = {}, std::optional<ExitRecord> exit = {});
  StepResult register_node(const std::string& node);  // with what its agent remembers; kills what it is told to
  void register_all();
  void silent(const std::string& node);            // unreachable, and found silent
  void heard(const std::string& node);             // reachable again, same boot and spool
  void reboot(const std::string& node);            // new boot id, nothing runs; not registered yet
  void lose_spool(const std::string& node);
  void advance(Duration d) {
    now += d;
    run(AdvanceTime{});
  }

  static const StepResult& expect(const StepResult&);  // throws with the refusal's text
  void expect_replay_gives_the_same() const;

 private:
  void deliver_one(const Effect&);
  void launch(SimAgent&, const LaunchOnNode&);
  void end(SimAgent&, const EndOnNode&);
};

std::string describe(const Verdict&);

}  // namespace sy::test

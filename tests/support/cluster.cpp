#include "support/cluster.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sy::test {

namespace {
const Digest some_digest = *Digest::from_text(std::string(64, '5'));  // of a script that nobody reads
}  // namespace

Ask& Ask::nodes(std::uint32_t min, std::uint32_t max) {
  group().nodes = {min, max == 0 ? min : max, {}};
  group().nodes_given = true;
  return *this;
}

Ask& Ask::choices(std::vector<std::uint32_t> list) {
  group().nodes = {list.front(), list.back(), list};
  group().nodes_given = true;
  return *this;
}

Principal system() {
  Principal p;
  p.role = Role::system;
  return p;
}

Principal admin() {
  Principal p;
  p.role = Role::administrator;
  p.uid = Uid{0};
  p.gid = Gid{0};
  p.user = p.group = "root";
  return p;
}

Principal user(std::uint32_t uid, std::string name, std::vector<std::string> groups) {
  Principal p;
  p.role = Role::user;
  p.uid = Uid{uid};
  p.gid = Gid{uid};
  p.user = name;
  p.group = name;
  p.groups = std::move(groups);
  return p;
}

Principal agent(const std::string& node) {
  Principal p;
  p.role = Role::agent;
  p.node = node;
  return p;
}

Cluster::Cluster(std::uint32_t nodes, std::uint32_t cpus, std::int64_t memory, std::uint32_t gpus) {
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    NodeDeclaration d;
    d.name = fmt::format("n{}", i);
    d.shape = NodeShape{};
    d.shape->cpus = cpus;
    d.shape->memory = Mebibytes{memory};
    for (std::uint32_t g = 0; g < gpus; ++g) d.shape->gres.push_back({"gpu", "", g, 1000, ""});
    configuration.nodes.push_back(std::move(d));
  }
  PartitionDeclaration p;
  p.settings.name = "batch";
  p.settings.is_default = true;
  p.node_names = {"ALL"};
  configuration.partitions.push_back(std::move(p));
  configure();
  run(BeginEpoch{1, 1});
  register_all();
}

StepResult Cluster::run(Action action, const Principal& who) {
  StepResult r = step(state, Command{now, who, std::move(action)});
  history.insert(history.end(), r.events.begin(), r.events.end());
  outbox.insert(outbox.end(), r.effects.begin(), r.effects.end());
  if (check_after_every_step) {
    auto faults = check_invariants(state);
    if (!faults.empty()) throw std::logic_error("invariant broken: " + faults.front());
  }
  return r;
}

const StepResult& Cluster::expect(const StepResult& r) {
  if (!r.reply) throw std::logic_error("refused: " + to_text(r.reply.error()));
  return r;
}

JobId Cluster::submit(Ask a, const Principal& who) {
  return expect(run(SubmitJob{std::make_shared<const JobSpec>(std::move(a.spec)), some_digest, some_digest, false}, who)).reply->job;
}

Error Cluster::refused(Ask a, const Principal& who) {
  auto r = run(SubmitJob{std::make_shared<const JobSpec>(std::move(a.spec)), some_digest, some_digest, false}, who);
  if (r.reply) throw std::logic_error("expected a refusal");
  return r.reply.error();
}

sched::Plan Cluster::plan() const { return sched::plan_pass(sched::make_view(state, state.shape ? state.shape : make_shape(state)), now); }

sched::Plan Cluster::pass() {
  auto p = plan();
  ApplyPlan apply{p.snapshot, p.policy_version, {}};
  for (const auto& s : p.starts) apply.starts.push_back({s.job, s.partition, s.nodes, s.placement});
  expect(run(std::move(apply)));
  return p;
}

Verdict Cluster::why(JobId id) const {
  const auto p = plan();
  const auto* forecast = p.forecast_of(id);
  return forecast == nullptr ? Verdict{} : forecast->verdict();
}

std::vector<std::string> Cluster::nodes_of(JobId id) const {
  std::vector<std::string> out;
  if (const Job* j = state.find_job(id); j != nullptr && j->attempt)
    for (const auto& g : j->attempt->nodes) out.push_back(state.nodes[g.node.value].name);
  return out;
}

StepResult Cluster::report(const std::string& node, JobId job, std::uint32_t attempt, ReportAttempt::What what, ReportAttempt::Blame blame,
                           std::string reason, std::optional<ExitRecord> exit) {
  return run(ReportAttempt{index(node), job, AttemptNumber{attempt}, what, blame, std::move(reason), std::move(exit), now}, agent(node));
}

void Cluster::launch(SimAgent& a, const LaunchOnNode& e) {
  using What = ReportAttempt::What;
  using Blame = ReportAttempt::Blame;
  const auto key = std::pair{e.job.value, e.attempt.value};
  auto known = a.records.find(key);
  if (known != a.records.end()) {  // answered as the first time; a tombstone refuses
    if (!is_over(known->second.phase)) report(a.name, e.job, e.attempt.value, What::accepted);
    else report(a.name, e.job, e.attempt.value, What::refused, Blame::nobody, "it has ended here");
    return;
  }
  if (a.refuses != SimAgent::Refuses::nothing) {
    const auto blame = a.refuses == SimAgent::Refuses::as_node_fault  ? Blame::node
                       : a.refuses == SimAgent::Refuses::as_job_fault ? Blame::job
                                                                      : Blame::nobody;
    report(a.name, e.job, e.attempt.value, What::refused, blame, a.refusal);
    return;
  }
  a.records[key] = {NodePhase::accepted, e.lead, false};
  report(a.name, e.job, e.attempt.value, What::accepted);
  if (!e.lead) return;
  a.records[key].phase = NodePhase::running;
  ++a.starts_of_scripts;
  report(a.name, e.job, e.attempt.value, What::started);
}

void Cluster::end(SimAgent& a, const EndOnNode& e) {
  using What = ReportAttempt::What;
  auto& r = a.records[{e.job.value, e.attempt.value}];  // unknown: remembered, so that a late launch is refused
  if (r.lead && r.phase == NodePhase::running && !r.script_ended) {
    r.script_ended = true;
    ExitRecord exit;
    exit.signal = 15;
    report(a.name, e.job, e.attempt.value, What::script_ended, {}, {}, exit);
  }
  r.phase = NodePhase::clear;
  report(a.name, e.job, e.attempt.value, What::cleared);
}

void Cluster::deliver_one(const Effect& effect) {
  const NodeIndex target = std::visit([](const auto& e) { return e.node; }, effect);
  SimAgent& a = agents[state.nodes[target.value].name];
  if (std::holds_alternative<RunFenceProgram>(effect)) {
    run(FenceNode{target, "fence program"});
    return;
  }
  if (!a.reachable) return;
  if (const auto* e = std::get_if<LaunchOnNode>(&effect)) launch(a, *e);
  if (const auto* e = std::get_if<EndOnNode>(&effect)) end(a, *e);
  if (const auto* e = std::get_if<ForgetOnNode>(&effect)) a.records.erase({e->job.value, e->attempt.value});
}

void Cluster::deliver() {
  for (int i = 0; !outbox.empty(); ++i) {
    if (i > 100'000) throw std::logic_error("effects and reports go round for ever");
    const Effect e = outbox.front();
    outbox.pop_front();
    deliver_one(e);
  }
}

void Cluster::start(JobId id) {
  pass();
  deliver();
  if (job(id).state != JobState::running) throw std::logic_error(fmt::format("job {} does not run: {}", id.value, describe(why(id))));
}

void Cluster::finish(JobId id, ExitRecord exit) {
  const Job before = job(id);
  SimAgent& a = agents[nodes_of(id).front()];
  auto& r = a.records.at({id.value, before.attempt->number.value});
  r.script_ended = true;
  report(a.name, id, before.attempt->number.value, ReportAttempt::What::script_ended, {}, {}, exit);
  r.phase = NodePhase::clear;
  report(a.name, id, before.attempt->number.value, ReportAttempt::What::cleared);
  deliver();
}

StepResult Cluster::register_node(const std::string& name) {
  SimAgent& a = agents[name];
  RegisterNode r;
  r.node = index(name);
  for (const auto& d : configuration.nodes)
    if (d.name == name && d.shape) r.shape = *d.shape;
  r.boot_id = a.boot;
  r.spool_id = a.spool;
  r.version = "0.1.0";
  r.address = "127.0.0.1";
  r.port = 7000;
  for (const auto& [key, record] : a.records) r.attempts.push_back({JobId{key.first}, AttemptNumber{key.second}, record.phase});
  a.reachable = true;
  StepResult result = run(std::move(r), agent(name));
  expect(result);
  for (const auto& k : result.reply->to_kill) {
    a.records[{k.job.value, k.attempt.value}].phase = NodePhase::clear;
    report(name, k.job, k.attempt.value, ReportAttempt::What::cleared);
  }
  return result;
}

void Cluster::register_all() {
  for (const auto& d : configuration.nodes) {
    agents[d.name].name = d.name;
    register_node(d.name);
  }
}

void Cluster::silent(const std::string& node) {
  agents[node].reachable = false;
  expect(run(NodeSilent{index(node)}));
}

void Cluster::heard(const std::string& node) {
  agents[node].reachable = true;
  expect(run(NodeHeard{index(node)}));
}

void Cluster::reboot(const std::string& node) {
  SimAgent& a = agents[node];
  a.boot += "+";
  a.records.clear();
}

void Cluster::lose_spool(const std::string& node) {
  SimAgent& a = agents[node];
  a.spool += "+";
  a.records.clear();
}

void Cluster::expect_replay_gives_the_same() const {
  State replayed;
  for (const auto& e : history) evolve(replayed, e);
  std::string why;
  if (!equal(state, replayed, &why)) throw std::logic_error("replay differs: " + why);
  State rebuilt = state;
  rebuild_derived(rebuilt);
  if (!equal(state, rebuilt, &why)) throw std::logic_error("rebuilding what is derived differs: " + why);
}

std::string describe(const Verdict& v) {
  return fmt::format("{} {}: {}",
                     v.fits()                         ? "fits"
                     : v.kind == Verdict::Kind::never ? "never"
                                                      : "not now",
                     reason_name(v.reason), to_text(v));
}

}  // namespace sy::test

// Over random command sequences: replaying the events gives the live state; rebuilding what is derived changes nothing; no
// invariant breaks; totals counted here, from events alone and without evolve, agree; and the image that passes look at, kept up
// to date by the events, is the one made from scratch.
#include <fmt/format.h>

#include <tuple>

#include "core/view_image.hpp"
#include "support/catch.hpp"
#include "support/cluster.hpp"

using namespace sy::test;

namespace {

struct Op {
  std::uint8_t verb{}, a{}, b{};
};
void showValue(const Op& o, std::ostream& out) { out << fmt::format("{{{},{},{}}}", o.verb, o.a, o.b); }

// Nodes and CPUs held, from the facts alone: added at JobStarted, taken back at NodeCleared.
struct Tally {
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::int64_t> held;  // job, attempt, node → thousandths
  std::map<std::uint64_t, std::uint32_t> live_attempt;
  std::set<std::uint64_t> ids;
  std::uint64_t highest_id{};

  void count(const Event& e) {
    if (const auto* f = std::get_if<JobSubmitted>(&e.fact)) {
      if (!ids.insert(f->job.id.value).second || f->job.id.value <= highest_id) throw std::logic_error("a job id came twice");
      highest_id = f->job.id.value;
    }
    if (const auto* f = std::get_if<JobStarted>(&e.fact)) {
      for (const auto& [key, cpus] : held)
        if (std::get<0>(key) == f->job.value) throw std::logic_error("a second attempt starts while the first holds a node");
      for (const auto& g : f->attempt.nodes) held[{f->job.value, f->attempt.number.value, g.node.value}] = g.held.cpus.value;
    }
    if (const auto* f = std::get_if<NodeCleared>(&e.fact))
      if (held.erase({f->job.value, f->attempt.value, f->node.value}) != 1) throw std::logic_error("a node is cleared that was not held");
    if (const auto* f = std::get_if<JobEnded>(&e.fact)) nothing_held(f->job.value);
    if (const auto* f = std::get_if<JobRequeued>(&e.fact)) nothing_held(f->job.value);
  }
  void nothing_held(std::uint64_t job) const {
    for (const auto& [key, cpus] : held)
      if (std::get<0>(key) == job) throw std::logic_error("a job ended while it held a node");
  }
  std::int64_t on(std::uint32_t node) const {
    std::int64_t sum = 0;
    for (const auto& [key, cpus] : held)
      if (std::get<2>(key) == node) sum += cpus;
    return sum;
  }
};

class Player {
 public:
  Player() : c(5, 4, 8000, 2) {}

  void play(const Op& op) {
    switch (op.verb % 30) {
      case 0:
      case 1:
      case 2:
      case 3: submit(op); break;
      case 4:
      case 5:
      case 6:
      case 7: c.pass(); break;
      case 8:
      case 9:
      case 10:
      case 11: c.deliver(); break;
      case 12: deliver_some(op.a); break;
      case 13: lose_effects(); break;
      case 14: finish(op); break;
      case 15: finish(op); break;
      case 16: on_job(op, CancelJob{job(op.a)}); break;
      case 17: on_job(op, RequeueJob{job(op.a), op.b % 4 == 0}); break;
      case 18: on_job(op, HoldJob{job(op.a)}); break;
      case 19: on_job(op, ReleaseJob{job(op.a)}); break;
      case 20: node_lost(op); break;
      case 21: c.run(FenceNode{c.index(node(op.a)), "test"}, admin()); break;
      case 22: c.register_node(node(op.a)); break;
      case 23: operate(op); break;
      case 24: stray_report(op); break;
      case 25: c.agents[node(op.a)].refuses = static_cast<SimAgent::Refuses>(op.b % 4); break;
      case 26: c.advance(seconds{1 + op.a * op.b}); break;
      case 27: configure(op); break;
      case 28: update(op); break;
      case 29: restart(); break;
      default: break;
    }
    follow(op);
  }

  void check() const {
    c.expect_replay_gives_the_same();
    Tally t;
    for (const auto& e : c.history) t.count(e);
    for (const auto& n : c.state.nodes)
      if (t.on(n.index.value) != n.held.cpus.value) throw std::logic_error("the events do not sum to what node " + n.name + " holds");
    for (const auto& [name, a] : c.agents)
      if (a.starts_of_scripts > 1'000'000) throw std::logic_error("impossible");
  }

  Cluster c;

 private:
  // Not after every operation, so that the image meets several changes at once too.
  void follow(const Op& op) {
    image.follow(c.state, {c.history.begin() + static_cast<std::ptrdiff_t>(followed), c.history.end()});
    followed = c.history.size();
    if (op.b % 3 == 0) return;
    const sy::sched::View kept = image.view(c.state);
    const sy::sched::View made = sy::sched::make_view(c.state, c.state.shape ? c.state.shape : sy::model::make_shape(c.state));
    const auto job = [](const sy::sched::WaitingJob& w) {
      return std::tuple{w.id, w.spec, w.uid, w.submitted, w.eligible, w.held_by_user, w.held_by_admin, w.launch_failed, w.names_jobs};
    };
    const auto node = [](const sy::sched::NodeNow& n) {
      return std::tuple{n.jobs, n.sole_user, n.usable, n.drained, n.exclusive, n.exclusive_user};
    };
    const auto same = [](const auto& a, const auto& b, const auto& parts) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) { return parts(x) == parts(y); });
    };
    if (!same(kept.waiting, made.waiting, job)) throw std::logic_error("the image has other waiting jobs");
    const auto runs = [](const sy::sched::RunningJob& r) { return std::tuple{r.id, r.uid, r.spec, r.nodes}; };
    if (!same(kept.running, made.running, runs)) throw std::logic_error("the image has other running jobs");
    sy::sched::RequestClasses fresh;
    std::map<std::uint32_t, std::uint32_t> there, back;
    for (std::size_t i = 0; i < made.waiting.size(); ++i) {
      const auto number = kept.waiting[i].request, by_content = fresh.of(made.waiting[i]);
      if (there.emplace(number, by_content).first->second != by_content || back.emplace(by_content, number).first->second != number)
        throw std::logic_error("the image numbers requests otherwise than their contents do");
    }
    if (!same(kept.nodes, made.nodes, node)) throw std::logic_error("the image has other nodes");
    for (std::size_t i = 0; i < made.nodes.size(); ++i)
      if (!(kept.nodes[i].free == made.nodes[i].free)) throw std::logic_error("the image has other free resources");
    if (!(kept.settings == made.settings) || kept.snapshot != made.snapshot) throw std::logic_error("the image is of another state");
  }

  sy::core::ViewImage image;
  std::size_t followed{};

  std::string node(std::uint8_t a) const { return fmt::format("n{}", 1 + a % 5); }
  JobId job(std::uint8_t a) const {
    if (c.state.jobs.empty()) return JobId{1};
    auto it = c.state.jobs.begin();
    std::advance(it, a % c.state.jobs.size());
    return it->first;
  }
  void submit(const Op& op) {
    Ask a;
    a.cpus(1 + op.a % 4);
    if (op.b % 3 == 0) a.nodes(1 + op.b % 4, 1 + op.b % 4 + op.a % 2);
    if (op.b % 3 == 1) a.tasks(1 + op.b % 6);
    if (op.a % 5 == 0) a.gres("gpu", 1 + op.b % 2);
    if (op.a % 7 == 0) a.exclusive();
    if (op.a % 11 == 0) a.exclusive_user();
    if (op.b % 8 == 0) a.no_requeue();
    if (op.b % 13 == 0) a.no_kill();
    if (op.b % 17 == 0) a.partition("extra");
    if (op.b % 7 == 2) (op.a % 2 == 0 ? a.group().affinity : a.group().anti_affinity) = {{"node", "job:self", op.a % 3 == 0}};
    a.time(minutes{1 + op.b}).memory(op.a * 10);
    c.run(SubmitJob{std::make_shared<const JobSpec>(a.spec), {}, {}, false}, user(1000 + op.b % 2, op.b % 2 ? "bob" : "ann"));
  }
  void on_job(const Op& op, Action action) { c.run(std::move(action), op.b % 5 == 0 ? admin() : user(1000 + op.b % 2, "ann")); }
  void deliver_some(std::size_t n) {
    auto rest = c.outbox;
    n = std::min(n % 5, rest.size());
    c.outbox.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    c.deliver();
    c.outbox.insert(c.outbox.end(), rest.begin(), rest.end());
  }
  void lose_effects() {  // the controller died after the commit
    c.outbox.clear();
    for (auto& e : pending_effects(c.state)) c.outbox.push_back(e);
  }
  void finish(const Op& op) {
    const JobId id = job(op.a);
    const Job* j = c.state.find_job(id);
    if (j == nullptr || j->state != JobState::running) return;
    auto& agent = c.agents[c.nodes_of(id).front()];
    if (!agent.reachable || !agent.records.contains({id.value, j->attempt->number.value})) return;
    ExitRecord exit;
    exit.code = op.b % 3;
    exit.out_of_memory = op.b % 7 == 0;
    c.finish(id, exit);
  }
  void node_lost(const Op& op) {
    switch (op.b % 4) {
      case 0: c.silent(node(op.a)); break;
      case 1: c.heard(node(op.a)); break;
      case 2: c.reboot(node(op.a)); break;
      case 3: c.lose_spool(node(op.a)); break;
    }
    if (op.b % 4 >= 2) c.register_node(node(op.a));
  }
  void operate(const Op& op) {
    const auto n = c.index(node(op.a));
    if (op.b % 4 == 0) c.run(DrainNode{n, "test"}, admin());
    else if (op.b % 4 == 1) c.run(DownNode{n, "test"}, admin());
    else c.run(ResumeNode{n}, admin());
  }
  void stray_report(const Op& op) {
    const JobId id = op.b % 6 == 0 ? JobId{job(op.a).value + 40} : job(op.a);
    const Job* j = c.state.find_job(id);
    const std::uint32_t attempt = j != nullptr && op.b % 2 == 0 ? j->last_attempt.value : op.b % 4;
    std::optional<ExitRecord> exit;
    if (op.b % 3 == 0) exit = ExitRecord{};
    c.report(node(op.b), id, attempt, static_cast<ReportAttempt::What>(op.a % 5), static_cast<ReportAttempt::Blame>(op.b % 3), "stray",
             exit);
  }
  void configure(const Op& op) {
    auto next = c.configuration;
    next.settings.on_lost = op.a % 2 == 0 ? Settings::OnLost::wait : Settings::OnLost::assume_dead;
    next.settings.fence_program = op.a % 3 == 0 ? "/sbin/fence" : "";
    if (op.b % 3 == 0) {
      PartitionDeclaration p;
      p.settings.name = "extra";
      p.node_names = {"n1", "n2"};
      next.partitions.push_back(p);
    }
    if (op.b % 5 == 0) next.nodes.front().shape->cpus = 4 + op.a % 4;
    c.run(next, admin());
  }
  void update(const Op& op) {
    JobChange change;
    if (op.b % 2 == 0) change.time_limit = std::optional<Duration>{minutes{1 + op.b}};
    else change.cpus_per_task = whole_cpus(1 + op.b % 5);
    if (op.b % 7 == 0) change.nice = op.a;
    c.run(UpdateJob{job(op.a), change}, admin());
  }
  void restart() {
    rebuild_derived(c.state);
    lose_effects();
    c.run(BeginEpoch{0, 1});
  }
};

}  // namespace

namespace rc {
template <>
struct Arbitrary<Op> {
  static Gen<Op> arbitrary() { return gen::build<Op>(gen::set(&Op::verb), gen::set(&Op::a), gen::set(&Op::b)); }
};
}  // namespace rc

TEST_CASE("whatever is asked in whatever order, replay equals the live state and totals agree") {
  check_property("replay", [](const std::vector<Op>& ops) {
    Player p;
    for (const auto& op : ops) p.play(op);
    p.check();
  });
}

TEST_CASE("whatever happened, once every node is back and answers, every job that can end ends and nothing stays held") {
  check_property("quiet end", [](const std::vector<Op>& ops) {
    Player p;
    for (const auto& op : ops) p.play(op);
    Cluster& c = p.c;
    for (auto& [name, a] : c.agents) a.refuses = SimAgent::Refuses::nothing;
    for (const auto& id : std::set<JobId>(c.state.live)) c.run(CancelJob{id}, admin());
    for (const auto& id : std::set<JobId>(c.state.waiting)) c.run(CancelJob{id}, admin());
    for (auto& [name, a] : c.agents) {
      c.reboot(name);
      c.register_node(name);
    }
    c.deliver();
    p.check();
    if (!c.state.live.empty() || !c.state.waiting.empty()) throw std::logic_error("a job never ends");
    for (const auto& n : c.state.nodes)
      if (!(n.held == Resources{})) throw std::logic_error("something stays held on " + n.name);
  });
}

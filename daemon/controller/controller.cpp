#include "daemon/controller/controller.hpp"

#include <algorithm>

#include "daemon/runtime/log.hpp"

namespace sy::daemon {

model::Principal switchyard_itself() {
  model::Principal who;
  who.role = model::Role::system;
  who.user = "switchyard";
  return who;
}

namespace {
EffectRunner::Options effect_options(const Controller::Doors& doors, const wire::DaemonSettings& settings) {
  EffectRunner::Options options;
  options.now = doors.now;
  options.prolog = settings.prolog;
  options.epilog = settings.epilog;
  return options;
}
Planner::Options planner_options(const Controller::Doors& doors) {
  Planner::Options options;
  options.now = doors.now;
  return options;
}
Liveness::Options liveness_options(const wire::DaemonSettings& settings) {
  Liveness::Options options;
  options.silent_after = settings.silent_after;
  return options;
}
}  // namespace

Controller::Controller(http::Loop& loop, Doors doors, wire::DaemonSettings settings, const KeyPair& key)
    : loop_(loop),
      doors_(std::move(doors)),
      settings_(std::move(settings)),
      key_(key),
      ledger_(loop, doors_.store, {doors_.now, doors_.retry}),
      planner_(loop, ledger_, planner_options(doors_)),
      reader_(loop),
      names_(loop),
      blobs_(doors_.store, reader_),
      users_(names_, doors_.look_up),
      effects_(loop, ledger_, doors_.agents, blobs_, users_, effect_options(doors_, settings_)),
      fence_(
          loop, [this](base::NodeIndex node) { ledger_.execute(switchyard_itself(), core::FenceNode{node, "fence program"}); },
          [this](base::NodeIndex node) { effects_.run_pending(node); }),
      liveness_(loop, ledger_, liveness_options(settings_)),
      clock_(loop),
      examiner_(loop) {
  effects_.set_fence([this](base::NodeIndex node) { fence_.run(node, state().nodes[node.value].name, state().settings.fence_program); });
  ledger_.changed = [this](const std::vector<core::Event>& events) { planner_.changed(events); };
  ledger_.on_committed = [this](const Ledger::Committed& news) {
    effects_.run(news.effects);
    if (on_committed) on_committed(news);
  };
  ledger_.reloaded = [this] {
    if (const auto done = configure(configured_); !done)
      log_error("the configuration could not be put in force again: {}", base::to_text(done.error()));
    planner_.reloaded();
    liveness_.start();
    effects_.run_all_pending();
    if (on_reloaded) on_reloaded();
  };
}

Controller::~Controller() = default;

base::Result<std::vector<std::string>> Controller::configure(core::Configure wanted) {
  auto outcome = ledger_.execute(switchyard_itself(), wanted);
  if (!outcome.reply) return base::fail(outcome.reply.error());
  for (const std::string& warning : outcome.reply->warnings) log_warning("configuration: {}", warning);
  configured_ = std::move(wanted);
  configured_.again = false;  // when the state is loaded anew it is put in force whatever it names
  return std::move(outcome.reply->warnings);
}

base::Result<void> Controller::open(const core::Configure& wanted) {
  if (auto opened = ledger_.open(); !opened) return opened;
  if (auto done = configure(wanted); !done) return base::fail(done.error());
  return {};
}

void Controller::start() {
  wall_start_ = doors_.now();
  steady_start_ = monotonic_now();
  liveness_.start();
  effects_.run_all_pending();
  planner_.due();
  advance_time();
  look_through_store();
}

// A start must not wait for every page of a long history.
void Controller::look_through_store() {
  auto found = std::make_shared<std::vector<std::string>>();
  examiner_.run(
      [found, &store = doors_.store] {
        try {
          *found = store.damage();
        } catch (const StoreFailure& failure) { found->emplace_back(failure.what()); }
      },
      [this, found] {
        store_faults_ = found->size();
        for (const std::string& fault : *found) log_error("the state file is damaged: {}", fault);
        if (!found->empty())
          log_error("put back a backup of the state file while the controller is stopped, and keep this file for its analysis");
      });
}

base::Result<std::vector<std::string>> Controller::reconfigure(const wire::Config& wanted) {
  core::Configure cluster = wanted.cluster;
  cluster.again = true;
  auto warnings = configure(std::move(cluster));
  if (!warnings) return warnings;
  const wire::DaemonSettings old = settings_;
  settings_ = wanted.daemon;
  settings_.state_dir = old.state_dir;
  settings_.socket = old.socket;
  settings_.listen = old.listen;
  settings_.ports_file = old.ports_file;
  liveness_.set_silent_after(settings_.silent_after);
  effects_.set_hooks(settings_.prolog, settings_.epilog);
  return warnings;
}

// Time that passes by itself, never by setting the clock forward: that must not end a running job, whose walltime its
// supervisor measures anyway. A clock that was set back is believed at once: nothing becomes due too early then.
base::Time Controller::time_passed() const {
  const auto since_start = std::chrono::duration_cast<base::Duration>(monotonic_now() - steady_start_);
  return std::min(doors_.now(), wall_start_ + since_start);
}

void Controller::advance_time() {
  clock_.start(std::chrono::seconds{1}, [this] {
    ledger_.execute_at(time_passed(), switchyard_itself(), core::AdvanceTime{});
    advance_time();
  });
}

void Controller::drain(std::function<void()> done) {
  draining_ = true;
  clock_.cancel();
  planner_.pause(true);
  ledger_.refuse_work(base::Error{base::Code::unavailable, "the controller is shutting down", {}, {}, {}, "try again in a moment"});
  ledger_.when_quiet(std::move(done));
}

}  // namespace sy::daemon

// The controller's parts in one place, in the order in which they depend on each other, and how news flows between them.
// Not the routes (daemon/api) and not the process around it (programs/switchyardd.cpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/controller/agent_link.hpp"
#include "daemon/controller/blob_cache.hpp"
#include "daemon/controller/effect_runner.hpp"
#include "daemon/controller/fence_program.hpp"
#include "daemon/controller/ledger.hpp"
#include "daemon/controller/liveness.hpp"
#include "daemon/controller/planner.hpp"
#include "daemon/runtime/signing.hpp"
#include "daemon/runtime/users.hpp"
#include "wire/config.hpp"

namespace sy::daemon {

// The principal behind what the controller does by itself.
model::Principal switchyard_itself();

class Controller {
 public:
  struct Doors {                                   // the outside, so that tests can stand in for it
    Store& store;
    AgentLink& agents;
    UserCache::LookUp look_up{look_up_user};
    std::function<base::Time()> now{wall_now};
    base::Duration retry{std::chrono::seconds{5}}; // after a failed commit
  };
  Controller(http::Loop&, Doors, wire::DaemonSettings, const KeyPair&);
  ~Controller();

  // Loads the state and puts the configuration in force; blocks. Then start() on the loop.
  base::Result<void> open(const core::Configure&);
  void start();
  // What may change at run time; answers with warnings.
  base::Result<std::vector<std::string>> reconfigure(const wire::Config&);
  // Set by the program: reads its configuration file again, as SIGHUP does. Nothing changes when there is a fault in it.
  std::function<base::Result<std::vector<std::string>>()> read_configuration_again;
  // No new work, no passes; calls back when everything executed is on disk.
  void drain(std::function<void()> done);

  http::Loop& loop() { return loop_; }
  Store& store() { return doors_.store; }
  base::Time now() const { return doors_.now(); }
  const wire::DaemonSettings& settings() const { return settings_; }
  const KeyPair& key() const { return key_; }
  Ledger& ledger() { return ledger_; }
  Planner& planner() { return planner_; }
  EffectRunner& effects() { return effects_; }
  Liveness& liveness() { return liveness_; }
  BlobCache& blobs() { return blobs_; }
  UserCache& users() { return users_; }
  Worker& reader() { return reader_; }             // for what reads the store or takes long
  const model::State& state() const { return ledger_.state(); }
  bool draining() const { return draining_; }
  std::size_t store_faults() const { return store_faults_; }  // found by the look through the whole file after the start

  // Set by the API: jobs whose committed state changed.
  std::function<void(const Ledger::Committed&)> on_committed;
  std::function<void()> on_reloaded;

 private:
  void look_through_store();
  void advance_time();
  base::Time time_passed() const;
  base::Result<std::vector<std::string>> configure(core::Configure);

  http::Loop& loop_;
  Doors doors_;
  wire::DaemonSettings settings_;
  const KeyPair& key_;
  core::Configure configured_;
  Ledger ledger_;
  Planner planner_;
  Worker reader_, names_;                          // names_: the name service, which may hang by itself
  BlobCache blobs_;
  UserCache users_;
  EffectRunner effects_;
  FenceProgram fence_;
  Liveness liveness_;
  http::Timer clock_;
  base::Time wall_start_{};
  Monotonic steady_start_{};
  bool draining_{};
  std::size_t store_faults_{};
  Worker examiner_;                                // for seconds, once
};

}  // namespace sy::daemon

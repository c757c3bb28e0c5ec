// switchyardd, the controller: reads its configuration, opens its state, listens, runs until told to stop.
#include <fmt/format.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "daemon/api/api.hpp"
#include "daemon/controller/controller.hpp"
#include "daemon/controller/http_agent_link.hpp"
#include "daemon/runtime/log.hpp"
#include "daemon/runtime/notify.hpp"
#include "daemon/runtime/private_folder.hpp"
#include "daemon/store/sqlite_store.hpp"

namespace {

using namespace sy;
using namespace sy::daemon;

constexpr const char* usage =
    "usage: switchyardd [--config FILE] [--check | --backup FILE] [--foreground] [--version]\n"
    "  --config FILE   settings (default /etc/switchyard/switchyard.yaml)\n"
    "  --check         read the settings and the stored state, say what is wrong with them, and end; the controller must be stopped\n"
    "  --backup FILE   write a whole copy of the stored state there and end; the controller may run\n"
    "  --foreground    stay in the foreground: it always does\n"
    "SIGHUP reads the settings again; SIGTERM finishes what is under way and ends.\n";

struct Arguments {
  std::string config{"/etc/switchyard/switchyard.yaml"};
  bool check{};
  std::string backup;
};

std::optional<Arguments> read_arguments(int argc, char** argv, int& exit_code) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--check") arguments.check = true;
    else if (word == "--foreground") continue;
    else if (word == "--backup" && i + 1 < argc) arguments.backup = argv[++i];
    else if (word.starts_with("--backup=")) arguments.backup = word.substr(9);
    else if (word == "--config" && i + 1 < argc) arguments.config = argv[++i];
    else if (word.starts_with("--config=")) arguments.config = word.substr(9);
    else if (word == "--version" || word == "--help" || word == "-h") {
      if (word == "--version") std::printf("switchyardd %s\n", SWITCHYARD_VERSION);
      else std::fputs(usage, stdout);
      exit_code = 0;
      return std::nullopt;
    } else {
      const bool bare = word == "--config" || word == "--backup";
      std::fprintf(stderr, bare ? "switchyardd: %s needs a FILE\n%s" : "switchyardd: unknown option %s\n%s", argv[i], usage);
      exit_code = 2;
      return std::nullopt;
    }
  }
  return arguments;
}

LogAt log_level(wire::LogLevel level) { return static_cast<LogAt>(static_cast<unsigned char>(level)); }

base::Result<wire::Config> load_config(const std::string& file) {
  auto text = read_file(file, wire::max_config_bytes);
  if (!text) {
    base::Error error = text.error();
    error.message = file + ": " + error.message + "; --config names another file";
    return base::fail(std::move(error));
  }
  return wire::read_config(*text, file);
}

SqliteOptions store_options(const wire::DaemonSettings& settings) {
  SqliteOptions options;
  options.path = settings.state_dir + "/switchyard.db";
  options.keep_events = settings.keep_events;
  return options;
}

int complain(const std::string& what) {
  std::fprintf(stderr, "switchyardd: %s\n", what.c_str());
  return 1;
}

// An administrator checks as root what belongs to the controller's own user: nothing of root's may stay in its folder.
bool become_owner_of(const std::string& folder) {
  struct stat info{};
  if (::geteuid() != 0 || ::stat(folder.c_str(), &info) != 0 || info.st_uid == 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(info.st_gid, info.st_gid, info.st_gid) == 0 &&
         ::setresuid(info.st_uid, info.st_uid, info.st_uid) == 0;
}

int back_up(const wire::Config& config, const std::string& path) {
  try {
    backup_store(store_options(config.daemon), path);
    std::printf("the state is copied to %s\n", path.c_str());
    return 0;
  } catch (const std::exception& failure) { return complain(failure.what()); }
}

int check(const wire::Config& config) {
  try {
    const auto store = open_sqlite_store(store_options(config.daemon));
    auto faults = store->check();
    const model::State state = store->load();
    for (std::string& fault : model::check_invariants(state)) faults.push_back(std::move(fault));
    for (const std::string& fault : faults) std::fprintf(stderr, "switchyardd: %s\n", fault.c_str());
    if (!faults.empty()) return 1;
    const auto start = core::decide(state, core::Command{wall_now(), switchyard_itself(), config.cluster});
    if (!start) return complain("the controller would not start with these settings: " + base::to_text(start.error()));
    for (const std::string& warning : start->reply.warnings) std::fprintf(stderr, "switchyardd: warning: %s\n", warning.c_str());
    std::printf("settings and state are in order: %zu jobs, %zu nodes, sequence %llu\n", state.jobs.size(), state.nodes.size(),
                static_cast<unsigned long long>(state.sequence.value));
    return 0;
  } catch (const std::exception& failure) { return complain(failure.what()); }
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

http::ServerOptions server_options(const wire::Limits& limits) {
  http::ServerOptions options;
  options.max_connections = limits.connections;
  options.max_per_user = limits.connections_per_user;
  options.max_body_bytes = limits.body_bytes;
  options.idle_timeout = limits.idle_timeout;
  options.header_timeout = limits.request_timeout;
  options.body_timeout = limits.request_timeout;
  return options;
}

http::ClientOptions client_options(const wire::Limits& limits) {
  http::ClientOptions options;
  options.timeout = limits.agent_timeout;
  options.max_per_endpoint = 4;
  options.max_connections = 4096;
  return options;
}

// The process: what listens, what signals mean, how it ends.
class Daemon {
 public:
  Daemon(std::string config_file, const wire::Config& config, Store& store, const KeyPair& key)
      : config_file_(std::move(config_file)),
        started_with_(config.daemon),
        link_(loop_, key, client_options(config.daemon.limits)),
        controller_(loop_, {store, link_}, config.daemon, key),
        api_(controller_),
        users_(loop_, server_options(config.daemon.limits), api_.handler(Listener::local)),
        agents_(loop_, server_options(config.daemon.limits), api_.handler(Listener::agents)),
        alive_(loop_) {
    controller_.read_configuration_again = [this] { return reload(); };
  }

  int run(const wire::Config& config) {
    if (auto opened = controller_.open(config.cluster); !opened) return complain(base::to_text(opened.error()));
    loop_.post([this] {
      controller_.start();
      controller_.ledger().when_committed(controller_.state().sequence, [this](const base::Error* failed) {
        if (failed == nullptr) listen();
        else stop(base::to_text(*failed));
      });
    });
    loop_.on_signals({SIGHUP}, [this](int) { [[maybe_unused]] const auto told = reload(); });
    loop_.on_signals({SIGTERM, SIGINT}, [this](int) { drain(); });
    loop_.run();
    if (!failure_.empty()) return complain(failure_);
    log_info("ended in order");
    return 0;
  }

 private:
  void stop(std::string failure) {
    failure_ = std::move(failure);
    loop_.stop();
  }

  void listen() {
    const wire::DaemonSettings& settings = controller_.settings();
    if (auto listening = users_.listen_unix(settings.socket, 0666); !listening) return stop(base::to_text(listening.error()));
    auto port = agents_.listen_tcp(settings.listen.address, settings.listen.port);
    if (!port) return stop(base::to_text(port.error()));
    if (!settings.ports_file.empty())
      if (auto written = write_file(settings.ports_file, fmt::format("agents={}\n", *port), 0644); !written)
        return stop(base::to_text(written.error()));
    api_.watch_servers([this] {
      http::ServerCounters sum = users_.counters();
      const http::ServerCounters other = agents_.counters();
      sum.accepted += other.accepted;
      sum.requests += other.requests;
      sum.malformed += other.malformed;
      sum.timed_out += other.timed_out;
      sum.open += other.open;
      sum.idle += other.idle;
      return sum;
    });
    log_info("cluster {}, epoch {}: users at {}, agents at {}:{}, {} jobs", controller_.state().settings.cluster_name,
             controller_.state().epoch, settings.socket, settings.listen.address, *port, controller_.state().jobs.size());
    notify_ready("accepting work");
    if (const auto pause = watchdog_interval()) beat(*pause);
  }

  // While the loop turns; and not when a pass hangs: systemd then starts us anew, and jobs run on.
  void beat(base::Duration pause) {
    if (controller_.planner().in_time()) notify_watchdog();
    alive_.start(pause, [this, pause] { beat(pause); });
  }

  // SIGHUP, and POST /v1/reconfigure.
  base::Result<std::vector<std::string>> reload() {
    notify_reloading();
    auto done = take_over_settings();
    if (done) log_info("the settings were read again");
    else log_error("the settings are not taken over, the old ones stay: {}", base::to_text(done.error()));
    notify_ready("accepting work");
    return done;
  }

  base::Result<std::vector<std::string>> take_over_settings() {
    auto config = load_config(config_file_);
    if (!config) return base::fail(config.error());
    auto warnings = controller_.reconfigure(*config);
    if (!warnings) return base::fail(warnings.error());
    set_log_level(log_level(config->daemon.log_level));
    for (const std::string& name : wire::needs_restart(started_with_, config->daemon)) {
      warnings->push_back(name + " has changed and takes effect at the next start");
      log_warning("{}", warnings->back());
    }
    return warnings;
  }

  void drain() {
    if (controller_.draining()) return;
    log_info("stopping: finishing what is under way");
    notify_stopping();
    controller_.drain([this] {
      api_.long_polls().answer_all();
      agents_.drain(base::seconds{5}, [] {});
      users_.drain(base::seconds{5}, [this] { loop_.stop(); });
    });
  }

  http::Loop loop_;
  std::string config_file_;
  wire::DaemonSettings started_with_;
  HttpAgentLink link_;
  Controller controller_;
  Api api_;
  http::Server users_, agents_;
  http::Timer alive_;
  std::string failure_;
};

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto arguments = read_arguments(argc, argv, exit_code);
  if (!arguments) return exit_code;
  ::umask(0077);
  ::signal(SIGPIPE, SIG_IGN);
  const auto config = load_config(arguments->config);
  if (!config) return complain(config.error().message);
  if (!arguments->backup.empty()) return back_up(*config, arguments->backup);
  start_log(log_level(config->daemon.log_level));
  if (arguments->check && !become_owner_of(config->daemon.state_dir)) return complain("can not become the owner of the state folder");
  if (auto folder = ensure_private_folder(config->daemon.state_dir); !folder) return complain(base::to_text(folder.error()));
  if (arguments->check) return check(*config);
  raise_descriptor_limit();
  const auto key = KeyPair::load_or_create(config->daemon.state_dir + "/controller.key");
  if (!key) return complain(base::to_text(key.error()));
  try {
    const auto store = open_sqlite_store(store_options(config->daemon));
    Daemon daemon(arguments->config, *config, *store, *key);
    return daemon.run(*config);
  } catch (const std::exception& failure) { return complain(failure.what()); }
}

// switchyard-agent: runs jobs on a compute node for the controller. With --enrol TOKEN it makes itself known, once, and exits.
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "daemon/agent/agent.hpp"
#include "daemon/runtime/log.hpp"
#include "daemon/runtime/notify.hpp"
#include "daemon/runtime/private_folder.hpp"

using namespace sy;

namespace {

constexpr std::size_t largest_config = 1U << 20U;
constexpr const char* usage =
    "usage: switchyard-agent [--config FILE]                 run jobs on this node (default /etc/switchyard/agent.yaml)\n"
    "       switchyard-agent [--config FILE] --enrol TOKEN   make this node known to its controller, once; - reads the token\n"
    "                                                        from standard input, where other users can not see it\n"
    "       switchyard-agent [--config FILE] --check         read the settings, look at the machine, and say what is offered\n";

struct Arguments {
  std::string config{"/etc/switchyard/agent.yaml"};
  std::optional<std::string> token;
  bool check{}, help{}, version{};
  std::string wrong;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--help" || word == "-h") a.help = true;
    else if (word == "--version" || word == "-V") a.version = true;
    else if (word == "--check") a.check = true;
    else if (word == "--config" && has_value) a.config = argv[++i];
    else if (word.starts_with("--config=")) a.config = word.substr(9);
    else if (word == "--enrol" && has_value) a.token = argv[++i];
    else if (word.starts_with("--enrol=")) a.token = word.substr(8);
    else a.wrong = word;
  }
  return a;
}

int complain(const base::Error& e) {
  std::fprintf(stderr, "switchyard-agent: %s\n", base::to_text(e).c_str());
  return 1;
}

int enrol(const wire::AgentSettings& settings, std::string token) {
  if (token == "-") std::getline(std::cin, token);
  const auto done = daemon::enrol(settings, token);
  std::fill(token.begin(), token.end(), '\0');
  if (!done) return complain(done.error());
  std::printf("node %s is enrolled\n", done->node.c_str());
  return 0;
}

int check(const daemon::Machine& machine) {
  std::printf("%u CPUs, %lld MiB, %zu GRES instances; boot %s\n", machine.shape.cpus, static_cast<long long>(machine.shape.memory.value),
              machine.shape.gres.size(), machine.boot_id.c_str());
  if (!machine.warning.empty()) std::printf("%s\n", machine.warning.c_str());
  return 0;
}

int run(const wire::AgentSettings& settings, daemon::Machine machine) {
  auto identity = daemon::load_identity(settings);
  if (!identity) return complain(identity.error());
  auto spool = daemon::Spool::open(settings.spool);
  if (!spool) return complain(spool.error());
  daemon::start_log(static_cast<daemon::LogAt>(settings.log_level));
  if (!machine.warning.empty()) daemon::log_warning("{}", machine.warning);
  ::signal(SIGPIPE, SIG_IGN);
  http::Loop loop;
  daemon::Agent agent{loop, settings, std::move(*identity), std::move(machine), std::move(*spool)};
  loop.on_signals({SIGTERM, SIGINT}, [&](int) {
    daemon::notify_stopping();
    loop.stop();  // jobs run on under their supervisors
  });
  if (const auto started = agent.start(); !started) return complain(started.error());
  daemon::log_info("switchyard-agent listens on port {}", agent.port());
  daemon::notify_ready("running");
  http::Timer alive{loop};
  std::function<void()> sign_of_life = [&] {
    daemon::notify_watchdog();
    alive.start(*daemon::watchdog_interval(), sign_of_life);
  };
  if (daemon::watchdog_interval()) sign_of_life();
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments a = parse(argc, argv);
    if (a.help) return std::fputs(usage, stdout), 0;
    if (a.version) return std::puts("switchyard-agent 0.1.0"), 0;
    if (!a.wrong.empty()) return std::fprintf(stderr, "switchyard-agent: unknown or incomplete option %s\n%s", a.wrong.c_str(), usage), 2;
    const auto text = daemon::read_file(a.config, largest_config);
    if (!text) return complain(text.error());
    const auto settings = wire::read_agent_config(*text, a.config);
    if (!settings) return complain(settings.error());
    if (a.token) return enrol(*settings, *a.token);
    auto machine = daemon::look_at_machine(*settings);
    if (!machine) return complain(machine.error());
    return a.check ? check(*machine) : run(*settings, std::move(*machine));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "switchyard-agent: %s\n", e.what());
    return 1;
  }
}

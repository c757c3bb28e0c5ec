#include "daemon/controller/fence_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/runtime/clock.hpp"
#include "daemon/runtime/log.hpp"

namespace sy::daemon {

namespace {

// What a program prints, from a pipe that is drained while it runs: the last 500 bytes are kept, as one line that may go into a log.
class Printed {
 public:
  explicit Printed(int from) : from_(from) {}
  ~Printed() { ::close(from_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  void drain() {
    std::array<char, 4096> bytes{};
    for (int i = 0; i < 16; ++i) {  // the rest of a flood waits in the pipe
      const ssize_t n = ::read(from_, bytes.data(), bytes.size());
      if (n <= 0) return;
      kept_.append(bytes.data(), static_cast<std::size_t>(n));
      if (kept_.size() > most) kept_.erase(0, kept_.size() - most);
    }
  }
  std::string text() {
    drain();
    std::string out;
    for (const char c : kept_) out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    out.erase(out.find_last_not_of(' ') + 1);
    return out.empty() ? out : ": " + out;
  }

 private:
  static constexpr std::size_t most = 500;
  int from_;
  std::string kept_;
};

}  // namespace

ProgramEnd run_program(const std::string& path, const std::string& argument, base::Duration limit) {
  std::array<char*, 3> arguments{const_cast<char*>(path.c_str()), const_cast<char*>(argument.c_str()), nullptr};
  std::string search = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 2> environment{search.data(), nullptr};
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {-1, std::string("can not be started: ") + std::strerror(errno)};
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  Printed printed(pipe[0]);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", 0, 0);
  ::posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, pipe[1], STDERR_FILENO);
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, path.c_str(), &files, &attributes, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  ::close(pipe[1]);
  if (error != 0) return {-1, std::string("can not be started: ") + std::strerror(error)};
  const Monotonic deadline = monotonic_now() + limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (monotonic_now() > deadline) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return {-1, fmt::format("did not end within {} s{}", base::to_seconds(limit), printed.text())};
    }
    ::poll(nullptr, 0, 20);
    printed.drain();
  }
  if (WIFEXITED(status)) return {WEXITSTATUS(status), fmt::format("exit code {}{}", WEXITSTATUS(status), printed.text())};
  return {-1, fmt::format("killed by signal {}{}", WTERMSIG(status), printed.text())};
}

void FenceProgram::run(base::NodeIndex node, const std::string& node_name, const std::string& program) {
  auto& entry = entries_[node];
  if (!entry) entry = std::make_unique<Entry>(loop_);
  if (entry->running || entry->pause.running()) return;
  entry->running = true;
  log_warning("node {}: running the fence program {}", node_name, program);
  auto end = std::make_shared<ProgramEnd>();
  worker_.run([end, program, node_name, limit = limit_] { *end = run_program(program, node_name, limit); },
              [this, end, node, node_name] {
                Entry& done = *entries_[node];
                done.running = false;
                if (end->code == 0) {
                  fenced_(node);
                  return;
                }
                log_error("node {}: the fence program failed: {}", node_name, end->what);
                done.pause.start(pause_, [this, node] { again_(node); });
              });
}

}  // namespace sy::daemon

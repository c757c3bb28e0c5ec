#include "daemon/supervisor/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <system_error>

#include "daemon/supervisor/process_tree.hpp"

namespace sy::supervisor {

namespace {

constexpr std::int64_t millisecond = 1000;
constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t hook_limit = 600 * second;        // a prolog or epilog that hangs must not hold the node for ever
constexpr std::int64_t first_sample = 50 * millisecond;
constexpr std::int64_t slowest_sample = 5 * second;
constexpr std::int64_t between_kills = 100 * millisecond;
constexpr std::int64_t exit_write_patience = 5 * second; // after SIGKILL: the record does not wait for a stuck process
constexpr std::int64_t member_patience = 60 * second;    // members normally end when the controller says so
constexpr std::size_t exit_reserve = 4096;               // a full disk must not swallow how it ended
constexpr std::size_t longest_reason = 2000;             // so that the record fits what was reserved

std::int64_t clock_us(clockid_t which) {
  timespec t{};
  ::clock_gettime(which, &t);
  return static_cast<std::int64_t>(t.tv_sec) * second + t.tv_nsec / 1000;
}
std::int64_t monotonic() { return clock_us(CLOCK_MONOTONIC); }
std::int64_t wall() { return clock_us(CLOCK_REALTIME); }

sockaddr_un address_of(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.c_str(), std::min(path.size(), sizeof a.sun_path - 1));
  return a;
}

std::string attempt_name(const LaunchRecord& r) { return std::to_string(r.job) + "." + std::to_string(r.attempt); }
// What only the processes of this attempt have in their environment.
std::string marker_of(const LaunchRecord& r) {
  const auto& all = r.environment;
  const auto found = std::find_if(all.begin(), all.end(), [](const std::string& e) { return e.rfind("SWITCHYARD_ATTEMPT=", 0) == 0; });
  return found != all.end() ? *found : "SWITCHYARD_ATTEMPT=" + attempt_name(r) + "@" + r.node;
}

std::string describe_status(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

std::string read_all(int fd) {
  std::string out;
  char buffer[2048];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  return out;
}

}  // namespace

Supervisor::Supervisor(const std::string& folder) : folder_(Folder::open(folder)), spool_(folder_.sub("../..")) {}

void Supervisor::log(const std::string& text) const {
  const Descriptor fd{::openat(folder_.fd(), file::log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)};
  ::dprintf(fd ? fd.get() : STDERR_FILENO, "%s\n", text.c_str());
}

// The agent looks at the folder when it hears the name. Best effort: it also looks when we end, and now and then.
void Supervisor::nudge() const {
  const Descriptor fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const timeval patience{0, 200'000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const sockaddr_un to = address_of(spool_.proc_path("agent.sock"));
  const std::string text = attempt_name(launch_);
  ::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

// The lock says that one lives; the mark says that one has been. Both are needed: the lock goes with its holder.
bool Supervisor::take_place(bool cleaning) {
  lock_ = folder_.lock(file::lock);
  if (!lock_ || folder_.exists(file::cleared) || folder_.exists(file::refused)) return false;
  if (!cleaning && folder_.exists(file::started)) return false;
  const auto text = folder_.read(file::launch);
  auto record = text ? parse_launch(*text) : std::nullopt;
  if (!record) throw std::runtime_error("the launch record is damaged");
  launch_ = std::move(*record);
  return true;
}

// Everything that must be there before the first instruction of the job. "" or what the node lacks.
std::string Supervisor::prepare() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int s : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, s);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = Descriptor{::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)};
  control_ = Descriptor{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un at = address_of(folder_.proc_path(file::control));
  if (!signals_ || !control_ || ::bind(control_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    return std::string{"the supervisor could not open its control socket: "} + std::strerror(errno);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return "the supervisor could not become the parent of orphans";
  if (const int error = folder_.create_mark(file::started); error != 0)
    return std::string{"the spool can not be written: "} + std::strerror(error);
  int error = folder_.reserve(file::cleared, exit_reserve);
  if (error == 0 && launch_.lead) error = folder_.reserve(file::exit, exit_reserve);
  if (error != 0) return std::string{"the spool can not be written: "} + std::strerror(error);
  cgroup_ = Cgroup{launch_.cgroup, "job_" + attempt_name(launch_)};
  return cgroup_.create({launch_.memory_mib, launch_.cpus_milli, launch_.bind_cpus});
}

int Supervisor::run() {
  if (!take_place(false)) return 0;
  exit_.ran = false;
  limit_us_ = launch_.time_limit_us;
  if (const auto wrong = prepare(); !wrong.empty()) {
    refuse("node", wrong);
    return 0;
  }
  if (const Hook prolog = run_hook(launch_.prolog, "prolog"); !prolog.ok) {
    run_hook(launch_.epilog, "epilog");
    refuse("node", prolog.why);
    return 0;
  }
  began_ = monotonic();
  sample_every_ = first_sample;
  sample_at_ = began_ + sample_every_;
  read_requests();
  if (launch_.lead) {
    if (end_ || start()) watch();
    if (folder_.exists(file::refused)) return 0;
    write_exit();
  } else {
    folder_.write(file::accepted, "", false);
    nudge();
    watch();
  }
  finish(true);
  return 0;
}

bool Supervisor::start() {
  Started child;
  try {
    child = start_script(launch_, folder_, cgroup_, wall());
  } catch (const std::system_error& e) {
    refuse("node", e.what());
    return false;
  }
  script_ = child.pid;
  no_children_ = false;
  // Opening files may hang on a dead file server: requests to end are served meanwhile.
  std::string error;
  for (bool open = true; open;) {
    pollfd p{child.errors.get(), POLLIN, 0};
    if (::poll(&p, 1, 0) > 0) {
      error = read_all(child.errors.get());
      open = false;
    } else {
      turn_of_the_clock(monotonic());
      pump(next_wake(monotonic()), child.errors.get());
    }
  }
  if (error.empty()) {
    exit_.ran = true;
    folder_.write(file::running, to_text(RunningRecord{wall()}), false);
    nudge();
    return true;
  }
  while (!script_done_) pump(monotonic() + second);
  if (error[0] == 'N') {
    run_hook(launch_.epilog, "epilog");
    refuse("node", error.substr(1));
    return false;
  }
  exit_ = ExitInfo{};
  exit_.code = 1;
  exit_.reason = error.substr(1, longest_reason);
  return false;
}

void Supervisor::watch() {
  std::int64_t exit_due = never;
  for (;;) {
    const std::int64_t now = monotonic();
    turn_of_the_clock(now);
    const bool over = launch_.lead ? script_done_ || script_ == 0 : ending_ || end_;
    if (over && nothing_left()) return;
    if (over && !ending_) kill_rest(now);  // the script ended by itself: what it left behind goes with it
    if (over && kills_ > 0 && exit_due == never) exit_due = now + exit_write_patience;
    if (now >= exit_due && launch_.lead && script_done_) write_exit();
    pump(next_wake(now));
  }
}

// Whatever time has made due.
void Supervisor::turn_of_the_clock(std::int64_t now) {
  if (now >= sample_at_) sample(now);
  if (end_ && !ending_) begin_ending(now, end_->grace_us);
  if (limit_us_ && !ending_) {
    const std::int64_t allowed = launch_.lead ? *limit_us_ : *limit_us_ + launch_.kill_grace_us + member_patience;
    const std::int64_t ends = allowed > never - began_ ? never : began_ + allowed;
    if (now >= ends) {
      exit_.timed_out = true;
      begin_ending(now, launch_.kill_grace_us);
    } else if (launch_.warning && !warned_ && launch_.lead && now >= ends - launch_.warning->before_end_us) {
      warned_ = true;
      deliver(launch_.warning->signal, launch_.warning->batch_shell, false);
    }
  }
  if (ending_ && now >= kill_at_) kill_rest(now);
}

void Supervisor::begin_ending(std::int64_t now, std::int64_t grace_us) {
  ending_ = true;
  kill_at_ = now + std::max<std::int64_t>(grace_us, 0);
  signal_all(SIGCONT, true);
  signal_all(SIGTERM, true);
}

void Supervisor::kill_rest(std::int64_t now) {
  ending_ = true;
  if (kills_ > 0 && now < kill_at_) return;
  ++kills_;
  kill_at_ = now + between_kills;
  cgroup_.kill_all(kills_ > 1);
  for (const pid_t pid : descendants_of(::getpid()))
    if (pid != hook_) ::kill(pid, SIGKILL);
}

bool Supervisor::nothing_left() {
  reap();
  return no_children_ && cgroup_.processes().empty();
}

std::int64_t Supervisor::next_wake(std::int64_t now) const {
  std::int64_t wake = sample_at_;
  if (ending_) return std::min(wake, kill_at_);
  if (limit_us_ && *limit_us_ < never - began_ - launch_.kill_grace_us - member_patience) {
    const std::int64_t ends = began_ + *limit_us_ + (launch_.lead ? 0 : launch_.kill_grace_us + member_patience);
    wake = std::min(wake, ends);
    if (launch_.warning && !warned_) wake = std::min(wake, std::max(now, ends - launch_.warning->before_end_us));
  }
  return wake;
}

// Waits until something happens or `until`, and takes in what happened.
void Supervisor::pump(std::int64_t until, int errors_fd) {
  const std::int64_t wait_us = std::max<std::int64_t>(until - monotonic(), 0);
  const int wait_ms = static_cast<int>(std::min<std::int64_t>((wait_us + millisecond - 1) / millisecond, 60'000));
  pollfd fds[3] = {{signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}, {errors_fd, POLLIN, 0}};
  if (::poll(fds, errors_fd < 0 ? 2 : 3, wait_ms) <= 0) return;
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGTERM && !end_) end_ = EndRequest{launch_.kill_grace_us, "the node is shutting down"};
  reap();
  if ((fds[1].revents & POLLIN) == 0) return;
  char buffer[256];
  for (ssize_t n; (n = ::recv(control_.get(), buffer, sizeof buffer, 0)) >= 0;)
    take_message(std::string(buffer, static_cast<std::size_t>(n)));
  read_requests();
}

void Supervisor::reap() {
  for (;;) {
    int status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    no_children_ = pid < 0 && errno == ECHILD;
    if (pid <= 0) return;
    if (pid == hook_) {
      hook_status_ = status;
      continue;
    }
    reaped_cpu_us_ += (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * second + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    largest_process_mib_ = std::max<std::int64_t>(largest_process_mib_, used.ru_maxrss / 1024);
    if (pid != script_) continue;
    script_done_ = true;
    exit_.at_us = wall();
    if (WIFEXITED(status)) exit_.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      exit_.signal = WTERMSIG(status);
      exit_.core_dumped = WCOREDUMP(status);
    }
  }
}

void Supervisor::read_requests() {
  if (const auto text = folder_.read(file::end); text && !end_)
    if (const auto request = parse_end(*text)) end_ = request;
  read_limit();
}

void Supervisor::read_limit() {
  if (const auto text = folder_.read(file::limit)) {
    char* rest = nullptr;
    const std::int64_t value = std::strtoll(text->c_str(), &rest, 10);
    if (rest != text->c_str() && value >= 0) limit_us_ = value;
  }
}

// "signal NUMBER BATCH_ONLY WHOLE_JOB", or "end MICROSECONDS" where the disk takes no file or less grace is given than
// before; anything else only makes us look at the files.
void Supervisor::take_message(const std::string& text) {
  long long grace = 0;
  if (std::sscanf(text.c_str(), "end %lld", &grace) == 1) {
    if (!end_) end_ = EndRequest{grace, "ended by the controller"};
    if (ending_) kill_at_ = std::min<std::int64_t>(kill_at_, monotonic() + std::max(grace, 0LL));
    return;
  }
  int signal = 0, batch_only = 0, whole_job = 0;
  if (std::sscanf(text.c_str(), "signal %d %d %d", &signal, &batch_only, &whole_job) != 3) return;
  if (signal >= 1 && signal <= SIGRTMAX) deliver(signal, batch_only != 0, whole_job != 0);
}

// As scancel does: the shell alone, or everything, or (by default) what the shell started but not the shell, which would
// die of a signal it does not trap and take the job along.
void Supervisor::deliver(int signal, bool batch_only, bool whole_job) {
  if (!batch_only) return signal_all(signal, whole_job);
  if (script_ > 0 && !script_done_) ::kill(script_, signal);
}

void Supervisor::signal_all(int signal, bool with_shell) {
  std::vector<pid_t> all = descendants_of(::getpid());
  const std::vector<pid_t> in_group = cgroup_.processes();
  all.insert(all.end(), in_group.begin(), in_group.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const pid_t pid : all)
    if (pid != hook_ && (with_shell || pid != script_)) ::kill(pid, signal);
}

// Also the time to see whether the node's lease has run out: it must end jobs when the agent itself is dead.
void Supervisor::sample(std::int64_t now) {
  sampled_mib_ = std::max(sampled_mib_, cgroup_.memory_now_mib());
  sample_every_ = std::min(sample_every_ * 3 / 2, slowest_sample);
  sample_at_ = now + sample_every_;
  if (const auto lease = spool_.read("lease"); lease && !end_) {
    const std::int64_t until = std::strtoll(lease->c_str(), nullptr, 10);
    if (until > 0 && clock_us(CLOCK_BOOTTIME) >= until) {
      end_ = EndRequest{launch_.kill_grace_us, "the node's lease has run out"};
      exit_.lease_over = true;
    }
  }
}

void Supervisor::write_exit() {
  if (folder_.exists(file::exit)) return;
  if (exit_.at_us == 0) exit_.at_us = wall();
  if (exit_.ran) {
    exit_.cpu_us = std::max(cgroup_.cpu_us(), reaped_cpu_us_);
    exit_.peak_memory_mib = std::max(sampled_mib_, largest_process_mib_);
    if (const auto bound = cgroup_.memory_peak_mib(); bound > 0) exit_.peak_memory_mib = std::min(exit_.peak_memory_mib, bound);
    exit_.out_of_memory = cgroup_.killed_for_memory();
    if (exit_.out_of_memory)
      exit_.reason = "a process was killed for memory; the limit on this node was " + std::to_string(launch_.memory_mib) + " MiB";
    else if (end_ && exit_.reason.empty()) exit_.reason = end_->why.substr(0, longest_reason);
  }
  int error = folder_.write_reserved(file::exit, to_text(exit_), true);
  for (int i = 0; error != 0 && i < 600; ++i) {  // a broken disk: ten minutes for somebody to help, then the agent says so
    log(std::string{"could not write how the job ended: "} + std::strerror(error));
    ::sleep(1);
    error = folder_.write(file::exit, to_text(exit_), true);
  }
}

void Supervisor::finish(bool with_epilog) {
  cgroup_.remove();
  ClearedRecord cleared;
  if (with_epilog && !launch_.epilog.empty()) {
    nudge();
    const Hook epilog = run_hook(launch_.epilog, "epilog");
    if (!epilog.ok) cleared.node_fault = epilog.why;
  }
  cleared.at_us = wall();
  for (int i = 0; i < 600 && folder_.write_reserved(file::cleared, to_text(cleared), false) != 0; ++i) ::sleep(1);
  folder_.remove(file::control);
  nudge();
}

void Supervisor::refuse(const std::string& blame, const std::string& why) {
  log("refused: " + why);
  cgroup_.remove();
  const std::string text = to_text(RefusedRecord{blame, why.substr(0, longest_reason), wall()});
  if (folder_.write(file::refused, text, true) != 0) folder_.write_reserved(file::refused, text, true);
  folder_.remove(file::control);
  nudge();
}

Supervisor::Hook Supervisor::run_hook(const std::string& program, const char* what) {
  if (program.empty()) return {true, {}};
  Started child;
  try {
    child = start_hook(program, launch_.hook_environment, folder_);
  } catch (const std::system_error& e) { return {false, std::string{what} + ": " + e.what()}; }
  hook_ = child.pid;
  hook_status_.reset();
  const std::int64_t deadline = monotonic() + hook_limit;
  while (!hook_status_ && monotonic() < deadline) pump(deadline);
  const bool late = !hook_status_;
  ::kill(-hook_, SIGKILL);  // the hook is done: nothing it started stays
  if (late) {
    for (int i = 0; i < 50 && !hook_status_; ++i) pump(monotonic() + between_kills);
    hook_ = 0;
    return {false, std::string{what} + " " + program + " did not end within ten minutes and was killed"};
  }
  hook_ = 0;
  const std::string error = read_all(child.errors.get());
  if (!error.empty()) return {false, std::string{what} + ": " + error.substr(1)};
  if (*hook_status_ == 0) return {true, {}};
  return {false, std::string{what} + " " + program + " failed: " + describe_status(*hook_status_)};
}

int Supervisor::clean() {
  if (!take_place(true)) return 0;
  folder_.remove(file::control);
  cgroup_ = Cgroup{launch_.cgroup, "job_" + attempt_name(launch_)};
  for (int i = 0;; ++i) {
    const auto left = processes_with_environment(marker_of(launch_));
    if (left.empty() && cgroup_.processes().empty()) break;
    cgroup_.kill_all(i > 0);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(static_cast<useconds_t>(between_kills));
  }
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  signals_ = Descriptor{::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (launch_.lead && !folder_.exists(file::exit)) {
    exit_.ran = folder_.exists(file::running);
    exit_.signal = exit_.ran ? SIGKILL : 0;
    exit_.code = exit_.ran ? 0 : 1;
    exit_.reason = "the supervisor of the job on node " + launch_.node + " died";
    exit_.at_us = wall();
    exit_.out_of_memory = cgroup_.killed_for_memory();
    exit_.cpu_us = cgroup_.cpu_us();
    for (int i = 0; i < 600 && folder_.write(file::exit, to_text(exit_), true) != 0; ++i) ::sleep(1);
  }
  finish(true);
  return 0;
}

}  // namespace sy::supervisor

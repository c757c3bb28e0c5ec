#include "daemon/supervisor/child.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/file_pattern.hpp"
#include "base/named_limits.hpp"

namespace sy::supervisor {

namespace {

// The script's descriptor in the user's process. Low, so that small descriptor limits leave it be.
constexpr int script_fd = 9;
constexpr std::size_t longest_path = 4096;

// In the child only: tells the supervisor why and is gone.
class Failure {
 public:
  explicit Failure(int fd) : fd_(fd) {}
  [[noreturn]] void node(const std::string& why) const { leave("N" + why); }
  [[noreturn]] void job(const std::string& why) const { leave("J" + why); }

 private:
  [[noreturn]] void leave(const std::string& text) const {
    [[maybe_unused]] const ssize_t n = ::write(fd_, text.data(), text.size());
    ::_exit(126);
  }
  int fd_;
};

std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

std::optional<std::string> value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') return entry.substr(name.size() + 1);
  return std::nullopt;
}

// sbatch sends the limits of the submitting shell as SLURM_RLIMIT_*. Soft limits only; a hard limit that is in the way
// lowers them, which is worth a line in the log and no more.
void set_limits(const LaunchRecord& r) {
  for (const auto& limit : base::named_limits) {
    const auto text = value_of(r.environment, "SLURM_RLIMIT_" + std::string{limit.name});
    if (!text) continue;
    rlimit now{};
    if (::getrlimit(limit.which, &now) != 0) continue;
    const bool unlimited = *text == "unlimited" || *text == "-1" || *text == "18446744073709551615";
    rlimit wanted{unlimited ? RLIM_INFINITY : std::strtoull(text->c_str(), nullptr, 10), now.rlim_max};
    if (wanted.rlim_cur > now.rlim_max) {
      rlimit raised{wanted.rlim_cur, wanted.rlim_cur};
      if (::setrlimit(limit.which, &raised) == 0) continue;
      ::dprintf(STDERR_FILENO, "warning: limit %.*s: the hard limit %llu of this node can not be raised to %s\n",
                static_cast<int>(limit.name.size()), limit.name.data(), static_cast<unsigned long long>(now.rlim_max), text->c_str());
      wanted.rlim_cur = now.rlim_max;
    }
    ::setrlimit(limit.which, &wanted);
  }
}

void set_umask(const LaunchRecord& r) {
  const auto text = value_of(r.environment, "SLURM_UMASK");
  ::umask(text ? static_cast<mode_t>(std::strtoul(text->c_str(), nullptr, 8) & 0777) : 022);
}

void bind(const LaunchRecord& r) {
  if (r.bind_cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int c : r.bind_cpus)
    if (c >= 0 && c < CPU_SETSIZE) CPU_SET(c, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    ::dprintf(STDERR_FILENO, "warning: could not bind to CPUs: %s\n", std::strerror(errno));
}

void become_user(const LaunchRecord& r, const Failure& failure) {
  if (::geteuid() != 0) {
    if (r.uid != ::geteuid()) failure.node("the agent does not run as root and can start jobs of its own user only");
    return;
  }
  std::vector<gid_t> groups(r.groups.begin(), r.groups.end());
  if (::setgroups(groups.size(), groups.data()) != 0) failure.node(because("could not set the groups"));
  if (::setresgid(r.gid, r.gid, r.gid) != 0) failure.node(because("could not set the group"));
  if (::setresuid(r.uid, r.uid, r.uid) != 0) failure.node(because("could not become user " + r.user));
  uid_t real = 0, effective = 0, saved = 0;
  gid_t greal = 0, geffective = 0, gsaved = 0;
  ::getresuid(&real, &effective, &saved);
  ::getresgid(&greal, &geffective, &gsaved);
  const bool dropped = real == r.uid && effective == r.uid && saved == r.uid && greal == r.gid && geffective == r.gid && gsaved == r.gid;
  if (!dropped || (r.uid != 0 && ::setuid(0) == 0)) failure.node("root's rights were not given up");
}

std::string expand(const std::string& pattern, const LaunchRecord& r, const Failure& failure) {
  base::FilePatternValues values;
  values.job_id = r.job;
  values.job_name = r.job_name;
  values.user = r.user;
  values.node = r.node;
  values.node_rank = r.rank;
  values.step = "batch";
  values.restarts = r.restarts;
  auto path = base::expand_file_pattern(pattern, values);
  if (!path) failure.job("output file pattern " + pattern + ": " + path.error().message);
  return *path;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Without blocking: a pipe nobody reads would stop the job before it began.
int open_output(const std::string& path, bool append, const Failure& failure) {
  const int mode = append ? O_APPEND : O_TRUNC;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK | mode, 0666);
  if (fd >= 0) {
    ::fcntl(fd, F_SETFL, append ? O_APPEND : 0);
    return fd;
  }
  const int error = errno;
  const std::string folder = folder_of(path);
  if (error == ENOENT && ::access(folder.c_str(), F_OK) != 0)
    failure.job("output folder " + folder + " is missing on this node; create it before you submit");
  if (error == EACCES && ::access(folder.c_str(), W_OK | X_OK) != 0 && ::access(path.c_str(), F_OK) != 0)
    failure.job("output folder " + folder + " is not writable for the user");
  if (error == ENXIO) failure.job("output file " + path + " is a pipe that nobody reads");
  errno = error;
  failure.job(because("could not open the output file " + path));
}

void open_files(const LaunchRecord& r, const Failure& failure) {
  const std::string in = r.std_in.empty() ? "/dev/null" : expand(r.std_in, r, failure);
  const std::string out = expand(r.std_out.empty() ? "slurm-%j.out" : r.std_out, r, failure);
  const std::string err = r.std_err.empty() ? out : expand(r.std_err, r, failure);
  const int in_fd = ::open(in.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (in_fd < 0) failure.job(because("could not open the input file " + in));
  ::fcntl(in_fd, F_SETFL, 0);
  const int out_fd = open_output(out, r.append_output, failure);
  const int err_fd = err == out ? out_fd : open_output(err, r.append_output, failure);
  if (::dup2(in_fd, 0) < 0 || ::dup2(out_fd, 1) < 0 || ::dup2(err_fd, 2) < 0) failure.node(because("could not connect the output files"));
}

void enter_work_dir(const LaunchRecord& r, const Failure& failure) {
  if (::chdir(r.work_dir.c_str()) == 0) return;
  if (errno == ENOENT) failure.job("working directory " + r.work_dir + " does not exist on this node");
  if (errno == EACCES) failure.job("working directory " + r.work_dir + " may not be entered by the user");
  failure.job(because("could not enter the working directory " + r.work_dir));
}

void reset_signals() {
  for (int s = 1; s < 32; ++s) ::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// What the user can do about a script that the kernel will not start.
std::string why_not_started(const std::string& first_line) {
  const int error = errno;
  std::string interpreter = first_line.starts_with("#!") ? first_line.substr(2, first_line.find_first_of("\r\n") - 2) : "";
  interpreter.erase(0, interpreter.find_first_not_of(" \t"));
  if (error == ENOEXEC) return "the script can not be run: its first line must name the shell, like #!/bin/bash";
  if (error == ENOENT && first_line.find('\r') != std::string::npos)
    return "the script has Windows line ends, so that its shell is not found; convert it with dos2unix";
  if (error == ENOENT) return "the script's interpreter " + interpreter.substr(0, longest_path) + " does not exist on this node";
  if (error == EACCES) return "the script's interpreter " + interpreter.substr(0, longest_path) + " may not be run by the user";
  if (error == E2BIG) return "environment and arguments of the job are larger than this node accepts";
  errno = error;
  return because("the script could not be started");
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

void protect_from_memory_killer(bool on) {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::string_view text = on ? "-999" : "0";
  [[maybe_unused]] const ssize_t n = ::write(fd, text.data(), text.size());
  ::close(fd);
}

[[noreturn]] void run_script(const LaunchRecord& r, int script, const std::string& first_line, const Cgroup& cgroup, std::int64_t now_us,
                             const Failure& failure) {
  ::setsid();
  protect_from_memory_killer(false);
  if (const auto wrong = cgroup.join_self(); !wrong.empty()) failure.node(wrong);
  set_limits(r);
  set_umask(r);
  bind(r);
  become_user(r, failure);
  enter_work_dir(r, failure);
  open_files(r, failure);
  reset_signals();
  std::vector<std::string> environment = complete_environment(r, now_us, ::getpid());
  std::vector<std::string> arguments{"slurm_script"};
  arguments.insert(arguments.end(), r.script_args.begin(), r.script_args.end());
  const auto envp = pointers(environment);
  const auto argv = pointers(arguments);
  ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  const bool handed = script == script_fd ? ::fcntl(script, F_SETFD, 0) == 0 : ::dup2(script, script_fd) >= 0;
  if (!handed) failure.node(because("could not hand over the script"));
  const std::string path = "/proc/self/fd/" + std::to_string(script_fd);
  ::execve(path.c_str(), argv.data(), envp.data());
  failure.job(why_not_started(first_line));
}

struct Pipe {
  Descriptor read, write;
};
// The writing end is moved out of the way of the descriptors that the user's process gets.
Pipe error_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  Pipe out{Descriptor{ends[0]}, Descriptor{::fcntl(ends[1], F_DUPFD_CLOEXEC, script_fd + 1)}};
  ::close(ends[1]);
  return out;
}

}  // namespace

std::vector<std::string> complete_environment(const LaunchRecord& r, std::int64_t now_us, pid_t self) {
  constexpr std::int64_t second = 1'000'000;
  std::vector<std::string> out;
  for (const auto& entry : r.environment)
    if (!entry.starts_with("SLURM_RLIMIT_") && !entry.starts_with("SLURM_UMASK=")) out.push_back(entry);
  out.push_back("SLURM_TASK_PID=" + std::to_string(self));
  out.push_back("SLURM_JOB_START_TIME=" + std::to_string(now_us / second));
  if (r.time_limit_us) out.push_back("SLURM_JOB_END_TIME=" + std::to_string((now_us + *r.time_limit_us) / second));
  return out;
}

Started start_script(const LaunchRecord& r, const Folder& folder, const Cgroup& cgroup, std::int64_t now_us) {
  const Descriptor script{::openat(folder.fd(), file::script, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (!script) throw std::system_error(errno, std::generic_category(), "could not open the script");
  char head[256];
  const ssize_t n = ::pread(script.get(), head, sizeof head, 0);
  std::string first_line(head, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  first_line.resize(std::min(first_line.size(), first_line.find('\n')));
  Pipe errors = error_pipe();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "could not start a process");
  if (pid == 0) run_script(r, script.get(), first_line, cgroup, now_us, Failure{errors.write.get()});
  return {pid, std::move(errors.read)};
}

Started start_hook(const std::string& program, const std::vector<std::string>& environment, const Folder& folder) {
  Pipe errors = error_pipe();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "could not start a process");
  if (pid != 0) return {pid, std::move(errors.read)};
  const Failure failure{errors.write.get()};
  ::setsid();
  protect_from_memory_killer(false);
  const int null = ::open("/dev/null", O_RDWR);
  const int log = ::openat(folder.fd(), file::log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(log < 0 ? null : log, 1) < 0 || ::dup2(log < 0 ? null : log, 2) < 0)
    failure.node(because("could not open the log"));
  ::umask(022);
  if (::chdir("/") != 0) failure.node(because("could not enter /"));
  reset_signals();
  ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  std::vector<std::string> strings = environment;
  std::vector<std::string> arguments{program};
  ::execve(program.c_str(), pointers(arguments).data(), pointers(strings).data());
  failure.node(because("could not run " + program));
}

}  // namespace sy::supervisor

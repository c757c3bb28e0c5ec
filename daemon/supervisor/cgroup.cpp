#include "daemon/supervisor/cgroup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace sy::supervisor {

namespace {

constexpr std::int64_t bytes_per_mib = 1024 * 1024;
constexpr std::int64_t default_weight_milli = 1000;

std::string read_text(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string out;
  char buffer[8192];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  return out;
}

bool write_text(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool ok = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  errno = error;
  return ok;
}

std::int64_t to_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The number after `key` in lines of "key number"; 0 when absent.
std::int64_t number_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') return to_number(line.substr(key.size() + 1));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return 0;
}

bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

std::string failed(const std::string& what, const std::string& path) {
  return "control group: could not " + what + " " + path + ": " + std::strerror(errno);
}

std::string list_of(const std::vector<int>& cpus) {
  std::string out;
  for (const int c : cpus) out += (out.empty() ? "" : ",") + std::to_string(c);
  return out;
}

bool is_writable_folder(const std::string& path) { return ::access(path.c_str(), W_OK | X_OK) == 0; }

// Every step of `parent` below `root`, shallow first: {"/a", "/a/b"}.
std::vector<std::string> steps(const std::string& root, const std::string& parent) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at != std::string::npos;) {
    at = parent.find('/', at + 1);
    out.push_back(root + "/" + parent.substr(0, at));
  }
  return out;
}

// A version 1 cpuset group starts without CPUs and memory nodes and takes no process until it has some.
void inherit_cpuset(const std::string& group, const std::string& from) {
  for (const char* file : {"/cpuset.cpus", "/cpuset.mems"})
    if (read_text(group + file).size() <= 1) write_text(group + file, read_text(from + file));
}

// Hands the controllers we use on to the groups below, as far as they are offered here. One write: all or nothing.
void delegate(const std::string& group) {
  const std::string offered = " " + read_text(group + "/cgroup.controllers");
  std::string wanted;
  for (const char* controller : {"memory", "cpu", "cpuset", "pids"})
    if (offered.find(" " + std::string{controller}) != std::string::npos) wanted += std::string{wanted.empty() ? "+" : " +"} + controller;
  if (!wanted.empty()) write_text(group + "/cgroup.subtree_control", wanted);
}

bool prepare_v2(const std::string& root, const std::string& parent) {
  if (read_text(root + "/cgroup.controllers").find("memory") == std::string::npos) return false;
  std::string above = root;
  delegate(root);
  for (const auto& group : steps(root, parent)) {
    if (!make_folder(group)) return false;
    delegate(group);
    above = group;
  }
  return read_text(above + "/cgroup.subtree_control").find("memory") != std::string::npos && is_writable_folder(above);
}

bool prepare_v1(const std::string& root, const std::string& parent) {
  for (const char* controller : {"memory", "freezer"})
    if (!is_writable_folder(root + "/" + controller)) return false;
  for (const char* controller : {"memory", "freezer", "cpuacct", "cpu", "cpuset"}) {
    std::string above = root + "/" + controller;
    if (!is_writable_folder(above)) continue;
    for (const auto& group : steps(above, parent)) {
      if (!make_folder(group)) return false;
      if (std::string_view{controller} == "cpuset") inherit_cpuset(group, above);
      above = group;
    }
  }
  return true;
}

}  // namespace

CgroupMode Cgroup::prepare(const std::string& root, const std::string& parent, std::string& why) {
  if (prepare_v2(root, parent)) return CgroupMode::v2;
  if (prepare_v1(root, parent)) return CgroupMode::v1;
  why = "no writable control groups with memory below " + root + ": memory is not limited, and jobs are told apart by process tree only";
  return CgroupMode::none;
}

Cgroup::Cgroup(CgroupPlace place, std::string name) : place_(std::move(place)), name_(std::move(name)) {}

std::string Cgroup::path(const char* controller) const {
  if (place_.mode == CgroupMode::v2) return place_.root + "/" + place_.parent + "/" + name_;
  return place_.root + "/" + controller + "/" + place_.parent + "/" + name_;
}

// Version 2 has one tree; "" stands for it. The first one tracks the processes.
std::vector<const char*> Cgroup::controllers() const {
  if (place_.mode == CgroupMode::none) return {};
  if (place_.mode == CgroupMode::v2) return {""};
  std::vector<const char*> out{"freezer", "memory"};
  for (const char* optional : {"cpuacct", "cpu", "cpuset"}) {
    const std::string parent = place_.root + "/" + optional + "/" + place_.parent;
    if (::access(parent.c_str(), W_OK) == 0) out.push_back(optional);
  }
  return out;
}

bool Cgroup::exists() const { return active() && ::access(path("freezer").c_str(), F_OK) == 0; }

std::string Cgroup::create(const CgroupLimits& limits) {
  const std::string cpus = list_of(limits.bind_cpus);
  const std::string memory = limits.memory_mib > 0 ? std::to_string(limits.memory_mib * bytes_per_mib) : "";
  const auto milli = limits.cpus_milli > 0 ? limits.cpus_milli : default_weight_milli;
  for (const char* controller : controllers())
    if (!make_folder(path(controller))) return failed("make", path(controller));
  if (place_.mode == CgroupMode::v2) {
    const std::string group = path("");
    if (!memory.empty() && !write_text(group + "/memory.max", memory)) return failed("set", group + "/memory.max");
    const auto weight = std::clamp<std::int64_t>(milli / 10, 1, 10000);  // 100 is one CPU's worth
    write_text(group + "/cpu.weight", std::to_string(weight));
    if (!cpus.empty() && !write_text(group + "/cpuset.cpus", cpus)) return failed("set", group + "/cpuset.cpus");
  } else if (place_.mode == CgroupMode::v1) {
    const std::string file = path("memory") + "/memory.limit_in_bytes";
    if (!memory.empty() && !write_text(file, memory)) return failed("set", file);
    const auto shares = std::clamp<std::int64_t>(milli * 1024 / 1000, 2, 262144);
    write_text(path("cpu") + "/cpu.shares", std::to_string(shares));
    const std::string cpuset = path("cpuset");
    if (::access(cpuset.c_str(), F_OK) == 0) {
      if (!cpus.empty() && !write_text(cpuset + "/cpuset.cpus", cpus)) return failed("set", cpuset + "/cpuset.cpus");
      inherit_cpuset(cpuset, cpuset + "/..");
    }
  }
  return {};
}

// Version 1: a thread that moves itself through `tasks` needs no stop of all forks on the machine, which `cgroup.procs`
// does. A single-threaded process is then wholly inside.
std::string Cgroup::join_self() const {
  for (const char* controller : controllers()) {
    const std::string file = path(controller) + (place_.mode == CgroupMode::v1 ? "/tasks" : "/cgroup.procs");
    if (!write_text(file, "0")) return failed("join", file);
  }
  return {};
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> out;
  if (!active()) return out;
  const std::string text = read_text(path("freezer") + "/cgroup.procs");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    if (const auto pid = to_number(std::string_view{text}.substr(at, end - at)); pid > 0) out.push_back(static_cast<pid_t>(pid));
    at = end + 1;
  }
  return out;
}

// Frozen, a group can not fork away from the signals; the signal itself takes effect when it thaws.
void Cgroup::kill_all(bool freeze) const {
  if (!active()) return;
  if (place_.mode == CgroupMode::v2 && write_text(path("") + "/cgroup.kill", "1")) return;
  const std::string file = path("freezer") + (place_.mode == CgroupMode::v1 ? "/freezer.state" : "/cgroup.freeze");
  const bool v1 = place_.mode == CgroupMode::v1;
  if (freeze) write_text(file, v1 ? "FROZEN" : "1");
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
  write_text(file, v1 ? "THAWED" : "0");
}

std::int64_t Cgroup::cpu_us() const {
  if (place_.mode == CgroupMode::v2) return number_of(read_text(path("") + "/cpu.stat"), "usage_usec");
  if (place_.mode == CgroupMode::v1) return to_number(read_text(path("cpuacct") + "/cpuacct.usage")) / 1000;
  return 0;
}

std::int64_t Cgroup::memory_now_mib() const {
  if (place_.mode == CgroupMode::v2) {
    const std::string stat = read_text(path("") + "/memory.stat");
    return (number_of(stat, "anon") + number_of(stat, "shmem")) / bytes_per_mib;
  }
  if (place_.mode == CgroupMode::v1) {
    const std::string stat = read_text(path("memory") + "/memory.stat");
    return (number_of(stat, "total_rss") + number_of(stat, "total_shmem")) / bytes_per_mib;
  }
  return 0;
}

std::int64_t Cgroup::memory_peak_mib() const {
  if (place_.mode == CgroupMode::v2) return to_number(read_text(path("") + "/memory.peak")) / bytes_per_mib;
  if (place_.mode == CgroupMode::v1) return to_number(read_text(path("memory") + "/memory.max_usage_in_bytes")) / bytes_per_mib;
  return 0;
}

bool Cgroup::killed_for_memory() const {
  if (place_.mode == CgroupMode::v2) return number_of(read_text(path("") + "/memory.events"), "oom_kill") > 0;
  if (place_.mode == CgroupMode::v1) return number_of(read_text(path("memory") + "/memory.oom_control"), "oom_kill") > 0;
  return false;
}

void Cgroup::remove() const {
  for (const char* controller : controllers()) {
    const std::string group = path(controller);
    for (int i = 0; i < 50 && ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++i) ::usleep(2000);
  }
}

}  // namespace sy::supervisor

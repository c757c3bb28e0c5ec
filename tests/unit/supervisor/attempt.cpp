#include "unit/supervisor/attempt.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/supervisor/cgroup.hpp"
#include "daemon/supervisor/process_tree.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace sy::supervisor;

extern char** environ;

namespace {
std::string parent() { return "switchyard-test-" + std::to_string(::getpid()); }
CgroupPlace place() {
  static const CgroupPlace found = [] {
    CgroupPlace p;
    std::string why;
    p.root = "/sys/fs/cgroup";
    p.parent = parent();
    p.mode = Cgroup::prepare(p.root, p.parent, why);
    // Removed at the end of the test program: the groups below it are by then gone.
    std::atexit([] {
      for (const char* c : {"memory", "freezer", "cpuacct", "cpu", "cpuset", "."})
        ::rmdir(("/sys/fs/cgroup/" + std::string{c} + "/" + parent()).c_str());
    });
    return p;
  }();
  return found;
}
std::uint64_t next_job() {
  static std::uint64_t last = static_cast<std::uint64_t>(::getpid()) * 1000;
  return ++last;
}
}  // namespace

bool can_use_cgroups() { return ::geteuid() == 0 && place().mode != CgroupMode::none; }

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Attempt::Attempt(const std::string& script_text, bool with_cgroup) : script(script_text) {
  char name[] = "/tmp/switchyard-attempt-XXXXXX";
  root = ::mkdtemp(name);
  ::chmod(root.c_str(), 0755);
  work_dir = root + "/work";
  ::mkdir(work_dir.c_str(), 0755);
  const bool is_root = ::geteuid() == 0;
  launch.uid = is_root ? user : ::geteuid();
  launch.gid = is_root ? user : ::getegid();
  if (is_root) REQUIRE(::chown(work_dir.c_str(), launch.uid, launch.gid) == 0);
  launch.job = next_job();
  launch.attempt = 1;
  launch.node = "n1";
  launch.lead = true;
  launch.user = "nobody";
  launch.groups = {launch.gid};
  launch.job_name = "test";
  launch.work_dir = work_dir;
  launch.std_out = "out.txt";
  launch.kill_grace_us = 200'000;
  launch.environment = {"PATH=/usr/bin:/bin", "SWITCHYARD_ATTEMPT=" + std::to_string(launch.job) + ".1@n1"};
  if (with_cgroup && can_use_cgroups()) launch.cgroup = place();
  folder = root + "/spool/attempts/" + std::to_string(launch.job) + ".1";
  std::filesystem::create_directories(folder);
  ::chmod((root + "/spool").c_str(), 0700);
}

Attempt::~Attempt() {
  for (const pid_t pid : left()) ::kill(pid, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

pid_t Attempt::start(const std::vector<std::string>& options) {
  const Folder f = Folder::open(folder);
  if (!f.exists(file::launch)) {
    REQUIRE(f.write(file::script, script, false, 0555) == 0);
    REQUIRE(f.write(file::launch, to_text(launch), true) == 0);
  }
  std::vector<std::string> words{supervisor_program()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(folder);
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  REQUIRE(::posix_spawn(&pid, words.front().c_str(), nullptr, nullptr, argv.data(), environ) == 0);
  return pid;
}

int Attempt::wait(pid_t pid) {
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

ExitInfo Attempt::run() {
  REQUIRE(wait(start()) == 0);
  const auto record = parse_exit(read_file(folder + "/exit"));
  INFO("refused: " << read_file(folder + "/refused") << " log: " << read_file(folder + "/log"));
  REQUIRE(record);
  CHECK(parse_cleared(read_file(folder + "/cleared")));
  CHECK(left().empty());
  return *record;
}

void Attempt::wait_for_file(const std::string& path) const {
  for (int i = 0; i < 6000; ++i) {
    if (::access(path.c_str(), F_OK) == 0) return;
    ::usleep(10'000);
  }
  FAIL("no " << path << " after a minute; log: " << read_file(folder + "/log"));
}

void Attempt::tell(const std::string& message) const {
  const Folder f = Folder::open(folder);
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string path = f.proc_path(file::control);
  std::memcpy(to.sun_path, path.c_str(), path.size());
  const auto n = ::sendto(fd, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
  ::close(fd);
  REQUIRE(n == static_cast<ssize_t>(message.size()));
}

void Attempt::end(std::int64_t grace_us, const std::string& why) const {
  REQUIRE(Folder::open(folder).write(file::end, to_text(EndRequest{grace_us, why}), true) == 0);
  tell("look");
}

void Attempt::set_limit(std::int64_t us) const {
  REQUIRE(Folder::open(folder).write(file::limit, std::to_string(us), true) == 0);
  tell("look");
}

std::string Attempt::output(const std::string& name) const { return read_file(work(name)); }

std::vector<pid_t> Attempt::left() const {
  return processes_with_environment("SWITCHYARD_ATTEMPT=" + std::to_string(launch.job) + ".1@n1");
}

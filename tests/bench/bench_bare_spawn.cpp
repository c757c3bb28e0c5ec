// Supervisor-plus-shell spawns per second, with nothing around them: what "true jobs per second" of the whole system is measured
// against. Each is a folder with launch record and script, a supervisor with control groups and every fsync, and `true`.
//   bench_bare_spawn [count] [at once] [uid]
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/supervisor/cgroup.hpp"
#include "daemon/supervisor/folder.hpp"
#include "daemon/supervisor/records.hpp"

using namespace sy::supervisor;

namespace {

pid_t start(const std::string& program, const Folder& attempts, const std::string& path, LaunchRecord& record, std::uint64_t job) {
  const std::string name = std::to_string(job) + ".1";
  const Folder f = attempts.make(name);
  record.job = job;
  f.write(file::script, "#!/bin/sh\ntrue\n", false, 0555);
  f.write(file::launch, to_text(record), true);
  attempts.sync();
  std::string self = program, folder = path + "/" + name;
  char* words[] = {self.data(), folder.data(), nullptr};
  char* environment[] = {nullptr};
  pid_t pid = 0;
  if (::posix_spawn(&pid, program.c_str(), nullptr, nullptr, words, environment) != 0) std::exit(1);
  return pid;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500;
  const std::uint64_t at_once = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4;
  LaunchRecord record;
  record.attempt = 1;
  record.lead = true;
  record.user = "bench";
  record.uid = record.gid = argc > 3 ? static_cast<std::uint32_t>(std::atoi(argv[3])) : ::geteuid() == 0 ? 65534 : ::geteuid();
  record.work_dir = "/tmp";
  record.std_out = "/dev/null";
  record.environment = {"PATH=/usr/bin:/bin"};
  record.memory_mib = 256;
  std::string why;
  record.cgroup = {CgroupMode::none, "/sys/fs/cgroup", "switchyard-bench"};
  record.cgroup.mode = Cgroup::prepare(record.cgroup.root, record.cgroup.parent, why);
  char root[] = "/tmp/switchyard-bench-XXXXXX";
  if (::mkdtemp(root) == nullptr) return 1;
  const std::string path = std::string{root} + "/attempts";
  ::mkdir(path.c_str(), 0700);
  const Folder attempts = Folder::open(path);

  const auto began = std::chrono::steady_clock::now();
  std::uint64_t started = 0, running = 0, failed = 0;
  while (started < count || running > 0) {
    while (started < count && running < at_once) {
      start(SWITCHYARD_SUPERVISOR, attempts, path, record, ++started);
      ++running;
    }
    int status = 0;
    if (::wait(&status) > 0) --running;
    if (status != 0) ++failed;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (std::uint64_t job = 1; job <= count; ++job)
    if (!attempts.sub(std::to_string(job) + ".1").exists(file::exit)) ++failed;
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
  for (const char* controller : {"memory", "freezer", "cpuacct", "cpu", "cpuset", "."})
    ::rmdir((record.cgroup.root + "/" + controller + "/" + record.cgroup.parent).c_str());
  std::printf("%.0f spawns/s (%llu, %llu at once, control groups %s, %llu failed)\n", static_cast<double>(count) / seconds,
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(at_once),
              record.cgroup.mode == CgroupMode::none ? "none"
              : record.cgroup.mode == CgroupMode::v1 ? "v1"
                                                     : "v2",
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemon/supervisor/cgroup.hpp"
#include "support/catch.hpp"
#include "unit/supervisor/attempt.hpp"

using namespace sy::supervisor;

namespace {

// Plain files in place of the kernel's: what is written where, and how what is read there is understood.
struct FakeRoot {
  std::string path;
  FakeRoot() {
    char name[] = "/tmp/switchyard-cgroup-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~FakeRoot() { std::filesystem::remove_all(path); }
  void put(const std::string& name, const std::string& text = "") const {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name) << text;
  }
  std::string get(const std::string& name) const { return read_file(path + "/" + name); }
};

}  // namespace

TEST_CASE("version 2: controllers are handed down, limits set, and use read without the page cache") {
  FakeRoot root;
  root.put("cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
  root.put("cgroup.subtree_control");
  root.put("sy/cgroup.controllers", "cpuset cpu memory pids\n");
  root.put("sy/cgroup.subtree_control");
  root.put("sy/n1/cgroup.controllers", "cpu memory pids\n");
  root.put("sy/n1/cgroup.subtree_control");
  std::string why;
  REQUIRE(Cgroup::prepare(root.path, "sy/n1", why) == CgroupMode::v2);
  CHECK(root.get("cgroup.subtree_control") == "+memory +cpu +cpuset +pids");
  CHECK(root.get("sy/n1/cgroup.subtree_control") == "+memory +cpu +pids");

  for (const char* name : {"memory.max", "cpu.weight", "cpuset.cpus", "cgroup.procs", "cgroup.kill"})
    root.put(std::string{"sy/n1/job/"} + name);
  Cgroup group{{CgroupMode::v2, root.path, "sy/n1"}, "job"};
  CHECK(group.create({64, 4000, {0, 2}}).empty());
  CHECK(root.get("sy/n1/job/memory.max") == "67108864");
  CHECK(root.get("sy/n1/job/cpu.weight") == "400");
  CHECK(root.get("sy/n1/job/cpuset.cpus") == "0,2");
  CHECK(group.join_self().empty());
  CHECK(root.get("sy/n1/job/cgroup.procs") == "0");

  root.put("sy/n1/job/memory.stat", "anon 10485760\nfile 734003200\nshmem 1048576\n");
  root.put("sy/n1/job/memory.peak", "99614720\n");
  root.put("sy/n1/job/cpu.stat", "usage_usec 1234567\nuser_usec 1\n");
  root.put("sy/n1/job/memory.events", "low 0\noom 3\noom_kill 0\n");
  CHECK(group.memory_now_mib() == 11);
  CHECK(group.memory_peak_mib() == 95);
  CHECK(group.cpu_us() == 1234567);
  CHECK_FALSE(group.killed_for_memory());
  root.put("sy/n1/job/memory.events", "low 0\noom 3\noom_kill 1\n");
  CHECK(group.killed_for_memory());
  root.put("sy/n1/job/cgroup.procs", "12\n345\n");
  CHECK(group.processes() == std::vector<pid_t>{12, 345});
  group.kill_all(false);
  CHECK(root.get("sy/n1/job/cgroup.kill") == "1");
}

TEST_CASE("without a memory controller there are no control groups, and the reason is said") {
  FakeRoot root;
  root.put("cgroup.controllers", "hugetlb\n");
  std::string why;
  CHECK(Cgroup::prepare(root.path, "sy/n1", why) == CgroupMode::none);
  CHECK(why.find(root.path) != std::string::npos);
  Cgroup nothing;
  CHECK(nothing.create({64, 1000, {}}).empty());
  CHECK(nothing.join_self().empty());
  CHECK(nothing.processes().empty());
}

TEST_CASE("a limit that can not be set is told with its file") {
  FakeRoot root;
  std::filesystem::create_directories(root.path + "/sy/job");
  Cgroup group{{CgroupMode::v2, root.path, "sy"}, "job"};
  CHECK(group.create({64, 1000, {}}).find("/sy/job/memory.max") != std::string::npos);
  CHECK(group.join_self().find("cgroup.procs") != std::string::npos);
}

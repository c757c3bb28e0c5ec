#include <algorithm>

#include "daemon/agent/cpu_binding.hpp"
#include "daemon/agent/job_environment.hpp"
#include "daemon/agent/job_files.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::daemon;

namespace {

wire::LaunchMessage message() {
  wire::LaunchMessage m;
  m.job = base::JobId{42};
  m.attempt = base::AttemptNumber{2};
  m.node = "n1";
  m.user = "ann";
  m.uid = base::Uid{1000};
  m.gid = base::Gid{100};
  m.job_name = "train";
  m.partition = "gpu";
  m.cluster = "lab";
  m.nodes = {"n1", "n2", "n3"};
  m.nodes_text = "n[1-3]";
  m.tasks = {2, 2, 1};
  m.tasks_total = 5;
  m.cpus = base::whole_cpus(4);
  m.cpus_of_nodes = {base::whole_cpus(4), base::whole_cpus(4), base::whole_cpus(2)};
  m.cpus_per_task = base::whole_cpus(2);
  m.work_dir = m.submit_dir = "/home/ann";
  m.submit_host = "head";
  m.environment = {"PATH=/opt/bin", "SLURM_JOB_ID=1", "SLURM_MEM_PER_NODE=9", "CUDA_VISIBLE_DEVICES=7", "SLURM_CONF=/etc/x",
                   "BROKEN",        "EMPTY="};
  return m;
}

// The same in two racks, one of them with a dot in its name; the middle node has tasks of both segments.
wire::LaunchMessage placed() {
  wire::LaunchMessage m = message();
  model::PlacementRecord r;
  r.topology = "fabric";
  r.levels = {"spine", "nvl-72"};
  r.level = "spine";
  r.domains = {"s1"};
  r.paths = {{"s1", "r3"}, {"s1", "r4.1"}};
  r.groups = {"leader", "workers"};
  r.segmented = true;
  r.parts = {{base::NodeIndex{0}, 2, 0, 0, 0, 0},
             {base::NodeIndex{1}, 1, 0, 1, 0, 0},
             {base::NodeIndex{1}, 1, 0, 1, 1, 1},
             {base::NodeIndex{2}, 1, 1, 1, 1, 1}};
  m.placement = model::PlacementHandle{std::make_shared<const model::PlacementRecord>(r)};
  return m;
}

std::string value(const std::vector<std::string>& environment, const std::string& name) {
  const auto found = std::find_if(environment.begin(), environment.end(), [&](const auto& e) { return e.starts_with(name + "="); });
  return found == environment.end() ? "(absent)" : found->substr(name.size() + 1);
}

const Account ann{"ann", "/home/ann", "/bin/bash"};

}  // namespace

TEST_CASE("a job reads the names that scripts and frameworks use, new and old") {
  const auto e = job_environment(message(), ann, false);
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::string>>{{"SLURM_JOB_ID", "42"},
                                                                                       {"SLURM_JOBID", "42"},
                                                                                       {"SLURM_JOB_NAME", "train"},
                                                                                       {"SLURM_JOB_NODELIST", "n[1-3]"},
                                                                                       {"SLURM_NODELIST", "n[1-3]"},
                                                                                       {"SLURM_JOB_NUM_NODES", "3"},
                                                                                       {"SLURM_NNODES", "3"},
                                                                                       {"SLURM_NTASKS", "5"},
                                                                                       {"SLURM_NPROCS", "5"},
                                                                                       {"SLURM_TASKS_PER_NODE", "2(x2),1"},
                                                                                       {"SLURM_JOB_CPUS_PER_NODE", "4(x2),2"},
                                                                                       {"SLURM_CPUS_ON_NODE", "4"},
                                                                                       {"SLURM_CPUS_PER_TASK", "2"},
                                                                                       {"SLURM_SUBMIT_DIR", "/home/ann"},
                                                                                       {"SLURM_SUBMIT_HOST", "head"},
                                                                                       {"SLURM_JOB_PARTITION", "gpu"},
                                                                                       {"SLURM_CLUSTER_NAME", "lab"},
                                                                                       {"SLURMD_NODENAME", "n1"},
                                                                                       {"SLURM_NODEID", "0"},
                                                                                       {"SLURM_PROCID", "0"},
                                                                                       {"SLURM_LOCALID", "0"},
                                                                                       {"SLURM_JOB_UID", "1000"},
                                                                                       {"SLURM_JOB_USER", "ann"},
                                                                                       {"HOME", "/home/ann"},
                                                                                       {"USER", "ann"},
                                                                                       {"SHELL", "/bin/bash"},
                                                                                       {"PATH", "/opt/bin"},
                                                                                       {"SLURM_CONF", "/etc/x"},
                                                                                       {"EMPTY", ""},
                                                                                       {"SLURM_RESTART_COUNT", "(absent)"},
                                                                                       {"SLURM_MEM_PER_NODE", "(absent)"},
                                                                                       {"CUDA_VISIBLE_DEVICES", "(absent)"},
                                                                                       {"BROKEN", "(absent)"}})
    CHECK(name + "=" + value(e, name) == name + "=" + expected);
}

TEST_CASE("GPUs are named by their own index, and a job without any sees none on a node that has some") {
  auto m = message();
  m.gres = {{"gpu", "a100", 1, 1000, "/dev/nvidia1"}, {"gpu", "a100", 3, 1000, "/dev/nvidia3"}, {"nvme", "", 0, 1000, ""}};
  const auto with = job_environment(m, ann, true);
  CHECK(value(with, "CUDA_VISIBLE_DEVICES") == "1,3");
  CHECK(value(with, "SLURM_JOB_GPUS") == "1,3");
  CHECK(value(with, "SLURM_GPUS_ON_NODE") == "2");
  CHECK(value(job_environment(message(), ann, true), "CUDA_VISIBLE_DEVICES").empty());
}

TEST_CASE("the place in the topology is told by level") {
  auto m = placed();
  m.rank = 2;
  m.node = "n3";
  m.segment_size = 2;
  const auto e = job_environment(m, ann, false);
  CHECK(value(e, "SLURM_TOPOLOGY_ADDR") == "s1.r4.1.n3");
  CHECK(value(e, "SLURM_TOPOLOGY_ADDR_PATTERN") == "switch.switch.node");
  CHECK(value(e, "SWITCHYARD_DOMAIN_NVL_72") == "r4.1");
  CHECK(value(e, "SWITCHYARD_DOMAIN_NODE") == "n3");
  CHECK(value(e, "SWITCHYARD_SEGMENT") == "1");
  CHECK(value(e, "SLURM_JOB_SEGMENT_SIZE") == "2");
}

TEST_CASE("a node that holds two segments tells both") {
  auto m = placed();
  m.rank = 1;
  CHECK(value(job_environment(m, ann, false), "SWITCHYARD_SEGMENT") == "0,1");
}

TEST_CASE("account and QOS are told to the job, and to no program of root's") {
  auto m = message();
  CHECK(value(job_environment(m, ann, false), "SLURM_JOB_ACCOUNT") == "(absent)");
  m.account = "physics";
  m.qos = "urgent";
  CHECK(value(job_environment(m, ann, false), "SLURM_JOB_ACCOUNT") == "physics");
  CHECK(value(job_environment(m, ann, false), "SLURM_JOB_QOS") == "urgent");
  CHECK(value(hook_environment(m), "SLURM_JOB_ACCOUNT") == "(absent)");
}

TEST_CASE("the placement map says for each run of ranks where it is, and the nodes file lists nodes in rank order") {
  auto m = placed();
  CHECK(
      placement_json(m) ==
      R"({"job":42,"attempt":2,"topology":"fabric","levels":["spine","nvl-72"],"level":"spine","domains":["s1"],"nodes":["n1","n2","n3"],)"
      R"("ranks":[{"first":0,"count":2,"node":"n1","path":["s1","r3"],"segment":0,"group":"leader","replica":0},)"
      R"({"first":2,"count":1,"node":"n2","path":["s1","r3"],"segment":0,"group":"workers","replica":0},)"
      R"({"first":3,"count":1,"node":"n2","path":["s1","r3"],"segment":1,"group":"workers","replica":1},)"
      R"({"first":4,"count":1,"node":"n3","path":["s1","r4.1"],"segment":1,"group":"workers","replica":1}]})"
      "\n");
  CHECK(nodes_text(m) == "n1\nn2\nn3\n");
  CHECK(has_placement(m));
  m.placement = {};
  CHECK(placement_json(m).ends_with(
      R"("ranks":[{"first":0,"count":2,"node":"n1"},{"first":2,"count":2,"node":"n2"},{"first":4,"count":1,"node":"n3"}]})"
      "\n"));
  m.nodes = {"n1"};
  CHECK(!has_placement(m));
}

TEST_CASE("prolog and epilog get nothing that a user chose") {
  for (const auto& entry : hook_environment(message()))
    CHECK((entry.starts_with("SLURM") || entry == "PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
  CHECK(value(hook_environment(message()), "SLURM_JOB_ID") == "42");
  CHECK(value(hook_environment(message()), "SLURM_JOB_NAME") == "(absent)");
}

TEST_CASE("equal counts in a row are written once") {
  CHECK(counts_text({}).empty());
  CHECK(counts_text({1}) == "1");
  CHECK(counts_text({2, 2, 1, 2}) == "2(x2),1,2");
}

TEST_CASE("attempts are bound to CPUs of their own, lowest first, and not at all when asked for parts") {
  CpuBinding b{{0, 2, 1, 3}};
  const auto first = b.take(base::whole_cpus(2));
  CHECK(first == std::vector<int>{0, 2});
  CHECK(b.take(base::Cpus{500}).empty());
  CHECK(b.take(base::whole_cpus(3)).empty());
  b.release(first);
  CHECK(b.take(base::whole_cpus(3)) == std::vector<int>{0, 2, 1});
  CHECK(CpuBinding{}.take(base::whole_cpus(1)).empty());
}

#include "cli/control/change.hpp"
#include "fake.hpp"
#include "jobs.hpp"
#include "nodes.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

// The n-th job of the canned queue, as GET /v1/jobs/ID answers it.
std::string job_body(std::int64_t id) {
  const auto read = JsonDocument::parse(queue_body);
  std::string text;
  read->root()["jobs"].for_each([&](Json job) {
    if (job["id"].integer() == id) text = std::string{job.raw()};
  });
  return text;
}

struct Control : World {
  Control() {
    answer("GET /v1/jobs", queue_body);
    for (int id = 1; id <= 4; ++id) answer("GET /v1/jobs/" + std::to_string(id), job_body(id));
    answer("GET /v1/nodes", nodes_body);
    answer("GET /v1/partitions", partitions_body);
    answer("GET /v1/config", R"({"cluster_name":"alpha","keep_ended_s":300,"version":"0.1.0"})");
  }
  std::string text(Words words) {
    context.out.clear();
    context.err.clear();
    INFO(words.back());
    const int code = run(std::move(words));
    INFO(err());
    CHECK(code == 0);
    return out();
  }
};

std::string change(const std::vector<std::string>& words) {
  auto assignments = parse_assignments(words);
  REQUIRE(assignments);
  auto made = job_change(*assignments);
  INFO((made ? std::string{} : base::to_text(made.error())));
  REQUIRE(made);
  return made->body;
}

}  // namespace

TEST_CASE("scontrol show prints jobs, nodes and partitions as Key=Value") {
  Control control;
  check_golden("scontrol-show-job", control.text({"scontrol", "show", "job", "1"}));
  check_golden("scontrol-show-job-waiting", control.text({"scontrol", "show", "job", "2"}));
  check_golden("scontrol-show-job-oneline", control.text({"scontrol", "-o", "-d", "show", "job", "4"}));
  check_golden("scontrol-show-node", control.text({"scontrol", "show", "node", "n[1,5]"}));
  check_golden("scontrol-show-nodes-oneline", control.text({"scontrol", "-a", "show", "-o", "nodes"}));
  check_golden("scontrol-show-partition", control.text({"scontrol", "show", "partition"}));
  check_golden("scontrol-show-partition-oneline", control.text({"scontrol", "show", "part", "-o"}));
}

TEST_CASE("scontrol says in Slurm's words what is not there") {
  Control control;
  CHECK(control.run({"scontrol", "show", "job", "99"}) == 1);
  CHECK(control.err() == "slurm_load_jobs error: Invalid job id specified\n");
  control.context.err.clear();
  CHECK(control.run({"scontrol", "show", "node", "n99"}) == 1);
  CHECK(control.err() == "Node n99 not found\n");
  control.context.err.clear();
  CHECK(control.run({"scontrol", "show", "partition", "nope"}) == 1);
  CHECK(control.err() == "Partition nope not found\n");
  control.answer("GET /v1/jobs", R"({"jobs":[],"next":null})");
  CHECK(control.text({"scontrol", "show", "job"}) == "No jobs in the system\n");
  CHECK(control.text({"scontrol", "-o", "show", "reservation"}) == "No reservations in the system\n");
}

TEST_CASE("host lists are unfolded and folded without a controller") {
  World world;
  world.context.environment.emplace_back("SLURM_JOB_NODELIST=n[1-2,10]");
  CHECK(world.run({"scontrol", "show", "hostnames"}) == 0);
  CHECK(world.out() == "n1\nn2\nn10\n");
  world.context.out.clear();
  CHECK(world.run({"scontrol", "show", "hostname", "a[01-03]"}) == 0);
  CHECK(world.out() == "a01\na02\na03\n");
  world.context.out.clear();
  CHECK(world.run({"scontrol", "show", "hostlist", "n3,n1,n2"}) == 0);
  CHECK(world.out() == "n[3,1-2]\n");
  world.context.out.clear();
  CHECK(world.run({"scontrol", "show", "hostlistsorted", "n3,n1,n2"}) == 0);
  CHECK(world.out() == "n[1-3]\n");
  CHECK(world.controller.asked.empty());
}

TEST_CASE("scontrol show config names what tools read") {
  Control control;
  const std::string text = control.text({"scontrol", "show", "config"});
  CHECK(text.find("MinJobAge               = 300 sec\n") != std::string::npos);
  CHECK(text.find("ClusterName             = alpha\n") != std::string::npos);
}

TEST_CASE("scontrol ping tells up and down by text and exit code") {
  World world;
  world.answer("GET /livez", "ok");
  CHECK(world.run({"scontrol", "ping"}) == 0);
  CHECK(world.out() == "Slurmctld(primary) at login1 is UP\n");
  world.controller.dead = true;
  world.context.out.clear();
  CHECK(world.run({"scontrol", "ping"}) == 1);
  CHECK(world.out() == "Slurmctld(primary) at login1 is DOWN\n");
}

TEST_CASE("hold, release and requeue go to each job") {
  World world;
  for (const std::string verb : {"hold", "release", "requeue"})
    for (const std::string id : {"1", "2"}) world.answer("POST /v1/jobs/" + id + "/" + verb, "{}");
  CHECK(world.run({"scontrol", "hold", "1,2"}) == 0);
  CHECK(world.controller.asked.size() == 2);
  CHECK(world.run({"scontrol", "release", "1"}) == 0);
  CHECK(world.run({"scontrol", "requeue", "2"}) == 0);
  CHECK(world.last().body == R"({"hold":false})");
  CHECK(world.run({"scontrol", "requeuehold", "2"}) == 0);
  CHECK(world.last().body == R"({"hold":true})");
  CHECK(world.run({"scontrol", "hold", "77"}) == 1);
  CHECK(world.err() == "Invalid job id specified for job 77\n");
  world.context.err.clear();
  world.answer("POST /v1/jobs/3/hold", R"({"status":409,"code":"conflict","detail":"job 3 has ended","field":"job","value":"3"})", 409);
  CHECK(world.run({"scontrol", "hold", "3"}) == 1);
  CHECK(world.err() == "job 3 has ended\n");
}

TEST_CASE("scontrol update of a job becomes a change that the API takes") {
  CHECK(change({"TimeLimit=1:00:00"}) == R"({"time_limit_s":3600})");
  CHECK(change({"TimeLimit=UNLIMITED"}) == R"({"time_limit_s":null})");
  CHECK(change({"Partition=a,b", "JobName=x", "Nice=5"}) == R"({"partitions":["a","b"],"name":"x","nice":5})");
  CHECK(change({"NumNodes=2-4"}) == R"({"nodes":{"min":2,"max":4,"choices":[]}})");
  CHECK(change({"MinMemoryNode=4G", "Features=ib", "ExcNodeList=n[1-2]"}) ==
        R"({"memory_per_node_mib":4096,"constraint":"ib","exclude":"n[1-2]"})");
  CHECK(change({"ReqNodeList="}) == R"({"nodelist":""})");
  CHECK(change({"Gres=gpu:a100:2"}) == R"({"gres_per_node":[{"name":"gpu","type":"a100","count":2}]})");
  CHECK(change({"Requeue=0"}) == R"({"requeue":false})");
  CHECK(change({"SegmentSize=0"}) == R"({"segment_size":0})");
  CHECK(change({"Comment=a=b"}) == R"({"comment":"a=b"})");
  CHECK_FALSE(job_change({{"StartTime", "now"}}));
  CHECK_FALSE(job_change({{"Priority", "100"}}));
  CHECK_FALSE(parse_assignments({"TimeLimit"}));
}

TEST_CASE("a time limit can be raised by a step") {
  Control control;
  control.answer("PATCH /v1/jobs/3", "{}");
  CHECK(control.run({"scontrol", "update", "JobId=3", "TimeLimit=+10"}) == 0);
  CHECK(control.last().body == R"({"time_limit_s":900})");
  CHECK(control.run({"scontrol", "update", "JobId=3", "TimeLimit+=10"}) == 0);
  CHECK(control.last().body == R"({"time_limit_s":900})");
}

TEST_CASE("nodes are drained with a reason and resumed") {
  World world;
  for (const std::string node : {"n1", "n2"})
    for (const std::string verb : {"drain", "resume", "down"}) world.answer("POST /v1/nodes/" + node + "/" + verb, "{}");
  CHECK(world.run({"scontrol", "update", "NodeName=n[1-2]", "State=DRAIN", "Reason=bad fan"}) == 0);
  CHECK(world.controller.asked.size() == 2);
  CHECK(world.last().body == R"({"reason":"bad fan"})");
  CHECK(world.run({"scontrol", "update", "nodename=n1", "state=resume"}) == 0);
  CHECK(world.last().path == "/v1/nodes/n1/resume");
  CHECK(world.run({"scontrol", "update", "NodeName=n1", "State=DRAIN"}) == 1);
  CHECK(world.err().find("You must specify a reason when DRAINING a node") != std::string::npos);
  CHECK(world.run({"scontrol", "update", "NodeName=n9", "State=RESUME"}) == 1);
  CHECK(world.err().find("Invalid node name specified") != std::string::npos);
}

TEST_CASE("scontrol write batch_script - prints the script") {
  World world;
  world.answer("GET /v1/jobs/1/script", "#!/bin/sh\ntrue\n");
  CHECK(world.run({"scontrol", "write", "batch_script", "1", "-"}) == 0);
  CHECK(world.out() == "#!/bin/sh\ntrue\n");
}

TEST_CASE("commands of later releases are refused by name") {
  World world;
  CHECK(world.run({"scontrol", "reboot", "n1"}) == 1);
  CHECK(world.err().find("does not carry it out") != std::string::npos);
  CHECK(world.run({"scontrol", "frobnicate"}) == 1);
  CHECK(world.err().find("invalid keyword: frobnicate") != std::string::npos);
}

TEST_CASE("scancel ends jobs by id, and says what it can not end") {
  World world;
  world.answer("POST /v1/jobs/1/cancel", R"({"state":"ending"})");
  world.answer("POST /v1/jobs/4/cancel", R"({"status":409,"code":"conflict","detail":"the job has ended"})", 409);
  CHECK(world.run({"scancel", "1"}) == 0);
  CHECK(world.run({"scancel", "99"}) == 1);
  CHECK(world.err() == "scancel: error: Kill job error on job id 99: Invalid job id specified\n");
  world.context.err.clear();
  CHECK(world.run({"scancel", "4"}) == 1);
  CHECK(world.err().find("Job/step already completing or completed") != std::string::npos);
  CHECK(world.run({"scancel", "-Q", "4"}) == 0);
  CHECK(world.run({"scancel"}) == 1);
  CHECK(world.err().find("No job identification provided") != std::string::npos);
  CHECK(world.run({"scancel", "x1"}) == 1);
}

TEST_CASE("scancel finds jobs by user, state, name and partition") {
  World world;
  world.answer("GET /v1/jobs", R"({"jobs":[{"id":1},{"id":3}],"next":null})");
  world.answer("POST /v1/jobs/1/cancel", "{}");
  world.answer("POST /v1/jobs/3/cancel", "{}");
  CHECK(world.run({"scancel", "--me", "-t", "PENDING", "-n", "x", "-p", "main"}) == 0);
  REQUIRE(world.controller.asked.size() == 3);
  CHECK(world.controller.asked[0].path.find("state=pending&user=ann&name=x&partition=main") != std::string::npos);
}

TEST_CASE("scancel -s sends a signal, to the batch shell with -b") {
  World world;
  world.answer("POST /v1/jobs/1/signal", "{}");
  CHECK(world.run({"scancel", "-s", "USR1", "-b", "1"}) == 0);
  CHECK(world.last().body == R"({"signal":"USR1","batch_only":true,"whole_job":false})");
  CHECK(world.run({"scancel", "--signal", "10", "--full", "1"}) == 0);
  CHECK(world.last().body == R"({"signal":"USR1","batch_only":false,"whole_job":true})");
  CHECK(world.run({"scancel", "-s", "NOPE", "1"}) == 1);
}

TEST_CASE("scancel -i asks before each job") {
  World world;
  world.answer("POST /v1/jobs/1/cancel", "{}");
  world.answer("POST /v1/jobs/2/cancel", "{}");
  int turn = 0;
  world.context.read_line = [&]() -> std::optional<std::string> { return turn++ == 0 ? "n" : "y"; };
  CHECK(world.run({"scancel", "-i", "1", "2"}) == 0);
  REQUIRE(world.controller.asked.size() == 1);
  CHECK(world.last().path == "/v1/jobs/2/cancel");
}

TEST_CASE("what is meant for another cluster does not act on this one") {
  World world;
  world.answer("GET /v1/config", R"({"cluster_name":"here"})");
  world.answer("POST /v1/jobs/1/cancel", "{}");
  world.answer("POST /v1/jobs/1/release", "{}");
  for (const Words& words :
       {Words{"scancel", "-M", "other", "1"}, Words{"scancel", "--sibling=other", "1"}, Words{"scontrol", "-M", "other", "release", "1"},
        Words{"sinfo", "-M", "other"}, Words{"squeue", "-M", "other"}}) {
    INFO(words[0]);
    world.context.err.clear();
    CHECK(world.run(words) == 1);
    CHECK(world.err().find("No cluster 'other' known (--clusters); this one is 'here'") != std::string::npos);
  }
  world.context.environment.push_back("SLURM_CLUSTERS=other");
  for (const Words& words : {Words{"scancel", "1"}, Words{"scontrol", "release", "1"}, Words{"sinfo"}, Words{"squeue"}})
    CHECK(world.run(words) == 1);
  for (const auto& request : world.controller.asked) CHECK(request.method == "GET");
  CHECK(world.run({"scontrol", "show", "hostnames", "n[1-2]"}) == 0);
  CHECK(world.run({"scancel", "-M", "here", "1"}) == 0);
  CHECK(world.run({"scontrol", "-M", "all", "release", "1"}) == 0);
}

#include "cli/accounting/fields.hpp"
#include "fake.hpp"
#include "jobs.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

const std::string attempts_body = R"({"attempts":[
{"id":1,"name":"train","user":"ann","uid":1000,"group":"ann","gid":1000,"account":"physics","partition":"gpu","state":"ended","outcome":"completed","slurm_state":"COMPLETED",
 "reason":"None","submitted_us":1795957200000000,"eligible_us":1795957200000000,"started_us":1795957260000000,"ended_us":1795957380000000,"time_limit_s":86400,"elapsed_s":120,
 "node_count":2,"nodes":"n[1-2]","batch_host":"n1","cpus":16,"tasks":4,"memory_mib":32768,"tres":"cpu=16,mem=32G,node=2,billing=16","exit_code":0,"exit_signal":0,
 "cpu_time_s":75.25,"peak_memory_mib":512,"work_dir":"/home/ann","attempt":1,"restarts":0,"comment":"c"},
{"id":2,"name":"a_long_job_name","user":"ann","uid":1000,"group":"ann","gid":1000,"account":"","partition":"main","state":"ended","outcome":"cancelled","slurm_state":"CANCELLED",
 "reason":"None","end_reason":"cancelled by uid 1000","submitted_us":1795957200000000,"eligible_us":1795957200000000,"started_us":1795957260000000,"ended_us":1795957261000000,
 "time_limit_s":null,"elapsed_s":1,"node_count":1,"nodes":"n3","batch_host":"n3","cpus":1,"tasks":1,"memory_mib":100,"tres":"cpu=1,mem=100M,node=1,billing=1","exit_code":0,"exit_signal":15,
 "cpu_time_s":0.01,"peak_memory_mib":3,"attempt":1,"restarts":0},
{"id":3,"name":"wait","user":"bob","uid":1001,"group":"bob","gid":1001,"partition":"main","state":"pending","outcome":"none","slurm_state":"PENDING","reason":"Resources",
 "submitted_us":1795957200000000,"eligible_us":1795957200000000,"time_limit_s":60,"elapsed_s":0,"node_count":1,"nodes":"","cpus":2,"tasks":2,"memory_mib":0,"tres":"cpu=2,node=1,billing=2"},
{"id":4,"name":"big","user":"ann","uid":1000,"group":"ann","gid":1000,"partition":"main","state":"ended","outcome":"out_of_memory","slurm_state":"OUT_OF_MEMORY","reason":"OutOfMemory",
 "submitted_us":1795957200000000,"eligible_us":1795957200000000,"started_us":1795957260000000,"ended_us":1795960861000000,"time_limit_s":60,"elapsed_s":3601,"node_count":1,"nodes":"n4",
 "batch_host":"n4","cpus":1,"tasks":1,"memory_mib":100,"tres":"cpu=1","exit_code":0,"exit_signal":0,"cpu_time_s":3600.5,"peak_memory_mib":100}
],"next":null})";

std::string sacct(Words options) {
  World world;
  world.answer("GET /v1/accounting", attempts_body);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  options.insert(options.begin(), "sacct");
  const int code = world.run(options);
  INFO(world.err());
  CHECK(code == 0);
  return world.out();
}

std::string asked(Words options) {
  World world;
  world.answer("GET /v1/accounting", attempts_body);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  options.insert(options.begin(), "sacct");
  world.run(options);
  return world.last().path;
}

}  // namespace

TEST_CASE("sacct prints Slurm's default, brief and parsable forms") {
  check_golden("sacct", sacct({}));
  check_golden("sacct-brief", sacct({"-b", "-n"}));
  check_golden("sacct-parsable", sacct({"-p", "-X"}));
  check_golden("sacct-parsable2", sacct({"-P", "--delimiter", ";"}));
}

TEST_CASE("every column of sacct can be printed") {
  std::string all;
  for (const auto& field : accounting_fields()) all += std::string{field.name} + ",";
  check_golden("sacct-all", sacct({"-P", "-o", all}));
  check_golden("sacct-helpformat", sacct({"--helpformat"}));
}

TEST_CASE("sacct takes widths to either side") {
  CHECK(sacct({"-X", "-n", "-o", "jobid,state%20"}).rfind("1                       COMPLETED \n2            CANCELLED by 1000", 0) ==
        std::string::npos);
  CHECK(sacct({"-X", "-n", "-o", "state%20"}).rfind("           COMPLETED \n   CANCELLED by 1000 \n", 0) == 0);
  CHECK(sacct({"-X", "-n", "-o", "nodelist%-10,jobname"}).rfind("n[1-2]          train \nn3         a_long_jo+ \n", 0) == 0);
}

TEST_CASE("sacct shows since midnight, or ever for named jobs, and for whom") {
  CHECK(asked({}).find("user=ann&since_us=1795910400000000&limit") != std::string::npos);
  CHECK(asked({"-j", "1,2"}) == "/v1/accounting?id=1,2&limit=10000");
  CHECK(asked({"-j", "1.batch", "-j", "2_3"}) == "/v1/accounting?id=1,2&limit=10000");
  CHECK(asked({"-a", "-S", "2026-11-29T10:00", "-E", "now"}) ==
        "/v1/accounting?since_us=1795946400000000&until_us=1795960800999999&limit=10000");
  CHECK(asked({"-u", "bob", "-S1970-01-01-00:00:01", "-s", "CD,F", "-D"}) ==
        "/v1/accounting?user=bob&state=completed,failed&since_us=1000000&duplicates=1&limit=10000");
  CHECK(asked({"-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State", "--starttime", "2026-11-28T12:00",
               "--endtime", "now", "--name", "uuid"})
            .find("name=uuid&since_us=1795867200000000") != std::string::npos);
}

TEST_CASE("sacct refuses unknown columns, times and states with what it knows") {
  World world;
  CHECK(world.run({"sacct", "-o", "jobidd"}) == 1);
  CHECK(world.err().find("did you mean jobid?") != std::string::npos);
  CHECK(world.run({"sacct", "-S", "whenever"}) == 1);
  CHECK(world.run({"sacct", "-s", "SLEEPY"}) == 1);
  CHECK(world.run({"sacct", "-j", "abc"}) == 1);
  CHECK(world.controller.asked.empty());
}

TEST_CASE("an empty answer for a user who does not exist is an error") {
  World world;
  world.answer("GET /v1/accounting", R"({"attempts":[],"next":null})");
  CHECK(world.run({"sacct", "-u", "no-such-user"}) == 1);
  CHECK(world.err() == "sacct: error: Invalid user id: no-such-user\n");
  CHECK(world.run({"sacct", "-n", "-u", "root"}) == 0);
}

TEST_CASE("sacct finds requeued attempts, and asks the controller for QOS and wckey") {
  CHECK(asked({"-D", "-s", "RQ"}).find("state=requeued") != std::string::npos);
  CHECK(asked({"-q", "high", "-W", "w"}).find("&qos=high&wckey=w") != std::string::npos);
}

TEST_CASE("sacct converts memory to the unit asked for") {
  CHECK(sacct({"-X", "-n", "-P", "--units=G", "-o", "reqmem"}) == "32.00G\n0.10G\n0.00G\n0.10G\n");
  CHECK(sacct({"-X", "-n", "-P", "--noconvert", "-o", "reqmem"}) == "32768M\n100M\n0M\n100M\n");
}

TEST_CASE("sacct --json carries what tools read") {
  const std::string text = sacct({"--json"});
  auto read = JsonDocument::parse(text);
  REQUIRE(read);
  check_golden("sacct.json", text);
}

TEST_CASE("sacct does not answer for another cluster") {
  World world;
  world.answer("GET /v1/accounting", attempts_body);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  CHECK(world.run({"sacct", "-n", "-M", "beta"}) == 1);
  CHECK(world.out().empty());
  CHECK(world.err().find("No cluster 'beta' known (--clusters); this one is 'alpha'") != std::string::npos);
  CHECK_FALSE(sacct({"-n", "-M", "alpha"}).empty());
  CHECK_FALSE(sacct({"-n", "-M", "-1"}).empty());
}

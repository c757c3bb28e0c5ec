#include "fake.hpp"
#include "jobs.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

std::string squeue(Words options, int expected = 0) {
  World world;
  world.answer("GET /v1/jobs", queue_body);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  options.insert(options.begin(), "squeue");
  CHECK(world.run(options) == expected);
  CHECK(world.err().empty());
  return world.out();
}

std::string asked(Words options) {
  World world;
  world.answer("GET /v1/jobs", queue_body);
  options.insert(options.begin(), "squeue");
  world.run(options);
  return world.last().path;
}

}  // namespace

TEST_CASE("squeue prints Slurm's default, long and start formats") {
  check_golden("squeue", squeue({}));
  check_golden("squeue-long", squeue({"-l", "-h"}));
  check_golden("squeue-start", squeue({"--start"}));
}

TEST_CASE("squeue -o takes every letter, with widths and text between") {
  std::string everything;
  for (const char letter : std::string{"aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"})
    everything += std::string{"%"} + letter + "|";
  check_golden("squeue-all-letters", squeue({"-o", everything}));
  CHECK(squeue({"-h", "-j", "1", "--states=all", "-o", "[%.4i]%3j<%-6u>"}).rfind("[   1]tra<ann   >\n", 0) == 0);
  CHECK(squeue({"-h", "-o", "100%% %i"}).rfind("100% ", 0) == 0);
}

TEST_CASE("squeue -O takes names with widths and delimiters of any byte") {
  CHECK(squeue({"-h", "-S", "i", "-O", "JobID:|,NumNodes:|,WorkDir:\x1F"}).rfind("1|2|/home/ann/work\x1F\n", 0) == 0);
  CHECK(squeue({"-h", "-S", "i", "-O", "jobid,name:.6"}).rfind("1                    train\n", 0) == 0);
  CHECK(squeue({"-h", "-S", "i", "--Format", "JobArrayID,StateCompact:4,Reason:10"}).rfind("1                   R   None      \n", 0) == 0);
}

TEST_CASE("every name of -O is printed") {
  check_golden("squeue-all-names", [] {
    World world;
    world.answer("GET /v1/jobs", queue_body);
    world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
    CHECK(world.run({"squeue", "-S", "i", "-O",
                     "Account:|,AccrueTime:|,admin_comment:|,AllocNodes:|,AllocSID:|,ArrayJobID:|,ArrayTaskID:|,AssocID:|,"
                     "BatchFlag:|,BatchHost:|,Cluster:|,Command:|,"
                     "Comment:|,Contiguous:|,cpus-per-task:|,Deadline:|,Dependency:|,EligibleTime:|,EndTime:|,ExcNodes:|,"
                     "exit_code:|,Feature:|,GroupID:|,GroupName:|,"
                     "JobArrayID:|,JobID:|,Licenses:|,MaxNodes:|,MinCpus:|,MinMemory:|,MinTime:|,MinTmpDisk:|,Name:|,Nice:|,"
                     "NodeList:|,Nodes:|,NTPerNode:|,NumCPUs:|,"
                     "NumNodes:|,NumTasks:|,OverSubscribe:|,Partition:|,PendingTime:|,Priority:|,PriorityLong:|,QOS:|,"
                     "Reason:|,ReasonList:|,ReqNodes:|,Requeue:|,RestartCnt:|,"
                     "SchedNodes:|,StartTime:|,State:|,StateCompact:|,STDERR:|,STDIN:|,STDOUT:|,SubmitTime:|,TimeLeft:|,"
                     "TimeLimit:|,TimeUsed:|,tres-alloc:|,tres-per-node:|,"
                     "UserID:|,UserName:|,WCKey:|,WorkDir"}) == 0);
    return world.out();
  }());
}

TEST_CASE("unknown letters and names are refused, with the nearest name") {
  World world;
  CHECK(world.run({"squeue", "-o", "%@"}) == 1);
  CHECK(world.err().find("%@") != std::string::npos);
  CHECK(world.run({"squeue", "-O", "JobIDD"}) == 1);
  CHECK(world.err().find("did you mean jobid?") != std::string::npos);
  CHECK(world.controller.asked.empty());
}

TEST_CASE("squeue asks for the members its columns need, and no others") {
  const std::string path = asked({"-h", "-o", "%i %t"});
  CHECK(path.find("fields=id,partition,priority,slurm_state,slurm_state_compact&") != std::string::npos);
  CHECK(path.find("state=pending,running,lost,suspended,ending,starting") != std::string::npos);
  CHECK(asked({"-t", "all"}).find("state=") == path.npos);
  CHECK(asked({"--states=R,CD"}).find("state=running,lost,completed") != path.npos);
  CHECK(asked({"-u", "ann,bob", "-p", "gpu", "-n", "x", "-w", "n[1-2]"}).find("user=ann,bob&partition=gpu&name=x&node=n%5B1-2%5D") !=
        path.npos);
  CHECK(asked({"--me"}).find("user=ann&") != path.npos);
}

TEST_CASE("jobs of hidden partitions are asked for with --all, or by naming them") {
  const auto hides = [](Words options) { return asked(std::move(options)).find("hidden=0") != std::string::npos; };
  CHECK(hides({"-h"}));
  CHECK(hides({"-h", "-a", "--hide"}));
  CHECK_FALSE(hides({"-a"}));
  CHECK_FALSE(hides({"--all", "-t", "all"}));
  CHECK_FALSE(hides({"-p", "secret"}));
  CHECK_FALSE(hides({"-j", "1"}));
  World world;
  world.answer("GET /v1/jobs", queue_body);
  world.run({"sy", "queue"});
  CHECK(world.last().path.find("hidden=0") != std::string::npos);
  world.run({"sy", "queue", "-a"});
  CHECK(world.last().path.find("hidden=0") == std::string::npos);
}

TEST_CASE("--helpFormat lists every letter and every name, for squeue and sinfo") {
  const std::string jobs = squeue({"--helpFormat"});
  CHECK(jobs.find("%i JobArrayID\n") != std::string::npos);
  CHECK(jobs.find("     RestartCnt\n") != std::string::npos);
  World world;
  CHECK(world.run({"sinfo", "--helpFormat"}) == 0);
  CHECK(world.out().find("%E Reason\n") != std::string::npos);
  CHECK(world.out().find("     GresUsed\n") != std::string::npos);
  CHECK(world.controller.asked.empty());
}

TEST_CASE("the order of squeue may begin with a hyphen in a word of its own") {
  CHECK(squeue({"-h", "-o", "%i", "-S", "-i"}) == "4\n3\n2\n1\n");
  CHECK(squeue({"-h", "-o", "%i", "--sort", "-i"}) == "4\n3\n2\n1\n");
}

TEST_CASE("a format of all fields is every letter, or every name") {
  CHECK(squeue({"-o", "%all"}).starts_with("ACCOUNT|"));
  CHECK(squeue({"-O", "All:|"}).find("|WAIT4SWITCH|") != std::string::npos);
}

TEST_CASE("what a job is bound to and who is mailed can be columns") {
  World world;
  world.answer("GET /v1/jobs",
               R"({"jobs":[{"id":1,"hint":"nomultithread","cpu_bind":"cores","mail_type":"END","mail_user":"ann@site"}],"next":null})");
  CHECK(world.run({"squeue", "-h", "-O", "Hint:|,CpuBind:|,MemBind:|,Distribution:|,MailType:|,MailUser:|"}) == 0);
  CHECK(world.out() == "nomultithread|cores|(null)|(null)|END|ann@site|\n");
  CHECK(asked({"-q", "high"}).find("&qos=high") != std::string::npos);
}

TEST_CASE("one job that is gone is an error, two are not") {
  World world;
  world.answer("GET /v1/jobs", R"({"jobs":[],"next":null})");
  CHECK(world.run({"squeue", "-j", "999"}) == 1);
  CHECK(world.err() == "slurm_load_jobs error: Invalid job id specified\n");
  CHECK(world.out().empty());
  CHECK(world.run({"squeue", "-h", "-j", "999,999"}) == 0);
  CHECK(world.out().empty());
  CHECK(world.run({"squeue", "-j", "abc"}) == 1);
}

TEST_CASE("an empty list for a user or a partition that does not exist is an error, as a mistyped name would be") {
  World world;
  world.answer("GET /v1/jobs", R"({"jobs":[],"next":null,"sequence":1})");
  world.answer("GET /v1/partitions", R"({"partitions":[{"name":"main"}]})");
  CHECK(world.run({"squeue", "-h", "-u", "no-such-user"}) == 1);
  CHECK(world.err() == "squeue: error: Invalid user: no-such-user\n");
  world.context.err.clear();
  CHECK(world.run({"squeue", "-h", "-p", "main,mian"}) == 1);
  CHECK(world.err() == "squeue: error: Invalid partition specified: mian\n");
  world.context.err.clear();
  CHECK(world.run({"squeue", "-h", "-u", "root,ann", "-p", "main"}) == 0);
  CHECK(world.run({"scancel", "-u", "no-such-user"}) == 1);
  CHECK(world.err() == "scancel: error: Invalid user name: no-such-user\n");
  CHECK(world.run({"scancel", "-u", "root"}) == 0);
}

TEST_CASE("pages follow each other until the last") {
  World world;
  struct Turn : Transport {
    int n{};
    base::Result<Response> send(const Request& request) override {
      if (n++ == 0) return Response{200, R"({"jobs":[{"id":1}],"next":1})"};
      CHECK(request.path.find("&after=1") != std::string::npos);
      return Response{200, R"({"jobs":[{"id":2}],"next":null})"};
    }
  };
  world.context.connect = [](const std::string&) { return std::make_unique<Turn>(); };
  CHECK(world.run({"squeue", "-h", "-o", "%i"}) == 0);
  CHECK(world.out() == "1\n2\n");
}

TEST_CASE("squeue --json speaks Slurm's shape") {
  const std::string text = squeue({"--json"});
  auto read = JsonDocument::parse(text);
  REQUIRE(read);
  check_golden("squeue.json", text);
  CHECK(read->root()["meta"]["slurm"]["cluster"].text() == "alpha");
}

TEST_CASE("SLURM_TIME_FORMAT and SQUEUE_FORMAT are obeyed") {
  World world;
  world.answer("GET /v1/jobs", queue_body);
  world.context.environment = {"SLURM_TIME_FORMAT=%s", "SQUEUE_FORMAT=%i^^^%S"};
  CHECK(world.run({"squeue", "-h", "-S", "i"}) == 0);
  CHECK(world.out().rfind("1^^^1795957260\n2^^^1796043660\n3^^^N/A\n", 0) == 0);
}

TEST_CASE("a dead controller is told in Slurm's words by squeue") {
  World world;
  world.controller.dead = true;
  CHECK(world.run({"squeue"}) == 1);
  CHECK(world.err() == "slurm_load_jobs error: Unable to contact slurm controller (connect failure); tried /run/test.sock\n");
}

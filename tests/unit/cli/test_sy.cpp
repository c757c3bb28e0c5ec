#include "cli/json.hpp"
#include "cli/placement_text.hpp"
#include "cli/table.hpp"
#include "fake.hpp"
#include "jobs.hpp"
#include "nodes.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

std::string job_body(std::int64_t id) {
  const auto read = JsonDocument::parse(queue_body);
  std::string text;
  read->root()["jobs"].for_each([&](Json job) {
    if (job["id"].integer() == id) text = std::string{job.raw()};
  });
  return text;
}

struct People : World {
  People() {
    answer("GET /v1/jobs", queue_body);
    for (int id = 1; id <= 4; ++id) answer("GET /v1/jobs/" + std::to_string(id), job_body(id));
    answer("GET /v1/nodes", nodes_body);
  }
  std::string text(Words words) {
    context.out.clear();
    words.insert(words.begin(), "sy");
    const int code = run(std::move(words));
    INFO(err());
    CHECK(code == 0);
    return out();
  }
};

}  // namespace

TEST_CASE("sy prints tables and sheets for people") {
  People people;
  check_golden("sy-queue", people.text({"queue"}));
  check_golden("sy-show", people.text({"show", "1", "2", "4"}));
  check_golden("sy-nodes", people.text({"nodes"}));
  check_golden("sy-help", people.text({"help"}));
}

TEST_CASE("control characters that are stored in a job are shown, and neither make a row nor speak to a terminal") {
  const std::string job =
      R"({"id":7,"name":"a\n9|FORGED","user":"ann","uid":1000,"state":"running","slurm_state":"RUNNING","slurm_state_compact":"R",)"
      R"("comment":"c\u001b[31m","partition":"main","nodes":"n1","work_dir":"/tmp/\u0007","started_us":1795957260000000,"exit_code":0})";
  World world;
  world.answer("GET /v1/jobs", "{\"jobs\":[" + job + "],\"next\":null}");
  world.answer("GET /v1/jobs/7", job);
  world.answer("GET /v1/accounting", "{\"attempts\":[" + job + "],\"next\":null}");
  for (const Words& words :
       {Words{"squeue", "-h", "-o", "%i|%j|%k"}, Words{"squeue", "-h", "-O", "JobID,Name,Comment"},
        Words{"sacct", "-X", "-n", "-P", "-o", "jobid,jobname,comment,workdir"}, Words{"scontrol", "-o", "show", "job", "7"},
        Words{"scontrol", "show", "job", "7"}, Words{"sy", "queue"}, Words{"sy", "show", "7"}, Words{"sy", "history"}}) {
    world.context.out.clear();
    INFO(words[0] << " " << words[1]);
    CHECK(world.run(words) == 0);
    CHECK(world.out().find("a\\n9|FORGED") != std::string::npos);
    CHECK(world.out().find('\x1b') == std::string::npos);
    CHECK(world.out().find('\a') == std::string::npos);
  }
}

TEST_CASE("a sheet says nothing of a run there was not, and says an exit code once") {
  World world;
  const std::string common = R"("id":7,"name":"x","user":"ann","state":"ended","partition":"main","ended_us":1795957260000000,)";
  world.answer("GET /v1/jobs/7", "{" + common + R"("slurm_state":"CANCELLED","end_reason":"cancelled by uid 1000","started_us":null})");
  CHECK(world.run({"sy", "show", "7"}) == 0);
  CHECK(world.out().find("ran:") == std::string::npos);
  CHECK(world.out().find("cancelled: cancelled by uid 1000") != std::string::npos);
  world.context.out.clear();
  world.answer("GET /v1/jobs/7",
               "{" + common + R"("slurm_state":"FAILED","exit_code":138,"end_reason":"exit code 138","started_us":1795957200000000})");
  CHECK(world.run({"sy", "show", "7"}) == 0);
  CHECK(world.out().find("failed, exit code 138\n") != std::string::npos);
}

TEST_CASE("what a job was annotated with is on its sheet and in scontrol, and a condition of sy queue and sy history") {
  World world;
  world.answer("GET /v1/jobs/7", R"({"id":7,"name":"x","user":"ann","state":"pending","slurm_state":"PENDING","hint":"nomultithread",)"
                                 R"("distribution":"cyclic","cpu_bind":"cores","mem_bind":"local","mail_type":"END","mail_user":""})");
  CHECK(world.run({"sy", "show", "7"}) == 0);
  for (const auto* line :
       {"hint:       nomultithread", "distribution: cyclic", "cpu-bind:   cores", "mem-bind:   local", "mail-type:  END"})
    CHECK(world.out().find(line) != std::string::npos);
  world.context.out.clear();
  CHECK(world.run({"scontrol", "show", "job", "7"}) == 0);
  CHECK(world.out().find("   Hint=nomultithread Distribution=cyclic CpuBind=cores MemBind=local\n") != std::string::npos);
  CHECK(world.out().find("   MailUser=ann MailType=END\n") != std::string::npos);
  world.answer("GET /v1/jobs", R"({"jobs":[],"next":null})");
  world.answer("GET /v1/accounting", R"({"attempts":[],"next":null})");
  CHECK(world.run({"sy", "queue", "--where", "mail-type=END", "--where=comment=a b"}) == 0);
  CHECK(world.last().path.find("&mail_type=END&comment=a%20b") != std::string::npos);
  CHECK(world.run({"sy", "history", "-a", "--where", "hint=nomultithread"}) == 0);
  CHECK(world.last().path.find("&hint=nomultithread") != std::string::npos);
  CHECK(world.run({"sy", "queue", "--where", "colour=red"}) == 1);
  CHECK(world.err().find("mail-type") != std::string::npos);
}

TEST_CASE("sy queue takes no words") {
  World world;
  CHECK(world.run({"sy", "queue", "extra"}) == 1);
  CHECK(world.err().find("extra") != std::string::npos);
  CHECK(world.controller.asked.empty());
}

TEST_CASE("sy help COMMAND is what the command says of itself") {
  People people;
  const auto of_submit = people.text({"submit", "--help"});
  CHECK(of_submit.find("--ladder") != std::string::npos);
  CHECK(people.text({"help", "submit"}) == of_submit);
  CHECK(people.text({"help", "squeue"}) == people.text({"squeue", "--help"}));
  CHECK(people.run({"sy", "help", "sumbit"}) == 1);
}

TEST_CASE("tables are cut to a narrow terminal, coloured there, and left alone in a pipe") {
  People people;
  people.context.out.set_tty(true, 60);
  const std::string narrow = people.text({"nodes"});
  CHECK(narrow.find("\x1b[") != std::string::npos);
  CHECK(narrow.find("…") != std::string::npos);
  people.context.out.set_tty(false, 60);
  const std::string plain = people.text({"nodes"});
  CHECK(plain.find("\x1b[") == std::string::npos);
  CHECK(plain.find("…") == std::string::npos);
}

TEST_CASE("every list of sy is JSON with --json") {
  People people;
  for (const Words& words : {Words{"queue", "--json"}, Words{"show", "1", "--json"}, Words{"nodes", "--json"}}) {
    const std::string text = people.text(words);
    CHECK(JsonDocument::parse(text));
  }
}

TEST_CASE("a problem becomes one line with field, value, limit and what to do") {
  World world;
  world.answer("POST /v1/jobs/5/hold", R"({"status":403,"code":"forbidden","detail":"the job belongs to bob","hint":"ask bob"})", 403);
  CHECK(world.run({"sy", "hold", "5"}) == 1);
  CHECK(world.err() == "sy hold: error: the job belongs to bob; ask bob\n");
}

TEST_CASE("a dead controller is told with what was tried") {
  World world;
  world.controller.dead = true;
  CHECK(world.run({"sy", "queue"}) == 1);
  CHECK(world.err().find("nobody answers at /run/test.sock") != std::string::npos);
}

TEST_CASE("fencing asks, unless told not to") {
  World world;
  world.answer("POST /v1/nodes/n1/fence", "{}");
  world.context.read_line = [] { return std::optional<std::string>{"n"}; };
  CHECK(world.run({"sy", "fence", "n1"}) == 1);
  CHECK(world.controller.asked.empty());
  world.context.read_line = [] { return std::optional<std::string>{"yes"}; };
  CHECK(world.run({"sy", "fence", "n1"}) == 0);
  CHECK(world.run({"sy", "fence", "n1", "--yes"}) == 0);
  CHECK(world.controller.asked.size() == 2);
}

TEST_CASE("draining needs a reason and takes host lists") {
  World world;
  world.answer("POST /v1/nodes/n1/drain", "{}");
  world.answer("POST /v1/nodes/n2/drain", "{}");
  CHECK(world.run({"sy", "drain", "n[1-2]"}) == 1);
  CHECK(world.controller.asked.empty());
  CHECK(world.run({"sy", "drain", "n[1-2]", "--reason", "new fans"}) == 0);
  CHECK(world.controller.asked.size() == 2);
  CHECK(world.last().body == R"({"reason":"new fans"})");
}

TEST_CASE("enrolment prints the token alone into a pipe") {
  World world;
  world.answer("POST /v1/nodes/n1/enrol", R"({"token":"n1.secret.fp","expires_us":1795961400000000,"fingerprint":"fp"})");
  CHECK(world.run({"sy", "node", "enrol", "n1"}) == 0);
  CHECK(world.out() == "n1.secret.fp\n");
  world.context.out.set_tty(true, 80);
  world.context.out.clear();
  CHECK(world.run({"sy", "node", "enrol", "n1"}) == 0);
  CHECK(world.out().find("switchyard-agent --enrol n1.secret.fp") != std::string::npos);
}

TEST_CASE("sy update changes a job with scontrol's keys") {
  World world;
  world.answer("PATCH /v1/jobs/7", "{}");
  CHECK(world.run({"sy", "update", "7", "TimeLimit=2:00:00"}) == 0);
  CHECK(world.last().body == R"({"time_limit_s":7200})");
  world.answer("PATCH /v1/jobs/8", R"({"id":8,"warnings":["--switches has no effect on blocks"]})");
  CHECK(world.run({"sy", "update", "8", "Partition=blocks"}) == 0);
  CHECK(world.err().find("sy: warning: --switches has no effect on blocks") != std::string::npos);
  CHECK(world.run({"scontrol", "update", "JobId=8", "Partition=blocks"}) == 0);
  CHECK(world.err().find("scontrol: warning: --switches has no effect on blocks") != std::string::npos);
  CHECK(world.run({"sy", "update", "7", "TimeLimit=-5"}) == 1);
  CHECK(world.err().find("a time limit is written in full here") != std::string::npos);
  CHECK(world.run({"sy", "update", "7", "Colour=red"}) == 1);
}

TEST_CASE("Slurm's names work as links, as subcommands, and after --as") {
  for (const Words& words : {Words{"/usr/bin/squeue", "-h"}, Words{"sy", "squeue", "-h"}, Words{"sy", "--as", "squeue", "-h"}}) {
    World world;
    world.answer("GET /v1/jobs", R"({"jobs":[],"next":null})");
    CHECK(world.run(words) == 0);
  }
  World world;
  CHECK(world.run({"sy", "frobnicate"}) == 1);
  CHECK(world.err().find("frobnicate") != std::string::npos);
}

TEST_CASE("spans are said in words") {
  CHECK(span_words(30) == "30 s");
  CHECK(span_words(3540) == "59 min");
  CHECK(span_words(7500) == "2 h 5 min");
  CHECK(span_words(86'400 * 3 + 3600 * 4) == "3 d 4 h");
}

TEST_CASE("what a job wishes for its place is told in words") {
  const auto words = [](const char* group) {
    const auto json = JsonDocument::parse(std::string(group));
    REQUIRE(json);
    return wishes_text(json->root());
  };
  CHECK(words("{}").empty());
  CHECK(words(R"({"pack":{"require":"rack","prefer":"leaf"},"exclusive_level":"rack","contiguous":true})") ==
        ", within rack, near leaf, a rack to itself, adjacent nodes");
  CHECK(words(R"({"pack":{"ladder":[{"level":"leaf","max_domains":2,"wait_s":600},{"level":"any"}]},"switches":1})") ==
        ", on leaf (at most 2) for 10 min, then any, on at most 1 switch");
  CHECK(words(R"({"segments":[{"level":"rack","size":4},{"sizes":[1,3]}],"spread":[{"level":"rack","max_per_domain":2}]})") ==
        ", segments of 4 in a rack, segments of 1+3, spread over racks, at most 2 in each");
}

TEST_CASE("the sheet of a gang says what each group asks, and that --switches has no effect where no tree of switches is") {
  World world;
  world.answer("GET /v1/jobs/7",
               R"({"id":7,"name":"x","user":"ann","state":"ended","slurm_state":"COMPLETED","partition":"main","node_count":7,"tasks":9,)"
               R"("cpus_per_task":1,"gres":"gpu:2","spec":{"groups":[{"pack":{"require":"spine"},"children":[)"
               R"({"name":"replica","replicas":2,"min_replicas":1,"pack":{"require":"rack"},"children":[)"
               R"({"name":"leader","tasks":1},{"name":"workers","nodes":{"min":2,"max":2},"tasks_per_node":2,"cpus_per_task":2,)"
               R"("memory_per_node_mib":1024,"gres_per_node":[{"name":"gpu","count":2}],"sharing":"exclusive_node",)"
               R"("affinity":[{"level":"rack","target":"leader"}]}]},)"
               R"({"nodes":{"min":1,"max":3},"nodelist":"n02","anti_affinity":[{"level":"rack","target":"leader","require":false}]}]}]}})");
  CHECK(world.run({"sy", "show", "7"}) == 0);
  INFO(world.out());
  CHECK(world.out().find("  asks for:   7 nodes, 9 tasks in groups, within spine\n"
                         "  group       replica: 2 copies (at least 1), within rack\n"
                         "  group       replica.leader: 1 task, 1 CPU a task\n"
                         "  group       replica.workers: 2 nodes, 2 tasks a node, 2 CPUs a task, 1G memory a node, gpu:2 a node, whole "
                         "nodes, in the rack of leader\n"
                         "  group       [1]: 1-3 nodes, 1 CPU a task, on n02, preferably not in the rack of leader\n") !=
        std::string::npos);

  const auto asks = [&](const std::string& topology) {
    world.answer("GET /v1/jobs/8",
                 R"({"id":8,"name":"x","user":"ann","state":"ended","slurm_state":"COMPLETED","partition":"main","node_count":2,"tasks":2,)"
                 R"("cpus_per_task":1,"spec":{"groups":[{"nodes":{"min":2},"switches":1}]}})");
    world.answer("GET /v1/partitions/main", R"({"name":"main","topology":")" + topology + R"("})");
    world.answer("GET /v1/topologies/blk", R"({"name":"blk","kind":"block"})");
    world.answer("GET /v1/topologies/fab", R"({"name":"fab","kind":"tree"})");
    world.answer("GET /v1/topologies/default", R"({"status":404,"code":"not_found","detail":"no"})", 404);
    world.context.out.clear();
    CHECK(world.run({"sy", "show", "8"}) == 0);
    const auto from = world.out().find("  asks for:");
    return world.out().substr(from, world.out().find('\n', from) - from);
  };
  const std::string plain = "  asks for:   2 nodes, 2 tasks, 1 CPU a task, on at most 1 switch";
  CHECK(asks("fab") == plain);
  CHECK(asks("blk") == plain + " (no effect: the topology is no tree of switches)");
  CHECK(asks("") == plain + " (no effect: the topology is no tree of switches)");
}

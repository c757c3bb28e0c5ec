#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/submit/collect.hpp"
#include "cli/submit/options.hpp"
#include "fake.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

// A script file that goes away with the test.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "sy-test-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    REQUIRE(fd >= 0);
    std::fclose(::fdopen(fd, "w"));
    path_ = name;
    std::ofstream{path_, std::ios::binary} << text;
  }
  ~ScriptFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Json sent(World& world, JsonDocument& keep) {
  auto read = JsonDocument::parse(world.last().body);
  REQUIRE(read);
  keep = std::move(*read);
  return keep.root();
}
JsonDocument nothing() { return *JsonDocument::parse("null"); }

}  // namespace

TEST_CASE("sbatch prints the sentence that every tool looks for") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":42,"warnings":[]})", 201);
  CHECK(world.run({"sbatch"}) == 0);
  CHECK(world.out() == "Submitted batch job 42\n");
  CHECK(world.err().empty());
}

TEST_CASE("sbatch --parsable prints the id alone, with the cluster when one was named") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":42,"warnings":[]})", 201);
  world.answer("GET /v1/config", R"({"cluster_name":"alpha"})");
  CHECK(world.run({"sbatch", "--parsable"}) == 0);
  CHECK(world.out() == "42\n");
  world.context.out.clear();
  CHECK(world.run({"sbatch", "--parsable", "-M", "alpha"}) == 0);
  CHECK(world.out() == "42;alpha\n");
  CHECK(world.run({"sbatch", "-M", "beta"}) == 1);
}

TEST_CASE("a submission carries script, environment and an idempotency key") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":1,"warnings":[]})", 201);
  REQUIRE(world.run({"sbatch", "--wrap", "echo \"hi\"", "-N", "2", "-t", "5"}) == 0);
  auto keep = nothing();
  const Json body = sent(world, keep);
  CHECK(body["script"].text() == "#!/bin/sh\n# This script was created by sbatch --wrap.\n\necho \"hi\"\n");
  CHECK(body["spec"]["name"].text() == "wrap");
  CHECK(body["spec"]["work_dir"].text() == "/home/ann/work");
  CHECK(body["spec"]["time_limit_s"].integer() == 300);
  bool home = false;
  body["environment"].for_each([&](Json pair) { home = home || pair.text() == "HOME=/home/ann"; });
  CHECK(home);
  std::string key;
  for (const auto& [name, value] : world.last().headers)
    if (name == "Idempotency-Key") key = value;
  CHECK(key.size() == 32);
}

TEST_CASE("the command line wins over the environment, the environment over the script") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":1,"warnings":[]})", 201);
  world.context.environment.insert(world.context.environment.end(),
                                   {"SBATCH_TIMELIMIT=20", "SBATCH_PARTITION=fast", "SBATCH_MEM_PER_CPU=1G"});
  const ScriptFile file("#!/bin/sh\n#SBATCH -t 10 -p slow -J mine --mem=4G\ntrue\n");
  REQUIRE(world.run({"sbatch", "-t", "30", file.path(), "first", "-N"}) == 0);
  auto keep = nothing();
  const Json spec = sent(world, keep)["spec"];
  CHECK(spec["time_limit_s"].integer() == 1800);
  CHECK(spec["partitions"].raw() == R"(["fast"])");
  CHECK(spec["name"].text() == "mine");
  CHECK(spec["script_args"].raw() == R"(["first","-N"])");
  CHECK(spec["groups"].raw().find("memory_per_cpu_mib\":1024") != std::string_view::npos);
  CHECK(spec["groups"].raw().find("memory_per_node_mib") == std::string_view::npos);
}

TEST_CASE("a refused environment variable is named as such") {
  World world;
  world.context.environment.emplace_back("SBATCH_RESERVATION=maint");
  CHECK(world.run({"sbatch"}) == 1);
  CHECK(world.err().find("SBATCH_RESERVATION") != std::string::npos);
}

TEST_CASE("scripts that can not run are refused before anything is sent") {
  const auto refused = [](const std::string& script) {
    World world;
    world.context.read_stdin = [script] { return script; };
    CHECK(world.run({"sbatch"}) == 1);
    CHECK(world.controller.asked.empty());
    CHECK(world.err().rfind("sbatch: error: ", 0) == 0);
    return world.err();
  };
  CHECK(refused("").find("empty") != std::string::npos);
  CHECK(refused("echo hi\n").find("#!") != std::string::npos);
  CHECK(refused("\x7f"
                "ELF\x02\x01")
            .find("#!") != std::string::npos);
  CHECK_FALSE(refused(std::string{"#!/bin/sh\n\0true\n", 16}).empty());
  CHECK_FALSE(refused("#!/bin/sh\r\ntrue\r\n").empty());
  CHECK_FALSE(refused("#!/bin/sh\n" + std::string(20U << 20U, 'x')).empty());
}

TEST_CASE("a missing script file is named") {
  World world;
  CHECK(world.run({"sbatch", "no-such-script.sh"}) == 1);
  CHECK(world.err().find("Unable to open file no-such-script.sh") != std::string::npos);
}

TEST_CASE("a script that is not UTF-8 travels as base64") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":1,"warnings":[]})", 201);
  world.context.read_stdin = [] { return std::string{"#!/bin/sh\necho \xe9\n"}; };
  REQUIRE(world.run({"sbatch"}) == 0);
  auto keep = nothing();
  const Json body = sent(world, keep);
  CHECK(body["script"].is_null());
  CHECK(body["script_base64"].text() == "IyEvYmluL3NoCmVjaG8g6Qo=");
}

TEST_CASE("warnings go to standard error and leave the answer alone; -Q keeps quiet") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":7,"warnings":["account is stored, not enforced yet"]})", 201);
  CHECK(world.run({"sbatch", "-A", "physics"}) == 0);
  CHECK(world.out() == "Submitted batch job 7\n");
  CHECK(world.err() == "sbatch: warning: account is stored, not enforced yet\n");
  world.context.err.clear();
  world.context.out.clear();
  CHECK(world.run({"sbatch", "-Q", "-A", "physics"}) == 0);
  CHECK(world.out().empty());
  CHECK(world.err().empty());
}

TEST_CASE("a refusal from the controller shows field, value, limit and what to do") {
  World world;
  world.answer(
      "POST /v1/jobs",
      R"({"type":"about:blank","title":"Unprocessable","status":422,"code":"impossible","detail":"no nodes have so many CPUs","field":"--cpus-per-task","limit":"4","value":"64","hint":"ask for at most 4"})",
      422);
  CHECK(world.run({"sbatch", "-c", "64"}) == 1);
  CHECK(world.err() ==
        "sbatch: error: Batch job submission failed: --cpus-per-task: no nodes have so many CPUs (given: 64) (limit: 4); "
        "ask for at most 4\n");
}

TEST_CASE("a refusal that names a member of the API is told as the option that was written") {
  const auto told = [](Words words, const std::string& field, const std::string& detail) {
    World world;
    world.answer("POST /v1/jobs", R"({"status":400,"code":"invalid_argument","detail":")" + detail + R"(","field":")" + field + "\"}", 400);
    words.insert(words.begin(), "sbatch");
    CHECK(world.run(words) == 1);
    return world.err().substr(world.err().find("failed: ") + 8);
  };
  CHECK(told({"-J", "x"}, "spec.name", "spec.name is too long") == "--job-name: is too long; write a shorter one\n");
  CHECK(told({}, "spec.annotations.mail_user", "spec.annotations.mail_user is too long") ==
        "--mail-user: is too long; write a shorter one\n");
  CHECK(told({"--gpus-per-node=3"}, "--gres", "asks 3") == "--gpus-per-node: asks 3\n");
  CHECK(told({"--gres=gpu:3"}, "--gres", "asks 3") == "--gres: asks 3\n");
  CHECK(told({}, "spec.groups[0].nodes", "spec.groups[0].nodes must be a list") == "spec.groups[0].nodes: must be a list\n");
}

TEST_CASE("a current folder that is gone is said, with what to do") {
  World world;
  world.context.work_dir.clear();
  world.answer("POST /v1/jobs", R"({"id":42,"warnings":[]})", 201);
  CHECK(world.run({"sbatch"}) == 1);
  CHECK(world.err().find("your current folder is gone") != std::string::npos);
  CHECK(world.err().find("--chdir=FOLDER") != std::string::npos);
  CHECK(world.controller.asked.empty());
  CHECK(world.run({"sbatch", "--chdir=/tmp"}) == 0);
}

TEST_CASE("SLURM_EXIT_ERROR is the exit code of an error, and not of a job") {
  World world;
  world.context.environment.emplace_back("SLURM_EXIT_ERROR=5");
  CHECK(world.run({"sbatch", "--tiem=3"}) == 5);
  world.answer("POST /v1/jobs", R"({"status":403,"code":"forbidden","detail":"no"})", 403);
  CHECK(world.run({"sbatch"}) == 5);
  world.answer("POST /v1/jobs", R"({"id":9,"warnings":[]})", 201);
  world.answer("GET /v1/jobs/9", R"({"id":9,"state":"ended","outcome":"failed","exit_code":1,"exit_signal":0})");
  CHECK(world.run({"sbatch", "--wait"}) == 1);
  world.context.environment.back() = "SLURM_EXIT_ERROR=what";
  CHECK(world.run({"sbatch", "--tiem=3"}) == 1);
}

TEST_CASE("every option that has a variable takes its value, or is refused by the variable's name") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":42,"warnings":[]})", 201);
  world.context.environment.emplace_back("SBATCH_WCKEY=w");
  CHECK(world.run({"sbatch"}) == 0);
  CHECK(world.last().body.find(R"("wckey":"w")") != std::string::npos);
  for (const std::string variable :
       {"SBATCH_TRES_PER_TASK=cpu:1", "SBATCH_TRES_BIND=gres/gpu:closest", "SBATCH_CONTAINER_ID=c", "SBATCH_STEPMGR=1"}) {
    world.context.environment.back() = variable;
    world.context.err.clear();
    CHECK(world.run({"sbatch"}) == 1);
    CHECK(world.err().find(variable.substr(0, variable.find('='))) != std::string::npos);
  }
}

TEST_CASE("a dead controller is told in Slurm's words, with what was tried") {
  World world;
  world.controller.dead = true;
  CHECK(world.run({"sbatch"}) == 1);
  CHECK(world.err().find("Unable to contact slurm controller (connect failure)") != std::string::npos);
  CHECK(world.err().find("/run/test.sock") != std::string::npos);
}

TEST_CASE("sbatch --wait answers with the job's exit code, and 1 when a signal ended it") {
  World world;
  world.answer("POST /v1/jobs", R"({"id":9,"warnings":[]})", 201);
  world.answer("GET /v1/jobs/9", R"({"id":9,"state":"ended","outcome":"failed","exit_code":3,"exit_signal":0})");
  CHECK(world.run({"sbatch", "--wait"}) == 3);
  world.answer("GET /v1/jobs/9", R"({"id":9,"state":"ended","outcome":"cancelled","exit_code":0,"exit_signal":15})");
  CHECK(world.run({"sbatch", "--wait"}) == 1);
  world.answer("GET /v1/jobs/9", R"({"id":9,"state":"ended","outcome":"completed","exit_code":0,"exit_signal":0})");
  CHECK(world.run({"sbatch", "-W"}) == 0);
}

TEST_CASE("a connection that breaks is tried again with the same key") {
  World world;
  struct Broken : Transport {
    std::vector<std::string>& keys;
    explicit Broken(std::vector<std::string>& k) : keys(k) {}
    base::Result<Response> send(const Request& request) override {
      for (const auto& [name, value] : request.headers)
        if (name == "Idempotency-Key") keys.push_back(value);
      if (keys.size() < 3) return base::fail(base::Error{base::Code::unavailable, "lost", "connection_lost", {}, "/run/test.sock", {}});
      return Response{201, R"({"id":5,"warnings":[]})"};
    }
  };
  std::vector<std::string> keys;
  world.context.connect = [&](const std::string&) { return std::make_unique<Broken>(keys); };
  CHECK(world.run({"sbatch"}) == 0);
  CHECK(world.out() == "Submitted batch job 5\n");
  REQUIRE(keys.size() == 3);
  CHECK(keys[0] == keys[2]);
}

TEST_CASE("sbatch --test-only says when and where, and submits nothing") {
  World world;
  world.answer("POST /v1/jobs",
               R"({"id":12,"verdict":{"kind":"fits"},"start_us":1795960800000000,"nodes":"n[1-2]","processors":8,"partition":"main"})");
  CHECK(world.run({"sbatch", "--test-only"}) == 0);
  CHECK(world.err() == "sbatch: Job 12 to start at 2026-11-29T14:00:00 using 8 processors on nodes n[1-2] in partition main\n");
  CHECK(world.last().body.find("\"dry_run\":true") != std::string::npos);
}

TEST_CASE("export decides which variables the job gets") {
  World world;
  world.context.environment = {"HOME=/home/ann", "A=1", "B=2", "SBATCH_ACCOUNT=x", "SLURM_CONF=/etc/x"};
  std::vector<std::string> warnings;
  SubmitRequest request;
  const auto has = [&](const std::string& pair) {
    auto environment = job_environment(world.context, request, warnings);
    REQUIRE(environment);
    return std::find(environment->begin(), environment->end(), pair) != environment->end();
  };
  CHECK(has("A=1"));
  CHECK_FALSE(has("SBATCH_ACCOUNT=x"));
  CHECK(has("SLURM_SUBMIT_DIR=/home/ann/work"));
  request.export_names = "NONE";
  CHECK_FALSE(has("A=1"));
  CHECK(has("SLURM_CONF=/etc/x"));
  request.export_names = "A,C=3";
  CHECK(has("A=1"));
  CHECK(has("C=3"));
  CHECK_FALSE(has("B=2"));
  request.export_names = "ALL,B=5";
  CHECK(has("B=5"));
  CHECK(has("A=1"));
}

TEST_CASE("submitted from inside a job, the outer job's variables stay behind") {
  World world;
  world.context.environment = {"HOME=/home/ann", "SLURM_JOB_ID=7", "SLURM_CPUS_PER_TASK=8", "SLURM_TIME_FORMAT=%s"};
  std::vector<std::string> warnings;
  auto environment = job_environment(world.context, {}, warnings);
  REQUIRE(environment);
  for (const auto& pair : *environment) CHECK(pair.rfind("SLURM_CPUS_PER_TASK", 0) != 0);
  CHECK(std::find(environment->begin(), environment->end(), "SLURM_TIME_FORMAT=%s") != environment->end());
}

TEST_CASE("sbatch answers --version, --help and --usage without a controller") {
  World world;
  CHECK(world.run({"sbatch", "-V"}) == 0);
  CHECK(world.out().rfind("slurm ", 0) == 0);
  CHECK(world.run({"sbatch", "--help"}) == 0);
  CHECK(world.run({"sbatch", "--usage"}) == 0);
  CHECK(world.controller.asked.empty());
  check_golden("sbatch-help", submit_help(false));
}

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/catch.hpp"
#include "unit/supervisor/attempt.hpp"

using namespace sy::supervisor;

namespace {
bool is_root() { return ::geteuid() == 0; }
const std::string shell = "#!/bin/sh\n";
// Appears once the shell runs: how a test knows that traps are set.
const std::string ready = "touch ready\n";
constexpr std::int64_t hours = 10'000'000'000;
}  // namespace

TEST_CASE("a script that ends well is recorded with its output, owned by its user") {
  Attempt a{shell + "echo hello $1 $(id -u); pwd\n"};
  a.launch.std_out = "%x-%4j.out";
  a.launch.job = 42;
  a.launch.script_args = {"world"};
  const auto e = a.run();
  CHECK(e.ran);
  CHECK(e.code == 0);
  CHECK(e.signal == 0);
  CHECK(e.reason.empty());
  CHECK(a.output("test-0042.out") == "hello world " + std::to_string(a.launch.uid) + "\n" + a.work_dir + "\n");
  struct stat s{};
  REQUIRE(::stat(a.work("test-0042.out").c_str(), &s) == 0);
  CHECK(s.st_uid == a.launch.uid);
  CHECK((s.st_mode & 0777) == 0644);
}

TEST_CASE("exit codes and signals are told apart") {
  CHECK(Attempt{shell + "exit 7\n"}.run().code == 7);
  const auto killed = Attempt{shell + "kill -SEGV $$\n"}.run();
  CHECK(killed.signal == SIGSEGV);
  CHECK(killed.code == 0);
}

TEST_CASE("rights are dropped wholly: groups, identity, and nothing of root's is left open") {
  if (!is_root()) return;
  Attempt a{shell + "id -G; cat /proc/self/status | grep -E '^(Uid|Gid|CapEff)'; ls /proc/self/fd | tr '\\n' ' '\n"};
  a.launch.groups = {65534, 12345};
  a.run();
  const std::string out = a.output();
  CHECK(out.find("65534 12345") != std::string::npos);
  CHECK(out.find("Uid:\t65534\t65534\t65534\t65534") != std::string::npos);
  CHECK(out.find("CapEff:\t0000000000000000") != std::string::npos);
  CHECK(out.find("0 1 2 3 9 ") != std::string::npos);  // 3 is ls's own, 9 the script
}

TEST_CASE("the job gets its environment, the times of this start, and nothing of the agent's") {
  ::setenv("SECRET_OF_THE_AGENT", "x", 1);
  Attempt a{shell + "env\n"};
  a.launch.environment.push_back("GIVEN=a b\nc");
  a.launch.environment.push_back("SLURM_RLIMIT_NOFILE=77");
  a.launch.time_limit_us = 60'000'000;
  a.run();
  const std::string out = a.output();
  CHECK(out.find("GIVEN=a b\nc") != std::string::npos);
  CHECK(out.find("SLURM_JOB_START_TIME=") != std::string::npos);
  CHECK(out.find("SLURM_JOB_END_TIME=") != std::string::npos);
  CHECK(out.find("SLURM_TASK_PID=") != std::string::npos);
  CHECK(out.find("SECRET_OF_THE_AGENT") == std::string::npos);
  CHECK(out.find("SLURM_RLIMIT") == std::string::npos);
  ::unsetenv("SECRET_OF_THE_AGENT");
}

TEST_CASE("limits and umask of the submitting shell apply, and a hard limit in the way is a warning only") {
  Attempt a{shell + "ulimit -n; umask; ulimit -s\n"};
  a.launch.environment.insert(a.launch.environment.end(), {"SLURM_RLIMIT_NOFILE=77", "SLURM_UMASK=0027"});
  CHECK(a.run().code == 0);
  CHECK(a.output().starts_with("77\n0027\n"));
}

TEST_CASE("output is truncated by default, appended on request, and errors go to their own file") {
  for (const bool append : {false, true}) {
    Attempt a{shell + "echo out; echo err >&2\n"};
    std::ofstream(a.work("out.txt")) << "before\n";
    ::chmod(a.work("out.txt").c_str(), 0666);
    a.launch.append_output = append;
    a.launch.std_err = "err.txt";
    a.run();
    CHECK(a.output() == (append ? "before\nout\n" : "out\n"));
    CHECK(a.output("err.txt") == "err\n");
  }
}

TEST_CASE("a second supervisor of an attempt finds the mark and leaves, beside the first and after it") {
  Attempt a{shell + "echo line >> count; while [ ! -e go ]; do sleep 0.05; done\n"};
  const pid_t first = a.start();
  a.wait_for_file(a.work("count"));
  CHECK(a.wait(a.start()) == 0);
  std::ofstream(a.work("go")) << "";
  CHECK(a.wait(first) == 0);
  CHECK(a.wait(a.start()) == 0);
  CHECK(a.output("count") == "line\n");
}

TEST_CASE("everything a job started ends with it, also what made itself a daemon") {
  for (const bool cgroup : {true, false}) {
    Attempt a{shell + "setsid sleep 1000 &\n(setsid sh -c 'sleep 1001 & sleep 1002' &)\n(nohup sleep 1003 >/dev/null 2>&1 &)\nexit 0\n",
              cgroup};
    CHECK(a.run().code == 0);  // run() checks that nothing is left
  }
}

TEST_CASE("before the time limit the job is warned, at the limit it is asked to end") {
  Attempt a{shell +
            "trap 'echo term; exit 5' TERM\nsh -c 'trap \"touch warned\" USR1; touch ready; while :; do sleep 0.05; done' &\n"
            "while :; do sleep 0.05; done\n"};
  a.launch.time_limit_us = 2 * hours;
  a.launch.warning = Warning{SIGUSR1, hours, false};
  a.launch.kill_grace_us = hours;
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  a.set_limit(hours);  // the warning is due at once
  a.wait_for_file(a.work("warned"));
  a.set_limit(1);
  CHECK(a.wait(pid) == 0);
  const auto e = parse_exit(read_file(a.folder + "/exit"));
  REQUIRE(e);
  CHECK(e->timed_out);
  CHECK(e->code == 5);
  CHECK(a.output().find("term") != std::string::npos);
}

TEST_CASE("what ignores the end of its time is killed after the grace") {
  Attempt a{shell + "trap '' TERM\n" + ready + "while :; do sleep 0.05; done\n"};
  a.launch.time_limit_us = hours;
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  a.set_limit(1);
  CHECK(a.wait(pid) == 0);
  const auto e = parse_exit(read_file(a.folder + "/exit"));
  REQUIRE(e);
  CHECK(e->timed_out);
  CHECK(e->signal == SIGKILL);
}

TEST_CASE("a warning for the batch shell reaches the shell, and the job may still end well") {
  Attempt a{shell + "trap 'echo warned; exit 3' USR1\n" + ready + "while :; do sleep 0.05; done\n"};
  a.launch.time_limit_us = 2 * hours;
  a.launch.warning = Warning{SIGUSR1, hours, true};
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  a.set_limit(hours);  // due at once
  CHECK(a.wait(pid) == 0);
  const auto e = parse_exit(read_file(a.folder + "/exit"));
  REQUIRE(e);
  CHECK_FALSE(e->timed_out);
  CHECK(e->code == 3);
  CHECK(a.output() == "warned\n");
}

TEST_CASE("a time limit can be changed while the job runs") {
  Attempt a{shell + ready + "exec sleep 1000\n"};
  a.launch.time_limit_us = hours;
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  a.set_limit(1);
  CHECK(a.wait(pid) == 0);
  CHECK(parse_exit(read_file(a.folder + "/exit"))->timed_out);
}

TEST_CASE("an end gives the whole job its grace, not only the shell") {
  Attempt a{shell + "sh -c 'trap \"sleep 0.3; echo saved; exit\" TERM; touch ready; while :; do sleep 0.05; done' &\nwait\n"};
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  a.end(60'000'000);
  CHECK(a.wait(pid) == 0);
  const auto e = parse_exit(read_file(a.folder + "/exit"));
  REQUIRE(e);
  CHECK(e->signal == SIGTERM);
  CHECK(e->reason == "cancelled");
  CHECK(a.output().find("saved") != std::string::npos);
}

TEST_CASE("an end asked for before the supervisor came up keeps the script from running") {
  Attempt a{shell + "touch ran\n"};
  REQUIRE(Folder::open(a.folder).write(file::end, to_text(EndRequest{0, "cancelled"}), true) == 0);
  const auto e = a.run();
  CHECK_FALSE(e.ran);
  CHECK(::access(a.work("ran").c_str(), F_OK) != 0);
}

TEST_CASE("signals reach the shell alone, the rest alone, or all") {
  const std::string traps = shell +
                            "trap 'echo shell' USR1\nsh -c 'trap \"echo child\" USR1; touch ready; while :; do sleep 0.05; done' &\n"
                            "while [ ! -e go ]; do sleep 0.05; done\n";
  struct Case {
    const char* message;
    bool shell_hears, child_hears;
  };
  for (const auto& [message, shell_hears, child_hears] :
       {Case{"signal 10 1 0", true, false}, Case{"signal 10 0 0", false, true}, Case{"signal 10 0 1", true, true}}) {
    Attempt a{traps};
    // The sleeps die of it, which is as it should be; only the traps write.
    const pid_t pid = a.start();
    a.wait_for_file(a.work("ready"));
    a.tell(message);
    for (int i = 0; i < 3000 && a.output().find(shell_hears ? "shell" : "child") == std::string::npos; ++i) ::usleep(10'000);
    for (int i = 0; child_hears && i < 3000 && a.output().find("child") == std::string::npos; ++i) ::usleep(10'000);
    std::ofstream(a.work("go")) << "";
    CHECK(a.wait(pid) == 0);
    CHECK((a.output().find("shell") != std::string::npos) == shell_hears);
    CHECK((a.output().find("child") != std::string::npos) == child_hears);
  }
}

TEST_CASE("a child killed for memory is told, though the script ends well") {
  if (!can_use_cgroups()) return;
  Attempt a{shell + "head -c 60000000 /dev/zero | tail >/dev/null\nexit 0\n"};
  a.launch.memory_mib = 24;
  const auto e = a.run();
  CHECK(e.out_of_memory);
  CHECK(e.code == 0);
  CHECK(e.reason.find("24 MiB") != std::string::npos);
  CHECK(e.peak_memory_mib <= 24);
}

TEST_CASE("peak memory does not count what files left in the page cache, and CPU time is there") {
  Attempt a{shell + "head -c 60000000 /dev/zero > big; cat big > big2; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\n"};
  const auto e = a.run();
  CHECK(e.peak_memory_mib < 40);
  CHECK(e.peak_memory_mib >= 1);
  CHECK(e.cpu_us > 10'000);
}

TEST_CASE("a member holds its place until it is told to end") {
  Attempt a{shell + "touch ran\n"};
  a.launch.lead = false;
  const pid_t pid = a.start();
  a.wait_for_file(a.folder + "/accepted");
  a.end(0);
  CHECK(a.wait(pid) == 0);
  CHECK(parse_cleared(read_file(a.folder + "/cleared")));
  CHECK(::access(a.work("ran").c_str(), F_OK) != 0);
}

TEST_CASE("a lease that has run out ends the job though there is no agent") {
  Attempt a{shell + ready + "exec sleep 1000\n"};
  const pid_t pid = a.start();
  a.wait_for_file(a.work("ready"));
  std::ofstream(a.root + "/spool/lease") << "1";
  CHECK(a.wait(pid) == 0);
  const auto e = parse_exit(read_file(a.folder + "/exit"));
  REQUIRE(e);
  CHECK(e->reason.find("lease") != std::string::npos);
}

TEST_CASE("after a supervisor was killed, another ends what it left and says so") {
  for (const bool cgroup : {true, false}) {
    Attempt a{shell + "setsid sleep 1000 &\n" + ready + "sleep 1000\n", cgroup};
    a.launch.epilog = "/bin/true";
    const pid_t pid = a.start();
    a.wait_for_file(a.work("ready"));
    REQUIRE(::kill(pid, SIGKILL) == 0);
    CHECK(a.wait(pid) == -SIGKILL);
    CHECK_FALSE(a.left().empty());
    CHECK(a.wait(a.start({"--clean"})) == 0);
    CHECK(a.left().empty());
    const auto e = parse_exit(read_file(a.folder + "/exit"));
    REQUIRE(e);
    CHECK(e->ran);
    CHECK(e->signal == SIGKILL);
    CHECK(e->reason.find("supervisor") != std::string::npos);
    CHECK(parse_cleared(read_file(a.folder + "/cleared")));
  }
}

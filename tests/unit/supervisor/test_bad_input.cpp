#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "unit/supervisor/attempt.hpp"

using namespace sy::supervisor;

namespace {

// It failed before the script ran, with a sentence that holds `words`.
void check_fails(Attempt& a, const std::string& words) {
  const auto e = a.run();
  CHECK_FALSE(e.ran);
  CHECK(e.code == 1);
  INFO(e.reason);
  CHECK(e.reason.find(words) != std::string::npos);
}

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0755);
}

}  // namespace

TEST_CASE("a job whose folders or files can not be used fails with the path in the reason") {
  Attempt gone{"#!/bin/sh\n"};
  gone.launch.work_dir = gone.root + "/nowhere";
  check_fails(gone, "working directory " + gone.root + "/nowhere does not exist");

  Attempt no_folder{"#!/bin/sh\n"};
  no_folder.launch.std_out = "logs/%j.out";
  check_fails(no_folder, "output folder logs is missing");

  Attempt no_input{"#!/bin/sh\n"};
  no_input.launch.std_in = "nothing.txt";
  check_fails(no_input, "input file nothing.txt");

  Attempt is_folder{"#!/bin/sh\n"};
  is_folder.launch.std_out = is_folder.work_dir;
  check_fails(is_folder, "output file");

  Attempt pipe{"#!/bin/sh\n"};
  REQUIRE(::mkfifo(pipe.work("fifo").c_str(), 0666) == 0);
  ::chmod(pipe.work("fifo").c_str(), 0666);
  pipe.launch.std_out = "fifo";
  check_fails(pipe, "a pipe that nobody reads");
}

TEST_CASE("the user's rights decide about the output file, not root's") {
  if (::geteuid() != 0) return;
  Attempt a{"#!/bin/sh\n"};
  REQUIRE(::mkdir((a.root + "/private").c_str(), 0700) == 0);
  a.launch.std_out = a.root + "/private/out";
  check_fails(a, "output folder " + a.root + "/private is not writable");
  Attempt b{"#!/bin/sh\n"};
  b.launch.work_dir = b.root + "/spool";
  check_fails(b, "may not be entered");
}

TEST_CASE("a script the kernel will not start says why") {
  Attempt none{"echo no first line\n"};
  check_fails(none, "#!/bin/bash");
  Attempt empty{""};
  check_fails(empty, "#!/bin/bash");
  Attempt binary{
      std::string("\x7f"
                  "ELF\0\0\0garbage",
                  14)};
  check_fails(binary, "can not be run");
  Attempt windows{"#!/bin/sh\r\necho hi\r\n"};
  check_fails(windows, "Windows line ends");
  Attempt unknown{"#!/opt/none/python\n"};
  check_fails(unknown, "interpreter /opt/none/python does not exist on this node");
}

TEST_CASE("a prolog that fails refuses the launch for the node's fault, and the epilog runs all the same") {
  Attempt a{"#!/bin/sh\ntouch ran\n"};
  write_program(a.root + "/prolog", "#!/bin/sh\nenv > " + a.root + "/seen\nexit 3\n");
  write_program(a.root + "/epilog", "#!/bin/sh\ntouch " + a.root + "/epilog-ran\n");
  a.launch.prolog = a.root + "/prolog";
  a.launch.epilog = a.root + "/epilog";
  a.launch.environment.push_back("LD_PRELOAD=/tmp/evil.so");
  a.launch.hook_environment = {"SLURM_JOB_ID=7"};
  CHECK(a.wait(a.start()) == 0);
  const auto refused = parse_refused(read_file(a.folder + "/refused"));
  REQUIRE(refused);
  CHECK(refused->blame == "node");
  CHECK(refused->reason.find("exit code 3") != std::string::npos);
  CHECK(::access(a.work("ran").c_str(), F_OK) != 0);
  CHECK(::access((a.root + "/epilog-ran").c_str(), F_OK) == 0);
  const std::string seen = read_file(a.root + "/seen");
  CHECK(seen.find("SLURM_JOB_ID=7") != std::string::npos);
  CHECK(seen.find("LD_PRELOAD") == std::string::npos);
}

TEST_CASE("an epilog that fails is the node's fault and does not change how the job ended") {
  Attempt a{"#!/bin/sh\nexit 0\n"};
  a.launch.epilog = "/bin/false";
  CHECK(a.run().code == 0);
  CHECK(parse_cleared(read_file(a.folder + "/cleared"))->node_fault.find("exit code 1") != std::string::npos);
}

TEST_CASE("a missing prolog program is the node's fault") {
  Attempt a{"#!/bin/sh\n"};
  a.launch.prolog = "/nowhere/prolog";
  CHECK(a.wait(a.start()) == 0);
  CHECK(parse_refused(read_file(a.folder + "/refused"))->blame == "node");
}

TEST_CASE("a damaged launch record starts nothing, and a record without a user is damaged") {
  Attempt a{"#!/bin/sh\ntouch ran\n"};
  std::string text = to_text(a.launch);
  for (const std::size_t cut : {std::size_t{0}, text.size() / 2, text.size() - 1}) CHECK_FALSE(parse_launch(text.substr(0, cut)));
  const auto whole = parse_launch(text);
  REQUIRE(whole);
  CHECK(whole->uid == a.launch.uid);
  CHECK(to_text(*whole) == text);
  text.replace(text.find("\nuid "), 5, "\nuix ");
  CHECK_FALSE(parse_launch(text));
  REQUIRE(Folder::open(a.folder).write(file::launch, text, true) == 0);
  CHECK(a.wait(a.start()) == 1);
  CHECK(::access((a.folder + "/started").c_str(), F_OK) != 0);
}

TEST_CASE("how a job ended is written although the spool's disk is full") {
  if (::geteuid() != 0) return;
  Attempt a{"#!/bin/sh\ncat /dev/zero > fill 2>/dev/null\nexit 3\n"};
  const Folder f = Folder::open(a.folder);
  REQUIRE(f.write(file::script, a.script, false, 0555) == 0);
  REQUIRE(f.write(file::launch, to_text(a.launch), true) == 0);
  // A small disk over the whole root, in a mount namespace of its own; what is left in it is copied out at the end.
  const std::string command = "unshare -m sh -c 'cp -a " + a.root + " " + a.root + ".copy && mount -t tmpfs -o size=200k tmpfs " + a.root +
                              " && chmod 755 " + a.root + " && cp -a " + a.root + ".copy/. " + a.root + " && " + supervisor_program() +
                              " " + a.folder + "; cp " + a.folder + "/exit " + a.root + ".copy/exit; test -e " + a.folder + "/cleared'";
  CHECK(std::system(command.c_str()) == 0);
  const auto e = parse_exit(read_file(a.root + ".copy/exit"));
  CHECK(std::system(("rm -rf " + a.root + ".copy").c_str()) == 0);
  REQUIRE(e);
  CHECK(e->code == 3);
}

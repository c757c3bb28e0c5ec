#include "base/directives.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {

using Words = std::vector<std::string>;

// The words of a script's only component, line after line.
Words words_of(const std::string& script) {
  const auto got = read_directives(script);
  INFO(script);
  REQUIRE(got);
  Words out;
  for (const auto& component : got->components)
    for (const DirectiveLine& line : component) out.insert(out.end(), line.words.begin(), line.words.end());
  return out;
}

Words line(const std::string& rest) { return words_of("#!/bin/sh\n#SBATCH " + rest + "\n"); }

}  // namespace

TEST_CASE("only #SBATCH at column 0 followed by a blank is a directive") {
  CHECK(words_of("#!/bin/sh\n#SBATCH -N 2\n") == Words{"-N", "2"});
  CHECK(words_of("#SBATCH -N2") == Words{"-N2"});
  CHECK(words_of("#SBATCH\t-N2\n") == Words{"-N2"});
  for (const std::string comment :
       {" #SBATCH -N2", "##SBATCH -N2", "# SBATCH -N2", "#sbatch -N2", "#SBATCHX -N2", "#SBATCH-N2", "#PBS -N2"}) {
    INFO(comment);
    CHECK(words_of("#!/bin/sh\n" + comment + "\n#SBATCH -t 5\n") == Words{"-t", "5"});
  }
  CHECK(words_of("#!/bin/sh\n#SBATCH\n#SBATCH   \n#SBATCH # nothing\n").empty());
}

TEST_CASE("reading stops at the first command, and later directives are named") {
  const auto got = read_directives("#!/bin/bash\n\n  # a comment\n \t\n#SBATCH -N2\nset -e\n#SBATCH -t 5\n# x\n#SBATCH -n 1\n");
  REQUIRE(got);
  REQUIRE(got->components.size() == 1);
  REQUIRE(got->components[0].size() == 1);
  CHECK(got->components[0][0].line == 5);
  CHECK(got->ignored_lines == std::vector<std::size_t>{7, 9});
}

TEST_CASE("words are read as in a shell, without expansion") {
  CHECK(line("--time=30") == Words{"--time=30"});
  CHECK(line("--nodes 2   -t\t5") == Words{"--nodes", "2", "-t", "5"});
  CHECK(line("--job-name=\"my job, \\\"v2\\\"\"") == Words{"--job-name=my job, \"v2\""});
  CHECK(line("--comment='a # b'") == Words{"--comment=a # b"});
  CHECK(line("--comment='it'\\''s'") == Words{"--comment=it's"});
  CHECK(line("-J a\\ b") == Words{"-J", "a b"});
  CHECK(line("--output=$HOME/`date`.out") == Words{"--output=$HOME/`date`.out"});
  CHECK(line("--comment=\"$USER \\$x \\n\"") == Words{"--comment=$USER $x \\n"});
  CHECK(line("--comment='' -H") == Words{"--comment=", "-H"});
  CHECK(line("''") == Words{""});
  CHECK(line("\"a\"'b'c") == Words{"abc"});
  CHECK(line("--time=30 \\") == Words{"--time=30"});
  CHECK(line("--constraint=\"v100-32g|v100-16g\"") == Words{"--constraint=v100-32g|v100-16g"});
  CHECK(line("--constraint=knl&quad") == Words{"--constraint=knl&quad"});
}

TEST_CASE("an unquoted # begins a comment, also in mid-word") {
  CHECK(line("--time=30 # half an hour") == Words{"--time=30"});
  CHECK(line("--time=30# half an hour") == Words{"--time=30"});
  CHECK(line("--time=30 #don't") == Words{"--time=30"});
  CHECK(line("--comment=\\#1") == Words{"--comment=#1"});
}

TEST_CASE("line ends of DOS, tabs and trailing blanks do not matter") {
  CHECK(words_of("#!/bin/sh\r\n#SBATCH -N 2 \t \r\n#SBATCH --time=5\r\n") == Words{"-N", "2", "--time=5"});
  CHECK(words_of("#!/bin/sh\r\n\r\n#SBATCH -N2\r\necho\r\n") == Words{"-N2"});
}

TEST_CASE("an unmatched quote is refused with its line") {
  const auto got = read_directives("#!/bin/sh\n#SBATCH -N2\n#SBATCH --comment=\"abc\n");
  REQUIRE_FALSE(got);
  CHECK(to_text(got.error()) == "line 3: the quote \" at character 12 is never closed (given: \"abc); close it with another \"");
  CHECK_FALSE(read_directives("#SBATCH -J it's\n"));
  CHECK_FALSE(read_directives("#SBATCH -J \"a\\\"\n"));
  CHECK(read_directives("#!/bin/sh\necho\n#SBATCH -J it's\n"));  // never read
}

TEST_CASE("hetjob and packjob separate components") {
  const auto got = read_directives("#!/bin/sh\n#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\n#SBATCH packjob # third\n#SBATCH -N3\n");
  REQUIRE(got);
  REQUIRE(got->components.size() == 3);
  CHECK(got->components[0][0].words == Words{"-N1"});
  CHECK(got->components[1][0].words == Words{"-N2"});
  CHECK(got->components[2][0].words == Words{"-N3"});
  CHECK(read_directives("")->components.size() == 1);
  CHECK(line("hetjobs") == Words{"hetjobs"});
}

TEST_CASE("a script of another batch system reads with its own marker") {
  const auto got = read_directives("#!/bin/sh\n#PBS -l nodes=2\n#SBATCH -N9\n", "#PBS");
  REQUIRE(got);
  CHECK(got->components[0][0].words == Words{"-l", "nodes=2"});
}

TEST_CASE("a script is refused when it is empty, binary, too large, or its first line can not work") {
  struct Row {
    std::string script, message;
    Code code{Code::invalid_argument};
  };
  const std::vector<Row> rows{
      {"", "the batch script is empty"},
      {" \n\r\n\t", "the batch script is empty"},
      {"echo hi\n", "the first line of a batch script must begin with #! and name its interpreter"},
      {"\n#!/bin/sh\n", "the first line of a batch script must begin with #! and name its interpreter"},
      {std::string("\x7f"
                   "ELF\0\1",
                   6),
       "this is a binary file, not a batch script"},
      {"#!", "the #! line names no interpreter"},
      {"#! \r\nx\n", "the #! line names no interpreter"},
      {"#!/bin/sh\r\necho\r\n", "the #! line ends as on DOS (CR LF), so its interpreter can not be found"},
      {std::string("#!/bin/sh\n\0", 11), "the batch script holds a NUL byte at byte 11"},
      {"#!/bin/sh\n" + std::string(max_script_bytes, '#'), "the batch script is too large", Code::too_large},
  };
  for (const Row& row : rows) {
    INFO(row.message);
    const auto got = check_script(row.script);
    REQUIRE_FALSE(got);
    CHECK(got.error().message == row.message);
    CHECK(got.error().code == row.code);
    CHECK_FALSE(got.error().hint.empty());
  }
  CHECK(check_script("#!/bin/sh\necho\n"));
  CHECK(check_script("#!/usr/bin/env python3"));
  CHECK(check_script("#!/bin/sh\necho \xff\xfe\r\n"));  // not UTF-8, and DOS line ends further down: the shell's business
}

TEST_CASE("words split without a marker") {
  CHECK(split_words("")->empty());
  CHECK(*split_words(" a  'b c' ") == Words{"a", "b c"});
  CHECK_FALSE(split_words("'"));
}

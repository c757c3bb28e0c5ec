#include "base/file_pattern.hpp"
#include "support/catch.hpp"

using namespace sy::base;

TEST_CASE("file patterns expand as in Slurm") {
  FilePatternValues v;
  v.job_id = 42;
  v.job_name = "hello";
  v.user = "ann";
  v.node = "n3";
  v.node_rank = 1;
  v.task_rank = 7;
  v.step = "batch";
  v.restarts = 2;
  const std::vector<std::pair<std::string, std::string>> rows{
      {"%x-%j.out", "hello-42.out"},
      {"slurm-%4j.out", "slurm-0042.out"},
      {"slurm-%1j.out", "slurm-42.out"},
      {"%0j", "42"},
      {"%99999999999999999999j", "0000000042"},
      {"%J %A", "42 42"},
      {"%u/%N/%n/%t/%s/%r", "ann/n3/1/7/batch/2"},
      {"%3n.%3t.%3r", "001.007.002"},
      {"%5x", "hello"},
      {"%4N", "n3"},
      {"100%%", "100%"},
      {"%%j", "%j"},
      {"%q", "%q"},
      {"%7q", "%7q"},
      {"%", "%"},
      {"a%4", "a%4"},
      {"%a", "%a"},
      {"", ""},
      {"plain.out", "plain.out"},
      {"\\%x-%j", "%x-%j"},
      {"a\\b", "ab"},
      {"logs/%x_%A.out", "logs/hello_42.out"},
  };
  for (const auto& [pattern, name] : rows) {
    INFO(pattern);
    const auto got = expand_file_pattern(pattern, v);
    REQUIRE(got);
    CHECK(*got == name);
  }
}

TEST_CASE("names can not climb out of the folder that the pattern names") {
  FilePatternValues v;
  v.job_name = "../../etc/passwd";
  v.user = "a/b";
  CHECK(*expand_file_pattern("/out/%x.%u", v) == "/out/.._.._etc_passwd.a_b");
}

TEST_CASE("a file name over 4096 bytes is refused") {
  FilePatternValues v;
  v.job_name = std::string(1'000, 'x');
  CHECK(expand_file_pattern("%x%x%x%x", v));
  CHECK_FALSE(expand_file_pattern("%x%x%x%x%x", v));
  CHECK_FALSE(expand_file_pattern(std::string(5'000, 'a'), v));
  CHECK_FALSE(expand_file_pattern(std::string("a\0b", 3), v));
}

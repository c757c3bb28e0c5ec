#include <array>

#include "base/option_table.hpp"
#include "support/catch.hpp"

using namespace sy::base;

namespace {

using Words = std::vector<std::string>;
using Argument = OptionRule::Argument;

// A slice of sbatch's table: enough for prefixes, aliases, clusters of letters and every kind of argument.
constexpr std::array<OptionRule, 25> rules{{
    {"array", 'a', Argument::required, {}},
    {"clusters", 'M', Argument::required, {}},
    {"comment", 0, Argument::required, {}},
    {"constraint", 'C', Argument::required, {}},
    {"cpus-per-task", 'c', Argument::required, {}},
    {"error", 'e', Argument::required, {}},
    {"exclude", 'x', Argument::required, {}},
    {"exclusive", 0, Argument::optional, {}},
    {"export", 0, Argument::required, {}},
    {"gpus", 'G', Argument::required, {}},
    {"gpus-per-node", 0, Argument::required, {}},
    {"gres", 0, Argument::required, {}},
    {"hold", 'H', Argument::none, {}},
    {"job-name", 'J', Argument::required, {}},
    {"licenses", 'L', Argument::required, {}},
    {"nice", 0, Argument::optional, {}},
    {"nodes", 'N', Argument::required, {}},
    {"ntasks", 'n', Argument::required, {}},
    {"ntasks-per-node", 0, Argument::required, {}},
    {"tasks-per-node", 0, Argument::required, "ntasks-per-node"},
    {"output", 'o', Argument::required, {}},
    {"oversubscribe", 's', Argument::none, {}},
    {"share", 's', Argument::none, "oversubscribe"},
    {"time", 't', Argument::required, {}},
    {"quiet", 'Q', Argument::none, {}},
}};

struct Want {
  std::string name, value;
  bool operator==(const Want&) const = default;
};

std::vector<Want> options_of(const Words& words, bool stop = false) {
  const auto got = parse_options(rules, words, stop);
  INFO(to_text(got ? Error{} : got.error()));
  REQUIRE(got);
  std::vector<Want> out;
  for (const GivenOption& o : got->options) out.push_back({o.name, o.value});
  return out;
}

Error refusal_of(const Words& words) {
  const auto got = parse_options(rules, words, false);
  REQUIRE_FALSE(got);
  return got.error();
}

}  // namespace

namespace Catch {
template <>
struct StringMaker<Want> {
  static std::string convert(const Want& w) { return w.name + "=" + w.value; }
};
}  // namespace Catch

TEST_CASE("options read as getopt reads them") {
  using W = std::vector<Want>;
  CHECK(options_of({"--time=30"}) == W{{"time", "30"}});
  CHECK(options_of({"--time", "30"}) == W{{"time", "30"}});
  CHECK(options_of({"-t", "1:0:0"}) == W{{"time", "1:0:0"}});
  CHECK(options_of({"-t1:0:0"}) == W{{"time", "1:0:0"}});
  CHECK(options_of({"-N", "2-4"}) == W{{"nodes", "2-4"}});
  CHECK(options_of({"--nodes=1-1", "-N", "4,8"}) == W{{"nodes", "1-1"}, {"nodes", "4,8"}});
  CHECK(options_of({"-HQ"}) == W{{"hold", ""}, {"quiet", ""}});
  CHECK(options_of({"-HN2"}) == W{{"hold", ""}, {"nodes", "2"}});
  CHECK(options_of({"-HN", "2"}) == W{{"hold", ""}, {"nodes", "2"}});
  CHECK(options_of({"--export="}) == W{{"export", ""}});
  CHECK(options_of({"--export=ALL,A=b"}) == W{{"export", "ALL,A=b"}});
  CHECK(options_of({"--exclusive"}) == W{{"exclusive", ""}});
  CHECK(options_of({"--exclusive=user"}) == W{{"exclusive", "user"}});
  CHECK(options_of({"--nice=-5"}) == W{{"nice", "-5"}});
  CHECK(options_of({"-J", "a b"}) == W{{"job-name", "a b"}});
}

TEST_CASE("an unambiguous beginning of a long option counts, an ambiguous one is refused with the candidates") {
  using W = std::vector<Want>;
  CHECK(options_of({"--out=x"}) == W{{"output", "x"}});
  CHECK(options_of({"--err=x"}) == W{{"error", "x"}});
  CHECK(options_of({"--cluster=x"}) == W{{"clusters", "x"}});
  CHECK(options_of({"--license=x"}) == W{{"licenses", "x"}});
  CHECK(options_of({"--tasks=4"}) == W{{"ntasks-per-node", "4"}});
  CHECK(options_of({"--tasks-per-node=4"}) == W{{"ntasks-per-node", "4"}});
  CHECK(options_of({"--share"}) == W{{"oversubscribe", ""}});
  CHECK(options_of({"--gpus=4"}) == W{{"gpus", "4"}});  // exact, though also a beginning
  CHECK(refusal_of({"--ex=1"}).message == "ambiguous option");
  CHECK(refusal_of({"--ex=1"}).hint == "could be --exclude, --exclusive, --export");
  CHECK(refusal_of({"--gpu-per-node=1"}).message == "unknown option");
  CHECK(refusal_of({"--gpu-per-node=1"}).hint == "did you mean --gpus-per-node?");
}

TEST_CASE("an option that is wrong is refused by name, with what to write instead") {
  CHECK(to_text(refusal_of({"--tiem=10"})) == "--tiem: unknown option; did you mean --time?");
  CHECK(to_text(refusal_of({"--zzzzzz"})) == "--zzzzzz: unknown option");
  CHECK(to_text(refusal_of({"-Z"})) == "-Z: unknown option");
  CHECK(to_text(refusal_of({"--time"})) == "--time: the argument is missing; write --time=VALUE");
  CHECK(to_text(refusal_of({"-t"})) == "-t: the argument is missing; write -tVALUE");
  CHECK(to_text(refusal_of({"--hold=yes"})) == "--hold: the option takes no argument (given: yes); write --hold");
  CHECK(to_text(refusal_of({"--time", "=", "10"})) == "--time: no blanks may stand around '='; write --time=10");
  CHECK(to_text(refusal_of({"--time", "=10"})) == "--time: no blanks may stand around '='; write --time=10");
  CHECK(to_text(refusal_of({"--time", "="})) == "--time: no blanks may stand around '='; write --time=VALUE");
  CHECK(to_text(refusal_of({"-N=2"})) == "-N: a one-letter option takes its argument without '=' (given: =2); write -N2");
  CHECK(to_text(refusal_of({"--output", "--error=x"})) ==
        "--output: the argument is missing; if --error=x is meant as the argument, write --output=--error=x");
  CHECK(to_text(refusal_of({"-gpus=1"})) == "-g: unknown option (given: -gpus=1); did you mean --gpus?");
}

TEST_CASE("a word that begins with a hyphen is the argument of the option before it, as getopt takes it") {
  using W = std::vector<Want>;
  CHECK(options_of({"-J", "-i", "-H"}) == W{{"job-name", "-i"}, {"hold", ""}});
  CHECK(options_of({"--comment", "-N2"}) == W{{"comment", "-N2"}});
  CHECK(options_of({"-o", "--what=ever"}) == W{{"output", "--what=ever"}});
  CHECK(options_of({"-o", "-"}) == W{{"output", "-"}});
}

TEST_CASE("a negative number is an argument or an operand, never an option") {
  using W = std::vector<Want>;
  CHECK(options_of({"-n", "-1"}) == W{{"ntasks", "-1"}});
  CHECK(options_of({"--time", "-1"}) == W{{"time", "-1"}});
  const auto got = parse_options(rules, {"-5", "-H"}, false);
  REQUIRE(got);
  CHECK(got->rest == Words{"-5"});
  CHECK(got->options.size() == 1);
}

TEST_CASE("operands end the options where the caller says so, and -- always does") {
  const Words words{"-N2", "job.sh", "-t", "5"};
  const auto stopped = parse_options(rules, words, true);
  REQUIRE(stopped);
  CHECK(stopped->options.size() == 1);
  CHECK(stopped->rest == Words{"job.sh", "-t", "5"});
  const auto mixed = parse_options(rules, words, false);
  REQUIRE(mixed);
  CHECK(mixed->options.size() == 2);
  CHECK(mixed->rest == Words{"job.sh"});
  const auto dashes = parse_options(rules, {"-H", "--", "-t", "5"}, false);
  REQUIRE(dashes);
  CHECK(dashes->options.size() == 1);
  CHECK(dashes->rest == Words{"-t", "5"});
  CHECK(parse_options(rules, {"-"}, false)->rest == Words{"-"});
  CHECK(parse_options(rules, {""}, false)->rest == Words{""});
  CHECK(parse_options(rules, {}, false)->rest.empty());
}

TEST_CASE("an option remembers how it was written") {
  const auto got = parse_options(rules, {"--tasks=4", "-N2"}, false);
  REQUIRE(got);
  CHECK(got->options[0].as_written == "--tasks");
  CHECK(got->options[1].as_written == "-N");
  CHECK(got->options[1].has_value);
}

TEST_CASE("the nearest word is near, or there is none") {
  const Words known{"nodes", "partitions", "cluster", "heartbeat"};
  CHECK(nearest("node", known) == "nodes");
  CHECK(nearest("ndoes", known) == "nodes");
  CHECK(nearest("partition", known) == "partitions");
  CHECK(nearest("heart_beat", known) == "heartbeat");
  CHECK(nearest("xyz", known).empty());
  CHECK(nearest("time_limit", {"output", "time", "timeout"}) == "time");
  CHECK(nearest("cpus", {"mem", "cpus-per-task", "cpus-per-gpu-only"}) == "cpus-per-task");
  CHECK(nearest("timelimit", {"time"}).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(100'000, 'n'), known).empty());
  CHECK(nearest("nodes", {}).empty());
}

// Every row of the shared table of directives as people write them, whose option exists here.
#include "base/size_text.hpp"
#include "base/time_text.hpp"
#include "cli/submit/collect.hpp"
#include "cli/submit/options.hpp"
#include "fake.hpp"
#include "support/catch.hpp"

using namespace sy;
using namespace sy::cli;

namespace {

struct Read {
  base::Result<void> done;
  SubmitRequest request;
  std::vector<std::string> warnings;
};

Read script(const std::string& text, bool ours = false) {
  Read read;
  read.request.ours = ours;
  read.request.work_dir = read.request.spec.work_dir = "/home/ann";
  read.done = apply_directives(read.request, text, read.warnings);
  if (read.done) read.done = finish(read.request);
  return read;
}

// One directive line; it must be accepted.
SubmitRequest line(const std::string& options, bool ours = false) {
  auto read = script("#!/bin/sh\n#SBATCH " + options + "\n", ours);
  INFO(options << " → " << (read.done ? std::string{} : base::to_text(read.done.error())));
  REQUIRE(read.done);
  return read.request;
}
model::Group group(const std::string& options, bool ours = false) { return line(options, ours).group(); }

base::Error refusal(const std::string& options, bool ours = false) {
  auto read = script("#!/bin/sh\n#SBATCH " + options + "\n", ours);
  INFO(options);
  REQUIRE_FALSE(read.done);
  return read.done.error();
}

std::int64_t time_s(const std::string& options) { return base::to_seconds(*line(options).spec.time_limit); }
using Gres = std::vector<model::GresRequest>;

}  // namespace

TEST_CASE("time limits are read in every spelling") {
  CHECK(time_s("--time=30") == 30 * 60);
  CHECK(time_s("--time=0:20:0") == 20 * 60);
  CHECK(time_s("-t 1:0:0") == 3600);
  CHECK(time_s("--time=0-00:10") == 600);
  CHECK(time_s("--time=7-00:00:00") == 7 * 86400);
  CHECK(time_s("-t 100:00:00") == 100 * 3600);
  CHECK(time_s("--time=1-12") == 36 * 3600);
  CHECK(line("--time=UNLIMITED").spec.time_limit == base::Duration::max());
  CHECK(line("--time=0").spec.time_limit == base::Duration::max());
  CHECK(refusal("--time=soon").field == "line 2: --time");
}

TEST_CASE("memory is read in every spelling") {
  const auto mib = [](const std::string& o) { return group(o).memory_per_node->value; };
  CHECK(mib("--mem=1875m") == 1875);
  CHECK(mib("--mem=16g") == 16384);
  CHECK(mib("--mem=0") == 0);
  CHECK(mib("--mem=150M") == 150);
  CHECK(mib("--mem=4GB") == 4096);
  CHECK(mib("--mem=4000") == 4000);
  CHECK(group("--mem-per-cpu=2G").memory_per_cpu->value == 2048);
  CHECK(mib("--mem-per-gpu=10G --gpus-per-node=2") == 20480);
  CHECK(mib("--mem-per-gpu=10G --gpus=4 -N 2") == 20480);
  CHECK(refusal("--mem-per-gpu=10G").field == "--mem-per-gpu");
  CHECK(refusal("--mem=1G --mem-per-cpu=1G").message.find("mutually exclusive") != std::string::npos);
}

TEST_CASE("node counts are numbers, ranges and choices") {
  CHECK(group("--nodes=2").nodes == model::NodeRange{2, 2, {}});
  CHECK(group("-N 2-4").nodes == model::NodeRange{2, 4, {}});
  CHECK(group("--nodes=1-1").nodes == model::NodeRange{1, 1, {}});
  CHECK(group("-N 4,8").nodes == model::NodeRange{4, 8, {4, 8}});
  CHECK(group("-N 4").nodes_given);
  CHECK_FALSE(group("-n 4").nodes_given);
  CHECK(group("-n 4").tasks == 4);
  CHECK(refusal("-N 4-2").hint.find("2-4") != std::string::npos);
  CHECK(refusal("-N 0").limit.find("from 1") != std::string::npos);
}

TEST_CASE("generic resources and GPUs are read with types and counts") {
  CHECK(group("--gres=gpu:1").gres_per_node == Gres{{"gpu", "", 1}});
  CHECK(group("--gres=gpu").gres_per_node == Gres{{"gpu", "", 1}});
  CHECK(group("--gres=gpu:a100:4").gres_per_node == Gres{{"gpu", "a100", 4}});
  CHECK(group("--gres=gpu:a100").gres_per_node == Gres{{"gpu", "a100", 1}});
  CHECK(group("--gres=gpu:a100_1g.5gb:1").gres_per_node == Gres{{"gpu", "a100_1g.5gb", 1}});
  CHECK(group("--gres=gpu:a100:1,nvme:900").gres_per_node == Gres{{"gpu", "a100", 1}, {"nvme", "", 900}});
  CHECK(group("--gpus-per-node=a100:2").gres_per_node == Gres{{"gpu", "a100", 2}});
  CHECK(group("--gpus=4").gres_per_job == Gres{{"gpu", "", 4}});
  CHECK(group("--gpus-per-task=1").gres_per_task == Gres{{"gpu", "", 1}});
  CHECK(refusal("--gpus-per-node=1:a100").hint.find("type:count, as in a100:1") != std::string::npos);
  CHECK(refusal("--gres=gpu:mi300x:0.5").message.find("sharing is not configured") != std::string::npos);
  CHECK(group("--gres=gpu:1,nvme:2 --gpus-per-node=4").gres_per_node == Gres{{"nvme", "", 2}, {"gpu", "", 4}});
}

TEST_CASE("output patterns are kept as written: the node expands them") {
  CHECK(line("--output=%x-%j.out").spec.std_out == "%x-%j.out");
  CHECK(line("--output=logs/%x_%A_%a.out").spec.std_out == "logs/%x_%A_%a.out");
  CHECK(line("--output=slurm-%4j.out").spec.std_out == "slurm-%4j.out");
  CHECK(line("-e e.txt -i in.txt --open-mode=append").spec.append_output);
  CHECK(refusal("--open-mode=sideways").limit == "append, truncate");
}

TEST_CASE("exclusive has three scopes, and a level for sy submit") {
  CHECK(group("--exclusive").sharing == model::Sharing::exclusive_node);
  CHECK(group("--exclusive=user").sharing == model::Sharing::exclusive_user);
  CHECK(group("--exclusive=topo").exclusive_level == "topo");
  CHECK(group("--exclusive=rack", true).exclusive_level == "rack");
  CHECK(refusal("--exclusive=rack").limit.find("topo") != std::string::npos);
  CHECK(refusal("--exclusive=mcs").code == base::Code::unsupported);
}

TEST_CASE("feature expressions are kept as written, and checked") {
  for (const std::string text : {"a100", "knl&quad"}) CHECK(group("--constraint=" + text).constraint == text);
  CHECK(group("--constraint=\"v100-32g|v100-16g\"").constraint == "v100-32g|v100-16g");
  CHECK(group("-C '[rack1|rack2]*2'").constraint == "[rack1|rack2]*2");
  CHECK(refusal("-C 'a&&'").field == "line 2: -C");
}

TEST_CASE("a warning signal says which, to whom and how long before the end") {
  const auto warning = [](const std::string& o) { return *line(o).spec.warning_signal; };
  CHECK(warning("--signal=B:USR1@90") == model::WarningSignal{10, base::seconds{90}, true});
  CHECK(warning("--signal=USR2@90") == model::WarningSignal{12, base::seconds{90}, false});
  CHECK(warning("--signal=B:TERM") == model::WarningSignal{15, base::seconds{60}, true});
  CHECK(refusal("--signal=NOPE@9").field == "line 2: --signal");
}

TEST_CASE("mail types are known in any case, and a wrong one names the right ones") {
  CHECK(line("--mail-type=BEGIN,END,FAIL").spec.annotations->mail_type == "BEGIN,END,FAIL");
  CHECK(line("--mail-type=all").spec.annotations->mail_type == "ALL");
  const auto error = refusal("--mail-type=END,FAIL,REQUE");
  CHECK(error.message.find("REQUE") != std::string::npos);
  CHECK(error.limit.find("REQUEUE") != std::string::npos);
}

TEST_CASE("export lists are kept") {
  CHECK(*line("--export=NONE").export_names == "NONE");
  CHECK(*line("--export=ALL,KEY=value").export_names == "ALL,KEY=value");
  CHECK(*line("--export=KEY1,KEY2=value").export_names == "KEY1,KEY2=value");
}

TEST_CASE("placement inside a node is stored, the way of ranks over nodes is carried out") {
  CHECK(line("--hint=nomultithread").spec.annotations->hint == "nomultithread");
  CHECK(group("--distribution=block:block").distribution == model::Distribution::block);
  CHECK(group("--distribution=*:block:*").distribution == model::Distribution::unset);
  CHECK(line("-m plane=4").group().plane_size == 4);
  CHECK(line("--cpu-bind=cores --mem-bind=local").spec.annotations->cpu_bind == "cores");
  CHECK(refusal("-m sideways").limit.find("cyclic") != std::string::npos);
}

TEST_CASE("topology wishes of sbatch become parts of the group") {
  const auto one = group("--switches=1@360");
  CHECK(one.switches == 1U);
  CHECK(one.switches_wait == base::Duration{base::minutes{360}});
  CHECK(group("--switches=2").switches_wait == std::nullopt);
  CHECK(group("--segment=16").segments == std::vector<model::Segment>{{"", 16, {}, {}, false, false}});
  CHECK(group("--segment=16 --spread-segments").segments[0].distinct);
  CHECK(group("--segment=16 --consolidate-segments").segments[0].consolidate);
  CHECK(refusal("--spread-segments").hint == "add --segment=N");
}

TEST_CASE("topology wishes of sy submit become parts of the group") {
  CHECK(group("--within rack", true).pack.require == "rack");
  CHECK(group("--near rack", true).pack.prefer == "rack");
  const auto rungs = group("--ladder rack@10m,block*2@1h,any", true).pack.ladder;
  REQUIRE(rungs.size() == 3);
  CHECK(rungs[0] == model::Rung{"rack", 1, base::minutes{10}});
  CHECK(rungs[1] == model::Rung{"block", 2, base::hours{1}});
  CHECK(rungs[2] == model::Rung{"any", 1, {}});
  const auto layers = group("--segment 8@nvlink --segment 16@rack", true).segments;
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].level == "nvlink");
  CHECK(group("--sizes 1,3,4@rack", true).segments[0].sizes == std::vector<std::uint32_t>{1, 3, 4});
  CHECK(group("--spread rack:max=2", true).spread[0].max_per_domain == 2U);
  CHECK(group("--spread rack:share=50%", true).spread[0].max_share == 50U);
  CHECK(group("--spread rack:min=3:prefer", true).spread[0].mode == model::Spread::Mode::prefer);
  CHECK(group("--order least-growth --fill balanced", true).pack.order == model::PackOrder::least_growth);
  CHECK(refusal("--fill fullish", true).limit.find("best_fit") != std::string::npos);
  CHECK(refusal("--within rack").message == "unknown option");
}

TEST_CASE("an empty part of a wish is refused with field, value and the way to write it") {
  const auto text = [](const std::string& options, bool ours = true) { return base::to_text(refusal(options, ours)); };
  CHECK(text("--ladder rack@10s,,any") ==
        "line 2: --ladder: part 2 is empty: a ',' too many? (given: rack@10s,,any); write them from narrow to wide, as in "
        "rack@10m,block@1h,any");
  CHECK(text("--ladder rack,").find("part 2 is empty") != std::string::npos);
  CHECK(text("--ladder=,").find("part 1 is empty") != std::string::npos);
  CHECK(text("--ladder rack@,any").find("nothing is written behind the @ (given: rack@,any); write level@wait") != std::string::npos);
  CHECK(text("--spread rack:").find("line 2: --spread: part 2 is empty: a ':' too many? (given: rack:)") != std::string::npos);
  CHECK(text("--spread rack::max=2").find("part 2 is empty") != std::string::npos);
  CHECK(text("--spread :max=2").find("part 1 is empty") != std::string::npos);
  CHECK(text("--switches=2@", false) ==
        "line 2: --switches: nothing is written behind the @ (given: 2@); write n@minutes, as in 1@360, or leave the @ out");
  CHECK(text("--segment 2@", false).find("nothing is written behind the @ (given: 2@); write n@level") != std::string::npos);
  CHECK(text("--sizes 2,2@").find("nothing is written behind the @ (given: 2,2@); write them with commas") != std::string::npos);
  CHECK(text("--sizes 2,,2@rack").find("part 2 is empty") != std::string::npos);
  CHECK(text("--nodes=-3", false).find("\"-3\" is not a count (given: -3)") != std::string::npos);
  CHECK(text("--nodes=2-", false).find("a count is missing (given: 2-)") != std::string::npos);
}

TEST_CASE("quotes and comments in a line follow the shell") {
  CHECK(line(R"(--job-name="my job, \"v2\"")").spec.name == R"(my job, "v2")");
  CHECK(line("--comment='a # b'").spec.annotations->comment == "a # b");
  CHECK(line("-N 2 # two nodes").group().nodes.min == 2);
  CHECK(line("-J $USER").spec.name == "$USER");
  CHECK(refusal("--comment='open").field == "line 2");
}

TEST_CASE("prefixes and several options on one line count") {
  const auto request = line("--out a.txt --err=b.txt -N2\t-n4 \r");
  CHECK(request.spec.std_out == "a.txt");
  CHECK(request.spec.std_err == "b.txt");
  CHECK(request.spec.groups[0].nodes.min == 2);
  CHECK(request.spec.groups[0].tasks == 4);
  CHECK(line("--cluster=all").clusters == "all");
  CHECK(line("--tasks=3").spec.groups[0].tasks_per_node == 3);
  CHECK(refusal("--license=x").code == base::Code::unsupported);
  CHECK(refusal("--gpu-per-node=1").message == "unknown option");
  CHECK(refusal("--gpu-per-node=1").hint.find("--gpus-per-node") != std::string::npos);
}

TEST_CASE("blanks around = are refused with the right way to write it") {
  CHECK(refusal("--time = 10").hint.find("write --time=10") != std::string::npos);
}

TEST_CASE("options of later releases are refused by name") {
  for (const std::string options :
       {"--array=0-35", "--array=1-22%5", "--array=0-9999999", "--dependency=singleton", "--dependency=afterok:12:13", "--begin=16:00",
        "--deadline=now+4hours", "--licenses=comsol@server:5", "--reservation=maint", "--ntasks-per-core=1"}) {
    const auto error = refusal(options);
    CHECK(error.code == base::Code::unsupported);
    CHECK(error.field == "line 2: " + options.substr(0, options.find('=')));
  }
  const auto read = script("#!/bin/sh\n#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\n");
  REQUIRE_FALSE(read.done);
  CHECK(read.done.error().field == "#SBATCH hetjob");
}

TEST_CASE("options of site plugins are refused by name") {
  for (const std::string options : {"--uenv=prgenv", "--bb=capacity=1T", "--container-image=ubuntu"}) {
    const auto error = refusal(options);
    CHECK(error.code == base::Code::unsupported);
    CHECK(error.message.find("no such plugin is configured") != std::string::npos);
  }
}

TEST_CASE("only #SBATCH at the start of a line before the first command counts") {
  const auto read = script("#!/bin/sh\n # SBATCH -N 9\n##SBATCH -N 8\n#sbatch -N 7\n\n#SBATCH -N 3\ntrue\n#SBATCH -N 4\n#SBATCH -n 5\n");
  REQUIRE(read.done);
  CHECK(read.request.spec.groups[0].nodes.min == 3);
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0] == "directives after the first command are ignored: lines 8, 9");
}

TEST_CASE("no option is swallowed: each is carried out, stored, or refused by name") {
  for (const auto& option : submit_options()) {
    INFO(option.rule.name);
    const bool refused = option.standing == SubmitOption::Standing::later || option.standing == SubmitOption::Standing::plugin;
    CHECK((option.apply == nullptr) == refused);
    if (option.rule.canonical.empty()) continue;
    bool known = false;
    for (const auto& other : submit_options()) known = known || other.rule.name == option.rule.canonical;
    CHECK(known);
  }
}

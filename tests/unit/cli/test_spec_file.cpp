// `sy submit --spec FILE`: the options as keys, a tree of groups, and every fault with its line.
#include "cli/submit/spec_file.hpp"

#include "fake.hpp"
#include "support/catch.hpp"
#include "wire/job_spec_json.hpp"

using namespace sy;
using namespace sy::cli;
using namespace sy::cli::test;

namespace {

struct Read {
  base::Result<SpecFile> file;
  SubmitRequest request;
};
Read read(const std::string& text) {
  Read out{SpecFile{}, {}};
  out.request.ours = true;
  out.request.work_dir = out.request.spec.work_dir = "/home/ann";
  out.file = read_spec_file(text, "job.yaml", out.request);
  return out;
}
model::JobSpec good(const std::string& text) {
  auto r = read(text);
  INFO((r.file ? std::string{} : base::to_text(r.file.error())));
  REQUIRE(r.file);
  if (!r.file->has_groups) REQUIRE(finish(r.request));
  return r.request.spec;
}
std::string faults(const std::string& text) {
  auto r = read(text);
  REQUIRE_FALSE(r.file);
  return base::to_text(r.file.error());
}

constexpr const char* training = R"(name: train
time: 2h
partition: gpu
account: physics
output: log-%j
groups:
  - name: replica
    replicas: 2
    pack: {require: rack}
    groups:
      - {name: leader, tasks: 1, cpus_per_task: 1, mem: 4G}
      - name: workers
        nodes: 4
        gres_per_node: gpu:8
        exclusive: true
        segments: [{size: 2, level: nvlink, remainder: elastic}]
        affinity: leader@rack
        anti_affinity: [{target: workers, level: node, mode: prefer}]
        spread: {level: rack, max: 4}
        min: 2
)";

}  // namespace

TEST_CASE("what a group may say one day is refused by its name, not as a slip of the pen") {
  const std::string later = "this is known, but this release does not carry it out; leave it out";
  CHECK(faults("groups:\n- {name: a, nodes: 1, on_loss: {grace: 5m}}\n- name: b\n  nodes: 1\n  starts_after: [a]\n  gang_timeout: {after: "
               "10m, then: "
               "fail}\n  exclusive: {level: rack, scope: job}\n") ==
        "job.yaml:2:23: groups[0].on_loss: " + later + "\njob.yaml:7:28: groups[1].exclusive.scope: " + later +

            "\njob.yaml:7:3: groups[1].exclusive: a domain can be kept for the whole job only (given: rack); write exclusive: rack beside "
            "the "
            "outermost groups\njob.yaml:5:3: groups[1].starts_after: " +
            later + "\njob.yaml:6:3: groups[1].gang_timeout: " + later);
  CHECK(faults("nodes: 2\non_loss: {grace: 5m}\n") == "on_loss: job.yaml:2:1: " + later);
  CHECK(faults("nodes: 2\non_los: 3\n").find("on_loss") == std::string::npos);  // nor is it offered
  CHECK(good("nodes: 2\nexclusive: {level: rack}\n").groups.front().exclusive_level == "rack");
}

TEST_CASE("a spec file says everything about a tree of groups") {
  const auto spec = good(training);
  CHECK(spec.name == "train");
  CHECK(spec.time_limit == base::Duration{base::hours{2}});
  CHECK(spec.partitions == std::vector<std::string>{"gpu"});
  CHECK(spec.annotations->account == "physics");
  CHECK(spec.std_out == "log-%j");
  REQUIRE(spec.groups.size() == 1);
  REQUIRE(spec.groups[0].children.size() == 1);
  const auto& replica = spec.groups[0].children[0];
  CHECK(replica.name == "replica");
  CHECK(replica.replicas == 2);
  CHECK(replica.pack.require == "rack");
  REQUIRE(replica.children.size() == 2);
  const auto& leader = replica.children[0];
  CHECK(leader.tasks_given);
  CHECK(leader.cpus_per_task == base::whole_cpus(1));
  CHECK(leader.memory_per_node == base::Mebibytes{4096});
  const auto& workers = replica.children[1];
  CHECK(workers.nodes == model::NodeRange{2, 4, {}});
  CHECK(workers.gres_per_node == std::vector<model::GresRequest>{{"gpu", "", 8}});
  CHECK(workers.sharing == model::Sharing::exclusive_node);
  REQUIRE(workers.segments.size() == 1);
  CHECK(workers.segments[0].size == 2);
  CHECK(workers.segments[0].level == "nvlink");
  CHECK(workers.segments[0].remainder == model::Segment::Remainder::elastic);
  CHECK(workers.affinity == std::vector<model::Affinity>{{"rack", "leader", true}});
  CHECK(workers.anti_affinity == std::vector<model::Affinity>{{"node", "workers", false}});
  REQUIRE(workers.spread.size() == 1);
  CHECK(workers.spread[0].max_per_domain == 4);
  // What goes over the wire comes back the same.
  CHECK(wire::job_spec_from_stored_text(wire::job_spec_text(spec)) == spec);
}

TEST_CASE("JSON is read as well, and a file without groups is a plain job whose options may be overridden") {
  const auto spec = good(R"({"nodes": "2-4", "within": "rack", "ladder": ["rack@10m", {"level": "any"}], "mem": "1G"})");
  CHECK(spec.groups[0].nodes == model::NodeRange{2, 4, {}});
  CHECK(spec.groups[0].pack.require == "rack");
  REQUIRE(spec.groups[0].pack.ladder.size() == 2);
  CHECK(spec.groups[0].pack.ladder[0].wait == base::Duration{base::minutes{10}});
  CHECK(spec.groups[0].memory_per_node == base::Mebibytes{1024});
}

TEST_CASE("every fault of a spec file is told with file, line and the nearest key") {
  const auto text = faults(
      "nam: train\n"
      "groups:\n"
      "  - name: leader\n"
      "    cpu_per_task: 2\n"
      "    nodes: many\n"
      "  - {name: workers, min_replicas: 3, replicas: 2}\n"
      "  - affinity: leader\n"
      "    segments: [{size: 2, levle: rack}]\n");
  INFO(text);
  for (const auto* words :
       {"job.yaml:1:", "did you mean name?", "job.yaml:4:", "did you mean cpus_per_task?", "job.yaml:5:", "groups[0].nodes",
        "job.yaml:6:", "more than the 2 replicas", "job.yaml:7:", "workers@rack", "job.yaml:8:", "did you mean level?"})
    CHECK(text.find(words) != std::string::npos);
}

TEST_CASE("a key of the wrong type, a key twice and an empty list of groups are refused") {
  CHECK(faults("groups: []\n").find("names no group") != std::string::npos);
  CHECK(faults("nodes: {min: 2}\n").find("job.yaml:1:") != std::string::npos);
  CHECK(faults("nodes: 2\nnodes: 3\n").find("job.yaml:2:") != std::string::npos);
  CHECK(faults("contiguous: maybe\n").find("contiguous") != std::string::npos);
  CHECK(faults("script: a.sh\nwrap: hostname\n").find("keep one of script and wrap") != std::string::npos);
  CHECK(faults("script: |\n  #!/bin/sh\n  hostname\n").find("is the name of a file, not its text") != std::string::npos);
}

TEST_CASE("an empty part of a wish is refused in a spec file as it is on the command line") {
  CHECK(faults("ladder: rack@10s,,any\n").find("ladder: job.yaml:1:1: part 2 is empty: a ',' too many?") != std::string::npos);
  CHECK(faults("ladder: ''\n").find("nothing is written here; write them from narrow to wide") != std::string::npos);
  CHECK(faults("ladder: ['', any]\n").find("ladder: job.yaml:1:1: part 1 is empty") != std::string::npos);
  CHECK(faults("ladder: [{level: rack, wait: ''}, any]\n").find("nothing is written behind the @") != std::string::npos);
  CHECK(faults("nodes: 4\nspread: 'rack:'\n").find("spread: job.yaml:2:1: part 2 is empty: a ':' too many?") != std::string::npos);
  CHECK(faults("switches: 2@\n").find("nothing is written behind the @ (given: 2@)") != std::string::npos);
  CHECK(faults("segments: [{size: 2, level: ''}]\n").find("nothing is written behind the @") != std::string::npos);
  CHECK(faults("sizes: 2,2@\n").find("nothing is written behind the @") != std::string::npos);
  CHECK(faults("nodes: -3\n").find("\"-3\" is not a count (given: -3)") != std::string::npos);
  CHECK(faults("groups:\n  - {nodes: 1, spred: rack}\n").find("did you mean spread?") != std::string::npos);
}

TEST_CASE("what belongs to a group and stands beside groups is refused by its key, its line and the fix") {
  const std::string groups = "groups: [{name: a, nodes: 1}]\n";
  CHECK(faults("nodelist: n01\n" + groups) ==
        "nodelist: job.yaml:1:1: a group with groups inside asks for no nodes, tasks or resources itself (limit: replicas, min_replicas, "
        "pack, switches, spread, affinity, anti_affinity); write nodelist in the groups inside that it is about");
  for (const auto* key :
       {"nodes: 2", "mem: 1G", "gres: gpu:1", "segment: 2", "contiguous: true", "min_tasks: 1", "min: 1", "oversubscribe: true"}) {
    INFO(key);
    const std::string name = std::string(key).substr(0, std::string(key).find(':'));
    CHECK(faults(groups + key + "\n").rfind(name + ": job.yaml:2:1: a group with groups inside asks for no nodes", 0) == 0);
  }
  CHECK(faults("groups:\n  - nodelist: n01\n    groups: [{nodes: 1}]\n").rfind("groups[0].nodelist: job.yaml:2:5: ", 0) == 0);
  CHECK(good("exclusive: rack\nwithin: rack\nswitches: 1\n" + groups).groups[0].exclusive_level == "rack");
  CHECK(good("replicas: 2\nmin: 1\n" + groups).groups[0].min_replicas == 1);
  CHECK(good("exclusive: false\n" + groups).groups[0].children.size() == 1);
  CHECK(faults("exclusive: true\n" + groups) ==
        "exclusive: job.yaml:1:1: beside groups a level is meant (given: true); write exclusive: LEVEL, as in exclusive: rack, to keep "
        "domains for this job; for whole nodes write exclusive: true in the groups inside");
  CHECK(faults("groups: [{nodes: 1, exclusive: rack}]\n")
            .find("groups[0].exclusive: job.yaml:1:21: a domain can be kept for the whole job only (given: rack); write exclusive: rack "
                  "beside the outermost "
                  "groups") != std::string::npos);
  CHECK(faults("exclusive: user\n" + groups).find("leave it out") != std::string::npos);
}

TEST_CASE("sy submit --spec sends the groups, its own command, and refuses options about a group beside them") {
  Folder folder;
  folder.file("job.yaml", std::string(training) + "wrap: hostname\n");
  World world;
  world.answer("POST /v1/jobs", R"({"id":7,"warnings":[]})", 201);
  CHECK(world.run({"sy", "submit", "--spec", "job.yaml", "--time=1:00:00"}) == 0);
  INFO(world.err());
  REQUIRE(world.controller.asked.size() == 1);
  const auto& body = world.controller.asked[0].body;
  CHECK(body.find(R"("name":"train")") != std::string::npos);
  CHECK(body.find(R"("time_limit_s":3600)") != std::string::npos);
  CHECK(body.find(R"("children":[{"name":"replica","replicas":2)") != std::string::npos);
  CHECK(body.find("#!/bin/sh\\nhostname\\n") != std::string::npos);
  world.controller.asked.clear();
  CHECK(world.run({"sy", "submit", "--spec", "job.yaml", "-N4"}) == 1);
  CHECK(world.err().find("-N: the groups of this job are described in job.yaml") != std::string::npos);
  CHECK(world.run({"sy", "submit", "--spec", "job.yaml", "--exclusive=rack"}) == 1);
  CHECK(world.err().find("write exclusive: rack there, beside the outermost groups") != std::string::npos);
  CHECK(world.run({"sy", "submit", "--spec", "job.yaml", "--exclusive"}) == 1);
  CHECK(world.err().find("write exclusive: true there, in the group that it is about") != std::string::npos);
  CHECK(world.controller.asked.empty());
  CHECK(world.run({"sy", "submit", "--spec", "none.yaml"}) == 1);
  CHECK(world.err().find("--spec") != std::string::npos);
}

TEST_CASE("sbatch knows no --spec") {
  World world;
  CHECK(world.run({"sbatch", "--spec", "job.yaml", "--wrap", "true"}) == 1);
}

TEST_CASE("sy submit --dry-run prints each rank with its path, or each rung with what is in the way") {
  World world;
  world.answer(
      "POST /v1/jobs",
      R"({"id":7,"warnings":[],"verdict":{"kind":"fits"},"start_us":1,"nodes":"n[1-2]","processors":4,"partition":"main","placement":)"
      R"({"topology":"t","version":1,"levels":["spine","rack"],"level":"rack","domains":["r1"],"leaves_used":1,"leaves_least":1,)"
      R"("fragmentation_growth":2,"beaten":[{"domain":"r2","offered":3,"asked":2}],"ranks":[)"
      R"({"first":0,"count":2,"node":"n1","path":["s1","r1"],"segment":0},{"first":2,"count":1,"node":"n2","path":["s1","r1"],"segment":1,"group":"w","replica":0}]}})");
  CHECK(world.run({"sy", "submit", "--dry-run", "-N2", "--wrap", "true"}) == 0);
  CHECK(world.out() ==
        "would start now in partition main: 4 processors on n[1-2]\n"
        "placed: rack r1: 1 leaf domain used, 1 the least possible\n"
        "preferred to r2 (3 for 2)\n"
        "RANKS  NODE  PATH\n"
        "0-1    n1    s1.r1.n1  segment 0\n"
        "2      n2    s1.r1.n2  segment 1  w[0]\n");
  world.context.out.clear();
  world.answer(
      "POST /v1/jobs",
      R"({"id":7,"warnings":[],"verdict":{"kind":"not_now","reason":"Resources","text":"1 of 2 nodes free","causes":[{"kind":"busy","nodes":2}],)"
      R"("rungs":[{"level":"rack","best":[{"domain":"r1","offered":1,"asked":2}],"causes":[{"kind":"busy","nodes":2}],"opens_us":null}]},)"
      R"("start_us":null,"nodes":"","processors":null,"partition":null})");
  CHECK(world.run({"sy", "submit", "--dry-run", "-N2", "--within", "rack", "--wrap", "true"}) == 0);
  CHECK(world.out() ==
        "would wait: 1 of 2 nodes free (Resources)\n"
        "within rack: r1 1 of 2\n");
}

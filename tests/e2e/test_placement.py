#!/usr/bin/env python3
"""Placement from the user's side, on real daemons: gangs from a spec file, what a job is told about its nodes, what `sy show`, `sy submit
--dry-run` and the API say, topologies of one file in one transaction, and topologies made of what agents report."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Cluster, run_tests, wait_for  # noqa: E402

RACKS = """name: default
levels: [spine, rack]
domains:
- {name: s1, level: spine}
- {name: r1, level: rack, parent: s1, nodes: "n[1-2]", link_speed: 400G}
- {name: r2, level: rack, parent: s1, nodes: "n[3-4]"}
"""
GANG = """name: train
time: 10m
output: gang-%j.txt
groups:
  - name: replica
    replicas: 2
    pack: {require: rack}
    groups:
      - {name: leader, tasks: 1, cpus_per_task: 1}
      - {name: workers, nodes: 2, cpus_per_task: 3}
wrap: |
  cat $SWITCHYARD_PLACEMENT
  cat $SWITCHYARD_NODES_FILE >&2
  while [ ! -e go ]; do sleep 0.1; done
error: gang-%j.nodes
"""


class Fabric(Cluster):
    """Four nodes in two racks. Partitions and labels beside the plain ones of Cluster."""

    def __init__(self, build, partitions="", labels=None, topology=RACKS, **options):
        super().__init__(build, nodes=4, gres="", **options)
        self.partitions, self.labels, self.topology = partitions, labels or {}, topology

    def write_config(self):
        super().write_config()
        with open(self.root / "switchyard.yaml", "a") as out:
            out.write(self.partitions)

    def write_agent_config(self, name, port):
        super().write_agent_config(name, port)
        if name in self.labels:
            with open(self.root / f"agent-{name}.yaml", "a") as out:
                out.write("labels: {" + ", ".join(f"{k}: {v}" for k, v in self.labels[name].items()) + "}\n")

    def __enter__(self):
        super().__enter__()
        if self.topology:
            self.sy("sy", "topo", "import", "-", input=self.topology)
        return self

    def file(self, name, text):
        (self.root / "work" / name).write_text(text)
        return name

    def submit(self, *words, code=0):
        done = self.sy("sy", "submit", "--parsable", *words, check=False)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return int(done.stdout) if code == 0 else done.stderr

    def text(self, name):
        return (self.root / "work" / name).read_text()


def hold(c, *words):
    """A job that runs until the file go is there."""
    job = c.submit(*words, "-o", "/dev/null", "--wrap", "while [ ! -e go ]; do sleep 0.1; done")
    c.wait_state(job, "running")
    return job


def go(c):
    (c.root / "work" / "go").write_text("")


def test_a_gang_from_a_spec_file_runs_whole_with_its_ranks_along_the_path(build):
    with Fabric(build) as c:
        c.file("gang.yaml", GANG)
        job = c.submit("--spec", "gang.yaml")
        c.wait_state(job, "running")
        seen = wait_for(lambda: (c.root / "work" / f"gang-{job}.nodes").exists() and c.text(f"gang-{job}.nodes").count("\n") == 4 and
                        json.loads(c.text(f"gang-{job}.txt")), "the job has read its map")
        nodes = c.text(f"gang-{job}.nodes").split()
        assert sorted(nodes) == ["n1", "n2", "n3", "n4"], nodes
        assert seen["nodes"] == nodes and seen["levels"] == ["spine", "rack"], seen
        # Ranks are counted without a gap, and each copy of the gang sits in one rack.
        rank = 0
        racks = {}
        for r in seen["ranks"]:
            assert r["first"] == rank, seen
            rank += r["count"]
            racks.setdefault(r["path"][1], []).append(r["group"])
        assert rank == 6 and {k: sorted(v) for k, v in racks.items()} == {
            "r1": ["leader", "workers", "workers"], "r2": ["leader", "workers", "workers"]}, seen
        # The same in the API and for people.
        shown = c.job(job)
        assert [r["node"] for r in shown["placed"]["ranks"]] == [r["node"] for r in seen["ranks"]], shown["placed"]
        assert shown["node_count"] == 4 and shown["tasks"] == 6 and shown["cpus"] == 14, shown
        sheet = c.sy("sy", "show", job).stdout
        assert "leader[0]" in sheet and "workers[1]" in sheet and "leaf domains used" in sheet, sheet
        # It survives the controller.
        c.controller.kill()
        c.restart_controller()
        assert c.job(job)["placed"] == shown["placed"]
        go(c)
        assert c.wait_ended(job)["outcome"] == "completed"
        assert not list((c.root / "spool").glob("*-jobs/*")), "the job's files are gone with it"


def test_a_gang_through_the_api_waits_until_all_of_it_fits(build):
    with Fabric(build) as c:
        blocker = hold(c, "-N1", "-w", "n4", "--exclusive")
        pair = {"nodes": {"min": 2}, "cpus_per_task": 4}
        status, answer = c.api.submit(groups=[{"name": "a", **pair, "pack": {"require": "rack"}}, {"name": "b", **pair}])
        assert status == 201, answer
        waiting = wait_for(lambda: (j := c.job(answer["id"]))["verdict"]["reason"] == "Resources" and j, "the gang waits for room")
        assert waiting["state"] == "pending" and waiting["verdict"]["kind"] == "not_now", waiting
        sheet = c.sy("sy", "show", str(answer["id"])).stdout
        assert "group       a: 2 nodes, 4 CPUs a task, within rack\n" in sheet and "group       b: 2 nodes, 4 CPUs a task\n" in sheet, sheet
        go(c)
        c.wait_ended(blocker)
        ended = c.wait_ended(answer["id"])
        assert ended["outcome"] == "completed" and ended["node_count"] == 4, ended
        status, answer = c.api.submit(groups=[{"name": "a", "nodes": {"min": 5}}, {"name": "b"}])
        assert status >= 400 and answer["field"] == "groups", answer


def test_a_job_keeps_near_to_one_and_away_from_another(build):
    with Fabric(build) as c:
        hold(c, "-J", "db", "-N1", "-w", "n3", "--exclusive")
        c.file("near.yaml", "name: web\nnodes: 1\naffinity: job:db@rack\noutput: /dev/null\nwrap: 'while [ ! -e go ]; do sleep 0.1; done'\n")
        c.file("apart.yaml", "name: web\nnodes: 1\nanti_affinity: {target: job:self, level: rack}\noutput: /dev/null\nwrap: 'true'\n")
        out = c.sy("sy", "submit", "--dry-run", "--spec", "near.yaml").stdout
        assert "n4    s1.r2.n4" in out, out
        near = c.submit("--spec", "near.yaml", "--exclusive")
        c.wait_state(near, "running")
        assert "s1.r2.n4" in c.sy("sy", "show", near).stdout
        apart = c.submit("--spec", "apart.yaml")
        ended = c.wait_ended(apart)
        assert ended["placed"]["domains"] == ["r1"], ended["placed"]
        # Nobody of that name runs: it waits, and is told why.
        c.file("lonely.yaml", "nodes: 1\naffinity: job:cache@rack\nwrap: 'true'\n")
        lonely = c.submit("--spec", "lonely.yaml")
        waiting = wait_for(lambda: (j := c.job(lonely))["verdict"].get("causes") and j, "a verdict with causes")
        assert {"kind": "affinity", "nodes": 2} in waiting["verdict"]["causes"], waiting["verdict"]
        assert "job:cache does not run" in c.sy("sy", "show", lonely).stdout
        hold(c, "-J", "cache", "-N1", "-w", "n1")
        c.wait_ended(lonely)
        c.file("wrong.yaml", "nodes: 1\naffinity: job:999@rack\nwrap: 'true'\n")
        assert "no job of yours that waits or runs has this number" in c.submit("--spec", "wrong.yaml", code=1)
        go(c)


def test_a_broken_spec_file_is_refused_with_each_line(build):
    with Fabric(build) as c:
        c.file("bad.yaml", "name: x\ngroups:\n  - {name: a, nodez: 2}\n  - {name: b, pack: {requires: rack}}\n")
        told = c.submit("--spec", "bad.yaml", code=1)
        for words in ("bad.yaml:3:", "did you mean nodes?", "bad.yaml:4:", "did you mean require?"):
            assert words in told, told
        c.file("unknown.yaml", "groups:\n  - {name: a, nodes: 2, pack: {require: rak}}\n  - {name: b, nodes: 1}\nwrap: 'true'\n")
        told = c.submit("--spec", "unknown.yaml", code=1)
        assert "rak" in told and "spine, rack, node" in told, told
        assert c.api.get("/v1/jobs")[1]["jobs"] == []


def test_a_script_on_two_nodes_sees_where_it_is(build):
    with Fabric(build) as c:
        script = c.file("job.sh", "#!/bin/sh\nenv\n")
        job = c.submit("-N4", "-n4", "--segment", "2@rack", "-A", "physics", "-q", "urgent", "-o", "env-%j.txt", script)
        assert c.wait_ended(job)["outcome"] == "completed"
        env = dict(line.split("=", 1) for line in c.text(f"env-{job}.txt").splitlines() if "=" in line)
        expected = {"SLURM_TOPOLOGY_ADDR": "s1.r1.n1", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node", "SLURM_JOB_SEGMENT_SIZE": "2",
                    "SWITCHYARD_SEGMENT": "0", "SWITCHYARD_DOMAIN_SPINE": "s1", "SWITCHYARD_DOMAIN_RACK": "r1", "SWITCHYARD_DOMAIN_NODE": "n1",
                    "SLURM_JOB_ACCOUNT": "physics", "SLURM_JOB_QOS": "urgent", "SLURM_JOB_NODELIST": "n[1-4]"}
        assert {k: env.get(k) for k in expected} == expected, env
        assert "SWITCHYARD_PLACEMENT" in env and "SWITCHYARD_NODES_FILE" in env, env
        # Members: each node knows its own place, in the map that all of them get.
        two = c.submit("-N2", "--within", "rack", "-w", "n[3-4]", "-o", "map-%j.txt", "--wrap", "cat $SWITCHYARD_PLACEMENT; echo $SLURM_TOPOLOGY_ADDR >&2",
                       "-e", "addr-%j.txt")
        assert c.wait_ended(two)["outcome"] == "completed"
        seen = json.loads(c.text(f"map-{two}.txt"))
        assert [(r["node"], r["path"]) for r in seen["ranks"]] == [("n3", ["s1", "r2"]), ("n4", ["s1", "r2"])], seen
        assert seen["level"] == "rack" and seen["domains"] == ["r2"], seen
        assert c.text(f"addr-{two}.txt") == "s1.r2.n3\n"


def test_a_dry_run_tells_each_rank_or_each_rung(build):
    with Fabric(build) as c:
        out = c.sy("sy", "submit", "--dry-run", "-N2", "--within", "rack", "--wrap", "true").stdout
        assert "placed: rack r1: 1 leaf domain used, 1 the least possible\npreferred to r2 (2 for 2)\n" in out, out
        assert "0      n1    s1.r1.n1\n1      n2    s1.r1.n2\n" in out, out
        answer = json.loads(c.sy("sy", "submit", "--dry-run", "--json", "-N4", "--segment", "2@rack", "--wrap", "true").stdout)
        assert [r["segment"] for r in answer["placement"]["ranks"]] == [0, 0, 1, 1], answer
        hold(c, "-N1", "-w", "n1")
        c.sy("sy", "drain", "n3", "-r", "disk", check=False)
        blocked = hold(c, "-N1", "-w", "n2", "--exclusive")
        out = c.sy("sy", "submit", "--dry-run", "-N2", "--exclusive", "--ladder", "rack@10m,any", "--wrap", "true").stdout
        assert out.startswith("would wait: ") and "within rack: r2 1 of 2, r1 0 of 2" in out and "within any: " in out, out
        assert c.api.get("/v1/jobs")[1]["jobs"][-1]["id"] == blocked, "a dry run leaves no job"
        # A real one waits with the same words, and `sy show` has them.
        job = c.submit("-N2", "--exclusive", "--ladder", "rack@10m,any", "--wrap", "true")
        waiting = wait_for(lambda: (j := c.job(job))["verdict"].get("rungs") and j, "a verdict per rung")
        rung = waiting["verdict"]["rungs"][0]
        assert rung["level"] == "rack" and rung["best"][0] == {"domain": "r2", "offered": 1, "asked": 2}, rung
        assert {"kind": "busy", "nodes": 2} in rung["causes"] and waiting["verdict"]["rungs"][1]["opens_us"], waiting["verdict"]
        assert "within      rack: r2 1 of 2" in c.sy("sy", "show", job).stdout
        go(c)


def test_every_wish_is_carried_to_the_agents(build):
    """One job per option, held until all are looked at, each on the nodes that the option demands."""
    with Fabric(build) as c:
        cases = {
            ("-N2", "--switches=1"): {"n1", "n2"}, ("-N2", "--within", "rack"): {"n1", "n2"}, ("-N2", "--near", "rack"): {"n1", "n2"},
            ("-N2", "--ladder", "rack@10m,any"): {"n1", "n2"}, ("-N2", "--segment", "1@rack", "--spread-segments"): {"n1", "n3"},
            ("-N4", "--segment", "2@rack", "--consolidate-segments"): {"n1", "n2", "n3", "n4"}, ("-N3", "--sizes", "1,2@rack"): None,
            ("-N2", "--spread", "rack:max=1"): {"n1", "n3"}, ("-N2", "--spread", "rack:min=2"): {"n1", "n3"}, ("-N4", "--spread", "rack:share=50%"): {"n1", "n2", "n3", "n4"}, ("-n4", "--spread", "rack:max=2"): None,
            ("-N2", "--exclusive=rack"): {"n1", "n2"}, ("-N2", "--exclusive=topo"): {"n1", "n2"}, ("-N2", "--contiguous"): {"n1", "n2"},
            ("-N2", "-x", "n1"): {"n3", "n4"}, ("-N2", "-w", "n[2,4]"): {"n2", "n4"}, ("-N2", "--order", "fullest"): {"n1", "n2"},
            ("-N2", "-m", "cyclic"): {"n1", "n2"}, ("-N2", "-m", "plane=2"): {"n1", "n2"}, ("-N3", "--fill", "balanced"): None,
            ("-N4", "--segment", "4@spine", "--segment", "2@rack"): {"n1", "n2", "n3", "n4"},
        }
        for words, nodes in cases.items():
            job = c.submit(*words, "-o", "/dev/null", "--wrap", "true")
            ended = c.wait_ended(job)
            assert ended["outcome"] == "completed", (words, ended)
            used = [r["node"] for r in ended["placed"]["ranks"]]
            assert nodes is None or set(used) == nodes, (words, used)
            assert used == sorted(used) or "--sizes" in words, (words, used)  # ranks follow the path


def test_bad_wishes_are_refused_at_submission(build):
    with Fabric(build) as c:
        for words, field, known in [
                (("-N2", "--within", "rak"), "--within", "spine, rack, node"), (("-N3", "--within", "rack"), "--within", "2 of 3"),
                (("-N3", "--segment", "2"), "--segment", "segments of 2"), (("-N4", "--sizes", "1,2@rack"), "--sizes", "3"),
                (("-N2", "--near", "spine", "--within", "rack"), "--near", "--within rack"), (("-N2", "--ladder", "spine,rack"), "--ladder", "narrow to wide"),
                (("-N2", "--spread", "zone"), "--spread", "spine, rack, node"), (("-N2", "--exclusive=cage"), "--exclusive", "spine, rack, node"),
                (("-N2", "--order", "random"), "--order", "own_first"), (("-N2", "--fill", "worst"), "--fill", "best_fit"),
                (("-N2", "--segment", "many"), "--segment", "many"), (("-N2", "--switches=x"), "--switches", "x")]:
            told = c.submit(*words, "--wrap", "true", code=1)
            assert field in told and known in told, (words, told)
        assert c.api.get("/v1/jobs")[1]["jobs"] == []


TWO = """- topology: tree
  cluster_default: true
  tree:
    switches:
      - {switch: top, children: "a,b"}
      - {switch: a, nodes: "n[1-2]"}
      - {switch: b, nodes: "n[3-4]"}
- topology: blocks
  cluster_default: false
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: x, nodes: "n[1,3]"}
      - {block: y, nodes: "n[2,4]"}
"""


def test_topologies_of_one_file_come_together_and_each_partition_uses_its_own(build):
    partitions = "    topology: tree\n  - name: ai\n    nodes: ALL\n    topology: blocks\n"
    with Fabric(build, partitions=partitions, topology=None) as c:
        bad = c.file("bad.yaml", TWO.replace("n[2,4]", "n[2,9]"))
        done = c.sy("sy", "topo", "import", bad, check=False)
        assert done.returncode == 1 and "bad.yaml:" in done.stderr and "n9" in done.stderr, done.stderr
        assert c.api.get("/v1/topologies")[1]["topologies"] == [], "all or nothing"
        two = c.file("two.yaml", TWO)
        before = c.api.get("/v1/topologies")[1]["sequence"]
        out = c.sy("sy", "topo", "import", two).stdout
        assert "topology tree: version 1 is in force" in out and "topology blocks: version 1 is in force" in out, out
        assert c.api.get("/v1/topologies")[1]["sequence"] > before
        assert c.sy("sy", "topo", "import", two).stdout == "topology tree: nothing to change\ntopology blocks: nothing to change\n"
        for partition, nodes in (("main", {"n1", "n2"}), ("ai", {"n1", "n3"})):
            job = c.submit("-p", partition, "-N2", "-o", "/dev/null", "--wrap", "true")
            ended = c.wait_ended(job)
            assert {r["node"] for r in ended["placed"]["ranks"]} == nodes, (partition, ended["placed"])


def test_a_topology_that_no_partition_uses_is_told(build):
    with Fabric(build, topology=None) as c:
        named = c.file("fabric.conf", "SwitchName=r1 Nodes=n[1-2]\nSwitchName=r2 Nodes=n[3-4]\n")
        done = c.sy("sy", "topo", "import", named, "--name", "fabric")
        assert 'no partition uses topology fabric: write "default_topology: fabric"' in done.stderr, done.stderr
        said = c.submit("-N2", "--within", "rack", "--wrap", "true", code=1)
        assert "partition main uses no topology" in said and "(fabric)" in said, said
        config = c.root / "switchyard.yaml"
        config.write_text("default_topology: fabric\n" + config.read_text())
        c.api.post("/v1/reconfigure", {})
        assert "no partition" not in c.sy("sy", "topo", "import", named, "--name", "fabric").stderr
        c.wait_ended(c.submit("-N2", "--within", "leaf", "-o", "/dev/null", "--wrap", "true"))


def test_what_agents_report_becomes_a_topology_by_an_ordered_list_of_keys(build):
    labels = {f"n{i}": {"zone": "z1", "row": f"w{(i + 1) // 2}"} for i in range(1, 5)}
    labels["n4"].pop("row")
    with Fabric(build, labels=labels, topology=None) as c:
        keys = c.file("keys.yaml", "levels: [zone, row]\n")
        done = c.sy("sy", "topo", "import", keys, "--format", "labels")
        assert "1 node is without a label for level row" in done.stderr, done.stderr
        shown = c.api.get("/v1/topologies/default")[1]
        assert [level["name"] for level in shown["levels"]] == ["zone", "row"], shown
        rows = {d["name"]: d["nodes"] for d in shown["domains"] if d["level"] == "row"}
        assert rows["w1"] == "n[1-2]" and rows["w2"] == "n3" and "n4" in rows.values(), rows
        job = c.submit("-N2", "--within", "row", "-o", "/dev/null", "--wrap", "true")
        assert {r["node"] for r in c.wait_ended(job)["placed"]["ranks"]} == {"n1", "n2"}


def test_the_topology_in_force_through_rest_and_on_the_terminal(build):
    with Fabric(build) as c:
        job = hold(c, "-N2", "-w", "n[2-3]", "--exclusive")
        c.api.post("/v1/nodes/n4/drain", {"reason": "disk"})
        use = {d["name"]: d for d in c.api.get("/v1/topologies/default/use")[1]["domains"]}
        assert (use["r1"]["free"], use["r1"]["busy"], use["r2"]["busy"], use["r2"]["drained"]) == (1, 1, 1, 1), use
        quality = c.api.get("/v1/topologies/default/quality")[1]
        assert quality["jobs"] == [{"id": job, "user": quality["jobs"][0]["user"], "nodes": 2, "domains": 2, "least": 1, "level": "spine"}], quality
        assert quality["fragmentation"] == 11, quality  # a spine of 4, two racks of 2, two busy nodes and a drained one
        assert {f["level"]: f["free"] for f in quality["largest_free"]} == {"any": 1, "spine": 1, "rack": 1}, quality
        printed = c.sy("sy", "topo", "quality").stdout
        assert "largest free in one rack: 1 node in r1" in printed and " 2        2      1  spine" in printed, printed
        status, text = c.api.get("/v1/topologies/default/export?format=slurm-tree")
        assert status == 200 and "SwitchName=r1 Nodes=n[1-2] LinkSpeed=400G\n" in text, text
        assert c.api.get("/v1/topologies/default/export?format=xml")[0] == 400
        assert c.sy("sy", "topo", "import", "-", input=text).stdout == "topology default: nothing to change\n"
        status, held = c.api.post("/v1/topologies/check", {"text": "SwitchName=a Nodes=n[1-4]\n", "file": "a.conf"})
        assert status == 200 and held["topologies"][0]["nodes"] == 4, held
        status, told = c.api.post("/v1/topologies/check", {"text": "SwitchName=a Nodes=n[1-9]\n", "file": "a.conf"})
        assert status == 400 and "a.conf:1:" in told["detail"], told
        two = {"work_dir": "/", "groups": [{"nodes": {"min": 2, "max": 2}}]}
        status, tried = c.api.post("/v1/topologies/try", {"spec": two})  # n1 alone is free and not drained
        assert status == 200 and tried["verdict"]["kind"] == "not_now" and "ranks" not in tried, tried
        status, tried = c.api.post("/v1/topologies/try", {"spec": two, "idle": True, "text": "SwitchName=a Nodes=n[3-4]\n"})
        assert status == 200 and [(r["node"], r["path"]) for r in tried["ranks"]] == [("n3", "a"), ("n4", "a")], tried
        assert "r1" in c.sy("sy", "topo").stdout and "n2" in c.sy("sy", "topo", "show", "r1").stdout
        c.api.post("/v1/nodes/n4/resume", {})
        c.sy("scancel", str(job))
        c.wait_ended(job)
        hold(c, "-N1", "-w", "n1", "--exclusive=rack")
        use = c.api.get("/v1/topologies/default/use")[1]
        assert use["kept"] == "n2" and {d["name"]: d["busy"] for d in use["domains"]}["r1"] == 2, use
        assert "kept     n2: idle" in c.sy("sy", "topo", "show", "r1").stdout
        go(c)


if __name__ == "__main__":
    run_tests(globals())

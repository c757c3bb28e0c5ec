#!/usr/bin/env python3
"""`sy topo try` as a process: replays recorded choices of Slurm and checks that ours hold as many nodes in no more leaves or
blocks; every file of the shared data through `sy topo check`; and a topology imported into a real controller."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Cluster  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SWITCHYARD_SHARED", ROOT / ".." / "shared"))
SY = str(pathlib.Path(sys.argv[1]) / "cli" / "sy")


def sy(*words):
    done = subprocess.run([SY, "topo", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def need(path):
    if path.exists():
        return True
    if os.environ.get("CI") == "true":
        sys.exit(f"{path} is missing and CI=true")
    print(f"skipped: {path} is not beside the checkout")
    return False


def expand(hostlist):
    out = []
    for prefix, inside in re.findall(r"([a-z]+)(?:\[([^\]]*)\]|(?=\d))", hostlist):
        if not inside:
            continue
        for part in inside.split(","):
            first, _, last = part.partition("-")
            out += [f"{prefix}{i:0{len(first)}}" for i in range(int(first), int(last or first) + 1)]
    out += re.findall(r"(?:^|,)([a-z]+\d+)(?=,|$)", hostlist)
    return sorted(set(out))


def leaves_of(kind, names):
    size = {"tree2": 8, "tree3": 8, "block4": 4, "block18": 18, "block18s": 18, "block18c": 18}[kind]
    leaves = len({(int(n[1:]) - 1) // size for n in names})
    # The level first: one mid switch that holds the job beats two, whatever the leaves.
    mids = len({(int(n[1:]) - 1) // 24 for n in names}) if kind == "tree3" else 1
    return mids, leaves


def replay():
    vectors = SHARED / "vectors" / "slurm-placements.jsonl"
    if not need(vectors):
        return 0
    same = better = other = 0
    for line in vectors.read_text().splitlines():
        row = json.loads(line)
        kind = row["topology"].split(":")[0].split("+")[0].split(" ")[0]
        if kind not in ("tree2", "tree3", "block4", "block18", "block18s", "block18c"):
            continue
        # Rows that only set the stage for time-outs, or whose stage a busy list does not tell, are the unit tests' business.
        if row.get("started_after_s") or row.get("pre") or "topo" in row["request"] or row["state"] != "RUNNING" or "+" in row["topology"] or \
                "--spread-job" in row["request"]:
            continue
        busy = ["--busy", row["busy"]] if row["busy"] else []
        code, out, err = sy("try", "--topology", str(SHARED / "vectors" / "slurm-topologies" / f"{kind}.yaml"), "--topology-name", "t",
                            "--cluster", str(SHARED / "vectors" / "slurm-topologies" / "cluster.yaml"), *busy, "--",
                            *shlex.split(row["request"]))
        assert code == 0, (row, code, out, err)
        ours, theirs = expand(out.strip()), expand(row["result"])
        if sorted(ours) == theirs:
            same += 1
            continue
        assert len(ours) >= len(theirs), (row, out)
        if len(ours) > len(theirs) or leaves_of(kind, ours) < leaves_of(kind, theirs):
            better += 1
            continue
        assert leaves_of(kind, ours) <= leaves_of(kind, theirs), (row, out)
        other += 1
    print(f"sy topo try: {same} rows as Slurm, {better} better, {other} other nodes in as many domains")
    assert same + better + other > 60
    return same


def verdicts():
    topology = SHARED / "vectors" / "slurm-topologies"
    if not need(topology):
        return
    base = ("try", "--topology", str(topology / "tree2.yaml"), "--cluster", str(topology / "cluster.yaml"))
    assert sy(*base, "--busy", "n[01-70]", "--", "-N8")[0] == 2
    assert sy(*base, "--", "-N73")[0] == 3
    assert sy(*base, "--", "-N9", "--within", "leaf")[0] == 3
    code, out, err = sy(*base, "--", "-N2", "--within", "rak")
    assert code == 3 and "leaf" in err, (code, out, err)
    code, out, _ = sy(*base, "--json", "--", "-N12")
    answer = json.loads(out)
    assert code == 0 and len(answer["ranks"]) == 12 and answer["ranks"][0]["path"].startswith("root.s"), answer
    assert sy(*base, "--", "--no-such-option")[0] == 1
    code, out, err = sy("try", "--topology", str(topology / "ring.yaml"), "--", "-N2")
    assert code == 1 and "ring" in err, (code, out, err)
    # N15 and topology file 1: racks of 17, the file sent again, 36 nodes in segments of 12.
    text = "BlockName=b1 Nodes=n[1-17]\nBlockName=b2 Nodes=n[18-34]\nBlockName=b3 Nodes=n[35-51]\n"
    done = subprocess.run([SY, "topo", "try", "--topology", "-", "--json", "--", "-N36", "--segment=12"], input=text, capture_output=True,
                          text=True, timeout=60)
    ranks = json.loads(done.stdout)["ranks"]
    counts = {}
    for r in ranks:
        counts[r["path"].split(".")[0]] = counts.get(r["path"].split(".")[0], 0) + 1
    assert sorted(counts.values()) == [12, 12, 12], counts


def checks():
    data = SHARED / "data" / "topologies"
    if not need(data):
        return
    refused = {"ibnetdiscover-bad.out", "slurm-multi-parent.conf", "netq-topologyGraph.json"}
    for path in sorted(data.iterdir()):
        if path.suffix == ".gz":
            continue
        code, out, err = sy("check", str(path))
        assert code == (1 if path.name in refused else 0), (path.name, code, out, err)
    _, _, err = sy("check", str(data / "slurm-multi-parent.conf"))
    assert err.count("a cycle: ") == 2, err


def pictures():
    """Every picture of docs/placement.md is what `sy topo try` does."""
    topology = "levels: [spine, rack]\ndomains:\n- {name: spine1, level: spine}\n- {name: spine2, level: spine}\n" + "".join(
        f'- {{name: rack{r + 1}, level: rack, parent: spine{r // 2 + 1}, nodes: "n[{4 * r + 1:02}-{4 * r + 4:02}]"}}\n' for r in range(4))
    text = (ROOT / "docs" / "placement.md").read_text()
    found = re.findall(r"```\n(-N[^\n]*)\n(rack1[^\n]*)\n```", text)
    for options, picture in found:
        drawn, _, waits = picture.partition("waits: ")
        nodes = "".join(re.findall(r"rack\d (\S{4})", drawn))
        assert len(nodes) == 16, picture
        busy = [f"n{i + 1:02}" for i, mark in enumerate(nodes) if mark == "▓"]
        words = ["--busy", ",".join(busy)] if busy else []
        done = subprocess.run([SY, "topo", "try", "--topology", "-", "--json", *words, "--", *shlex.split(options)], input=topology,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == (2 if waits else 0), (options, done.stdout, done.stderr)
        answer = json.loads(done.stdout)
        if waits:
            assert waits in answer["verdict"]["text"], (options, answer["verdict"]["text"])
            continue
        now = ["▓" if mark == "▓" else "░" for mark in nodes]
        for r in answer["ranks"]:
            now[int(r["node"][1:]) - 1] = str(r["segment"] + 1) if "1" in nodes else "█"
        assert "".join(now) == nodes, (options, picture, "".join(now))
        ranks = [r["node"] for r in answer["ranks"]]
        assert ranks == sorted(ranks), (options, ranks)
    print(f"docs/placement.md: {len(found)} pictures hold")
    assert len(found) > 20


def import_into_controller():
    """A file comes into force whole or not at all; equal data changes nothing; what is in force can be seen and exported."""
    with Cluster(sys.argv[1], nodes=4, agents=False) as c:
        def topo(*words, code=0, text=None):
            done = c.sy("sy", "topo", *words, input=text, check=False)
            assert done.returncode == code, (words, done.stdout, done.stderr)
            return done
        good = c.root / "work" / "good.conf"
        good.write_text("SwitchName=r Switches=a,b\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n")
        assert "nothing was imported" in topo("import", good, "--dry-run").stdout
        assert c.api.get("/v1/topologies/default")[0] == 404
        out = topo("import", good).stdout
        assert out.endswith("+ b under r: n[3-4]\ntopology default: version 1 is in force\n"), out
        assert topo("import", good).stdout == "topology default: nothing to change\n"
        assert c.api.get("/v1/topologies/default")[1]["version"] == 1
        bad = c.root / "work" / "bad.conf"
        bad.write_text("SwitchName=r Switches=a,b\nSwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-9]\n")
        refused = topo("import", bad, code=1).stderr
        assert "bad.conf:3:" in refused and "n[5-9]" in refused and "--skip-unknown-nodes" in refused, refused
        assert c.api.get("/v1/topologies/default")[1]["version"] == 1
        # The same members: skipping what is unknown leaves nothing to change.
        assert "nothing to change" in topo("import", bad, "--skip-unknown-nodes").stdout
        moved = topo("import", "-", text="SwitchName=r Switches=a,b\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n[2-4]\n").stdout
        assert "~ a: - n2" in moved and "version 2 is in force" in moved, moved
        exported = topo("export", "--format", "slurm-tree").stdout
        assert "SwitchName=b Nodes=n[2-4]\n" in exported, exported
        assert topo("import", "-", text=exported).stdout == "topology default: nothing to change\n"
        drawn = topo().stdout
        assert drawn.startswith("default: tree, spine > leaf, 4 nodes\n"), drawn
        assert "n[2-4]" in topo("show", "b").stdout
        topo("quality")
        c.controller.kill()
        c.restart_controller()
        assert c.api.get("/v1/topologies/default")[1]["version"] == 2


if __name__ == "__main__":
    import_into_controller()
    pictures()
    checks()
    verdicts()
    replay()
    print("ok")

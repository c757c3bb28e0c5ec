#!/usr/bin/env python3
"""What is promised when things go wrong, on real daemons: lost spools, leases, full disks, old requests, clean-up that fails."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Cluster, fill, mount_tmpfs, run_tests, wait_for, with_own_mounts  # noqa: E402

SHELL = "#!/bin/sh\n"
UNTIL_TOLD = "while [ ! -e go ]; do sleep 0.1; done\n"


def submit(c, script, **spec):
    spec.setdefault("work_dir", str(c.root / "work"))
    spec.setdefault("std_out", "job-%j.txt")
    status, answer = c.api.submit(SHELL + script, **spec)
    assert status == 201, answer
    return answer["id"]


def on(node, **members):
    return [dict({"nodes": {"min": 1, "max": 1}, "nodelist": node}, **members)]


def node(c, name):
    return c.api.get(f"/v1/nodes/{name}")[1]


def lines(c, name="effects"):
    path = c.root / "work" / name
    return path.read_text().split() if path.exists() else []


def test_an_agent_that_lost_its_spool_can_not_end_what_it_does_not_know(build):
    """The same boot id with a new spool: unknown, not ended. Not cancel, not time, only a fence ends it."""
    with Cluster(build, nodes=2) as c:
        job = submit(c, "echo run >>effects\n" + UNTIL_TOLD, groups=on("n1"))
        c.wait_state(job, "running")
        first = set(c.supervisors())
        c.agents["n1"].kill()
        (c.root / "spool" / "n1").rename(c.root / "spool" / "gone")
        (c.root / "spool" / "n1").mkdir(mode=0o700)
        (c.root / "spool" / "gone" / "keys").rename(c.root / "spool" / "n1" / "keys")
        c.agents["n1"].start()
        c.wait_state(job, "lost")
        assert c.api.post(f"/v1/jobs/{job}/requeue")[0] == 200
        wait_for(lambda: node(c, "n1")["contact"] == "up", "n1 registered")
        other = submit(c, "true\n", groups=on("n2"))
        c.wait_ended(other)                                    # passes and reports go on meanwhile
        assert c.job(job)["state"] == "lost", c.job(job)
        assert "spool" in c.sy("sy", "show", job).stdout or c.job(job)["reason"] == "LostNode", c.job(job)
        assert set(c.supervisors()) == first and lines(c) == ["run"]
        assert c.api.post("/v1/nodes/n1/fence")[0] == 200
        wait_for(lambda: c.job(job)["state"] == "pending" or c.job(job)["attempt"] == 2, "waits again, or runs already: the node is fenced")
        (c.root / "work" / "go").touch()
        for pid in first:                                      # what the fence stands for: of the node nothing runs on
            below = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for one in [pid, *map(int, below)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)


def test_without_a_controller_a_lease_ends_the_jobs_and_they_are_not_run_twice(build):
    with Cluster(build, nodes=1, config="  lease: 4s\n") as c:
        job = submit(c, "echo run$SLURM_RESTART_COUNT >>effects\n[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 600\n")
        once = submit(c, "echo once >>effects\nsleep 600\n", requeue=False)
        c.wait_state(job, "running"), c.wait_state(once, "running")
        c.pin_port()
        c.controller.kill()
        wait_for(lambda: not c.supervisors(), "the agent has ended its jobs", 60)
        c.restart_controller()
        ended = c.wait_ended(once)
        assert ended["outcome"] == "node_fail" and "lease" in ended["end_reason"], ended
        assert c.wait_ended(job)["outcome"] == "completed", c.job(job)
        assert sorted(lines(c)) == ["once", "run", "run1"], lines(c)


def test_an_older_controller_is_refused_by_agents(build):
    """Two controllers, one restored from an older state: agents follow the later term only."""
    with Cluster(build, nodes=1) as c:
        status = c.api.get("/v1/config")[1]
        c.agents["n1"].kill()
        (c.root / "spool" / "n1" / "epoch").write_text(str(status["epoch"] + 1_000_000))
        c.agents["n1"].start()
        wait_for(lambda: "older than one seen before" in c.tail(c.agents["n1"].log, 50), "the agent turns it away")
        job = submit(c, "echo run >>effects\n")
        wait_for(lambda: c.job(job)["reason"] not in ("None", "Priority") or c.job(job)["state"] == "starting", "it can not start")
        assert lines(c) == [] and not c.supervisors()


def test_an_epilog_that_fails_drains_the_node_and_not_the_job(build):
    def prepare(c):
        epilog = c.root / "epilog"
        epilog.write_text("#!/bin/sh\n[ ! -e /proc/self/fd/9 ] || exit 9\nexit 3\n")
        epilog.chmod(0o755)
        text = (c.root / "switchyard.yaml").read_text()
        (c.root / "switchyard.yaml").write_text(text.replace("agents:\n", f"agents:\n  epilog: {epilog}\n"))
    with Cluster(build, nodes=2, prepare=prepare) as c:
        job = submit(c, "true\n", groups=on("n1"))
        assert c.wait_ended(job)["outcome"] == "completed"
        bad = wait_for(lambda: (n := node(c, "n1"))["drained"] and n, "n1 drained")
        assert "epilog" in bad["reason"] and "exit code 3" in bad["reason"], bad
        assert "epilog" in c.sy("sinfo", "-R", "-h").stdout
        assert not node(c, "n2")["drained"]


def test_a_prolog_that_fails_on_one_node_leaves_nothing_on_the_others(build):
    def prepare(c):
        prolog = c.root / "prolog"
        prolog.write_text("#!/bin/sh\n[ \"$SLURMD_NODENAME\" != n3 ] || exit 7\n")
        prolog.chmod(0o755)
        text = (c.root / "switchyard.yaml").read_text()
        (c.root / "switchyard.yaml").write_text(text.replace("agents:\n", f"agents:\n  prolog: {prolog}\n"))
    with Cluster(build, nodes=3, prepare=prepare) as c:
        job = submit(c, "echo run >>effects\n", groups=[{"nodes": {"min": 3, "max": 3}, "tasks": 3}])
        bad = wait_for(lambda: (n := node(c, "n3"))["drained"] and n, "n3 drained")
        assert "prolog" in bad["reason"] and "exit code 7" in bad["reason"], bad
        waiting = wait_for(lambda: (j := c.job(job))["state"] == "pending" and j, "the job waits again")
        assert lines(c) == [] and waiting["restarts"] == 0, waiting
        wait_for(lambda: not c.supervisors(), "no supervisor is left")
        assert not node(c, "n1")["drained"] and not node(c, "n2")["drained"]
        other = submit(c, "true\n", groups=[{"nodes": {"min": 2, "max": 2}, "tasks": 2}])
        assert c.wait_ended(other)["outcome"] == "completed"
        assert c.api.post(f"/v1/jobs/{job}/cancel")[0] == 200


def test_a_node_gets_a_new_key_while_its_job_runs(build):
    with Cluster(build, nodes=1) as c:
        job = submit(c, "echo run >>effects\n" + UNTIL_TOLD)
        c.wait_state(job, "running")
        agent, keys = c.agents["n1"], c.root / "spool" / "n1" / "keys"
        agent.stop()
        old = (keys / "node.key").read_bytes()
        (keys / "node.key").unlink()
        token = c.api.post("/v1/nodes/n1/enrol")[1]["token"]
        done = subprocess.run([*agent.command, "--enrol", "-"], input=token + "\n", text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        new = (keys / "node.key").read_bytes()
        assert new != old
        agent.start()
        (c.root / "work" / "go").touch()
        assert c.wait_ended(job)["outcome"] == "completed"
        assert lines(c) == ["run"] and not node(c, "n1")["drained"]
        agent.stop()
        (keys / "node.key").write_bytes(old)                   # what was stolen is worth nothing any more
        agent.start()
        wait_for(lambda: "could not register with the controller: 401" in c.tail(agent.log, 50), "the old key is refused")
        (keys / "node.key").write_bytes(new)


def test_no_secret_is_in_a_log_an_environment_a_command_line_or_the_store(build):
    with Cluster(build, nodes=1) as c:
        job = submit(c, "env >environment\n" + UNTIL_TOLD)
        c.wait_state(job, "running")
        token = c.api.post("/v1/nodes/n1/enrol")[1]["token"]
        secrets = [token.split(".")[1].encode(), (c.root / "spool" / "n1" / "keys" / "node.key").read_bytes().strip(),
                   (c.root / "state" / "controller.key").read_bytes().strip()]
        wait_for(lambda: (c.root / "work" / "environment").exists() and c.api.get("/readyz")[0] == 200, "the job's environment")
        places = {p: p.read_bytes() for p in [*c.root.glob("*.log"), *(c.root / "state").glob("switchyard.db*"), c.root / "work" / "environment"]}
        pids = [c.controller.process.pid, c.agents["n1"].process.pid, *c.supervisors()]
        for pid in pids:
            for name in ("cmdline", "environ"):
                with open(f"/proc/{pid}/{name}", "rb") as f:
                    places[f"{pid} {name}"] = f.read()
        for folder in (c.root / "spool" / "n1" / "attempts").iterdir():
            places.update({p: p.read_bytes() for p in folder.iterdir() if p.is_file()})
        assert all(len(s) >= 32 for s in secrets) and len(places) > 8
        for place, text in places.items():
            assert not any(s in text for s in secrets), f"a secret is in {place}"
        (c.root / "work" / "go").touch()
        c.wait_ended(job)


@with_own_mounts
def test_a_full_spool_refuses_launches_with_a_reason_and_the_job_runs_elsewhere(build):
    def prepare(c):
        (c.root / "spool" / "n1").mkdir(mode=0o700)
        mount_tmpfs(c.root / "spool" / "n1", "2m")
    with Cluster(build, nodes=2, prepare=prepare) as c:
        spool = c.root / "spool" / "n1"
        free = fill(spool)
        job = submit(c, "echo run >>effects\n")                # n1 comes first
        bad = wait_for(lambda: (n := node(c, "n1"))["drained"] and n, "n1 drained")
        assert "No space left on device" in bad["reason"], bad
        assert c.wait_ended(job)["outcome"] == "completed" and c.job(job)["nodes"] == "n2", c.job(job)
        assert lines(c) == ["run"]
        pinned = submit(c, "echo pinned >>effects\n", groups=on("n1"))
        reason = wait_for(lambda: (r := c.job(pinned)["reason"]) not in ("None", "Priority") and r, "why it waits")
        assert reason == "ReqNodeNotAvail", reason
        free()
        assert c.api.post("/v1/nodes/n1/resume")[0] == 200
        assert c.wait_ended(pinned)["outcome"] == "completed"
        assert lines(c) == ["run", "pinned"]
        subprocess.run(["umount", "-l", str(spool)], check=True)


@with_own_mounts
def test_a_spool_that_fills_up_while_a_job_runs_does_not_swallow_how_it_ended(build):
    def prepare(c):
        (c.root / "spool" / "n1").mkdir(mode=0o700)
        mount_tmpfs(c.root / "spool" / "n1", "2m")
    with Cluster(build, nodes=1, prepare=prepare) as c:
        job, doomed = submit(c, UNTIL_TOLD + "exit 7\n"), submit(c, "sleep 600\n")
        c.wait_state(job, "running"), c.wait_state(doomed, "running")
        fill(c.root / "spool" / "n1")
        (c.root / "work" / "go").touch()
        assert c.wait_ended(job)["exit_code"] == 7
        assert c.api.post(f"/v1/jobs/{doomed}/cancel")[0] == 200
        assert c.wait_ended(doomed)["outcome"] == "cancelled"
        subprocess.run(["umount", "-l", str(c.root / "spool" / "n1")], check=True)


@with_own_mounts
def test_a_controller_without_room_refuses_work_says_why_and_recovers(build):
    with Cluster(build, agents=False, prepare=lambda c: mount_tmpfs(c.root / "state", "8m")) as c:
        state = c.root / "state"
        acknowledged, refused = [c.api.submit(name="early")[1]["id"] for _ in range(5)], None
        free = fill(state)
        for i in range(400):                                               # what the store's files have room for inside goes on
            status, answer = c.api.submit(SHELL + "# " + uuid.uuid4().hex * 500 + "\n", name=f"j{i}")
            if status != 201:
                refused = (status, answer)
                break
            acknowledged.append(answer["id"])
        assert refused and refused[0] == 503 and "full" in refused[1]["detail"] and refused[1]["hint"], refused
        status, answer = c.api.get("/readyz")
        assert status == 503 and "full" in answer["detail"], answer
        assert c.api.get("/livez")[0] == 200
        assert "switchyard_ready 0" in c.api.get("/metrics")[1]
        assert c.api.get("/v1/jobs")[0] == 503
        done = c.sy("sbatch", "--wrap", "true", check=False)
        assert done.returncode == 1 and "full" in done.stderr, done.stderr
        free()
        c.wait_ready()
        there = {j["id"] for j in c.api.get("/v1/jobs?fields=id&limit=1000")[1]["jobs"]}
        assert there == set(acknowledged), (there ^ set(acknowledged))     # all that was acknowledged, and nothing that was not
        status, answer = c.api.submit(name="after")
        assert status == 201 and answer["id"] not in acknowledged, answer
        c.controller.kill()
        c.restart_controller()
        there = {j["id"] for j in c.api.get("/v1/jobs?fields=id&limit=1000")[1]["jobs"]}
        assert there == set(acknowledged) | {answer["id"]}
        print(f"      {len(acknowledged)} acknowledged before the disk was full", flush=True)
        c.controller.stop()
        subprocess.run(["umount", "-l", str(state)], check=True)


if __name__ == "__main__":
    run_tests(globals())

#!/usr/bin/env python3
"""Real agents under a real controller: jobs survive their agents, end with all they started, and say why they could not run."""
import os
import pathlib
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Cluster, run_tests, wait_for  # noqa: E402

SHELL = "#!/bin/sh\n"


def submit(c, script, **spec):
    spec.setdefault("work_dir", str(c.root / "work"))
    spec.setdefault("std_out", "job-%j.txt")
    status, answer = c.api.submit(SHELL + script, **spec)
    assert status == 201, answer
    return answer["id"]


def output(c, job):
    return (c.root / "work" / f"job-{job}.txt").read_text()


def processes_with(entry):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if entry.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


def test_a_job_survives_its_agent_and_is_run_once(build):
    with Cluster(build, nodes=1) as c:
        job = submit(c, "echo line; while [ ! -e go ]; do sleep 0.1; done; exit 7\n")
        c.wait_state(job, "running")
        for _ in range(3):
            c.agents["n1"].kill()
            c.agents["n1"].start()
        (c.root / "work" / "go").write_text("")
        ended = c.wait_ended(job)
        assert (ended["outcome"], ended["exit_code"]) == ("failed", 7), ended
        assert output(c, job) == "line\n"


def test_a_job_that_ends_while_agent_and_controller_are_dead_is_known_afterwards(build):
    with Cluster(build, nodes=1) as c:
        job = submit(c, "while [ ! -e go ]; do sleep 0.1; done; echo line\n")
        c.wait_state(job, "running")
        c.agents["n1"].kill()
        c.controller.kill()
        (c.root / "work" / "go").write_text("")
        wait_for(lambda: not c.supervisors(), "the supervisor has ended")
        c.restart_controller()
        c.agents["n1"].start()
        ended = c.wait_ended(job)
        assert ended["outcome"] == "completed", ended
        assert output(c, job) == "line\n"


def test_nothing_of_a_job_stays_on_the_node(build):
    with Cluster(build, nodes=2) as c:
        job = submit(c, "setsid sleep 1000 &\n(setsid sh -c 'sleep 1001 & sleep 1002' &)\nexit 0\n")
        assert c.wait_ended(job)["outcome"] == "completed"
        assert not processes_with(f"SLURM_JOB_ID={job}")
        job = submit(c, "setsid sleep 1000 &\nsleep 1000\n", groups=[{"nodes": {"min": 2, "max": 2}}])
        c.wait_state(job, "running")
        assert len(c.supervisors()) == 2
        assert c.api.post(f"/v1/jobs/{job}/cancel")[0] == 200
        ended = c.wait_ended(job)
        assert ended["outcome"] == "cancelled", ended
        assert not processes_with(f"SLURM_JOB_ID={job}")
        wait_for(lambda: not c.supervisors(), "no supervisor is left")


def test_clusters_on_one_machine_with_equal_names_and_numbers_leave_each_other_alone(build):
    with Cluster(build, nodes=1) as one, Cluster(build, nodes=1) as other:
        script = "while [ ! -e go ]; do sleep 0.1; done\n"
        job, same = submit(one, script), submit(other, script)
        assert job == same
        one.wait_state(job, "running")
        other.wait_state(job, "running")
        assert one.api.post(f"/v1/jobs/{job}/cancel")[0] == 200
        assert one.wait_ended(job)["outcome"] == "cancelled"
        (other.root / "work" / "go").touch()
        ended = other.wait_ended(job)
        assert ended["outcome"] == "completed", ended


def test_time_limit_and_memory_limit_end_a_job_under_their_own_names(build):
    with Cluster(build, nodes=1) as c:
        slow = submit(c, "sleep 1000\n", time_limit_s=1)
        assert c.wait_ended(slow)["outcome"] == "timeout"
        if os.path.isdir("/sys/fs/cgroup/memory/switchyard") or os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            large = submit(c, "head -c 300000000 /dev/zero | tail >/dev/null\nexit 0\n", groups=[{"memory_per_node_mib": 64}])
            ended = c.wait_ended(large)
            assert ended["outcome"] == "out_of_memory", ended


def test_what_can_not_run_fails_with_a_reason_to_act_on(build):
    with Cluster(build, nodes=1) as c:
        cases = {
            "does not exist": dict(work_dir="/nowhere/at/all"),
            "output folder logs is missing": dict(std_out="logs/%j.txt"),
            "could not open the input file": dict(std_in="nothing"),
        }
        for words, spec in cases.items():
            ended = c.wait_ended(submit(c, "true\n", **spec))
            assert ended["outcome"] == "failed" and words in ended["end_reason"], ended
        assert c.all_idle()


def test_a_supervisor_that_is_killed_fails_its_job_and_no_other(build):
    with Cluster(build, nodes=1) as c:
        other = submit(c, "while [ ! -e go ]; do sleep 0.1; done\n")
        c.wait_state(other, "running")
        first = set(c.supervisors())
        job = submit(c, "setsid sleep 1000 &\nsleep 1000\n")
        c.wait_state(job, "running")
        for pid in set(c.supervisors()) - first:
            os.kill(pid, signal.SIGKILL)
        ended = c.wait_ended(job)
        assert "supervisor" in ended["end_reason"], ended
        assert not processes_with(f"SLURM_JOB_ID={job}")
        (c.root / "work" / "go").write_text("")
        assert c.wait_ended(other)["outcome"] == "completed"


if __name__ == "__main__":
    run_tests(globals())

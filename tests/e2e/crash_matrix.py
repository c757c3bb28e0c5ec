#!/usr/bin/env python3
"""Kills the controller and the agents with SIGKILL at random moments while 16 clients submit, restarts each, and then counts:
every acknowledged job ended, each job's effect happened exactly once, no job ran that nobody acknowledged, ids never repeat.

  crash_matrix.py --build build/dev --controller-kills 40 --agent-kills 40 [--seed N]"""
import argparse
import collections
import http.client
import os
import random
import re
import sqlite3
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Api, Cluster, wait_for  # noqa: E402

CLIENTS = 16
SLEEPS = [0, 0, 0.2, 0.5, 1, 3]


class Client(threading.Thread):
    """Submits until told to stop. One key a job; a lost connection means the same key again, until an answer comes."""

    def __init__(self, cluster, number, seed):
        super().__init__(daemon=True)
        self.cluster, self.number, self.random = cluster, number, random.Random(seed * 1000 + number)
        self.acknowledged, self.retries, self.faults, self.stopping = [], 0, [], False

    def run(self):
        api = Api(self.cluster.socket, timeout=10)
        while not self.stopping:
            nodes = 2 if self.random.random() < 0.1 else 1
            script = (f"#!/bin/sh\necho \"$SLURM_JOB_ID\" >>{self.cluster.root}/work/effects\n"
                      f"sleep {self.random.choice(SLEEPS)}\n")
            key = str(uuid.uuid4())
            while True:
                try:
                    status, answer = api.submit(script, key=key, name=f"c{self.number}", requeue=False,
                                                groups=[{"nodes": {"min": nodes, "max": nodes}, "tasks": nodes, "cpus_per_task": 1}])
                except (OSError, http.client.HTTPException):  # the controller was killed under us
                    self.retries += 1
                    time.sleep(0.05)
                    continue
                if status == 201:
                    self.acknowledged.append(answer["id"])
                    break
                if status == 503 or status == 429:
                    self.retries += 1
                    time.sleep(0.05)
                    continue
                self.faults.append(f"status {status}: {answer}")
                return
            time.sleep(self.random.uniform(0.5, 2.0))


def all_attempts(api):
    rows, after = [], 0
    while True:
        status, page = api.get(f"/v1/accounting?limit=1000&duplicates=1&after={after}")
        assert status == 200, page
        rows += page["attempts"]
        if not page.get("next"):
            return rows
        after = page["next"]


def evidence(c, job):
    """All that controller and agents have to say about a job, for whoever has to find out why it did not run exactly once."""
    print(f"== job {job}", *(r for r in all_attempts(c.api) if r["id"] == job), sep="\n")
    for path in sorted((c.root / "state").glob("*.db")):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            for sequence, at_us, who, kind, fact in db.execute("SELECT sequence, at_us, who, kind, fact FROM events ORDER BY sequence"):
                if re.search(rf'"(job|id)":{job}\b', fact):
                    print(f"event {sequence} {at_us / 1e6:.3f} {who} {kind} {fact[:600]}")
    for path in sorted(c.root.rglob("*.log")):
        for line in path.read_text(errors="replace").splitlines():
            if re.search(rf"\b{job}(\.\d+)?\b", line):
                print(f"{path.name}: {line}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--controller-kills", type=int, default=40)
    parser.add_argument("--agent-kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    a = parser.parse_args()
    print(f"crash matrix: seed {a.seed}", flush=True)
    rng = random.Random(a.seed)
    began = time.monotonic()
    with Cluster(a.build, nodes=4, cpus=4, gres="") as c:
        c.pin_port()
        effects = c.root / "work" / "effects"
        effects.touch()
        effects.chmod(0o666)
        clients = [Client(c, i, a.seed) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        alive_at_kill = {"controller": [], "agent": []}
        todo = ["controller"] * a.controller_kills + ["agent"] * a.agent_kills
        rng.shuffle(todo)
        for what in todo:
            time.sleep(rng.uniform(0.05, 1.0))
            alive = len(c.supervisors())
            alive_at_kill[what].append(alive)
            if what == "controller":
                c.controller.kill()
                time.sleep(rng.uniform(0, 0.3))
                c.restart_controller()
            else:
                agent = c.agents[rng.choice(c.names)]
                agent.kill()
                time.sleep(rng.uniform(0, 0.3))
                agent.start()
        for client in clients:
            client.stopping = True
        for client in clients:
            client.join(60)
            assert not client.is_alive(), f"client {client.number} never got an answer"
        faults = [f for client in clients for f in client.faults]
        assert not faults, faults[:5]
        ids = [i for client in clients for i in client.acknowledged]
        repeated = [i for i, n in collections.Counter(ids).items() if n > 1]
        assert not repeated, f"ids given twice: {repeated}"

        def left():
            # Cheap: asking for thousands of rows again and again would slow down what is waited for.
            status, page = c.api.get("/v1/jobs?state=pending,starting,running,ending,lost&limit=1&fields=id")
            assert status == 200, page
            return not page["jobs"]

        try:
            wait_for(left, "every acknowledged job ended", 120, 0.5)
        except AssertionError:
            jobs = {r["id"]: r for r in all_attempts(c.api)}
            for i in ids:
                if i not in jobs:
                    print(f"job {i}: acknowledged and unknown", flush=True)
                elif jobs[i]["state"] != "ended":
                    print(f"job {i}: {jobs[i]}", flush=True)
            raise
        rows = all_attempts(c.api)
        counted = collections.Counter(int(line) for line in effects.read_text().split())
        outcomes = collections.Counter(r["outcome"] for r in rows)
        twice = {i: n for i, n in counted.items() if n != 1}
        missing = [r["id"] for r in rows if r["id"] not in counted and r["outcome"] == "completed"]
        strangers = [i for i in counted if i not in set(ids)]
        unknown = [r["id"] for r in rows if r["id"] not in set(ids)]
        report = (f"crash matrix: {len(ids)} jobs acknowledged, {sum(x.retries for x in clients)} retries, {len(todo)} kills "
                  f"({a.controller_kills} controller, {a.agent_kills} agents), outcomes {dict(outcomes)}, "
                  f"{time.monotonic() - began:.0f} s\n"
                  f"jobs alive at each kill of the controller: {alive_at_kill['controller']}\n"
                  f"jobs alive at each kill of an agent: {alive_at_kill['agent']}")
        print(report, flush=True)
        for job in list(twice)[:5] + missing[:5]:
            evidence(c, job)
        assert not twice, f"effects not exactly once: {twice}"
        assert not missing, f"completed without their effect: {missing}"
        assert not strangers and not unknown, f"ran or exist without an acknowledgement: {strangers} {unknown}"
        not_completed = [r for r in rows if r["outcome"] != "completed"]
        assert not not_completed, f"jobs that did not complete: {[(r['id'], r['outcome'], r.get('end_reason')) for r in not_completed][:10]}"
        assert set(counted) == set(ids), f"no effect from {sorted(set(ids) - set(counted))[:10]}"
        alive = alive_at_kill["controller"] + alive_at_kill["agent"]
        assert sum(1 for n in alive if n > 0) * 2 > len(alive), "most kills met no running job: the test proves too little"
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()

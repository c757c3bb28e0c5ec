#!/usr/bin/env python3
"""The real switchyardd over its unix socket, without agents: submit, list, change, cancel, wait; restarts and kills lose nothing."""
import concurrent.futures
import os
import pwd
import signal
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Api, Cluster, run_tests, wait_for  # noqa: E402


def ids_of(api, query=""):
    found, after = [], 0
    while True:
        status, page = api.get(f"/v1/jobs?fields=id&limit=100&after={after}{query}")
        assert status == 200, page
        found += [job["id"] for job in page["jobs"]]
        if page["next"] is None:
            return found
        after = page["next"]


def test_a_job_is_submitted_listed_shown_changed_and_cancelled(build):
    with Cluster(build, agents=False) as c:
        status, answer = c.api.submit("#!/bin/sh\nsleep 1\n", name="first", time_limit_s=60)
        assert status == 201, answer
        number = answer["id"]
        status, page = c.api.get("/v1/jobs?fields=id,name,state,user")
        assert status == 200 and [j["name"] for j in page["jobs"]] == ["first"], page
        assert page["jobs"][0]["state"] == "pending" and page["next"] is None
        assert page["jobs"][0]["user"] == pwd.getpwuid(os.getuid()).pw_name
        # Nobody has registered, so it waits, and says why.
        job = wait_for(lambda: (j := c.job(number))["reason"] not in (None, "None") and j, "a reason")
        assert job["verdict"]["text"], job
        assert c.api.get(f"/v1/jobs/{number}/script") == (200, "#!/bin/sh\nsleep 1\n")
        status, answer = c.api.request("PATCH", f"/v1/jobs/{number}", {"name": "renamed", "time_limit_s": 120})
        assert status == 200, answer
        assert c.job(number)["name"] == "renamed" and c.job(number)["time_limit_s"] == 120
        assert c.api.post(f"/v1/jobs/{number}/hold")[0] == 200 and c.job(number)["held_by_admin"] | c.job(number)["held_by_user"]
        assert c.api.post(f"/v1/jobs/{number}/release")[0] == 200
        status, answer = c.api.post(f"/v1/jobs/{number}/cancel")
        assert status == 200 and answer["state"] == "ended", answer
        assert c.job(number)["outcome"] == "cancelled"
        assert c.api.post(f"/v1/jobs/{number}/cancel")[0] == 409
        status, rows = c.api.get(f"/v1/accounting?id={number}")
        assert status == 200 and [r["outcome"] for r in rows["attempts"]] == ["cancelled"], rows


def test_a_kill_loses_nothing_acknowledged_and_ids_never_repeat(build):
    with Cluster(build, agents=False) as c:
        acknowledged = []
        for round_ in range(4):
            stop = []

            def submit(number):
                api, mine = Api(c.socket, timeout=10), []
                while not stop:
                    try:
                        status, answer = api.submit(name=f"r{round_}c{number}")
                    except OSError:
                        break
                    except Exception:
                        break
                    if status == 201:
                        mine.append(answer["id"])
                return mine

            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                futures = [pool.submit(submit, i) for i in range(8)]
                wait_for(lambda: len(ids_of(c.api)) >= len(acknowledged) + 30, "some submissions")
                c.controller.kill()
                stop.append(True)
                for future in futures:
                    acknowledged += future.result()
            c.restart_controller()
            there = ids_of(c.api)
            missing = set(acknowledged) - set(there)
            assert not missing, f"lost: {sorted(missing)[:10]}"
            assert len(set(acknowledged)) == len(acknowledged), "an id came twice"
            assert len(set(there)) == len(there)
        print(f"      {len(acknowledged)} acknowledged over 4 kills", flush=True)


def test_the_same_key_gives_the_same_answer_also_after_a_kill(build):
    with Cluster(build, agents=False) as c:
        first = c.api.submit(key="one", name="a")
        assert first[0] == 201
        assert c.api.submit(key="one", name="a") == first
        c.controller.kill()
        c.restart_controller()
        assert c.api.submit(key="one", name="a") == first
        status, problem = c.api.submit(key="one", name="b")
        assert status == 422 and problem["code"] == "precondition", problem
        assert len(ids_of(c.api)) == 1
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: Api(c.socket).submit(key="two", name="c"), range(8)))
        assert len({answer["id"] for status, answer in answers}) == 1, answers
        assert len(ids_of(c.api)) == 2


def test_an_orderly_end_keeps_everything_and_removes_the_socket(build):
    with Cluster(build, agents=False) as c:
        number = c.api.submit()[1]["id"]
        assert c.controller.stop() == 0
        assert not c.socket.exists()
        c.restart_controller()
        assert c.job(number)["state"] == "pending"


def test_bad_input_is_refused_by_name(build):
    with Cluster(build, agents=False) as c:
        spec = {"work_dir": "/tmp"}
        cases = [
            (b"", 400), (b"{", 400), (b"[]", 400), (b'{"spec":1}', 400),
            ({"spec": spec}, 400),                                                    # no script
            ({"spec": spec, "script": "echo"}, 400),                                  # no #!
            ({"spec": spec, "script": ""}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n\0"}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n", "script_base64": "aaaa"}, 400),
            ({"spec": spec, "script_base64": "?"}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n", "extra": 1}, 400),
            ({"spec": {"work_dir": "tmp"}, "script": "#!/bin/sh\n"}, 400),
            ({"spec": {"work_dir": "/tmp", "nmae": "x"}, "script": "#!/bin/sh\n"}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n", "environment": ["A"]}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n", "environment": ["A=\0"]}, 400),
            ({"spec": spec, "script": "#!/bin/sh\n", "environment": ["A=" + "x" * 200_000]}, 413),
            ({"spec": spec, "script": "#!/bin/sh\n" + "x" * 5_000_000}, 413),
            ({"spec": dict(spec, partitions=["none"]), "script": "#!/bin/sh\n"}, (400, 404)),
            ({"spec": dict(spec, groups=[{"nodes": {"min": 1000}}]), "script": "#!/bin/sh\n"}, 422),
        ]
        for body, wanted in cases:
            status, problem = c.api.request("POST", "/v1/jobs", body)
            assert status == wanted or (isinstance(wanted, tuple) and status in wanted), (str(body)[:100], status, problem)
            assert problem["detail"] and problem["code"] and problem["status"] == status, problem
        status, problem = c.api.request("POST", "/v1/jobs", b'{"spec":{"work_dir":"/tmp","name":"\xff"},"script":"#!/bin/sh\\n"}')
        assert status == 400, problem
        assert c.api.request("POST", "/v1/jobs", b"x" * (40 << 20))[0] == 413
        assert ids_of(c.api) == []
        for target, wanted in (("/v1/jobs?limit=0", 400), ("/v1/jobs?limti=1", 400), ("/v1/jobs?fields=idd", 400), ("/v1/jobs?state=odd", 400),
                               ("/v1/jobs/x", 400), ("/v1/jobs/99", 404), ("/v1/nodes/none", 404), ("/v1/none", 404), ("/v1/jobs/%00", 400),
                               ("/v1/jobs/1/wait", 404), ("/v1/jobs?after=-1", 400)):
            status, problem = c.api.get(target)
            assert status == wanted, (target, status, problem)
        assert c.api.request("DELETE", "/v1/jobs")[0] == 405
        assert c.api.submit()[0] == 201                                             # and it still works


def test_another_user_may_look_but_not_touch(build):
    if os.getuid() != 0:
        return
    with Cluster(build, agents=False) as c:
        number = c.api.submit()[1]["id"]
        entry = pwd.getpwnam("nobody")
        os.setegid(entry.pw_gid)
        os.seteuid(entry.pw_uid)  # what the kernel tells the other end of a unix socket
        try:
            api = Api(c.socket)
            target = f"/v1/jobs/{number}"
            got = [api.get(target)[0], api.get(target + "/script")[0], api.post(target + "/cancel")[0],
                   api.post(target + "/signal", {"signal": "USR1"})[0], api.request("PATCH", target, {"name": "x"})[0],
                   api.post(target + "/hold")[0], api.post(target + "/requeue")[0], api.post("/v1/nodes/n1/drain", {"reason": "x"})[0],
                   api.post("/v1/nodes/n1/enrol")[0], api.get("/v1/nodes")[0], api.submit(name="mine")[0]]
        finally:
            os.seteuid(0)
            os.setegid(0)
        assert got == [200, 403, 403, 403, 403, 403, 403, 403, 403, 200, 201], got
        assert c.job(number)["state"] == "pending"


def test_the_listener_for_agents_serves_nobody_else(build):
    with Cluster(build, agents=False) as c:
        import http.client
        for method, target in (("GET", "/v1/jobs"), ("POST", "/v1/jobs"), ("GET", "/livez"), ("GET", "/metrics"), ("POST", "/v1/nodes/n1/fence"),
                               ("POST", "/v1/agent/register"), ("POST", "/v1/agent/heartbeat"), ("POST", "/v1/agent/reports"),
                               ("POST", "/v1/agent/enrol"), ("GET", "/")):
            connection = http.client.HTTPConnection("127.0.0.1", c.agents_port(), timeout=10)
            connection.request(method, target, body=b'{"token":"n1.x.y","public_key":"x"}' if method == "POST" else None)
            status = connection.getresponse().status
            assert status in (400, 401, 403), (method, target, status)
            connection.close()


def test_a_long_poll_answers_when_the_job_ends(build):
    with Cluster(build, agents=False) as c:
        number = c.api.submit()[1]["id"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ended = pool.submit(lambda: Api(c.socket, timeout=40).get(f"/v1/jobs/{number}?wait=30&for=ended"))
            started = pool.submit(lambda: Api(c.socket, timeout=40).get(f"/v1/jobs/{number}?wait=1&for=started"))
            assert started.result()[1]["state"] == "pending"  # time was over
            c.api.post(f"/v1/jobs/{number}/cancel")
            assert ended.result()[1]["state"] == "ended"


def test_reading_the_settings_again(build):
    with Cluster(build, agents=False) as c:
        path = c.root / "switchyard.yaml"
        good = path.read_text()
        path.write_text(good.replace("default: true", "default: true\n    max_time: 2h\n    colour: red\n  - name: main"))
        c.controller.signal(signal.SIGHUP)
        wait_for(lambda: "not taken over" in c.tail(c.controller.log, 50), "the refusal")
        text = c.tail(c.controller.log, 50)
        assert "colour" in text and "switchyard.yaml:" in text, text
        assert c.api.get("/v1/partitions/main")[1]["max_time_s"] is None
        path.write_text(good.replace("default: true", "default: true\n    max_time: 2h"))
        c.controller.signal(signal.SIGHUP)
        wait_for(lambda: c.api.get("/v1/partitions/main")[1]["max_time_s"] == 7200, "the new limit")


def test_laxer_folders_damaged_stores_and_a_second_controller_are_refused(build):
    with Cluster(build, agents=False) as c:
        command = [str(c.program("switchyardd")), "--config", str(c.root / "switchyard.yaml")]
        user = {"user": c.controller.user} if os.getuid() == 0 else {}
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, **user)
        assert second.returncode == 1 and "another process" in second.stderr, second.stderr
        c.controller.stop()
        check = subprocess.run([*command, "--check"], capture_output=True, text=True, timeout=60, **user)
        assert check.returncode == 0 and "in order" in check.stdout, check.stdout + check.stderr
        (c.root / "state").chmod(0o755)
        lax = subprocess.run(command, capture_output=True, text=True, timeout=60, **user)
        assert lax.returncode == 1 and "chmod 0700" in lax.stderr, lax.stderr
        (c.root / "state").chmod(0o700)
        key = c.root / "state" / "controller.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        key.chmod(0o644)
        lax = subprocess.run(command, capture_output=True, text=True, timeout=60, **user)
        assert lax.returncode == 1 and "controller.key" in lax.stderr, lax.stderr
        key.chmod(0o600)
        c.start_controller()


def test_idle_connections_do_not_keep_submissions_from_being_answered(build):
    with Cluster(build, agents=False, limits="  idle_timeout: 3s\n  connections_per_user: 4000\n") as c:
        idle = []
        for _ in range(2000):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            s.connect(str(c.socket))
            idle.append(s)
        for _ in range(50):
            assert c.api.submit()[0] == 201
        for s in idle:
            s.settimeout(60)
            assert s.recv(1) == b""                                                # closed by the server
            s.close()


def test_health_and_figures(build):
    with Cluster(build, agents=False) as c:
        assert c.api.get("/livez")[0] == 200 and c.api.get("/readyz")[0] == 200
        c.api.submit()
        status, text = c.api.get("/metrics")
        assert status == 200
        figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert figures['switchyard_jobs{state="pending"}'] == "1", text
        assert float(figures["switchyard_commits_total"]) >= 1
        config = c.api.get("/v1/config")[1]
        assert config["cluster_name"] == "test" and config["default_partition"] == "main", config


if __name__ == "__main__":
    run_tests(globals())

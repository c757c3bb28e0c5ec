#!/usr/bin/env python3
"""The real switchyardd over its unix socket, without agents: submit, list, change, cancel, wait; restarts and kills lose nothing."""
import concurrent.futures
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import urllib.parse

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
            ({"spec": dict(spec, uid=0), "script": "#!/bin/sh\n"}, 400),              # who asks is not for the body to say
            ({"spec": spec, "script": "#!/bin/sh\n", "user": "root"}, 400),
            ({"spec": spec, "script": "\x7fELF\x02\x01\x01\0\0"}, 400),                 # a program
            ({"spec": spec, "script": "#!/bin/sh\n" + "x" * (20 << 20)}, 413),
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


def test_names_and_ids_match_exactly_and_are_never_part_of_a_command(build):
    with Cluster(build, agents=False) as c:
        evil = "x'; DROP TABLE jobs; --"
        ids = [c.api.submit(name=name)[1]["id"] for name in (evil, "plain", "plain2", *"abcdefgh")]
        assert len(ids) == 11
        quote = urllib.parse.quote
        assert [j["id"] for j in c.api.get(f"/v1/jobs?fields=id&name={quote(evil)}")[1]["jobs"]] == [ids[0]]
        assert [j["id"] for j in c.api.get("/v1/jobs?fields=id&name=plain")[1]["jobs"]] == [ids[1]]
        assert c.api.post(f"/v1/jobs/{ids[0]}/cancel")[0] == 200                    # 1, and neither 10 nor 11
        wait_for(lambda: c.api.get(f"/v1/accounting?name={quote(evil)}")[1]["attempts"], "the accounting row")
        assert [r["id"] for r in c.api.get(f"/v1/accounting?name={quote(evil)}")[1]["attempts"]] == [ids[0]]
        for value in ("' OR 1=1 --", "%", "_", "pl%", "plain_", "*"):
            assert c.api.get(f"/v1/accounting?name={quote(value)}&account={quote(value)}")[1]["attempts"] == [], value
            assert c.api.get(f"/v1/jobs?name={quote(value)}")[1]["jobs"] == [], value
        states = {j["id"]: j["state"] for j in c.api.get("/v1/jobs?fields=id,state")[1]["jobs"]}
        assert states == {i: "ended" if i == ids[0] else "pending" for i in ids}, states
        for target in (f"/v1/jobs/{ids[0]}x", f"/v1/jobs/{ids[0]}%20", "/v1/jobs/-1", "/v1/jobs/+1", "/v1/jobs/1.0", "/v1/jobs/18446744073709551617"):
            assert c.api.get(target)[0] == 400, target
        assert c.api.get("/v1/nodes/n")[0] == 404 and c.api.get("/v1/partitions/mai")[0] == 404


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


def test_scontrol_reconfigure_reads_the_file_again_and_tells_its_faults(build):
    with Cluster(build, agents=False) as c:
        path = c.root / "switchyard.yaml"
        good = path.read_text()
        path.write_text(good.replace("default: true", "default: true\n    max_time: 2h"))
        assert c.sy("scontrol", "reconfigure").stdout == ""
        assert c.api.get("/v1/partitions/main")[1]["max_time_s"] == 7200
        path.write_text(good.replace("default: true", "default: true\n    max_time: soon\n    colour: red"))
        done = c.sy("scontrol", "reconfigure", check=False)
        assert done.returncode == 1 and done.stderr.startswith("slurm_reconfigure error: "), done.stderr
        assert "colour" in done.stderr and "soon" in done.stderr and done.stderr.count("switchyard.yaml:") == 2, done.stderr
        assert c.api.get("/v1/partitions/main")[1]["max_time_s"] == 7200           # the old one stays
        path.write_text(good.replace("listen: 127.0.0.1:0", "listen: 127.0.0.1:1"))
        assert "takes effect at the next start" in c.sy("scontrol", "reconfigure").stderr
        assert c.api.get("/v1/partitions/main")[1]["max_time_s"] is None
        path.write_text(good.replace("default: true", "default: true\n    topology: fabb"))
        done = c.sy("scontrol", "reconfigure", check=False)
        assert done.returncode == 1 and "topology of partition main: no topology of this name is in force" in done.stderr, done.stderr
        assert done.stderr.count("(given: fabb)") == 1 and "sy topo import" in done.stderr, done.stderr  # once: it was told twice over
        assert c.api.get("/v1/partitions/main")[1]["topology"] in ("", None)       # the old one stays
        c.controller.stop()
        check = subprocess.run([str(c.program("switchyardd")), "--config", str(path), "--check"], capture_output=True, text=True, timeout=60)
        assert check.returncode == 0 and "warning: topology of partition main: no topology of this name" in check.stderr, check.stderr
        c.start_controller()                                                       # a start goes on, and says it
        assert c.api.get("/v1/partitions/main")[1]["topology"] == "fabb"
        done = c.sy("scontrol", "reconfigure")
        assert "warning: topology of partition main: no topology of this name is in force" in done.stderr, done.stderr
        path.write_text(good)
        assert c.sy("scontrol", "reconfigure").stderr == ""
        if os.getuid() == 0:
            done = c.sy("scontrol", "reconfigure", user="nobody", check=False)
            assert done.returncode == 1 and "administrator" in done.stderr, done.stderr
        path.unlink()
        done = c.sy("scontrol", "reconfigure", check=False)
        assert done.returncode == 1 and "switchyard.yaml" in done.stderr, done.stderr
        assert c.api.submit()[0] == 201


def test_ten_thousand_submissions_from_16_clients_while_the_queue_is_read(build):
    with Cluster(build, agents=False, limits="  requests_per_second: 100000\n  burst: 100000\n") as c:
        done, reads = [], []
        each = 625 if int(os.environ.get("SWITCHYARD_CASES", "5000")) >= 1000 else 40  # fewer under sanitizers

        def submit(number):
            api, mine = Api(c.socket, timeout=60, keep=True), []
            for i in range(each):
                status, answer = api.submit(name=f"c{number}.{i}", groups=[{"nodes": {"min": 1}}])
                assert status == 201, answer
                mine.append(answer["id"])
            return mine

        def read():
            api = Api(c.socket, timeout=60, keep=True)
            while not done:
                status, page = api.get("/v1/jobs?fields=id,state,reason&limit=1000")
                assert status == 200
                ids = [j["id"] for j in page["jobs"]]
                assert ids == sorted(set(ids))
                reads.append(len(ids))

        with concurrent.futures.ThreadPoolExecutor(18) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            writers = [pool.submit(submit, i) for i in range(16)]
            ids = [i for w in writers for i in w.result()]
            done.append(True)
            for reader in readers:
                reader.result()
        assert len(set(ids)) == 16 * each
        assert sorted(ids) == ids_of(c.api)
        assert reads and max(reads) > 0
        lines = c.sy("squeue", "-h", "-o", "%i").stdout.split()
        assert len(lines) == 16 * each
        print(f"      {len(reads)} pages were read meanwhile", flush=True)


def test_malformed_and_oversized_http_is_refused_on_both_listeners(build):
    with Cluster(build, agents=False) as c:
        def talk(raw, tcp):
            s = socket.create_connection(("127.0.0.1", c.agents_port()), timeout=30) if tcp else socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            if not tcp:
                s.settimeout(30)
                s.connect(str(c.socket))
            try:
                s.sendall(raw)
                return s.recv(64)
            except (ConnectionResetError, BrokenPipeError):
                return b""
            finally:
                s.close()
        for tcp in (False, True):
            for raw, wanted in ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400), (b"GET\r\n\r\n", 400),
                                (b"GET /livez HTTP/9.9\r\n\r\n", 400), (b"GET /livez HTTP/1.1\r\nbad header\r\n\r\n", 400),
                                (b"POST /v1/jobs HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
                                (b"POST /v1/jobs HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
                                (b"POST /v1/jobs HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
                                (b"POST /v1/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
                                (b"GET /livez HTTP/1.1\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", 431),
                                (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n", 431)):
                answer = talk(raw, tcp)
                assert answer.startswith(b"HTTP/1.1 %d" % wanted) or (wanted in (413, 431) and answer == b""), (tcp, raw[:60], answer)
        assert c.api.get("/livez")[0] == 200 and c.api.submit()[0] == 201


def test_laxer_folders_damaged_stores_and_a_second_controller_are_refused(build):
    with Cluster(build, agents=False) as c:
        command = [str(c.program("switchyardd")), "--config", str(c.root / "switchyard.yaml")]
        user = {"user": c.controller.user} if os.getuid() == 0 else {}
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, **user)
        assert second.returncode == 1 and "another process" in second.stderr, second.stderr
        kept = c.api.submit()[1]["id"]
        copy = c.root / "copy.db"
        backup = subprocess.run([*command, "--backup", str(copy)], capture_output=True, text=True, timeout=60)  # by root, beside the controller
        assert backup.returncode == 0 and stat.S_IMODE(copy.stat().st_mode) == 0o600, backup.stderr
        again = subprocess.run([*command, f"--backup={copy}"], capture_output=True, text=True, timeout=60)
        assert again.returncode == 1 and "exists already" in again.stderr, again.stderr
        lost = c.api.submit()[1]["id"]
        c.controller.stop()
        for extra in (user, {}):  # root looks as the owner of the folder
            check = subprocess.run([*command, "--check"], capture_output=True, text=True, timeout=60, **extra)
            assert check.returncode == 0 and "in order" in check.stdout, check.stdout + check.stderr
        owner = (c.root / "state").stat().st_uid
        assert all(f.stat().st_uid == owner for f in (c.root / "state").iterdir())
        for name in ("", "-wal", "-shm"):
            (c.root / "state" / f"switchyard.db{name}").unlink(missing_ok=True)
        database = c.root / "state" / "switchyard.db"
        shutil.copy(copy, database)
        os.chown(database, owner, -1)
        c.start_controller()
        assert c.api.get(f"/v1/jobs/{kept}")[0] == 200 and c.api.get(f"/v1/jobs/{lost}")[0] == 404
        c.controller.stop()
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

        db = sqlite3.connect(database)
        page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'accounting'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
        db.execute("PRAGMA journal_mode = DELETE")
        db.close()
        with open(database, "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"this is no page")
        c.start_controller()
        wait_for(lambda: "\nswitchyard_store_faults 0" not in c.api.get("/metrics")[1], "damage in the history to be found")
        assert c.api.get(f"/v1/jobs/{kept}")[0] == 200


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

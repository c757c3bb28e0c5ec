"""Real daemons for end-to-end tests: a controller and agents in a temporary folder on loopback, HTTP over the unix socket, and waiting for
a condition. Ends only the processes it started, by their pid."""
import contextlib
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

CONTROLLER_USER = "daemon"  # switchyardd needs no privilege; this account is on every Debian


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Api:
    """One request a call; each on a connection of its own unless `keep` is set."""

    def __init__(self, path, timeout=30, keep=False):
        self.path, self.timeout, self.keep, self.connection = path, timeout, keep, None

    def request(self, method, target, body=None, headers=None):
        connection = self.connection or UnixConnection(self.path, self.timeout)
        data = None
        headers = dict(headers or {})
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, target, body=data, headers=headers)
            answer = connection.getresponse()
            raw = answer.read()
        except Exception:
            connection.close()
            self.connection = None
            raise
        if self.keep:
            self.connection = connection
        else:
            connection.close()
        try:
            value = json.loads(raw) if raw else None
        except ValueError:
            value = raw.decode(errors="replace")
        return answer.status, value

    def get(self, target):
        return self.request("GET", target)

    def post(self, target, body=None, **headers):
        return self.request("POST", target, {} if body is None else body, headers)

    def submit(self, script="#!/bin/sh\ntrue\n", key=None, environment=(), **spec):
        spec.setdefault("work_dir", "/tmp")
        spec.setdefault("std_out", "/dev/null")
        return self.request("POST", "/v1/jobs", {"spec": spec, "script": script, "environment": list(environment)},
                            {"Idempotency-Key": key or str(uuid.uuid4())})


def wait_for(condition, what, seconds=30, pause=0.02):
    """Returns the first true value of condition(); fails with `what` and the last value seen."""
    deadline = time.monotonic() + seconds
    last = None
    while time.monotonic() < deadline:
        last = condition()
        if last:
            return last
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s: {what}; last seen: {last!r}")


class Daemon:
    """A program with its log; start, kill -9, terminate."""

    def __init__(self, name, command, log, user=None, env=None):
        self.name, self.command, self.log, self.user, self.env, self.process = name, [str(c) for c in command], log, user, env, None

    def start(self):
        assert self.process is None or self.process.poll() is not None, f"{self.name} runs already"
        ids = {}
        if self.user and os.getuid() == 0:
            entry = pwd.getpwnam(self.user)
            ids = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                            start_new_session=True, env=self.env, **ids)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.alive():
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self, seconds=20):
        """Asks it to end; returns its exit status. One that does not end is killed and reported."""
        if not self.process:
            return None
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {seconds} s of SIGTERM; log: {self.log}")


class Cluster:
    """switchyardd and agents from a build folder. `with Cluster(build, nodes=3) as c:`"""

    def __init__(self, build, nodes=3, cpus=4, memory="2GiB", gres="gpu:2", config="", agents=True, limits="", jobs="", agent_config="",
                 prepare=None):
        self.build = pathlib.Path(build).resolve()
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="switchyard-"))
        self.root.chmod(0o755)
        self.socket = self.root / "ctl" / "switchyardd.sock"
        self.bin = self.root / "bin"  # sy, and the Slurm names as links to it
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.cpus, self.memory, self.gres = cpus, memory, gres
        self.config, self.limits, self.jobs, self.agent_config = config, limits, jobs, agent_config
        self.with_agents, self.prepare = agents, prepare  # prepare(cluster): after its folders are made, before anything starts
        self.agents = {}
        self.env = dict(os.environ, SWITCHYARD_SOCKET=str(self.socket), PATH=f"{self.root / 'bin'}:{os.environ['PATH']}")
        self.api = Api(self.socket)

    def program(self, name):
        for place in (self.build / "bin" / name, *self.build.rglob(name)):
            if place.is_file() and os.access(place, os.X_OK):
                return place
        raise AssertionError(f"{name} is not in {self.build}: build it first")

    def write_config(self):
        nodes = f"n[1-{len(self.names)}]" if len(self.names) > 1 else "n1"
        gres = f"    gres: [{self.gres}]\n" if self.gres else ""
        limits = f"limits:\n{self.limits}" if self.limits else ""
        text = f"""cluster: test
controller:
  state_dir: {self.root}/state
  socket: {self.socket}
  ports_file: {self.root}/ctl/ports
  listen: 127.0.0.1:0
{limits}
agents:
  heartbeat: 500ms
  silent_after: 3s
  kill_grace: 2s
  launch_backoff: 1s
{self.config}
jobs:
  default_time: 1h
  allow_root: true
{self.jobs}
nodes:
  - names: {nodes}
    address: 127.0.0.1
    cpus: {self.cpus}
    memory: {self.memory}
{gres}partitions:
  - name: main
    nodes: ALL
    default: true
"""
        (self.root / "switchyard.yaml").write_text(text)

    def __enter__(self):
        try:
            for folder, mode in (("state", 0o700), ("ctl", 0o755), ("work", 0o1777), ("spool", 0o755), ("bin", 0o755)):
                (self.root / folder).mkdir()
                (self.root / folder).chmod(mode)
            if os.getuid() == 0:
                entry = pwd.getpwnam(CONTROLLER_USER)
                for folder in ("state", "ctl"):
                    os.chown(self.root / folder, entry.pw_uid, entry.pw_gid)
            for name in ("sy", "sbatch", "squeue", "scancel", "sinfo", "sacct", "scontrol"):
                (self.bin / name).symlink_to(self.program("sy"))
            self.write_config()
            if self.prepare:
                self.prepare(self)
            self.controller = Daemon("switchyardd", [self.program("switchyardd"), "--config", self.root / "switchyard.yaml"],
                                     self.root / "switchyardd.log", CONTROLLER_USER, self.env)
            self.start_controller()
            if self.with_agents:
                for name in self.names:
                    self.add_agent(name)
                wait_for(self.all_idle, "all nodes idle")
            return self
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def start_controller(self):
        (self.root / "ctl" / "ports").unlink(missing_ok=True)
        self.controller.start()
        self.wait_ready()

    def wait_ready(self):
        def ready():
            assert self.controller.alive(), f"switchyardd ended:\n{self.tail(self.controller.log)}"
            try:
                return self.api.get("/readyz")[0] == 200
            except OSError:
                return False
        wait_for(ready, "switchyardd ready", 60)

    def agents_port(self):
        text = wait_for(lambda: (self.root / "ctl" / "ports").exists() and (self.root / "ctl" / "ports").read_text(), "ports file")
        return int(dict(line.split("=") for line in text.split())["agents"])

    def write_agent_config(self, name, port):
        gres = f"gres: [{self.gres}]\n" if self.gres else ""
        (self.root / f"agent-{name}.yaml").write_text(f"""name: {name}
controller: 127.0.0.1:{port}
listen: 127.0.0.1:0
address: 127.0.0.1
spool: {self.root}/spool/{name}
boot_id_file: {self.root}/boot-{name}
cpus: {self.cpus}
memory: {self.memory}
allow_root: true
{gres}{self.agent_config}""")

    def add_agent(self, name, start=True):
        (self.root / "spool" / name).mkdir(mode=0o700, exist_ok=True)
        boot = self.root / f"boot-{name}"
        boot.write_text(str(uuid.uuid4()) + "\n")
        self.write_agent_config(name, self.agents_port())
        status, answer = self.api.post(f"/v1/nodes/{name}/enrol")
        assert status == 200, answer
        command = [self.program("switchyard-agent"), "--config", self.root / f"agent-{name}.yaml"]
        done = subprocess.run([*map(str, command), "--enrol", "-"], input=answer["token"] + "\n", text=True, capture_output=True,
                              env=self.env)
        assert done.returncode == 0, f"{name} could not enrol: {done.stdout}{done.stderr}"
        self.agents[name] = Daemon(f"agent {name}", command, self.root / f"agent-{name}.log", env=self.env)
        if start:
            self.agents[name].start()

    def restart_controller(self):
        """After a kill: the same port again, so that agents find it."""
        self.pin_port()
        self.controller.start()
        self.wait_ready()

    def pin_port(self):
        if "listen: 127.0.0.1:0" in (self.root / "switchyard.yaml").read_text():
            port = self.agents_port()
            path = self.root / "switchyard.yaml"
            path.write_text(path.read_text().replace("listen: 127.0.0.1:0", f"listen: 127.0.0.1:{port}"))

    def all_idle(self):
        nodes = self.api.get("/v1/nodes")[1]["nodes"]
        return len(nodes) == len(self.names) and all(n["state"] == "idle" for n in nodes)

    def job(self, number):
        status, job = self.api.get(f"/v1/jobs/{number}")
        assert status == 200, job
        return job

    def wait_ended(self, number, seconds=60):
        return wait_for(lambda: (j := self.job(number))["state"] == "ended" and j, f"job {number} ended", seconds)

    def wait_state(self, number, state, seconds=30):
        return wait_for(lambda: (j := self.job(number))["state"] == state and j, f"job {number} {state}", seconds)

    def sy(self, *arguments, check=True, user=None, **options):
        ids = {}
        if user and os.getuid() == 0:
            entry = pwd.getpwnam(user)
            ids = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        options.setdefault("cwd", self.root / "work")
        done = subprocess.run([str(self.bin / str(arguments[0])), *map(str, arguments[1:])], env=self.env, capture_output=True, text=True, **ids, **options)
        if check:
            assert done.returncode == 0, f"{' '.join(map(str, arguments))} exited {done.returncode}: {done.stderr}{done.stdout}"
        return done

    @staticmethod
    def tail(path, lines=20):
        try:
            return "\n".join(pathlib.Path(path).read_text(errors="replace").split("\n")[-lines:])
        except OSError as e:
            return str(e)

    def supervisors(self):
        """Pids of supervisors that run from this cluster's spool."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    line = (entry / "cmdline").read_bytes().decode(errors="replace")
                except OSError:
                    continue
                if "switchyard-supervisor" in line and str(self.root) in line:
                    found.append(int(entry.name))
        return found

    def check_logs(self):
        """Sanitizers and failed assertions speak in the logs."""
        for log in self.root.glob("*.log"):
            text = log.read_text(errors="replace")
            for word in ("ERROR: AddressSanitizer", "runtime error:", "ThreadSanitizer", "LeakSanitizer", "switchyard: bug:", "[critical]"):
                assert word not in text, f"{log.name} has '{word}':\n{text[max(0, text.find(word) - 500):][:4000]}"

    def __exit__(self, kind, value, trace):
        faults = []
        for daemon in [*self.agents.values(), getattr(self, "controller", None)]:
            try:
                if daemon:
                    daemon.stop()
            except AssertionError as e:
                faults.append(str(e))
        for pid in self.supervisors():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        try:
            wait_for(lambda: not self.supervisors(), "supervisors ended", 15)
        except AssertionError as e:
            faults.append(str(e))
            for pid in self.supervisors():
                os.kill(pid, signal.SIGKILL)
        if kind is not None:
            for log in sorted(self.root.glob("*.log")):
                print(f"---- {log.name}\n{self.tail(log, 40)}", file=sys.stderr)
        else:
            self.check_logs()
        for spool_id in self.root.glob("spool/*/spool_id"):  # the agents' control groups, empty now, have it in their names
            for pattern in ("", "*/"):
                for group in pathlib.Path("/sys/fs/cgroup").glob(f"{pattern}switchyard/*-{spool_id.read_text()[:8]}"):
                    with contextlib.suppress(OSError):
                        group.rmdir()
        if os.environ.get("KEEP"):
            print(f"kept {self.root}", file=sys.stderr)
        else:
            shutil.rmtree(self.root, ignore_errors=True)
        if kind is None:
            assert not faults, "; ".join(faults)


def with_own_mounts(test):
    """A test that mounts file systems: run again in a mount namespace of its own, so that nothing of it is seen outside. Needs root."""
    def run(build):
        if os.getuid() != 0:
            print(f"      {test.__name__}: skipped, only root can mount", flush=True)
        elif os.environ.get("SY_OWN_MOUNTS") == test.__name__:
            test(build)
        else:
            subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, sys.argv[0], build, test.__name__],
                           env=dict(os.environ, SY_OWN_MOUNTS=test.__name__), check=True)
    run.__name__ = test.__name__
    return run


def mount_tmpfs(folder, size):
    """Over an existing folder, with its owner and mode."""
    was = os.stat(folder)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode={was.st_mode & 0o7777:o},uid={was.st_uid},gid={was.st_gid}", "tmpfs",
                    str(folder)], check=True)


def fill(folder):
    """Takes every byte and gives back how to free them."""
    path = pathlib.Path(folder) / "ballast"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for size in (65536, 4096, 1):
            try:
                while os.write(fd, b"x" * size):
                    pass
            except OSError:
                pass
    finally:
        os.close(fd)
    return path.unlink


def run_tests(module_globals):
    """Runs every test_* function of a script in order, or those whose names are given after the build folder."""
    build, wanted = sys.argv[1], sys.argv[2:]
    failed = 0
    tests = [(n, f) for n, f in module_globals.items() if n.startswith("test_") and callable(f)]
    for name, function in tests:
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        try:
            function(build)
            print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as e:  # every test is told, not only the first that fails
            failed += 1
            import traceback
            traceback.print_exc()
            print(f"FAIL  {name}: {e}", flush=True)
    sys.exit(1 if failed else 0)

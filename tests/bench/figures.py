#!/usr/bin/env python3
"""The figures of the main job, measured on real daemons in a temporary folder; with --slurm the same beside Debian's slurm-wlm 22.05.

  tests/bench/figures.py --build build/release [--slurm] [--quick] [FIGURE ...]

Figures: api, sbatch, true, latency, restart (with memory and squeue), history, sinfo, store. Build first: cmake --preset release
-DSWITCHYARD_BENCH=ON && cmake --build --preset release. Each figure is printed with what it counts; machines differ and are noisy, so quote
the ratio to what ran beside it, and the CPU time: that of a job hardly depends on what else the machine does."""
import argparse
import os
import pathlib
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
sys.path.insert(0, str(HERE))
from slurm_cluster import SlurmCluster  # noqa: E402
from support import Cluster, wait_for  # noqa: E402

LIMITS = "  requests_per_second: 1000000\n  burst: 1000000\n"


def show(figure, what, value):
    print(f"{figure:<10} {what:<66} {value}", flush=True)


def fdatasync_ms():
    with tempfile.NamedTemporaryFile(dir=".") as f:
        times = []
        for _ in range(200):
            f.write(b"x" * 4096)
            f.flush()
            t = time.perf_counter()
            os.fdatasync(f.fileno())
            times.append((time.perf_counter() - t) * 1000)
    return statistics.median(times)


def machine():
    model = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    show("machine", f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}", f"fdatasync {fdatasync_ms():.2f} ms")


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


def rss_kib(pid):
    return next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS"))


def cpu_seconds(pid):
    """Of a process and the children it has waited for, user and system."""
    return sum(int(n) for n in open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:15]) / os.sysconf("SC_CLK_TCK")


class CpuTime:
    """`with CpuTime(daemons) as cpu: …; cpu.per(n)`: what n of something cost these processes together."""

    def __init__(self, *daemons):
        self.pids = [d.process.pid for d in daemons]

    def __enter__(self):
        self.before = sum(map(cpu_seconds, self.pids))
        return self

    def __exit__(self, *_):
        self.seconds = sum(map(cpu_seconds, self.pids)) - self.before

    def per(self, n):
        return f"{self.seconds / n * 1e6:.0f} us of CPU time each"


def bench_submit(c, *args):
    program = c.program("bench_submit")
    out = subprocess.run([str(program), str(c.socket), *map(str, args)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr + out.stdout
    return out.stdout.strip()


def figure_api(a):
    jobs = 2000 if a.quick else 20000
    what = "4 kB script + 8 kB environment, all different, durable"
    with Cluster(a.build, nodes=1, agents=False, limits=LIMITS) as c:
        for clients in (4, 8, 16):
            with CpuTime(c.controller) as cpu:
                rate = bench_submit(c, "--clients", clients, "--jobs", jobs, "--hold")
            show("api", f"submissions, {clients} clients, {what}", f"{rate}; controller {cpu.per(jobs)}")
        with CpuTime(c.controller) as cpu:
            rate = bench_submit(c, "--clients", 8, "--jobs", jobs, "--hold", "--equal")
        show("api", "the same, scripts and environments all equal", f"{rate}; controller {cpu.per(jobs)}")
        show("api", "the same at 1,000/s", bench_submit(c, "--clients", 8, "--jobs", jobs // 4, "--rate", 1000, "--hold"))
    for held in ("--hold", None):
        with Cluster(a.build, nodes=10000, agents=False, limits=LIMITS) as c:
            extra = [held] if held else []
            with CpuTime(c.controller) as cpu:
                rate = bench_submit(c, "--clients", 8, "--jobs", jobs, *extra)
            show("api", f"10,000 nodes configured, 8 clients, {'held' if held else 'waiting'} jobs", f"{rate}; controller {cpu.per(jobs)}")
            show("api", "the same at 1,000/s", bench_submit(c, "--clients", 8, "--jobs", jobs // 4, "--rate", 1000, *extra))


def process_rate(n):
    """What starting anything costs here: /bin/true, one after another and 8 at once."""
    t = time.perf_counter()
    subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {n} ]; do /bin/true; i=$((i+1)); done"], check=True)
    one = n / (time.perf_counter() - t)
    t = time.perf_counter()
    subprocess.run(["sh", "-c", f"seq {2 * n} | xargs -P 8 -n 1 sh -c '/bin/true || exit 255'"], check=True)
    return one, 2 * n / (time.perf_counter() - t)


def sbatch_rate(run_shell, script, n):
    t = time.perf_counter()
    run_shell(f"i=0; while [ $i -lt {n} ]; do sbatch -H -o /dev/null {script} >/dev/null || exit 1; i=$((i+1)); done")
    one = n / (time.perf_counter() - t)
    t = time.perf_counter()
    run_shell(f"seq {2 * n} | xargs -P 8 -n 1 sh -c 'sbatch -H -o /dev/null {script} >/dev/null || exit 255'")
    return one, 2 * n / (time.perf_counter() - t)


def shell_in(env):
    def run(text):
        subprocess.run(["sh", "-c", text], env=env, check=True)
    return run


def figure_sbatch(a):
    n = 100 if a.quick else 400
    with Cluster(a.build, nodes=1, agents=False, limits=LIMITS) as c:
        script = c.root / "work" / "true.sh"
        script.write_text("#!/bin/sh\ntrue\n")
        one, eight = sbatch_rate(shell_in(c.env), script, n)
        show("sbatch", "processes one after another, 8 at once", f"{one:.0f}/s, {eight:.0f}/s")
        bare, bare_eight = process_rate(n)
        show("sbatch", "/bin/true beside it", f"{bare:.0f}/s, {bare_eight:.0f}/s; ratios {one / bare:.2f}, {eight / bare_eight:.2f}")
    if a.slurm:
        with tempfile.TemporaryDirectory() as root:
            s = SlurmCluster(root).start()
            try:
                script = pathlib.Path(root) / "true.sh"
                script.write_text("#!/bin/sh\ntrue\n")
                sone, seight = sbatch_rate(shell_in(s.env), script, n)
                show("sbatch", "Slurm 22.05 beside it", f"{sone:.0f}/s, {seight:.0f}/s; ratios {one / sone:.2f}, {eight / seight:.2f}")
            finally:
                s.stop()


def figure_true(a):
    jobs = 300 if a.quick else 2000
    rates = {}
    for agents in (1, 16):
        with Cluster(a.build, nodes=agents, cpus=4, gres="", memory="100GiB", limits=LIMITS) as c:
            everyone = CpuTime(c.controller, *c.agents.values())
            everyone.__enter__()
            t = time.perf_counter()
            bench_submit(c, "--clients", 8, "--jobs", jobs)

            def ended():
                page = c.api.get("/v1/jobs?state=pending,starting,running,ending,lost&fields=id&limit=1")[1]
                return not page["jobs"]
            wait_for(ended, "all jobs ended", 600, 0.02)
            rates[agents] = jobs / (time.perf_counter() - t)
            everyone.__exit__()
            show("true", f"{jobs} jobs of `true` through {agents} agents of 4 CPUs, submitted to ended",
                 f"{rates[agents]:.0f}/s; controller, agents, supervisors, scripts {everyone.per(jobs)}")
    try:
        program = next(p for p in pathlib.Path(a.build).rglob("bench_bare_spawn") if os.access(p, os.X_OK) and p.is_file())
        out = subprocess.run([str(program)], capture_output=True, text=True)
        show("true", "bare supervisor-plus-shell spawns beside it", out.stdout.strip().split("\n")[-1])
    except StopIteration:
        pass
    if a.slurm:
        with tempfile.TemporaryDirectory() as root:
            s = SlurmCluster(root, cpus=64).start()
            try:
                n = jobs // 4
                script = pathlib.Path(root) / "true.sh"
                script.write_text("#!/bin/sh\ntrue\n")
                t = time.perf_counter()
                shell_in(s.env)(f"seq {n} | xargs -P 8 -n 1 sh -c 'sbatch -o /dev/null {script} >/dev/null || exit 255'")
                wait_for(lambda: s.run("squeue", "-h").stdout.strip() == "", "slurm's jobs ended", 900, 0.2)
                rate = n / (time.perf_counter() - t)
                show("true", f"Slurm 22.05 beside it: {n} jobs, one node of 64 CPUs", f"{rate:.0f}/s; ratio {rates[16] / rate:.1f}")
            finally:
                s.stop()


def latency(submit, stamp, n):
    times = []
    for _ in range(n):
        stamp.unlink(missing_ok=True)
        t = time.time()
        submit()
        wait_for(lambda: stamp.exists() and stamp.read_text().strip(), "the script ran", 30, 0.002)
        times.append((float(stamp.read_text()) - t) * 1000)
        time.sleep(0.05)
    return times


def figure_latency(a):
    n = 20 if a.quick else 100
    with Cluster(a.build, nodes=3, limits=LIMITS) as c:
        stamp = c.root / "work" / "stamp"
        script = f"#!/bin/sh\ndate +%s.%N >{stamp}.new; mv {stamp}.new {stamp}\n"
        times = latency(lambda: c.api.submit(script), stamp, n)
        show("latency", f"submission to running script, idle cluster, {n} jobs (includes starting `date`)",
             f"median {statistics.median(times):.1f} ms, p99 {percentile(times, 0.99):.1f} ms")
    if a.slurm:
        with tempfile.TemporaryDirectory() as root:
            s = SlurmCluster(root, cpus=4).start()
            try:
                stamp = pathlib.Path(root) / "stamp"
                path = pathlib.Path(root) / "job.sh"
                path.write_text(f"#!/bin/sh\ndate +%s.%N >{stamp}.new; mv {stamp}.new {stamp}\n")
                stimes = latency(lambda: s.run("sbatch", "-o", "/dev/null", str(path)), stamp, n)
                show("latency", "Slurm 22.05 beside it (through sbatch)", f"median {statistics.median(stimes):.1f} ms, p99 {percentile(stimes, 0.99):.1f} ms")
            finally:
                s.stop()


def restart_times(c, n=5):
    times, cpu = [], []
    for _ in range(n):
        c.controller.kill()
        t = time.perf_counter()
        c.controller.start()

        def answers():
            try:
                return c.api.get("/v1/jobs?limit=1&fields=id")[0] == 200
            except OSError:
                return False
        wait_for(answers, "first answer", 60, 0.005)
        times.append(time.perf_counter() - t)
        cpu.append(cpu_seconds(c.controller.process.pid))
    return f"median {statistics.median(times):.3f} s ({statistics.median(cpu):.2f} s of CPU time)"


def figure_restart(a):
    """Also memory and squeue: they need the same 50,000 waiting jobs."""
    waiting = 5000 if a.quick else 50000
    with Cluster(a.build, nodes=1, agents=False, limits=LIMITS) as c:
        before = rss_kib(c.controller.process.pid)
        bench_submit(c, "--clients", 8, "--jobs", waiting // 5, "--hold")
        times10 = squeue_times(c)
        bench_submit(c, "--clients", 8, "--jobs", waiting - waiting // 5, "--hold")
        show("memory", f"per waiting job, all different, live ({waiting} jobs)",
             f"{(rss_kib(c.controller.process.pid) - before) * 1024 / waiting:.0f} bytes")
        times50 = squeue_times(c)
        show("squeue", f"of {waiting // 5} waiting jobs; of {waiting}", f"{statistics.median(times10):.3f} s; {statistics.median(times50):.3f} s")
        show("restart", f"kill -9 to first answer, {waiting} waiting jobs", restart_times(c))
        show("memory", "per waiting job, after a restart", f"{(rss_kib(c.controller.process.pid) - before) * 1024 / waiting:.0f} bytes")
    if a.slurm:
        with tempfile.TemporaryDirectory() as root:
            s = SlurmCluster(root).start()
            try:
                path = pathlib.Path(root) / "job.sh"
                path.write_text("#!/bin/sh\ntrue\n")
                n = waiting // 5
                shell_in(s.env)(f"seq {n} | xargs -P 8 -n 1 sh -c 'sbatch -H -o /dev/null {path} >/dev/null || exit 255'")
                t = time.perf_counter()
                s.run("squeue")
                took = time.perf_counter() - t
                show("squeue", f"Slurm 22.05 beside it, of {n}", f"{took:.3f} s; ratio {statistics.median(times10) / took:.2f}")
            finally:
                s.stop()


def add_history(database, ended):
    """Rows as if one job that has ended had run `ended` times, with all it left: one row of accounting and its events each."""
    db = sqlite3.connect(database)
    job = db.execute("SELECT job FROM accounting").fetchone()[0]
    (last,) = db.execute("SELECT max(sequence) FROM events").fetchone()
    events = db.execute("SELECT count(*) FROM events WHERE fact LIKE ?", (f'%"job":{job}%',)).fetchone()[0]
    for begin in range(0, ended, 50000):
        n = min(50000, ended - begin)
        db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                   "INSERT INTO accounting (job, attempt, user, account, partition, name, outcome, submitted_us, ended_us, record) "
                   "SELECT job + ? + i, attempt, user, account, partition, name, outcome, submitted_us, ended_us, record FROM n, accounting "
                   "WHERE job = ?", (n, begin, job))
        db.execute("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                   "INSERT INTO events (sequence, at_us, who, kind, version, fact) "
                   "SELECT ? + i, at_us, who, kind, version, fact FROM n, events WHERE sequence = ?",
                   (n * max(events, 1) - 1, last + 1 + begin * max(events, 1), last))
        db.commit()
    db.execute("UPDATE cluster SET next_job_id = next_job_id + ?, sequence = (SELECT max(sequence) FROM events)", (ended + 1,))
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def figure_history(a):
    """Restart with a long history behind it."""
    waiting, ended = (5000, 20000) if a.quick else (50000, 1000000)
    with Cluster(a.build, nodes=1, agents=False, limits=LIMITS) as c:
        status, job = c.api.submit(hold=True)
        assert status == 201 and c.api.post(f"/v1/jobs/{job['id']}/cancel")[0] < 300
        c.controller.stop()
        database = next(p for p in (c.root / "state").iterdir() if p.suffix == ".db")
        owner = database.stat()
        add_history(database, ended)
        for p in (c.root / "state").iterdir():
            os.chown(p, owner.st_uid, owner.st_gid)
        c.start_controller()
        bench_submit(c, "--clients", 8, "--jobs", waiting, "--hold")
        show("history", f"kill -9 to first answer, {waiting} waiting, {ended} ended in accounting, {database.stat().st_size / 1e9:.1f} GB",
             restart_times(c))


def figure_sinfo(a):
    nodes = 4000
    with Cluster(a.build, nodes=nodes, agents=False, limits=LIMITS) as c:
        times = []
        for _ in range(20):
            t = time.perf_counter()
            subprocess.run([c.bin / "sinfo"], env=c.env, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - t)
        show("sinfo", f"of {nodes} nodes", f"median {statistics.median(times):.4f} s")


def figure_store(a):
    program = next(p for p in pathlib.Path(a.build).rglob("bench_store") if os.access(p, os.X_OK) and p.is_file())
    env = dict(os.environ) if a.quick else dict(os.environ, SWITCHYARD_BENCH_FULL="1")
    for line in subprocess.run([str(program)], env=env, capture_output=True, text=True, check=True).stdout.splitlines():
        show("store", *(line.split(": ", 1) if ": " in line else (line, "")))


def squeue_times(c):
    times = []
    for _ in range(5):
        t = time.perf_counter()
        c.sy("squeue")
        times.append(time.perf_counter() - t)
    return times


FIGURES = {"api": figure_api, "sbatch": figure_sbatch, "true": figure_true, "latency": figure_latency, "restart": figure_restart,
           "history": figure_history, "sinfo": figure_sinfo, "store": figure_store}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("figures", nargs="*")
    a = parser.parse_args()
    machine()
    for name in a.figures or FIGURES:
        FIGURES[name](a)


if __name__ == "__main__":
    main()

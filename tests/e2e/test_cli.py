"""The command line against real daemons: what people type, and what the third-party clients run and parse."""
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Cluster, wait_for  # noqa: E402


def script(cluster, name, text):
    path = cluster.root / "work" / name
    path.write_text(text)
    return path


def submitted(done):
    found = re.fullmatch(r"Submitted batch job (\d+)\n", done.stdout)
    assert found, (done.stdout, done.stderr)
    return int(found[1])


def main_job(c):
    path = script(c, "hello.sh", "#!/bin/bash\n#SBATCH --job-name=hello --output=%x-%j.out\n#SBATCH --nodes=2 --ntasks-per-node=2\n#SBATCH -c 1 --mem=100M\n"
                                 "#SBATCH --time=0:05:00 --gres=gpu:1\necho job $SLURM_JOB_ID on $SLURM_JOB_NODELIST arg $1\nsleep 0.5\n")
    job = submitted(c.sy("sbatch", path, "first"))
    c.wait_ended(job)
    out = (c.root / "work" / f"hello-{job}.out").read_text()
    assert out == f"job {job} on n[1-2] arg first\n", out
    line = c.sy("sacct", "-X", "-n", "-P", "-j", job, "-o", "jobid,jobname,state,exitcode,nnodes,nodelist").stdout
    assert line == f"{job}|hello|COMPLETED|0:0|2|n[1-2]\n", line
    shown = c.sy("scontrol", "-o", "show", "job", job).stdout
    assert f"JobId={job} " in shown and "JobState=COMPLETED" in shown and "ExitCode=0:0" in shown, shown
    assert "completed, exit code 0" in c.sy("sy", "show", job).stdout
    assert f"Command={path} first " in shown, shown
    assert c.sy("squeue", "-h", "-t", "all", "-j", job, "-o", "%o").stdout == f"{path} first\n"
    wrapped = submitted(c.sy("sbatch", "-o", "/dev/null", "--wrap", "true"))
    assert "Command=(null) " in c.sy("scontrol", "-o", "show", "job", wrapped).stdout


def submit_forms(c):
    job = submitted(c.sy("sbatch", "-o", "wrap.out", "--wrap", "echo wrapped; exit 3"))
    assert c.wait_ended(job)["exit_code"] == 3
    assert (c.root / "work" / "wrap.out").read_text() == "wrapped\n"
    done = c.sy("sbatch", "--parsable", "-o", "/dev/null", input="#!/bin/sh\ntrue\n")
    assert re.fullmatch(r"\d+\n", done.stdout), done.stdout
    assert c.sy("sbatch", "--wait", "-o", "/dev/null", "--wrap", "exit 7", check=False).returncode == 7
    assert c.sy("sbatch", "-W", "-o", "/dev/null", "--wrap", "kill -9 $$", check=False).returncode == 1
    done = c.sy("sbatch", "--test-only", "-N", "2", "--wrap", "true")
    assert re.search(r"sbatch: Job \d+ to start at \S+ using \d+ processors on nodes n\[?\S+ in partition main", done.stderr), done.stderr
    done = c.sy("sbatch", "-A", "physics", "-o", "/dev/null", "--wrap", "true")
    assert "account" in done.stderr and done.stderr.count("warning") == 1, done.stderr
    exported = c.root / "work" / "env.out"
    job = submitted(c.sy("sbatch", "--export=NONE,A=b", "-o", exported, "--wrap", "env"))
    c.wait_ended(job)
    text = exported.read_text()
    # The limits and the umask of the shell that submits, as Slurm does by default.
    limited = c.root / "work" / "limits.out"
    shell = f"umask 077; ulimit -S -n 500; ulimit -S -c 0; exec {c.bin / 'sbatch'} -o {limited} --wrap "
    shell += "'umask; ulimit -n; ulimit -c; env | grep -c -e SLURM_UMASK -e SLURM_RLIMIT'"
    inherits = submitted(subprocess.run(["sh", "-c", shell], env=c.env, cwd=c.root / "work", capture_output=True, text=True))
    c.wait_ended(inherits)
    assert limited.read_text() == "0077\n500\n0\n0\n", limited.read_text()
    assert limited.stat().st_mode & 0o777 == 0o600, oct(limited.stat().st_mode)
    assert "A=b\n" in text and "SWITCHYARD_SOCKET" not in text and f"SLURM_JOB_ID={job}\n" in text, text


def refusals(c):
    for options, word in ((["--array=0-3"], "--array"), (["--nonsense"], "--nonsense"), (["-c", "64"], "CPU"), (["-N", "9"], "node"), (["-p", "nowhere"], "nowhere"),
                          (["-t", "soon"], "-t"), (["--gpus-per-node=1:a100"], "type:count")):
        done = c.sy("sbatch", *options, "--wrap", "true", check=False)
        assert done.returncode == 1 and "sbatch: error: " in done.stderr and word.lower() in done.stderr.lower(), (options, done.stderr)
    for text in ("", "echo no interpreter\n", "#!/bin/sh\n\0\n", "#!/bin/sh\r\ntrue\r\n"):
        done = c.sy("sbatch", input=text, check=False)
        assert done.returncode == 1 and done.stderr.startswith("sbatch: error: "), done.stderr


def queue_and_control(c):
    running = submitted(c.sy("sbatch", "-N", "3", "--exclusive", "-o", "/dev/null", "-J", "wide", "--wrap", "sleep 60"))
    c.wait_state(running, "running")
    waiting = submitted(c.sy("sbatch", "-N", "2", "-o", "/dev/null", "-J", "behind", "-t", "5", "--wrap", "true"))
    wait_for(lambda: "(None)" not in c.sy("squeue", "-h", "-j", waiting).stdout, "a reason")
    lines = c.sy("squeue", "-h", "-o", "%i|%T|%j|%D|%R").stdout.splitlines()
    assert f"{running}|RUNNING|wide|3|n[1-3]" in lines, lines
    assert any(re.fullmatch(rf"{waiting}\|PENDING\|behind\|2\|\((Resources|Priority)\)", line) for line in lines), lines
    assert c.sy("squeue", "-h", "--me", "-t", "R", "-O", "JobID:|,State:|,NumCPUs").stdout.startswith(f"{running}|RUNNING|"), "squeue -O"
    steps = c.sy("squeue", "-s", "-j", running).stdout.splitlines()
    assert steps[0].split() == ["STEPID", "NAME", "PARTITION", "USER", "TIME", "NODELIST"], steps
    assert [line.split()[:4] for line in steps[1:]] == [[f"{running}.batch", "batch", "main", "root"]] and steps[1].split()[5] == "n1", steps
    assert c.sy("squeue", "-h", "-j", running, "-o", "%Q").stdout == c.sy("squeue", "-h", "-j", waiting, "-o", "%Q").stdout != "0\n"
    assert "waits:" in c.sy("sy", "show", waiting).stdout
    c.sy("scontrol", "hold", waiting)
    held = c.sy("squeue", "-h", "-j", waiting, "-o", "%r").stdout
    assert held in ("JobHeldUser\n", "JobHeldAdmin\n"), held
    c.sy("scontrol", "release", waiting)
    c.sy("scontrol", "update", f"JobId={waiting}", "TimeLimit=10", "JobName=renamed")
    assert c.sy("squeue", "-h", "-j", waiting, "-o", "%l %j").stdout == "10:00 renamed\n"
    assert c.sy("scontrol", "write", "batch_script", waiting, "-").stdout.endswith("true\n")
    for job in (waiting, running):  # the other way round the waiting one would start
        c.sy("scancel", job)
        assert c.wait_ended(job)["outcome"] == "cancelled"
    line = c.sy("sacct", "-X", "-n", "-P", "-j", running, "-o", "state").stdout
    assert line == f"CANCELLED by {os.getuid()}\n", line
    line = c.sy("sacct", "-n", "-P", "-j", running, "-o", "jobid,exitcode").stdout
    assert line == f"{running}|0:0\n{running}.batch|0:15\n", line
    done = c.sy("scancel", running, check=False)
    assert "already completing or completed" in done.stderr, done.stderr
    done = c.sy("squeue", "-j", "999999", check=False)
    assert done.returncode == 1 and done.stderr == "slurm_load_jobs error: Invalid job id specified\n", done.stderr
    assert c.sy("squeue", "-h", "-j", "999999,999999").stdout == ""


def requeue_hold(c):
    """Held by whoever did it, as the queue says: its owner, or an administrator."""
    if os.getuid() != 0:
        return
    jobs = {}
    for who in ("nobody", "root"):
        jobs[who] = c.sy("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 60", user="nobody").stdout.strip()
        c.wait_state(int(jobs[who]), "running")
        c.sy("scontrol", "requeuehold", jobs[who], user=who)
        c.wait_state(int(jobs[who]), "pending")
    wait_for(lambda: c.sy("squeue", "-h", "-j", jobs["nobody"], "-o", "%t %r").stdout == "PD JobHeldUser\n", "held by its owner")
    wait_for(lambda: c.sy("squeue", "-h", "-j", jobs["root"], "-o", "%t %r").stdout == "PD JobHeldAdmin\n", "held by an administrator")
    assert c.sy("scontrol", "release", jobs["root"], user="nobody", check=False).returncode == 1
    for job in jobs.values():
        c.sy("scancel", job)


def closed_partition(c):
    """State=DOWN keeps waiting jobs from starting and says so; State=UP lets them go."""
    wait_for(c.all_idle, "all nodes idle")
    path = c.root / "switchyard.yaml"
    good = path.read_text()
    running = submitted(c.sy("sbatch", "-N", "3", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600"))
    waiting = submitted(c.sy("sbatch", "-o", "/dev/null", "--wrap", "true"))
    c.wait_state(running, "running")
    path.write_text(good.replace("    default: true\n", "    default: true\n    state: down\n"))
    c.sy("scontrol", "reconfigure")
    assert c.sy("sinfo", "-h", "-o", "%P %a").stdout == "main* down\n"
    wait_for(lambda: c.sy("squeue", "-h", "-j", waiting, "-o", "%r").stdout == "PartitionDown\n", "PartitionDown")
    assert c.job(running)["state"] == "running"
    late = submitted(c.sy("sbatch", "-o", "/dev/null", "--wrap", "true"))  # Slurm takes them too
    c.sy("scancel", running)
    c.wait_ended(running)
    wait_for(lambda: c.sy("squeue", "-h", "-j", late, "-o", "%r").stdout == "PartitionDown\n", "PartitionDown")
    assert c.job(waiting)["state"] == "pending" and c.all_idle()
    path.write_text(good)
    c.sy("scontrol", "reconfigure")
    assert c.wait_ended(waiting)["outcome"] == "completed" and c.wait_ended(late)["outcome"] == "completed"


def nodes(c):
    wait_for(c.all_idle, "all nodes idle")
    assert c.sy("sinfo", "-h").stdout.split()[0] == "main*"
    assert c.sy("sinfo", "-h", "-o", "%D %N %C").stdout == "3 n[1-3] 0/12/0/12\n"
    c.sy("sy", "drain", "n3", "--reason", "bad fan")
    assert c.sy("sinfo", "-h", "-t", "drain", "-o", "%N %E").stdout == "n3 bad fan\n"
    assert "bad fan" in c.sy("sinfo", "-R", "-h").stdout
    assert "State=IDLE+DRAIN" in c.sy("scontrol", "show", "node", "n3").stdout
    c.sy("scontrol", "update", "NodeName=n3", "State=RESUME")
    assert c.sy("sinfo", "-h", "-t", "drain", "-o", "%N").stdout == ""
    assert "PartitionName=main" in c.sy("scontrol", "show", "part", "-o").stdout
    assert c.sy("scontrol", "ping").stdout.endswith("is UP\n")
    assert "n1" in c.sy("sy", "nodes").stdout


def third_parties(c):
    """The commands of Snakemake, Nextflow, submitit, Parsl, AiiDA, ReFrame, Toil, Open OnDemand, dask-jobqueue, PSI/J, batchspawner."""
    wait_for(c.all_idle, "all nodes idle")
    since = time.strftime("%Y-%m-%dT%H:00")
    job = c.sy("sbatch", "--parsable", "--job-name", "0f-uuid", "--output", "/dev/null", "--export=ALL", "--comment", "rule_a", "-p", "main", "-t", "5", "--mem", "100", "--nodes=1",
               "--requeue", input=f"#!/bin/sh\nwhile [ ! -e {c.root}/work/enough ]; do sleep 0.1; done\n").stdout.strip().split(";")[0]
    queue = c.sy("squeue", "--format=%i|%T", "--states=all", "--noheader", "--name", "0f-uuid").stdout
    assert re.fullmatch(rf"{job}\|(PENDING|CONFIGURING|RUNNING)\n", queue), queue
    assert re.fullmatch(rf"{job} (PD|CF|R)\n", c.sy("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-u", "root", "-n", "0f-uuid").stdout)  # Nextflow
    c.wait_state(int(job), "running")
    env = dict(c.env, SLURM_TIME_FORMAT="standard")
    aiida = subprocess.run([str(c.program("sy")), "squeue", "--noheader", "-o", "%i^^^%t^^^%r^^^%B^^^%u^^^%D^^^%C^^^%R^^^%P^^^%l^^^%M^^^%S^^^%j^^^%V", f"--jobs={job},{job}"], env=env,
                           capture_output=True, text=True, check=True).stdout
    parts = aiida.strip().split("^^^")
    assert len(parts) == 14 and parts[0] == job and parts[1] == "R" and parts[2] == "None" and parts[12] == "0f-uuid", parts
    state_host = c.sy("squeue", "-h", "-j", job, "-o", "%T %B").stdout.split()  # batchspawner
    assert state_host[0] == "RUNNING" and re.fullmatch(r"n\d", state_host[1]), state_host
    ood = c.sy("squeue", "--all", "--states=all", "--noconvert", "-j", job, "-O", "JobID:\x1f,Account:\x1f,Name:\x1f,WorkDir:\x1f,StateCompact").stdout.split("\n")
    assert ood[1].split("\x1f")[0] == job and ood[1].split("\x1f")[2] == "0f-uuid", ood
    psij = c.sy("squeue", "-O", "JobArrayID,StateCompact,Reason", "-t", "all", "--me").stdout
    assert re.search(rf"^{job}\s+R\s+None", psij, re.M), psij
    table = json.loads(c.sy("squeue", "--json", "-j", job).stdout)["jobs"]
    assert [j["job_id"] for j in table] == [int(job)] and table[0]["job_state"] == ["RUNNING"], table
    (c.root / "work" / "enough").touch()
    c.wait_ended(int(job))
    snakemake = c.sy("sacct", "-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State", "--starttime", since, "--endtime", "now", "--name", "0f-uuid").stdout
    assert snakemake == f"{job}|COMPLETED\n", snakemake
    submitit = c.sy("sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", job).stdout.splitlines()
    assert submitit[0] == "JobID|State|NodeList" and submitit[1].startswith(f"{job}|COMPLETED|n"), submitit
    assert submitit[2].startswith(f"{job}.batch|COMPLETED|"), submitit
    parsl = c.sy("sacct", "-X", "--noheader", "--format=jobid,state%20", "--job", job).stdout
    assert parsl.split() == [job, "COMPLETED"], parsl
    toil = c.sy("sacct", "-n", "-j", job, "--format", "JobIDRaw,State,ExitCode", "-P").stdout.splitlines()[0]
    assert toil == f"{job}|COMPLETED|0:0", toil
    reframe = subprocess.run([str(c.program("sy")), "sacct", "-S", time.strftime("%F"), "-P", "-j", job, "-o", "jobid,state,exitcode,end,nodelist"], env=dict(c.env, SLURM_TIME_FORMAT="%s"),
                             capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.fullmatch(rf"{job}\|COMPLETED\|0:0\|\d{{10}}\|n\d", reframe[1]), reframe
    fields = c.sy("sacct", "--helpformat").stdout.split()
    everything = c.sy("sacct", f"--format={','.join(fields)}", "--parsable", f"--jobs={job}").stdout.splitlines()
    assert len(everything[0].split("|")) == len(fields) + 1, everything[0]
    assert "NodeName=n1" in c.sy("scontrol", "-a", "show", "-o", "nodes", "n1").stdout
    assert c.sy("scontrol", "show", "hostname", "n[1-3]").stdout == "n1\nn2\nn3\n"
    assert "MinJobAge" in c.sy("scontrol", "show", "config").stdout
    assert c.sy("sinfo", "-a", "-o", "%P %G %l %p %c %m", "-h").stdout.startswith("main* gpu:2 "), "sinfo of Toil"
    assert c.sy("sinfo", "--version").stdout.startswith("slurm ")
    json.loads(c.sy("sacct", "--json", "-S1970-01-01-00:00:01").stdout)


def privacy(c):
    other = c.sy("sbatch", "-o", "/dev/null", "--parsable", "--wrap", "sleep 30", user="nobody").stdout.strip()
    mine = c.sy("sbatch", "-o", "/dev/null", "--parsable", "--wrap", "sleep 30").stdout.strip()
    done = c.sy("scancel", mine, user="nobody", check=False)
    assert done.returncode == 1 and "denied" in done.stderr, done.stderr
    done = c.sy("scontrol", "write", "batch_script", mine, "-", user="nobody", check=False)
    assert done.returncode == 1, done.stdout
    c.sy("scancel", "--me", user="nobody")
    assert c.wait_ended(int(other))["outcome"] == "cancelled"
    c.sy("scancel", mine)


def start_up(c):
    """Commands are started by the thousand: none loads a library that it could have inside. Sanitizers need shared ones."""
    loaded = subprocess.run(["ldd", str(c.program("sy"))], capture_output=True, text=True, check=True).stdout
    inside = c.program("sy").read_bytes()  # clang's sanitizers are linked into the program
    if not re.search("lib(asan|ubsan|tsan)", loaded) and b"__asan_init" not in inside and b"__tsan_init" not in inside:
        assert not re.search("lib(stdc|gcc_s|yaml-cpp|fmt|crypto)", loaded), loaded


def dead_controller(c):
    c.controller.stop()
    for command, words in (("squeue", "slurm_load_jobs error: Unable to contact slurm controller"), ("sinfo", "slurm_load_partitions: Unable to contact slurm controller"),
                           ("sbatch", "Batch job submission failed: Unable to contact slurm controller")):
        done = c.sy(command, *(["--wrap", "true"] if command == "sbatch" else []), check=False)
        assert done.returncode == 1 and words in done.stderr and str(c.socket) in done.stderr, (command, done.stderr)
    assert "DOWN" in c.sy("scontrol", "ping", check=False).stdout


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build/dev"
    chosen = sys.argv[2:]
    with Cluster(build) as c:
        for part in (main_job, submit_forms, refusals, queue_and_control, requeue_hold, closed_partition, nodes, third_parties, privacy, start_up, dead_controller):
            if chosen and part.__name__ not in chosen:
                continue
            part(c)
            print(f"ok: {part.__name__}", flush=True)
        c.check_logs()


if __name__ == "__main__":
    main()

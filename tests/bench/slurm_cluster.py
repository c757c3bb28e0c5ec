"""Debian's slurm-wlm 22.05 as a yardstick: one slurmctld and one slurmd on loopback in a temporary folder, without munge.
Not a fair fight in every figure (one node, no cgroups, files instead of a database): each figure says what it compares."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

CONF = """
ClusterName=yardstick
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
CryptoType=crypto/openssl
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmctldParameters=enable_configless
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MaxJobCount=200000
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class SlurmCluster:
    def __init__(self, root, cpus=64):
        self.root = pathlib.Path(root)
        self.cpus = cpus
        self.procs = []

    @staticmethod
    def available():
        return all(shutil.which(p) for p in ("slurmctld", "slurmd", "/usr/bin/sbatch"))

    def start(self):
        self.root.mkdir(parents=True, exist_ok=True)
        for d in ("state", "spool"):
            (self.root / d).mkdir(exist_ok=True)
        host = socket.gethostname().split(".")[0]
        conf = self.root / "slurm.conf"
        text = CONF.format(host=host, root=self.root, cpus=self.cpus, ctld=free_port(), slurmd=free_port())
        text = "\n".join(l for l in text.split("\n") if not l.startswith("CryptoType"))
        conf.write_text(text)
        self.env = dict(os.environ, SLURM_CONF=str(conf))
        for cmd in (["/usr/sbin/slurmctld", "-D", "-i", "-f", str(conf)], ["/usr/sbin/slurmd", "-D", "-f", str(conf), "-N", host]):
            log = open(self.root / (pathlib.Path(cmd[0]).name + ".out"), "w")
            self.procs.append(subprocess.Popen(cmd, env=self.env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            out = self.run("sinfo", "-h", "-o", "%t", check=False).stdout.strip()
            if out == "idle":
                return self
            time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"slurm did not come up: sinfo says {out!r}; logs in {self.root}")

    def run(self, *cmd, check=True):
        return subprocess.run([f"/usr/bin/{cmd[0]}", *cmd[1:]], env=self.env, capture_output=True, text=True, check=check)

    def stop(self):
        for p in reversed(self.procs):
            p.terminate()
        for p in self.procs:
            try:
                p.wait(timeout=10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()

#!/usr/bin/env python3
"""`cmake --install` lays out what a package will: programs, Slurm's names as links, units that systemd accepts, manual pages."""
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
EXPECTED = ["bin/sy", "sbin/switchyardd", "sbin/switchyard-agent", "sbin/switchyard-supervisor",
            "lib/systemd/system/switchyardd.service", "lib/systemd/system/switchyard-agent.service",
            "lib/sysusers.d/switchyard.conf", "share/doc/switchyard/examples/switchyard.yaml", "share/man/man8/switchyardd.8",
            "share/man/man8/switchyard-agent.8", "share/man/man5/switchyard.yaml.5", "share/man/man1/sy.1"]
LINKS = ["sbatch", "squeue", "scancel", "sinfo", "sacct", "scontrol"]


def main():
    with tempfile.TemporaryDirectory() as stage:
        env = dict(os.environ, DESTDIR=stage)
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", "/usr"], env=env, check=True, capture_output=True)
        usr = pathlib.Path(stage) / "usr"
        for name in EXPECTED:
            assert (usr / name).exists(), f"{name} was not installed"
        for name in LINKS:
            assert os.readlink(usr / "bin" / name) == "sy", f"bin/{name} is not a link to sy"
        for program in ("sbin/switchyardd", "sbin/switchyard-agent", "bin/sy", "sbin/switchyard-supervisor"):
            assert os.access(usr / program, os.X_OK), f"{program} can not be run"
        units = [usr / "lib/systemd/system" / u for u in ("switchyardd.service", "switchyard-agent.service")]
        # verify wants ExecStart to exist: check copies that point into the staged tree. It exits 0 even when it warns.
        for unit in units:
            text = unit.read_text()
            assert "/usr/sbin/switchyard" in text, f"{unit.name}: ExecStart does not point to /usr/sbin"
            (pathlib.Path(stage) / unit.name).write_text(text.replace("/usr/sbin/", f"{usr}/sbin/"))
        out = subprocess.run(["systemd-analyze", "verify", "--man=no", *[str(pathlib.Path(stage) / u.name) for u in units]],
                             capture_output=True, text=True, env=dict(env, SYSTEMD_LOG_LEVEL="warning"))
        complaints = [l for l in (out.stdout + out.stderr).split("\n") if "switchyard" in l]
        assert out.returncode == 0 and not complaints, "systemd-analyze verify:\n" + "\n".join(complaints or [out.stderr])
    print("the staged tree is whole")


if __name__ == "__main__":
    main()

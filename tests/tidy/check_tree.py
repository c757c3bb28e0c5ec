#!/usr/bin/env python3
"""The rules of the tree that a compiler does not check: includes go down, pure levels stay pure, heavy headers stay in
.cpp files, every header stands alone, every source belongs to a target, nothing of one machine is committed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which levels each folder may include (besides itself). The order of DESIGN section 2.
USES = {
    "base": [],
    "model": ["base"],
    "sched": ["model", "base"],
    "core": ["sched", "model", "base"],
    "wire": ["core", "sched", "model", "base"],
    "http": ["base"],
    "sim": ["wire", "core", "sched", "model", "base"],
    "daemon": ["sim", "wire", "http", "core", "sched", "model", "base"],
    "cli": ["wire", "http", "model", "base"],
    "cli/offline": ["sim", "wire", "http", "core", "sched", "model", "base", "cli"],
}
PURE = ["base", "model", "sched", "core"]
BANNED_HEADERS = {
    "thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic", "random", "fstream", "iostream", "filesystem",
    "ctime", "time.h", "unistd.h", "sys/socket.h", "fcntl.h", "pthread.h", "spdlog/spdlog.h", "nlohmann/json.hpp",
    "nlohmann/json_fwd.hpp", "yaml-cpp/yaml.h", "sqlite3.h", "semaphore", "latch", "barrier", "stop_token",
}
BANNED_WORDS = re.compile(
    r"\b(system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime|getenv|std::rand|srand|random_device|"
    r"mt19937|std::cout|std::cerr|printf|fopen|std::thread|std::mutex|thread_local|localtime|gmtime|std::time\()")
# A static or namespace-scope variable that can change is a global.
MUTABLE_STATIC = re.compile(r"^\s*static\s+(?!constexpr|const\b|inline constexpr|_assert)[A-Za-z_:<>,\s*&]+\s+\w+\s*(=|\{|;)")
HEAVY_IN_HEADERS = re.compile(r"#\s*include\s*<(nlohmann/json\.hpp|boost/asio|boost/beast)")
ALLOW_WORD = {"lib/base/assert.cpp": {"printf"}}  # a failed ASSERT must be heard before the process stops


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], cwd=ROOT,
                         capture_output=True, text=True, check=True).stdout.split("\n")
    return [p for p in out if p and (ROOT / p).is_file()]


def level_of(path):
    parts = path.split("/")
    if parts[0] == "lib":
        return parts[1]
    if parts[0] == "cli" and len(parts) > 2 and parts[1] == "offline":
        return "cli/offline"
    if parts[0] in ("daemon", "cli"):
        return parts[0]
    return None


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def strip_strings(text):
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def included_level(name):
    first = name.split("/")[0]
    if first == "cli" and name.startswith("cli/offline/"):
        return "cli/offline"
    return first if first in USES else None


def check_source(path, text, faults):
    level = level_of(path)
    if level is None:
        return
    code = strip_comments(text)
    for n, line in enumerate(code.split("\n"), 1):
        m = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if m:
            target = included_level(m.group(1))
            if target and target != level and target not in USES[level]:
                faults.append(f"{path}:{n}: {level} may not include {target} ({m.group(1)}): includes go down only")
        m = re.match(r"\s*#\s*include\s*<([^>]+)>", line)
        if m and level in PURE and (m.group(1) in BANNED_HEADERS or m.group(1).startswith("boost/")):
            faults.append(f"{path}:{n}: the pure level {level} may not use <{m.group(1)}>")
        if level in PURE:
            bare = strip_strings(line)
            for m in BANNED_WORDS.finditer(bare):
                word = m.group(1)
                if word not in ALLOW_WORD.get(path, set()):
                    faults.append(f"{path}:{n}: the pure level {level} may not use {word}")
            if MUTABLE_STATIC.match(bare) and "(" not in bare.split("=")[0]:
                faults.append(f"{path}:{n}: the pure level {level} has a variable that outlives its call: {bare.strip()}")
        if path.endswith(".hpp") and HEAVY_IN_HEADERS.match(line) and not path.startswith("lib/http/"):
            faults.append(f"{path}:{n}: a heavy header belongs in a .cpp: {line.strip()}")
    if path.endswith(".hpp"):
        if "#pragma once" not in text:
            faults.append(f"{path}: no #pragma once")
        if not text.startswith("//"):
            faults.append(f"{path}: a header opens with two sentences: what it is, and what it is not")


def check_commands(faults):
    """Every .cpp is compiled by some target of the dev build (fuzz targets only with clang)."""
    db = ROOT / "build" / "dev" / "compile_commands.json"
    if not db.exists():
        subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True, capture_output=True)
    known = {os.path.relpath(c["file"], ROOT) for c in json.loads(db.read_text())}
    for path in tracked("*.cpp"):
        if path not in known and not path.startswith(("tests/fuzz/", "tests/bench/", "tests/tidy/")):
            faults.append(f"{path}: in no target")


def check_headers(faults):
    """Each header compiles alone: one source file per header, through ccache where it is, so that only changed headers cost time."""
    folder = ROOT / "build" / "headers"
    folder.mkdir(parents=True, exist_ok=True)
    compiler = ["ccache", "g++"] if shutil.which("ccache") else ["g++"]
    environment = {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    procs = []
    for h in tracked("lib/*.hpp", "daemon/*.hpp", "cli/*.hpp"):
        while len(procs) >= (os.cpu_count() or 2):
            finish(procs.pop(0), faults)
        source = folder / (h.replace("/", "_") + ".cpp")
        text = f'#include "{h}"\n'
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        cmd = [*compiler, "-std=c++20", "-w", "-I", str(ROOT / "lib"), "-I", str(ROOT), "-c", str(source), "-o", f"{source}.o"]
        procs.append((h, subprocess.Popen(cmd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
    for p in procs:
        finish(p, faults)


def finish(entry, faults):
    header, proc = entry
    out = proc.stdout.read()
    if proc.wait() != 0:
        faults.append(f"{header}: does not stand alone:\n{out[:800]}")


def check_text(faults):
    here = str(ROOT.parent)
    everybodys = {"/", "/tmp", "/var/tmp", "/root", "/home", "/srv", "/opt", "/usr/src", "/mnt", "/build"}  # say nothing about one machine
    for path in tracked():
        try:
            text = (ROOT / path).read_text()
        except UnicodeDecodeError:
            continue
        if path.startswith("tests/fuzz/corpus"):
            continue
        if here not in everybodys and re.search(r"(^|[\s=:(,]|(?<![\w}])[\"'])" + re.escape(here) + "/", text, re.MULTILINE):
            faults.append(f"{path}: names a folder of this machine ({here})")
        if path.endswith((".cpp", ".hpp")):
            for n, line in enumerate(text.split("\n"), 1):
                if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                    faults.append(f"{path}:{n}: left open: {line.strip()}")


def check_table_of_tests(faults, text=None):
    """docs/traps.md: a promise is kept by a test; a test that is gone keeps nothing."""
    text = (ROOT / "docs" / "traps.md").read_text() if text is None else text
    for n, line in enumerate(text.split("\n"), 1):
        cell = line.rstrip(" |").rsplit(" | ", 1)[-1]
        if not line.startswith("|") or not cell.startswith("`"):
            continue
        found = re.fullmatch(r"`([^`]+)`(?:: (.+))?", cell)
        path = ROOT / "tests" / (found[1] if found else "none")
        if not path.exists() or (found[2] and found[2] not in path.read_text()):
            faults.append(f"docs/traps.md:{n}: there is no such test")


def self_test():
    """The rules can fail: each planted fault is found."""
    planted = [
        ("lib/base/x.cpp", '#include "model/job.hpp"\n', "includes go down"),
        ("lib/core/x.cpp", "#include <thread>\n", "may not use <thread>"),
        ("lib/model/x.cpp", "auto t = std::chrono::system_clock::now();\n", "system_clock"),
        ("lib/sched/x.cpp", "static int counter = 0;\n", "outlives"),
        ("daemon/api/x.hpp", "// a\n#pragma once\n#include <boost/asio.hpp>\n", "heavy"),
        ("lib/base/x.hpp", "#pragma once\n", "two sentences"),
        ("cli/x.cpp", '#include "daemon/store/store.hpp"\n', "includes go down"),
    ]
    for path, text, expected in planted:
        faults = []
        check_source(path, text, faults)
        if not any(expected in f for f in faults):
            sys.exit(f"tidy: the check for '{expected}' finds nothing in a planted fault")


    faults = []
    check_table_of_tests(faults, "| a | `unit/core/test_life.cpp`: no such name |\n| b | `unit/none.cpp`: x |\n| c | `unit/core/test_life.cpp`: |\n")
    if len(faults) != 3:
        sys.exit("tidy: the check of docs/traps.md finds nothing in planted faults")


def main():
    self_test()
    faults = []
    for path in tracked("*.cpp", "*.hpp"):
        check_source(path, (ROOT / path).read_text(), faults)
    check_text(faults)
    check_table_of_tests(faults)
    check_commands(faults)
    check_headers(faults)
    for f in faults:
        print(f"tidy: {f}")
    print(f"tidy: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

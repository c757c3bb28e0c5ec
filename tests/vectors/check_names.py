#!/usr/bin/env python3
"""Every row of the shared behaviour vectors that needs neither time nor quotas has a test named after it. The rows that belong to
the issues about time and policy are listed here; a new row that is in neither place fails."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SWITCHYARD_SHARED", ROOT / ".." / "shared")) / "vectors"

# Time, preemption, quotas.
LATER = {"N1", "N2", "N4", "N9", "N10", "N12", "N13", "N14", "N16", "SL9", "SL11", "SL12", "SL13", "VQ1"}
LATER_PREFIXES = ("KA-Q", "KA-H", "KQ-D", "KQ-F")

if not SHARED.exists():
    if os.environ.get("CI") == "true":
        sys.exit(f"{SHARED} is missing and CI=true")
    print(f"skipped: {SHARED} is not beside the checkout")
    sys.exit(0)

named = "\n".join(re.findall(r'TEST_CASE\("([^"]*)', "\n".join(p.read_text() for p in sorted((ROOT / "tests" / "unit").rglob("*.cpp")))))
rows = []
for name in ("volcano", "kai", "kueue", "koordinator", "slurm", "ours"):
    for line in (SHARED / f"{name}.md").read_text().splitlines():
        if match := re.match(r"\|\s*([A-Z][A-Z0-9.-]*\d[a-z]?)\s*\|", line):
            rows.append((match[1], f"{match[1]}: "))
for line in (SHARED / "topology-files.md").read_text().splitlines():
    if match := re.match(r"\|\s*(\d+)\s*\|", line):
        rows.append((f"topology file {match[1]}", f"topology file {match[1]}: "))

missing = [row for row, title in rows if row not in LATER and not row.startswith(LATER_PREFIXES) and title not in named]
later = sum(row in LATER or row.startswith(LATER_PREFIXES) for row, _ in rows)
print(f"{len(rows)} rows: {len(rows) - later - len(missing)} with a test of their name, {later} for later issues, {len(missing)} missing")
if missing:
    sys.exit("no test is named after: " + ", ".join(missing))

# SPDX-License-Identifier: GPL-2.0-only
"""The KUnit suites that ran at a guest's boot, judged by the kernel's own kunit.py."""

import json
import re
import subprocess
import sys

from . import REPO, Failure, read, show


def _cases(group, path=()):
    """Every test case of kunit.py's report: (name, status)."""
    for sub in group.get("sub_groups", []):
        yield from _cases(sub, path + (sub["name"],))
    for case in group.get("test_cases", []):
        yield ".".join(path + (case["name"],)), case["status"]


def suites():
    """The suites that our sources define: each must have been run."""
    return {name for source in (REPO / "kunit").glob("*_kunit.c")
            for name in re.findall(r'\.name\s*=\s*"(\w+)"', read(source))}


def results(tree, out):
    """[(case, status, reason of a skip)] of the console log in out, and the suites that did not run."""
    report = out / "report.json"
    report.unlink(missing_ok=True)
    subprocess.run([sys.executable, tree / "tools/testing/kunit/kunit.py", "parse",
                    f"--json={report}", out / "console.log"], cwd=tree,
                   stdout=open(out / "parsed.txt", "w"), stderr=subprocess.STDOUT)
    if not report.exists():
        raise Failure(f"kunit.py found no results in {show(out)}/console.log; see {show(out)}/parsed.txt")
    # kunit.py's report has no place for the reason of a skip.
    reasons = dict(re.findall(r"\bok \d+ (\w+) # SKIP (.+)", read(out / "console.log")))
    found = [(name, status, reasons.get(name.split(".")[-1], "gives no reason"))
             for name, status in _cases(json.loads(read(report)))]
    ours = suites()
    missing = sorted(ours - {name.split(".")[0] for name, _, _ in found})
    return found, missing if ours else ["any: the sources have none"]

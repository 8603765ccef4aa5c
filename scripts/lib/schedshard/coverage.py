# SPDX-License-Identifier: GPL-2.0-only
"""Line and branch coverage of the structure files, as gcov counts it."""

import gzip
import json
import os
import subprocess
from collections import defaultdict

from schedshard import REPO, Failure, Progress, show

HERE = REPO / "tools/testing/sched"
FILES = ["kernel/sched/swqueue.c", "kernel/sched/swqueue_idle.c", "kernel/sched/swqueue.h",
         "kernel/sched/cid_cache.c", "kernel/sched/cid_cache.h"]
LIMIT = 95.0


def build_and_run(out, suites=None):
    """Build with --coverage, run some suites or every one but that which must fail."""
    log = out / "coverage.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    for old in (out / "cov").glob("*.gcda"):
        old.unlink()
    jobs = min(2, os.cpu_count() or 1)
    chosen = [f"TESTS={' '.join(suites)}"] if suites else []
    with Progress("suites with coverage"), open(log, "w") as text:
        done = subprocess.run(["nice", "make", "-C", HERE, f"-j{jobs}", f"OUT={out}", f"SRC={REPO}", *chosen,
                               "coverage-run"], stdin=subprocess.DEVNULL, stdout=text, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failure(f"the suites do not build or pass with coverage; see {show(log)}")


def gcov(directory):
    """What gcov says of every object, as JSON."""
    data = sorted(directory.glob("*.gcda"))
    if not data:
        raise Failure(f"no coverage data in {show(directory)}")
    for old in directory.glob("*.gcov.json.gz"):
        old.unlink()
    # One call for each object, or those with the same base name overwrite each other.
    for file in data:
        subprocess.run(["gcov", "-b", "--json-format", file.name], cwd=directory, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        made = directory / f"{file.stem}.gcov.json.gz"
        if not made.exists():
            raise Failure(f"gcov wrote no {made.name}; its version knows another name")
        with gzip.open(made, "rt") as handle:
            yield json.load(handle)


class Source:
    """One file: how often each line ran, and each way of each branch."""

    def __init__(self, path):
        self.text = ["", *(REPO / path).read_text().splitlines()]
        self.lines = defaultdict(int)
        self._branches = defaultdict(lambda: defaultdict(list))

    def add(self, line):
        number = line["line_number"]
        self.lines[number] += line["count"]
        if not line.get("branches"):
            return
        counts = [branch["count"] for branch in line["branches"]]
        known = self._branches[number][line.get("function_name")]
        if len(known) == len(counts):
            counts = [a + b for a, b in zip(known, counts)]
        self._branches[number][line.get("function_name")] = counts

    def branches(self):
        """Per line its branches. An inlined function has them once for each
        copy: copies are laid over each other, so that one branch of the source
        is one branch."""
        for number, copies in sorted(self._branches.items()):
            size = min(len(counts) for counts in copies.values())
            if any(len(counts) % size for counts in copies.values()):
                size = max(len(counts) for counts in copies.values())
            folded = [0] * size
            for counts in copies.values():
                for index, count in enumerate(counts):
                    folded[index % size] += count
            yield number, folded


def reasons():
    """{(file, line of source): reason}, from tools/testing/sched/unreached."""
    found, where = {}, None
    for line in (HERE / "unreached").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("\t"):
            found[where] = f"{found[where]} {line.strip()}".strip()
            continue
        name, _, text = line.partition(": ")
        where = (f"kernel/sched/{name}", text.strip())
        found[where] = ""
    return found


def measure(out):
    """{file: Source} of what was run since the last build_and_run()."""
    sources = {name: Source(name) for name in FILES}
    with Progress("gcov"):
        for data in gcov(out / "cov"):
            for file in data["files"]:
                for name, source in sources.items():
                    if file["file"].endswith(f"/{name}"):
                        for line in file["lines"]:
                            source.add(line)
    return sources


def judge(sources, limit=LIMIT):
    """(lines of a report, what is wrong)."""
    known, used, bad = reasons(), set(), []
    report = [f"{'':32}{'lines':>18}{'branches':>20}"]
    for name, source in sources.items():
        branches = list(source.branches())
        if not source.lines or not branches:
            raise Failure(f"gcov says nothing about {name}")
        missed = {number: "never ran" for number, count in source.lines.items() if not count}
        for number, counts in branches:
            gone = [str(index) for index, count in enumerate(counts) if not count]
            if gone and number not in missed:
                missed[number] = f"branch {', '.join(gone)} of {len(counts)} never taken"
        ways = [count for _, counts in branches for count in counts]
        cells = []
        for what, counts in (("lines", list(source.lines.values())), ("branches", ways)):
            good = sum(count > 0 for count in counts)
            percent = 100 * good / len(counts)
            cells.append(f"{good}/{len(counts)} {percent:.2f} %")
            if percent < limit:
                bad.append(f"{name}: {percent:.2f} % of the {what}, below {limit:g} %")
        report.append(f"{name:32}{cells[0]:>18}{cells[1]:>20}")
        for number, what in sorted(missed.items()):
            text = source.text[number].strip()
            reason = known.get((name, text))
            used.add((name, text))
            if reason:
                report.append(f"  {number}: {text}\n      {what}: {reason}")
            else:
                bad.append(f"{name}:{number}: {what}, and no reason is given: {text}")
    for name, text in sorted(set(known) - used):
        bad.append(f"tools/testing/sched/unreached: out of date: {name.rpartition('/')[2]}: {text}")
    return report, bad

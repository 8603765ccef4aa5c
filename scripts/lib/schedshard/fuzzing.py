# SPDX-License-Identifier: GPL-2.0-only
"""libFuzzer on the structure files: build, replay seeds, look for more."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from schedshard import OUT, REPO, Progress, end_with_parent, show

HERE = REPO / "tools/testing/sched"
SEEDS = HERE / "fuzz/seeds"
DIR = OUT / "userspace"
TARGETS = ["swqueue", "cid_cache"]
# Longer inputs reach nothing that shorter ones do not, and are slow.
LENGTH = 1000


class Found:
    """What a run of libFuzzer ended in."""

    def __init__(self, status, text, keep):
        self.good = status == 0
        self.text = text
        self.runs = int((re.findall(r"stat::number_of_executed_units: (\d+)", text) or ["0"])[-1])
        self.reached = int((re.findall(r"\bcov: (\d+)", text) or ["0"])[-1])
        complaint = (re.search(r"^FUZZ: (.*)$", text, re.M) or re.search(r"^(SUMMARY: .*)$", text, re.M)
                     or re.search(r"^(.*runtime error: .*)$", text, re.M))
        self.why = complaint.group(1) if complaint else text.strip().rpartition("\n")[2]
        made = re.search(r"Test unit written to (\S+)", text)
        self.input = made.group(1) if made else None
        self.keep = keep

    def __str__(self):
        if self.good:
            return f"{self.runs} inputs, {self.reached} places reached, nothing found"
        again = f"; run it again with: FUZZ_TRACE=1 {show(self.keep)} {show(self.input)}" if self.input else ""
        return f"FOUND: {self.why}{again}"


def build(targets, out=DIR, src=REPO, extra=()):
    """None, or what the build said."""
    jobs = min(2, os.cpu_count() or 1)
    done = subprocess.run(["nice", "make", "-C", HERE, f"-j{jobs}", f"OUT={out}", f"SRC={src}", *extra,
                           *(f"{out}/fuzz/{name}" for name in targets)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode == 0 else done.stdout


def call(name, arguments, log, out, timeout):
    program = out / "fuzz" / name
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1"}
    artifacts = out / "found"
    artifacts.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["nice", program, f"-artifact_prefix={artifacts}/{name}-", "-print_final_stats=1",
                               *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, env=env, preexec_fn=end_with_parent)
        status, text = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        status, text = "timeout", (late.stdout or b"").decode(errors="replace") + f"\nno end after {timeout} s\n"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    return Found(status, text, program)


def replay(name, out=DIR):
    """Every seed once."""
    seeds = sorted(str(path) for path in (SEEDS / name).iterdir())
    found = call(name, seeds, out / "fuzz" / f"{name}.replay.log", out, 300)
    ran = found.text.count("Running: ")
    if found.good and ran != len(seeds):
        found.good, found.why = False, f"{ran} of {len(seeds)} seeds ran"
    found.runs = ran
    return found


def run(name, seconds, out=DIR, seeds=True, keep=True):
    """So long, from the seeds and what was kept, or from nothing at all."""
    corpus = out / "corpus" / name
    if not keep:
        shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True, exist_ok=True)
    with Progress(f"fuzz {name} for {seconds} s"):
        return call(name, [f"-max_total_time={seconds}", f"-max_len={LENGTH}", "-timeout=60", str(corpus),
                           *([str(Path(SEEDS / name))] if seeds else [])],
                    out / "fuzz" / f"{name}.log", out, seconds + 300)

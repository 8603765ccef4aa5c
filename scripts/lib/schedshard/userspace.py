# SPDX-License-Identifier: GPL-2.0-only
"""The suites of tools/testing/sched/ as programs: build them, of the sources as
they are or of a copy that was broken on purpose, run them, and say which test
noticed."""

import os
import re
import resource
import shutil
import subprocess

from . import OUT, REPO, Failure, show

HERE = REPO / "tools/testing/sched"
DIR = OUT / "userspace"
JOBS = min(2, os.cpu_count() or 1)
# Breakages by feature; those in here need a guest, see gluemutants.py.
GLUE = HERE / "breaks/glue"
# Parameters of the suites, as for modules: how long each way to run them goes on.
PARAMS = {
    "asan": ["swqueue_race_kunit.steps=1000000", "swqueue_ops_kunit.steps=200000"],
    "tsan": ["swqueue_race_kunit.steps=100000", "swqueue_race_kunit.runtime_ms=2000"],
    "break": ["swqueue_race_kunit.steps=400000", "swqueue_ops_kunit.steps=100000"],
}


def tools():
    """Fail unless what every build here needs is installed."""
    for tool, package in (("make", "make"), ("gcc", "gcc"), ("patch", "patch")):
        if not shutil.which(tool):
            raise Failure(f"'{tool}' is missing; install the package {package}")


def run(command, log, timeout=900, **kwargs):
    """Exit status and output; the output goes to a log as well."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, **kwargs)
        status, text = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        status = "timeout"
        text = (late.stdout or b"").decode(errors="replace") + f"\nstopped after {timeout} s\n"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    return status, text


def build(variants, out=DIR, src=REPO, extra=()):
    return make([f"{out}/{variant}/kunit" for variant in variants], out, src, extra)


def make(targets, out=DIR, src=REPO, extra=()):
    if not targets:
        return None
    status, text = run(["nice", "make", "-C", HERE, f"-j{JOBS}", f"OUT={out}", f"SRC={src}", *extra, *targets],
                       out / "build.log")
    return None if status == 0 else text


def kunit(variant, args, log, out=DIR, timeout=900, cpu=None):
    """Run suites; @cpu: seconds of processor time, which a busy machine does not shorten."""
    flags = [item for param in PARAMS.get(args[0], []) for item in ("--param", param)]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1",
           "TSAN_OPTIONS": "halt_on_error=0"}
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))) if cpu else None
    return run(["nice", out / variant / "kunit", *flags, *args[1:]], log, timeout, env=env, preexec_fn=limit)


def names(variant):
    """The cases that are built in, as suite.case."""
    done = subprocess.run([DIR / variant / "kunit", "--list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def explorer(words, options, log, out=DIR):
    """Its exit status, its last words, and whether it has seen every state."""
    status, text = run(["nice", f"{out}/explore/cid_explore-{words}", *options.split()], log)
    ends = [line for line in text.splitlines() if " states, " in line and " transitions, " in line]
    return status, text, ends[-1] if ends else ""


def first_failure(text):
    """Which case turned red, and by what."""
    match = (re.search(r"^# (?:stopped at the first failure|no end in sight, stopped in): (\S+.*)$", text, re.M)
             or re.search(r"sanitizer report (?:above|below): in (\S+)", text))
    why = re.search(r"^ *# \S+: (.*(?:FAILED|WARNING|BUG).*)$", text, re.M) or re.search(r"^SUMMARY: (.*)$", text, re.M)
    return (match.group(1) if match else "?"), (why.group(1) if why else "no reason given")


def copied(work, src=REPO):
    """A copy of the sources to break, in work/src."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "src").mkdir(parents=True)
    for part in ("kernel", "include", "kunit"):
        if (src / part).is_dir():
            shutil.copytree(src / part, work / "src" / part)


def patched(patch, work):
    """Copy the sources and apply a breakage; what patch said if it does not fit."""
    copied(work)
    status, text = run(["patch", "-p1", "-F0", "--no-backup-if-mismatch", "-i", patch], work / "patch.log",
                       cwd=work / "src")
    return text if status or re.search(r"fuzz|FAILED", text) else None


def patches():
    """The breakages that suites in userspace have to notice."""
    return sorted(path for path in (HERE / "breaks").glob("*/*.patch") if path.parent != GLUE)


def glue_patches():
    return sorted(GLUE.glob("*.patch"))


def keys(patch):
    """What the head of a breakage says of it: which test sees it, in which build."""
    head = patch.read_text().partition("\n--- ")[0]
    return dict(re.findall(r"^(Caught-by|Build): (\S+)$", head, re.M))


def suites_of(feature, variant):
    """The suites of a feature, in the order in which they say most, and soonest."""
    mine = sorted({case.split(".")[0] for case in names(variant)
                   if case.startswith(feature) and not case.startswith("red.")})
    # What was written for a certain race says most; what takes long comes last.
    return sorted(mine, key=lambda suite: (bool(re.search(r"random|threads", suite)), "steps" not in suite, suite))


def build_broken(variant, work, extra=("WERROR=",)):
    """Build the suites of work/src; what the compiler said if that fails."""
    # Copies keep their times, so only what differs is built again.
    shutil.copytree(DIR / variant, work / variant, copy_function=shutil.copy2)
    return build([variant], work, work / "src", extra)


def turns_red(variant, suites, work, seconds=60, params="break"):
    """Which test notices what is broken in work/, and by what; None if none does.

    A suite gets so many seconds of processor time, and a case ten times as long by the
    clock, for what waits and does not turn.
    """
    for suite in suites:
        status, text = kunit(variant, [params, "--stop", "--timeout", str(10 * seconds), suite], work / "log", work,
                             20 * seconds, seconds)
        if status:
            return first_failure(text)
    return None


def broken(patch):
    """Build one breakage and run the suites of its feature until one is red."""
    feature, name, head = patch.parent.name, patch.stem, keys(patch)
    variant = head.get("Build", "plain")
    work = DIR / "breaks" / feature / name
    text = patched(patch, work)
    if text:
        return "failed", "the patch does not apply", text
    text = build_broken(variant, work)
    if text:
        return "failed", "does not build", text[-2000:]
    mine = [head["Caught-by"]] if "Caught-by" in head else suites_of(feature, variant)
    if red := turns_red(variant, mine, work):
        # A suite that ends in some other way has noticed nothing.
        if red[0] == "?" or "Caught-by" in head and head["Caught-by"] not in red[0]:
            return "failed", f"red, but not by {' or '.join(mine)}: {red[0]}", red[1]
        return "passed", f"red, by {red[0]}", red[1]
    return "failed", "still green", f"none of {', '.join(mine)} noticed; see {show(work / 'log')}"

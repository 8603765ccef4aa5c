# SPDX-License-Identifier: GPL-2.0-only
"""Other people's tests in a guest: which, how to get them there, and what the
results of two kernels beside each other mean."""

import fnmatch
import os
import shutil
import subprocess

from . import OUT, Failure, Progress, guest, kbuild, pgsql, run_logged, show, write

STATUSES = ("pass", "fail", "skip")
KSFT_SKIP = "4"
# What stress-ng says of a stressor that it could not run: for want of memory, of the
# system call, or on this machine.
STRESS_SKIP = "3,4,5"
# Stressors of the class "scheduler" that are left out, and why.
NO_STRESS = {"softlockup": "its purpose is to set off the detector that fails the guest",
             "cyclic": "cyclictest measures the same"}
RT = {
    "cyclictest": "cyclictest -q -m -S -p 80 -i 2000 -D {s}",
    "pi_stress": "pi_stress -q -D {s} -g 2",
    "signaltest": "signaltest -q -t 4 -D {s}",
    "ptsematest": "ptsematest -q -t 4 -p 80 -i 2000 -D {s}",
    "sigwaittest": "sigwaittest -q -t 4 -p 80 -i 2000 -D {s}",
    "svsematest": "svsematest -q -t 4 -p 80 -i 2000 -D {s}",
    "pmqtest": "pmqtest -q -t 4 -p 80 -i 2000 -D {s}",
    "rt-migrate-test": "rt-migrate-test -q -l {s}",
    "ssdd": "ssdd -q -f 4 -i 500",
    "pip_stress": "pip_stress",
    "cyclicdeadline": "cyclicdeadline -q -D {s}",
}
PROGRAMS = ["bash", "hackbench", "lscpu", "mount", "setpriv", "stress-ng", "taskset", *RT]
DIRECTORIES = ["rseq", "membarrier", "sched", "cgroup", "cpu-hotplug"]
RSEQ = {"spinlock": "-T s", "list": "-T l", "buffer": "-T b", "buffer with barrier": "-T b -M", "memcpy": "-T m",
        "memcpy with barrier": "-T m -M", "increment": "-T i", "membarrier": "-T r"}


def selftests(kernel, out):
    """The kernel's own tests, compiled from its tree. The directory that has them."""
    built, log = out / "selftests", out / "selftests.log"
    built.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    headers = out / "headers"
    headers.mkdir(exist_ok=True)
    env = kbuild.Kernel.make_env()
    with kernel.grafted(), Progress("compiling the kernel's selftests"):
        make = ["nice", "make", "-s", f"-j{os.cpu_count()}", "ARCH=x86_64"]
        good = run_logged([*make, "-C", kernel.tree, f"O={headers}", "headers"], log, env=env)
        for name in DIRECTORIES:
            if not good:
                break
            (built / name).mkdir(exist_ok=True)
            good = run_logged([*make, "-C", kernel.tree / "tools/testing/selftests" / name, f"OUTPUT={built / name}",
                               f"KHDR_INCLUDES=-isystem {headers}/usr/include", "all"], log, env=env)
        if not good:
            raise Failure(f"the kernel's selftests do not compile: {kbuild.first_errors(log)}")
        for name in DIRECTORIES:
            for script in (kernel.tree / "tools/testing/selftests" / name).glob("*.sh"):
                shutil.copy2(script, built / name / script.name)
    return built


def stressors():
    """What stress-ng has in its class "scheduler"."""
    said = subprocess.run(["stress-ng", "--class", "scheduler?"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True).stdout
    names = said.partition("stressors:")[2].split()
    if len(names) < 20:
        raise Failure(f"'stress-ng --class scheduler?' names {len(names)} stressors; it said: {said.strip()[:200]}")
    return [name for name in names if name not in NO_STRESS]


def tests(built, cpus, seconds):
    """(name, seconds it may take, directory, statuses that are a skip, command) of each test."""
    found = []

    def add(name, limit, directory, skips, command):
        found.append((name, limit, directory, skips, command))

    for name in ("basic_test", "basic_percpu_ops_test", "basic_percpu_ops_mm_cid_test"):
        add(f"rseq {name}", 600, "/outside/rseq", KSFT_SKIP, f"./{name}")
    for program in ("param_test", "param_test_compare_twice", "param_test_mm_cid", "param_test_mm_cid_compare_twice"):
        for what, words in RSEQ.items():
            add(f"rseq {program} {what}", 600, "/outside/rseq", KSFT_SKIP, f"./{program} {words} -r 100 -t {3 * cpus}")
        # Preemption forced into the sequences: 100 loops there, a yield now and then.
        add(f"rseq {program} list, disturbed", 600, "/outside/rseq", KSFT_SKIP,
            f"./{program} -T l -r 20 -t {3 * cpus} -1 100 -6 100 -m 50 -y")
    add("sched cs_prctl_test", 120, "/outside/sched", KSFT_SKIP, "./cs_prctl_test")
    for program in ("single", "multi"):
        add(f"membarrier {program}_thread", 120, "/outside/membarrier", KSFT_SKIP,
            f"./membarrier_test_{program}_thread")
    add("cpu-hotplug on-off", 300, "/outside/cpu-hotplug", KSFT_SKIP, "bash ./cpu-on-off-test.sh -a")
    for program in ("test_core", "test_cpu", "test_cpuset", "test_kill", "test_freezer"):
        add(f"cgroup {program}", 300, "/outside/cgroup", KSFT_SKIP, f"./{program}")
    add("cgroup test_cpuset_prs", 900, "/outside/cgroup", KSFT_SKIP, "bash ./test_cpuset_prs.sh")
    for words in ("-g 4", "-g 4 -T", "-g 4 -p", "-g 4 -T -p"):
        add(f"hackbench {words}", 180, "/tmp", "", f"hackbench {words} -f 5 -l {20 * seconds}")
    for name, command in RT.items():
        add(f"rt-tests {name}", 60 + 10 * seconds, "/tmp", "", command.format(s=seconds))
    for name in stressors():
        add(f"stress-ng {name}", 60 + 10 * seconds, "/tmp", STRESS_SKIP,
            f"stress-ng --{name} 2 -t {seconds} --verify --oomable --temp-path /tmp")
    add("sysbench PostgreSQL", 300 + 10 * seconds, "/tmp", "",
        f"THREADS={cpus} SECONDS={3 * seconds} USER={pgsql.USER} TABLES={pgsql.TABLES} ROWS={pgsql.ROWS} "
        "sh /job/pgsql.sh && grep -q 'transactions: *[1-9]' /tmp/out")
    for name, limit, directory, skips, command in found:
        if "|" in name + command + directory:
            raise Failure(f"the test '{name}' has a '|' in it, which the list for the guest cannot have")
    return found


def chosen(every, patterns):
    if not patterns:
        return every
    picked = [test for test in every if any(fnmatch.fnmatch(test[0], pattern) for pattern in patterns)]
    if not picked:
        raise Failure(f"no test is named like {' or '.join(patterns)}; there are: "
                      f"{', '.join(test[0] for test in every)}")
    return picked


def must_have_run(picked, results):
    """A comparison needs something to compare: Failure unless stock came to all of it and passes some."""
    stock = results["stock"]
    missing = [test[0] for test in picked if stock.get(test[0], "missing") == "missing"]
    if missing:
        raise Failure(f"{len(missing)} of {len(picked)} tests did not run on the stock kernel, from '{missing[0]}' on; "
                      f"see {show(OUT)}/outside/stock/console.log")
    if not any(stock[test[0]] == "pass" for test in picked):
        raise Failure(f"none of {len(picked)} tests passes on the stock kernel, so nothing can be compared")


def run(image, features, picked, built, *, logs, shape, accel):
    """What one kernel makes of the tests: {name: status} of tests and cases, notes, and its own trouble or None."""
    logs.mkdir(parents=True, exist_ok=True)
    listing = logs / "list"
    write(listing, "".join("|".join(map(str, test)) + "\n" for test in picked))
    data, folders = [("outside/list", listing)], []
    for path in sorted(built.rglob("*")):
        if path.is_file() and path.suffix not in (".o", ".d"):
            data.append((f"outside/{path.relative_to(built)}", path))
    if any(test[0].startswith("sysbench") for test in picked):
        more, folders = pgsql.files(pgsql.prepare())
        data += more
    booted = guest.Guest(
        image, f"FEATURES={features} LD_LIBRARY_PATH=/outside/rseq exec sh /job/outside.sh", logs=logs, shape=shape,
        accel=accel, memory=4096, programs=PROGRAMS, files=[("bin/bash", "/bin/bash")], data=data, folders=folders,
        append=f"sched_cid_cache={features}", title=f"outside, features {features}",
        timeout=300 + sum(int(test[1]) for test in picked))
    trouble = None
    try:
        booted.run()
    except Failure as failure:
        trouble = str(failure)
    # What the guest does not come to is no result, and must not look like one.
    results, notes = {test[0]: "missing" for test in picked}, {}
    for line in booted.values("test"):
        name, how, status, took = line.rsplit("|", 3)
        results[name] = how
        notes.setdefault(name, []).append(f"status {status} after {took} s")
    for line in booted.values("case"):
        name, how = line.rsplit("|", 1)
        # The same case again, for one that loops: the worse counts.
        if how != "pass" or name not in results or results[name] == "missing":
            results[name] = how
    for line in booted.values("note"):
        name, _, text = line.partition("|")
        notes.setdefault(name, []).append(text)
    results["the kernel's log is clean"] = "fail" if trouble else "pass"
    if trouble:
        notes["the kernel's log is clean"] = trouble.splitlines()
    return results, notes


def compare(stock, grafted):
    """{name: kind}: same, regression, better, other.

    A test that passes on stock and does anything else on the grafted kernel, or is
    not told of there, is a regression: a skip is no pass.
    """
    kinds = {}
    for name in {**stock, **grafted}:
        before, after = stock.get(name, "missing"), grafted.get(name, "missing")
        if before == after:
            kinds[name] = "same"
        elif before == "pass":
            kinds[name] = "regression"
        elif after == "pass":
            kinds[name] = "better"
        else:
            kinds[name] = "other"
    return kinds


def test_of(name, picked):
    """The test that a case belongs to; None for what is not one of them."""
    names = [test[0] for test in picked if name == test[0] or name.startswith(f"{test[0]}: ")]
    return max(names, key=len) if names else None


def settle(name, runs):
    """A regression seen in the first of some runs, [(stock, grafted)]: does it stay one?

    Tests that measure time fail now and then on any kernel. It stays one unless
    the grafted kernel passed in one of the repeats.
    """
    later = [grafted.get(name, "missing") for _, grafted in runs[1:]]
    return "regression" if not later or "pass" not in later else "unsteady"


def table(stock, grafted, kinds, verbose=False):
    """Aligned text: what differs or fails in full, what passes on both as a number unless verbose."""
    shown = [name for name in kinds if verbose or kinds[name] != "same" or stock.get(name) != "pass"]
    width = max([len(name) for name in shown] + [20])
    lines = [f"{'test':{width}}  {'stock':8} {'grafted':8}"]
    lines += [f"{name:{width}}  {stock.get(name, 'missing'):8} {grafted.get(name, 'missing'):8}"
              f"{'' if kinds[name] == 'same' else ' ' + kinds[name]}" for name in shown]
    count = {how: sum(kinds[name] == "same" and stock.get(name) == how for name in kinds) for how in STATUSES}
    lines += ["", ", ".join(f"{count[how]} {word} on both" for how, word in
                            (("pass", "pass"), ("fail", "fail"), ("skip", "are skipped")))]
    lines += [", ".join(f"{sum(kind == what for kind in kinds.values())} {word}" for what, word in (
        ("regression", "regressions"), ("unsteady", "unsteady"), ("better", "pass on the grafted kernel only"),
        ("other", "differ otherwise")))]
    return "\n".join(lines)

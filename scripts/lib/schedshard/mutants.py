# SPDX-License-Identifier: GPL-2.0-only
"""Which tests notice small breakages of the structure files: generated ones, see
mutate.py, and those of tools/testing/sched/breaks/."""

import random
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from . import OUT, REPO, Failure, Progress, mutate, read, show
from .userspace import (DIR, HERE, JOBS, broken, build, build_broken, copied, explorer, make, patches, suites_of,
                        turns_red)

WORK = OUT / "mutants"
FILES = ["swqueue.c", "swqueue_idle.c", "swqueue.h", "cid_cache.c", "cid_cache.h"]
EXPLAINED = HERE / "mutants-explained"
# Classes of explanations. What is 'order' is a fault all the same, so it lowers the score.
CLASSES = {"equivalent": "nothing that anybody can see changes",
           "performance": "the result is the same, but later or for more",
           "check": "a check of what cannot be; without a fault elsewhere nothing changes",
           "order": "a fault that no x86 and no TSan shows; a litmus test or a model argues it"}
# The quickest of the machines that the explorer goes through.
EXPLORE = (1, "--cpus 2 --mms 2 --threads 3 --evict")
SECONDS = 20


def enumerate_all(files=None):
    return [mutant for file in files or FILES
            for mutant in mutate.mutants(file, (REPO / "kernel/sched" / file).read_text())]


def explanations():
    """{key of a mutant: (class, reason)}; a key is its file, function, old and new text."""
    found, key = {}, None
    for number, line in enumerate(read(EXPLAINED).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line[0].isspace():
            key = line.strip()
            if key in found:
                raise Failure(f"{show(EXPLAINED)}:{number}: explained twice")
            found[key] = ("", "")
        elif key is None:
            raise Failure(f"{show(EXPLAINED)}:{number}: a reason without a mutant")
        else:
            kind, text = found[key]
            if not kind:
                kind, _, rest = line.strip().partition(": ")
                if kind not in CLASSES:
                    raise Failure(f"{show(EXPLAINED)}:{number}: a reason begins with one of "
                                  f"{', '.join(f'{name}:' for name in CLASSES)}")
                found[key] = (kind, rest)
            else:
                found[key] = (kind, f"{text} {line.strip()}")
    for key, (kind, text) in found.items():
        if not text:
            raise Failure(f"{show(EXPLAINED)}: no reason for '{key}'")
    return found


def stale(explained):
    """Explanations of what cannot be made of the sources any more."""
    there = {mutant.key for mutant in enumerate_all()}
    return [key for key in explained if key not in there]


def changed_objects(work):
    """Which objects differ in their code from those of the sources as they are."""
    mine, theirs = work / "plain", DIR / "plain"
    newer = [path.name for path in mine.glob("*.c.o") if path.stat().st_mtime_ns !=
             (theirs / path.name).stat().st_mtime_ns]
    def code(path):
        return subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path.name], cwd=path.parent, text=True,
                              stdout=subprocess.PIPE, check=True).stdout
    return [name for name in newer if code(mine / name) != code(theirs / name)]


def judge(mutant, where, variants):
    """Status of a mutant, by what, and why: killed, survived, 'same code' or 'no build'."""
    feature = feature_of(mutant.file)
    work = WORK / "work" / where
    copied(work, WORK / "snapshot/src")
    target = work / "src/kernel/sched" / mutant.file
    target.write_text(mutant.apply(target.read_text()))
    text = build_broken("plain", work)
    if text:
        return "no build", "compiler", next((line for line in text.splitlines() if "error:" in line), text[-200:])
    warning = re.search(r"warning: .*", read(work / "build.log"))
    # Without order the code may well be the same here and not elsewhere.
    if mutant.operator != "order" and not changed_objects(work):
        return "same code", "compiler", "the compiler makes the same of it"
    suites = suites_of(feature, "plain")
    if mutant.operator == "order":
        suites.sort(key=lambda suite: "barriers" not in suite)
    if red := turns_red("plain", suites, work, SECONDS):
        return "killed", *red
    if not variants:
        return "survived", "", ""
    if feature == "cid_cache":
        words, options = EXPLORE
        text = make([f"{work}/explore/cid_explore-{words}"], work, work / "src", ["WERROR="])
        status, said, _ = (0, text, "") if text else explorer(words, options, work / "log", work)
        if status:
            why = [line for line in said.splitlines() if "ERROR" in line]
            return "killed", "explorer", why[0] if why else f"status {status}"
    for variant in variants:
        text = build_broken(variant, work)
        if text:
            return "killed", f"compiler of {variant}", text[-200:]
        if red := turns_red(variant, suites, work, 2 * SECONDS, "break" if variant == "asan" else "tsan"):
            return "killed", f"{red[0]} under {variant}", red[1]
    if warning:
        return "killed", "compiler warning", warning.group()
    return "survived", "", ""


def entry(mutant, number, variants):
    start = time.monotonic()
    where = f"{number}"
    status, by, why = judge(mutant, where, variants)
    shutil.rmtree(WORK / "work" / where, ignore_errors=True)
    return {"mutant": mutant.key, "file": mutant.file, "line": mutant.line, "function": mutant.function,
            "operator": mutant.operator, "old": mutant.old, "new": mutant.new, "status": status, "by": by, "why": why,
            "seconds": round(time.monotonic() - start, 1)}


def hand_made(patch):
    start = time.monotonic()
    status, by, why = broken(patch)
    text = patch.read_text()
    match = re.search(r"^--- a/\S*?([^/\s]+)$.*?^@@ -(\d+)", text, re.M | re.S)
    shutil.rmtree(DIR / "breaks" / patch.parent.name / patch.stem, ignore_errors=True)
    return {"mutant": f"{patch.parent.name}/{patch.stem}", "file": match.group(1), "line": int(match.group(2)),
            "function": "", "operator": "hand-made", "old": "", "new": text.partition("\n")[0].partition(": ")[2],
            "status": "killed" if status == "passed" else "survived", "by": by.removeprefix("red, by "), "why": why,
            "seconds": round(time.monotonic() - start, 1)}


@contextmanager
def stoppable(workers):
    """Whoever interrupts need not wait for what has not begun."""
    try:
        yield workers
    finally:
        workers.shutdown(cancel_futures=True)


def run(number, seed, files=None, only=None, hand=False, variants=("asan", "tsan")):
    """Judge that many generated mutants that build, chosen by a seed, and perhaps the hand-made ones."""
    pool = [mutant for mutant in enumerate_all(files) if not only or any(text in mutant.key for text in only)]
    if not pool:
        raise Failure("no such mutants; see --list")
    random.Random(seed).shuffle(pool)
    explained = explanations()
    # Where nothing wrong can be noticed, the suites as such are enough to contradict.
    full = [variants if explained.get(mutant.key, ("order",))[0] == "order" else () for mutant in pool]
    breaks = patches() if hand else []
    entries, begun = [], 0
    # All of them of the same sources, whatever is edited meanwhile.
    copied(WORK / "snapshot")
    with Progress(f"{min(number, len(pool)) + len(breaks)} mutants") as progress, \
            stoppable(ThreadPoolExecutor(JOBS)) as workers, open(WORK / "log", "w") as log:
        def collect(found):
            for item in found:
                entries.append(item)
                print(f"{item['status']}: {item['mutant']}: {item['by']}", file=log, flush=True)
                killed = sum(item["status"] == "killed" for item in entries)
                progress.note = f"{len(entries)} done, {killed} killed"
        # Those that do not build are replaced by others, in the order of the shuffle.
        while begun < len(pool) and (lack := number - sum(item["status"] != "no build" for item in entries)) > 0:
            some = pool[begun:begun + lack]
            collect(workers.map(entry, some, range(begun, begun + len(some)),
                                full[begun:begun + lack]))
            begun += len(some)
        collect(workers.map(hand_made, breaks))
    if sum(item["status"] == "no build" for item in entries) > len(entries) // 5:
        raise Failure(f"many mutants do not build: {entries[0]['why']}; see {show(WORK / 'log')}")
    for item in entries:
        kind, reason = explained.get(item["mutant"], ("", ""))
        item["class"], item["reason"] = kind, reason
    return sorted(entries, key=lambda item: (item["operator"] == "hand-made", item["file"], item["line"],
                                             item["mutant"]))


def feature_of(file):
    return "swqueue" if file.startswith("swqueue") else "cid_cache"


def baseline(variants=("plain",), files=None):
    """Without any breakage the suites have to be green, or every mutant seems killed."""
    for feature in sorted({feature_of(file) for file in files or FILES}):
        for variant in variants:
            if red := turns_red(variant, suites_of(feature, variant), DIR, 2 * SECONDS,
                                "tsan" if variant == "tsan" else "break"):
                raise Failure(f"the suites are red without a mutant: {red[0]} ({variant}): {red[1]}; "
                              "see scripts/test-userspace")


def prepare(variants=("plain", "asan", "tsan")):
    text = build(variants)
    if text:
        raise Failure(f"the suites do not build; see {show(DIR / 'build.log')}")


def score(entries):
    """Counts, and the killed among those that are no equivalents, in percent."""
    counts = {status: sum(item["status"] == status for item in entries)
              for status in ("killed", "survived", "same code", "no build")}
    left = [item for item in entries if item["status"] == "survived"]
    counts["explained"] = sum(bool(item["class"]) for item in left)
    counts["faults"] = sum(item["class"] in ("", "order") for item in left)
    total = counts["killed"] + counts["faults"]
    return counts, 100.0 * counts["killed"] / total if total else 0.0


def complaints(entries):
    """What must not be: survivors that nobody explains, explanations that do not hold."""
    found = [f"survived: {item['file']}:{item['line']}: {item['mutant']}" for item in entries
             if item["status"] == "survived" and not item["class"]]
    found += [f"explained, but killed by {item['by']}: {item['mutant']}" for item in entries
              if item["status"] == "killed" and item["class"]]
    return found + [f"explained, but no such mutant can be made any more: {key}" for key in stale(explanations())]

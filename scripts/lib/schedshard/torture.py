# SPDX-License-Identifier: GPL-2.0-only
"""The torture test in a guest, and what its console log says of it."""

import re

from . import Failure, guest

# What shard_torture.broken does wrong, by number.
BROKEN = {"1": "steals ids without cmpxchg", "2": "forgets to publish", "3": "re-shards without a sweep"}
CLEAN = ["bound", "shuffled"]


def verdicts(console):
    """[(verdict, what was found, the last statistics)] of each run in a console log that was begun.

    The verdict of one that has none is None.
    """
    found = []
    for line in console.replace("\r", "").splitlines():
        match = re.search(r"shard-torture:\s*(.*)", line)
        if not match:
            continue
        text = match.group(1)
        if text.startswith("--- Start of test"):
            found.append([None, [], {}])
        elif not found:
            continue
        elif text.startswith("!!!"):
            found[-1][1].append(text[3:].strip())
        elif end := re.match(r"--- End of test: (\w+)", text):
            found[-1][0] = end.group(1)
        elif match := re.match(r"(queue|looks|ids): (.*)|(judgements \d+)", text):
            found[-1][2][match.group(1) or "judgements"] = match.group(2) or match.group(3)
    return [tuple(run) for run in found]


def judge(console, acts):
    """[(act, good, sentence)]: a run without a verdict, or with one that what it found belies, is a failure."""
    runs, judged = verdicts(console), []
    for number, act in enumerate(acts):
        what = f"broken={act}, {BROKEN[act]}" if act in BROKEN else act
        if number >= len(runs):
            judged.append((act, False, f"{what}: it did not start"))
            continue
        verdict, found, stats = runs[number]
        if verdict not in ("SUCCESS", "FAILURE"):
            judged.append((act, False, f"{what}: no verdict"))
        elif verdict == "FAILURE" or found:
            judged.append((act, False, f"{what}: {verdict}: {'; '.join(found) or 'no reason given'}"))
        elif set(stats) != {"queue", "looks", "ids", "judgements"}:
            judged.append((act, False, f"{what}: {verdict}, but no statistics"))
        else:
            judged.append((act, True, f"{what}: {verdict}; {stats['judgements']}; queue: {stats['queue']} "
                                      f"{stats['looks']}; ids: {stats['ids']}"))
    return judged


def run(image, acts, seconds, *, logs, shape, accel):
    """Boot and play the acts. What is judged, and what the guest itself complained of or None."""
    booted = guest.Guest(image, f"ACTS='{' '.join(acts)}' DURATION={seconds} exec sh /job/torture.sh", logs=logs,
                         shape=shape, accel=accel, title="torture", timeout=300 + len(acts) * (2 * seconds + 60),
                         append="kunit.enable=0", programs=["hackbench"])
    trouble = None
    try:
        booted.run()
    except Failure as failure:
        trouble = str(failure)
    return judge(booted.console.read_text(errors="replace"), acts), trouble

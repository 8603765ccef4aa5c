# SPDX-License-Identifier: GPL-2.0-only
"""The second table of 'make run': concurrency ids, the kernel's own allocator
against the CID cache, one image booted twice."""

from . import GUEST, Failure, guest

LOADS = {"wander": "100 threads asleep, 2 wander", "pool": "4 threads per CPU, half a CPU's worth run",
         "hackbench": "hackbench, threads", "pingpong": "two processes of nine threads"}
ARMS = {"stock": "stock", "cache": "CID cache", "packed": "keep_ms 0"}

# A switch to a user thread counts in exactly one of these.
PATHS = ["hand_over", "single", "hit", "last_id", "own_id", "free_id", "stolen", "compacted", "slow"]


def _boot(image, accel, shape, logs, environment, append, title):
    """The samples of one boot, {(load, arm): {name: value}}, and the guest."""
    files = [(f"usr/bin/{name}", guest.compile_static(GUEST / f"{name}.c", logs)) for name in ("cidprobe", "costs")]
    booted = guest.Guest(image, f"{environment} exec sh /job/cidrun.sh", logs=logs, shape=shape, accel=accel,
                         timeout=1800, append=append, programs=["hackbench"], files=files, title=title).run()
    samples = {}
    for line in booted.values("cidrun"):
        load, name, *words = line.split()
        samples[load, name] = dict(part.split("=") for part in words)
    return samples, booted


def keep(image, accel, shape, logs, values, ms):
    """The samples under each of some values of keep_ms."""
    environment = f"ARM=keep MS={ms} KEEP='{' '.join(map(str, values))}'"
    return _boot(image, accel, shape, logs, environment, "sched_cid_cache=on", "keep_ms")[0]


def measure(image, accel, shape, logs, ms):
    """The samples of two boots, as loads and arms."""
    samples, keep_ms = {}, None
    for arm, word in (("stock", "off"), ("cache", "on")):
        taken, booted = _boot(image, accel, shape, logs / f"cid-{word}", f"ARM={arm} MS={ms}",
                              f"sched_cid_cache={word}", f"ids, sched_cid_cache={word}")
        samples.update(taken)
        keep_ms = (booted.values("keep_ms") or [keep_ms])[0]
    return {"keep_ms": int(keep_ms), "loads": [_load(load, samples) for load in LOADS]}


def _load(load, samples):
    arms = []
    for arm, name in ARMS.items():
        taken = samples.get((load, arm))
        if not taken or not int(taken["switches"]):
            raise Failure(f"nothing was measured under '{LOADS[load]}' with '{name}'")
        line = {"name": name, "switches": int(taken["switches"]),
                "highest_id": int(taken["highest"]) if taken["highest"] else None}
        if arm != "stock":
            line["counters"] = {key: int(value) for key, value in taken.items()
                                if key not in ("running", "switches", "highest", "moved", "turns")}
            line["user_switches"] = sum(line["counters"][path] for path in PATHS)
            if not line["user_switches"]:
                raise Failure(f"the CID cache counted nothing under '{LOADS[load]}'")
        arms.append(line)
    running = samples[load, "stock"]["running"]
    return {"name": LOADS[load], "running": None if running == "-" else int(running), "arms": arms}


def table(result):
    """The figures as aligned text."""
    head = ["", "switches", "running", "highest id"] + [path.replace("_", " ") for path in PATHS]
    lines = [f"concurrency ids: the kernel's own allocator (stock), the CID cache (keep_ms {result['keep_ms']}), "
             "and packed; shares of switches to user threads in %"]
    for load in result["loads"]:
        rows = [head]
        for arm in load["arms"]:
            cells = [arm["name"], str(arm["switches"]), str(load["running"] or "-"),
                     "-" if arm["highest_id"] is None else str(arm["highest_id"])]
            for path in PATHS:
                cells.append(f"{100 * arm['counters'][path] / arm['user_switches']:.2f}" if "counters" in arm else "-")
            rows.append(cells)
        widths = [max(len(row[n]) for row in rows) for n in range(len(head))]
        lines += ["", load["name"]]
        lines += ["  " + "  ".join(cell.ljust(width) if n == 0 else cell.rjust(width)
                                   for n, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
    lines += ["", "running: how many threads have something to do at a time, by the load's making (those that fall",
              "asleep or wake up come on top); switches: all of the guest;",
              "hand over: the id passed on within a process; single: one thread; hit: the CPU's own parked id.",
              "The kernel's own allocator counts nothing."]
    return "\n".join(lines)


def verdicts(result):
    """(holds, sentence) for each criterion."""
    wander = result["loads"][0]
    stock, cache, packed = wander["arms"]
    least = wander["running"] - 1
    found = [(packed["highest_id"] <= least, f"with keep_ms 0 the highest id is {packed['highest_id']}, at most {least} "
              f"({wander['name']}; stock: {stock['highest_id']}, default: {cache['highest_id']})")]
    broken = sum(arm["counters"][key] for load in result["loads"] for arm in load["arms"] if "counters" in arm
                 for key in ("slow_again", "exceeded"))
    found.append((broken == 0, f"slow_again and exceeded are {broken}, must be 0 (all loads)"))
    return found

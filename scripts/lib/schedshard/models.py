# SPDX-License-Identifier: GPL-2.0-only
"""The Promela models of both protocols: what is checked, and how."""

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

from schedshard import REPO, Failure, end_with_parent

MODELS = REPO / "tools/testing/sched/models"


@dataclass
class Run:
    """One run of the verifier.

    what: safety (assertions, and that nothing is lost), cycles (no endless
    activity), or the name of the break that must be found.  size: short ones
    are part of every test, long ones take minutes.
    """
    model: str
    what: str
    options: str
    size: str = "long"

    @property
    def broken(self):
        return self.what not in ("safety", "cycles")

    @property
    def cycles(self):
        return self.what == "cycles" or self.what in CYCLES

    def __str__(self):
        return f"{self.model} {self.what}: {self.options}"


# Breaks that show as endless activity and not as a wrong state.
CYCLES = {"NO_TRIED", "OWN_LOOP"}

RUNS = [
    # The queue as it is. Pinned tasks, tokens that are left though stale, looks before idle.
    Run("swq", "safety", "NC=2 NWK=2 NSL=1 PINNED STALE", "short"),
    Run("swq", "cycles", "NC=2 NWK=1 NSL=1 PINNED", "short"),
    Run("swq", "safety", "NC=2 NWK=2 NSL=1 PINNED SYNC STALE"),
    Run("swq", "safety", "NC=2 NWK=2 NSL=1 NPR=1 PINNED STALE"),
    Run("swq", "safety", "NC=2 NWK=2 NSL=1 PINNED STALE NEWIDLE"),
    Run("swq", "safety", "NC=2 NWK=3 NSL=2 PINNED STALE"),
    Run("swq", "cycles", "NC=2 NWK=2 NSL=1 PINNED STALE"),
    # Two shards with pinned tasks and 3 CPUs.
    Run("swq", "safety", "NC=3 NWK=2 NSL=0 PINNED NSH0=2"),
    Run("swq", "safety", "NC=3 NWK=2 NSL=1 NSH0=2 ESTOP"),
    # Toggles with pinned tasks, several re-shards, hotplug.
    Run("swq", "safety", "NC=2 NWK=2 NSL=1 NTG=2 PINNED"),
    Run("swq", "safety", "NC=2 NWK=1 NSL=1 NRS=1 STALE"),
    Run("swq", "safety", "NC=2 NWK=1 NSL=1 NRS=2 NSH0=2"),
    Run("swq", "safety", "NC=2 NWK=1 NSL=1 NHP=1"),
    Run("swq", "safety", "NC=3 NWK=1 NSL=0 NHP=1"),
    # Broken on purpose.
    Run("swq", "NO_RELINK", "NC=2 NWK=3 NSL=2 PINNED", "short"),
    Run("swq", "OWNER_NOMB", "NC=2 NWK=3 NSL=2 PINNED", "short"),
    Run("swq", "DISC_NOLOOK", "NC=2 NWK=3 NSL=2 PINNED"),
    Run("swq", "UNL_EARLY", "NC=2 NWK=2 NSL=1 NSH0=2"),
    Run("swq", "HINT_OUT", "NC=2 NWK=3 NSL=2 PINNED"),
    Run("swq", "IDLE_ORDER", "NC=2 NWK=3 NSL=2 PINNED"),
    Run("swq", "PUB_ORDER", "NC=2 NWK=3 NSL=2 PINNED"),
    Run("swq", "ANN_ORDER", "NC=2 NWK=3 NSL=2"),
    Run("swq", "SKIP_NOKICK", "NC=2 NWK=3 NSL=2 PINNED"),
    Run("swq", "ENQ_ONLY", "NC=2 NWK=2 NSL=1 NPR=1 PINNED"),
    Run("swq", "NO_TICK", "NC=2 NWK=2 NSL=1 SYNC"),
    Run("swq", "PIN_IDLE", "NC=2 NWK=2 NSL=1 PINNED"),
    Run("swq", "NO_SWEEP_ON", "NC=2 NWK=2 NSL=1 NTG=2"),
    Run("swq", "NO_ROUND", "NC=2 NWK=2 NSL=1 NTG=2"),
    Run("swq", "MARKS_STAY", "NC=2 NWK=2 NSL=1 NTG=2 PINNED"),
    Run("swq", "NO_SWEEP", "NC=2 NWK=1 NSL=1 NRS=1"),
    Run("swq", "NO_GP", "NC=2 NWK=1 NSL=1 NRS=1"),
    Run("swq", "WRONG_LOCK", "NC=2 NWK=2 NSL=1 NRS=1 NDR=1"),
    Run("swq", "NEW_ANN_CLEAR", "NC=2 NWK=1 NSL=1 NRS=1"),
    Run("swq", "NO_TRIED", "NC=2 NWK=2 NSL=1 PINNED"),
    Run("swq", "OWN_LOOP", "NC=2 NWK=2 NSL=1 PINNED"),
    Run("swq", "NO_PASS", "NC=3 NWK=2 NSL=1"),
    # CID cache as it is: whole, last resort, hotplug clearing, one locked pass is enough.
    Run("cid", "safety", "NCPU=2 NMM=1 NS=1 MAXT=3 LASTRES", "short"),
    Run("cid", "safety", "NCPU=2 NMM=1 NS=1 MAXT=3 ONLINE", "short"),
    Run("cid", "cycles", "NCPU=2 NMM=1 NS=1 MAXT=3", "short"),
    Run("cid", "safety", "NCPU=2 NMM=2 NS=1 MAXT=3 EVICT MAXPASS=1"),
    Run("cid", "safety", "NCPU=2 NMM=2 NS=1 MAXT=3 EVICT POLICY COMPACT ONLINE"),
    Run("cid", "safety", "NCPU=3 NMM=1 NS=1 MAXT=3 LASTRES"),
    Run("cid", "safety", "NCPU=3 NMM=1 NS=1 MAXT=3 MAXPASS=1 ONLINE"),
    Run("cid", "LAST_NOCLAIM", "NCPU=2 NMM=1 NS=1 MAXT=3 LASTRES", "short"),
    Run("cid", "ONLINE_RUN", "NCPU=2 NMM=1 NS=1 MAXT=3 ONLINE", "short"),
    Run("cid", "NOSEQ", "NCPU=2 NMM=2 NS=1 MAXT=3"),
    Run("cid", "EXIT_EARLY_DEC", "NCPU=2 NMM=1 NS=1 MAXT=3"),
]


def options_of(run):
    found = [f"-D{option}" for option in run.options.split()]
    return found + ([f"-D{run.what}"] if run.broken else [])


@dataclass
class Result:
    """What the verifier found."""
    good: bool
    states: int
    seconds: float
    text: str
    log: str

    def __str__(self):
        return f"{self.text}, {self.states} states, {self.seconds:.1f} s"


def call(command, directory, timeout=None):
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout,
                          preexec_fn=end_with_parent)
    return done.returncode, done.stdout


def verify(run, memory=6000, timeout=None):
    """Translate, compile and search; the whole state space unless it fails."""
    if not shutil.which("spin"):
        raise Failure("'spin' is missing; install the package spin")
    options = options_of(run)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="models.") as directory:
        shutil.copy(MODELS / f"{run.model}.pml", directory)
        status, text = call(["spin", *options, "-a", f"{run.model}.pml"], directory)
        if status or "Error" in text:
            return Result(False, 0, 0, "does not translate", text)
        # Sizes are used by the C code of the verifier as well.
        mode = ["-DNP"] if run.cycles else ["-DSAFETY"]
        # To optimise the verifier takes longer than a short search does.
        status, text = call(["gcc", "-O0" if run.size == "short" else "-O2", "-w", "-DCOLLAPSE", f"-DMEMLIM={memory}", *mode,
                             *[option for option in options if "=" in option], "-o", "pan", "pan.c"], directory)
        if status:
            return Result(False, 0, 0, "does not compile", text)
        # -E: invalid end states are what the monitor's own assertions are about.
        search = ["nice", "./pan", "-m3000000", "-E", *(["-l"] if run.cycles else [])]
        if run.model == "cid":
            search.remove("-E")
        try:
            _, text = call(search, directory, timeout)
        except subprocess.TimeoutExpired:
            return Result(False, 0, time.monotonic() - start, f"no end after {timeout} s", "")
    errors = re.search(r"errors: (\d+)", text)
    states = re.search(r"([\d.e+]+) states, stored", text)
    complete = errors and "Search not completed" not in text and "max search depth too small" not in text
    error = re.search(r"^pan:?\d*: (.*?)(?: \(at depth|$)", text, re.M)
    number = int(float(states.group(1))) if states else 0
    if not errors:
        found, good = "the verifier said nothing", False
    elif errors.group(1) != "0":
        what = error.group(1) if error else "?"
        # The assertion about lost surplus is a long one.
        found = f"error: {'a CPU sleeps beside work' if 'asleep[' in what else what[:60]}"
        good = run.broken
    else:
        found, good = ("complete, 0 errors" if complete else "NOT complete, 0 errors"), bool(complete) and not run.broken
    return Result(good, number, time.monotonic() - start, found, text[-3000:])


def litmus(name=None):
    """What is expected of a test, or of all of them."""
    lines = (MODELS / "litmus/expected").read_text().splitlines()
    found = dict(line.split() for line in lines if line and not line.startswith("#"))
    there = {f"{path.parent.name}/{path.stem}" for path in MODELS.glob("litmus/*/*.litmus")}
    if there != set(found):
        raise Failure(f"litmus/expected and the tests differ: {', '.join(sorted(there ^ set(found)))}")
    return found if name is None else found[name]


def no_herd7():
    """Why the litmus tests can not be run, or None."""
    if shutil.which("herd7"):
        return None
    return "herd7 is not installed, and Debian 12 has no package of it"


def run_litmus(name, memory_model):
    """(as expected, what herd7 said)."""
    path = MODELS / "litmus" / f"{name}.litmus"
    _, text = call(["herd7", "-conf", "linux-kernel.cfg", path], memory_model, 600)
    said = re.search(r"^Observation \S+ (\w+)", text, re.M)
    return bool(said) and said.group(1) == litmus(name), text

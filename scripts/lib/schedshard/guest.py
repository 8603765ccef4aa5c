# SPDX-License-Identifier: GPL-2.0-only
"""Boot a kernel in QEMU with a job to do, and judge what came of it."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import GUEST, Failure, Progress, duration, end_with_parent, read, say, show

QEMU = "qemu-system-x86_64"

# What in a console log means that the kernel is not well. "Call Trace" alone is
# no sign: sysrq and some harmless notices print one.
TROUBLE = re.compile(
    r"WARNING:|\bBUG:|Oops|Kernel panic|general protection fault|INFO: possible|INFO: rcu|"
    r"rcu: INFO:|INFO: task .* blocked|INFO: trying to register|INFO: lockdep|"
    r"soft lockup|hard LOCKUP|detected stalls?|self-detected stall|rcu_.*kthread starved|"
    r"scheduling while atomic|sleeping function called|"
    r"inconsistent lock state|circular locking|recursive locking|bad unlock balance|"
    r"held lock freed|suspicious RCU usage|MAX_LOCKDEP|BUILD_BUG|turning off the locking|"
    r"KASAN|KCSAN|UBSAN|KFENCE|unable to handle|list_(?:add|del) corruption|refcount_t:|"
    r"stack-protector|stack overflow|corrupted stack|bad page|Bad rss|"
    r"Out of memory|oom-kill|page allocation failure|segfault at|traps: ")
# Lines that match and mean nothing: each with the reason it is let through.
HARMLESS = re.compile(
    r"[Cc]ommand line: |\.\.\. MAX_LOCKDEP|"   # what was asked for; lockdep's table of sizes
    r"kcsan: |\] \s*(?:not )?ok \d|\] \s*#|KTAP")  # KCSAN's settings; names and notes of KUnit tests


def is_trouble(line):
    return bool(TROUBLE.search(line) and not HARMLESS.search(line))


def topology(cpus):
    """(sockets, cores, threads): two LLCs from eight CPUs on, if they can be equal."""
    sockets = 2 if cpus >= 8 and cpus % 2 == 0 else 1
    per_socket = cpus // sockets
    threads = 2 if per_socket % 2 == 0 else 1
    return sockets, per_socket // threads, threads


def llcs(shape):
    """The shared_cpu_list of each LLC that a topology must show in the guest."""
    sockets, cores, threads = shape
    size = cores * threads
    return {f"{n * size}-{(n + 1) * size - 1}" if size > 1 else f"{n}" for n in range(sockets)}


def parse_shape(text):
    """'8' or 'SOCKETSxCORESxTHREADS'."""
    if re.fullmatch(r"[1-9]\d{0,2}", text):
        return topology(int(text))
    if re.fullmatch(r"[1-9]\d*x[1-9]\d*x[12]", text):
        return tuple(map(int, text.split("x")))
    raise Failure(f"CPUS={text} is not a number of CPUs, nor SOCKETSxCORESxTHREADS like 2x18x2")


# -- accelerator --------------------------------------------------------------

def host_can_virtualize():
    flags = re.search(r"^flags\s*:(.*)$", read("/proc/cpuinfo"), re.M)
    return bool(flags and {"vmx", "svm"} & set(flags.group(1).split())
                and os.access("/dev/kvm", os.R_OK | os.W_OK))


def pick_accel(image):
    """'kvm' where it really works, else 'tcg'.

    A device that opens proves nothing: under software KVM it does, and the
    guest then hangs. So the CPU flag has to be there, and a boot to succeed.
    """
    if not host_can_virtualize():
        return "tcg"
    try:
        Guest(image, "true", shape=(1, 2, 1), accel="kvm", timeout=30, quiet=True,
              logs=Path(image).parent / "kvm-probe").run()
        return "kvm"
    except Failure:
        say("KVM is there but a guest does not start under it; using TCG")
        return "tcg"


# -- the initramfs ------------------------------------------------------------

def libraries(program, env=None):
    """The shared libraries a program loads, by the host's own loader."""
    listing = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, env=env).stdout
    if "not found" in listing:
        raise Failure(f"a library of {program} is missing: {listing.strip().splitlines()[0].strip()}")
    return re.findall(r"(/\S+) \(0x", listing)


class Archive:
    """A cpio archive in the 'newc' form, written without root: it has device nodes."""

    def __init__(self):
        self.parts, self.seen, self.number = [], set(), 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        name = name.strip("/")
        if name in self.seen:
            return
        self.seen.add(name)
        parent = os.path.dirname(name)
        if parent:
            self.add(parent, 0o040755)
        self.number += 1
        fields = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
        entry = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.parts.append(entry + b"\0" * (-len(entry) % 4) + data + b"\0" * (-len(data) % 4))

    def file(self, name, source, mode=None):
        source = Path(source)
        self.add(name, 0o100000 | (mode or source.stat().st_mode & 0o777), source.read_bytes())

    def program(self, source, name=None):
        """A program of the host with the libraries it needs."""
        self.file(name or str(source), source)
        for library in libraries(source):
            self.file(library, library)

    def write(self, path):
        self.number = 0
        self.add("TRAILER!!!", 0)
        Path(path).write_bytes(b"".join(self.parts))


def initramfs(path, job, programs=(), files=(), data=(), folders=()):
    """busybox, our guest scripts, programs found on the host, programs given by
    name, files that are taken as they are, empty directories."""
    archive = Archive()
    archive.add("dev/console", 0o020600, device=(5, 1))
    for name in ("proc", "sys", "tmp", "root", "dev"):
        archive.add(name, 0o040755)
    busybox = shutil.which("busybox", path="/bin:/usr/bin:" + os.environ.get("PATH", ""))
    if not busybox:
        raise Failure("busybox is missing; install the package busybox-static")
    archive.file("bin/busybox", busybox, 0o755)
    for program in programs:
        found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not found:
            raise Failure(f"the program {program} is not installed; scripts/deps test brings it")
        archive.program(found, f"usr/bin/{program}")
    for name, source in files:
        if not Path(source).is_file():
            raise Failure(f"no file {source} to put into the guest")
        archive.program(source, name)
    for name, source in data:
        archive.file(name, source)
    for name in folders:
        archive.add(name, 0o040755)
    for applet in subprocess.run([busybox, "--list"], text=True, stdout=subprocess.PIPE).stdout.split():
        if f"usr/bin/{applet}" not in archive.seen:
            archive.add(f"bin/{applet}", 0o120777, b"/bin/busybox")
    for script in sorted(GUEST.iterdir()):
        if script.is_file() and script.suffix != ".c":
            archive.file("init" if script.name == "init" else f"job/{script.name}", script, 0o755)
    # What the kernel tries next if it cannot start the program it was told to.
    archive.file("sbin/init", GUEST / "init", 0o755)
    archive.add("job.args" if job is not None else "job.shell", 0o100644, f"{job}\n".encode())
    archive.write(path)


def compile_static(source, into):
    """A small C program of ours as a static binary for the guest."""
    binary = Path(into) / Path(source).stem
    binary.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", binary, source],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure(f"{show(source)} does not compile: {done.stderr.strip().splitlines()[0]}")
    return binary


# -- the guest ----------------------------------------------------------------

class Guest:
    """One boot: what to boot, how, and afterwards .lines, the results of the job."""

    def __init__(self, image, job, *, logs, shape=(2, 2, 2), accel="tcg", memory=None, timeout=300,
                 programs=(), files=(), data=(), folders=(), append="", options=(), expect_llc=True, quiet=False,
                 title="guest", forgive=None):
        self.image, self.job, self.logs, self.shape = Path(image), job, Path(logs), shape
        self.accel, self.timeout, self.quiet, self.title = accel, timeout, quiet, title
        self.cpus = shape[0] * shape[1] * shape[2]
        self.memory = memory or 1024 + 64 * self.cpus
        self.programs, self.files, self.append = programs, files, append
        self.data, self.folders = data, folders
        self.options, self.expect_llc = options, expect_llc
        # Takes the lines of the console, gives those that are to be judged.
        self.forgive = forgive or (lambda lines: lines)
        self.console, self.result = self.logs / "console.log", self.logs / "result.txt"
        self.lines = []
        self.boot_seconds = None

    def command_line(self):
        words = ["console=ttyS0", "panic=-1", "oops=panic", "panic_on_warn=1", "random.trust_cpu=on"]
        if self.accel != "kvm":
            # The clocks the kernel would compare the TSC with are devices: under
            # TCG a read of one waits for QEMU's big lock, comes late and makes a
            # sound TSC look unstable, and the kernel then falls back to them.
            words += ["tsc=reliable", "no_timer_check", "lpj=10000000"]
            # A virtual CPU runs only when one of the host's is free. With many
            # on few it may wait for seconds, which is no lockup of the kernel:
            # the limits grow with the ratio, and are far above what was seen
            # (under 2 s with 72 on 2) yet below the time limit of a run.
            share = max(1, self.cpus / os.cpu_count())
            words += [f"rcupdate.rcu_cpu_stall_timeout={min(300, round(60 + 4 * share))}",
                      f"watchdog_thresh={min(60, round(20 + 2 * share))}"]
        return " ".join(words + [self.append]).strip()

    def qemu(self, initrd):
        sockets, cores, threads = self.shape
        accel = {"tcg": ["-accel", "tcg,thread=multi", "-cpu", "max"],
                 "kvm": ["-accel", "kvm", "-cpu", "host"],
                 "icount": ["-accel", "tcg", "-icount", "shift=0,sleep=off", "-cpu", "max"]}[self.accel]
        serial = ["-serial", "mon:stdio"] if self.job is None else ["-serial", f"file:{self.console}"]
        return [QEMU, *accel, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                "-smp", f"{self.cpus},sockets={sockets},cores={cores},threads={threads}",
                "-m", str(self.memory), "-kernel", self.image, "-initrd", initrd,
                "-append", self.command_line(), *serial, "-serial", f"file:{self.result}",
                *self.options]

    def prepare(self):
        self.logs.mkdir(parents=True, exist_ok=True)
        for path in (self.console, self.result):
            path.write_text("")
        initrd = self.logs / "initramfs.cpio"
        initramfs(initrd, self.job, self.programs, self.files, self.data, self.folders)
        return initrd

    def run(self):
        """Boot, wait for the job, judge. Raises Failure with the lines that matter."""
        command = self.qemu(self.prepare())
        (self.logs / "command").write_text(" ".join(map(str, command)) + "\n")
        sockets, cores, threads = self.shape
        title = (f"{self.title}: booting {self.cpus} CPUs ({sockets} sockets x {cores} cores x "
                 f"{threads} threads, {self.accel})")
        progress = Progress(title)
        if self.quiet:
            self._wait(command, progress)
        else:
            with progress:
                self._wait(command, progress)
        self._judge()
        return self

    def _wait(self, command, progress):
        errors = self.logs / "qemu.log"
        with open(errors, "w") as err:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=err,
                                       stderr=err, preexec_fn=end_with_parent)
        start, self.timed_out, last = time.monotonic(), False, ""
        try:
            while process.poll() is None:
                time.sleep(0.2)
                results = read(self.result).splitlines()
                if results and self.boot_seconds is None:
                    self.boot_seconds = time.monotonic() - start
                    progress.title = self.title
                notes = [line[9:] for line in results if line.startswith("progress ")]
                if notes and notes[-1] != last:
                    last = progress.note = notes[-1]
                if time.monotonic() - start > self.timeout:
                    self.timed_out = True
                    break
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.lines = read(self.result).replace("\r", "").splitlines()
        if not self.lines and not read(self.console) and process.returncode and not self.timed_out:
            cause = (read(errors).strip().splitlines() or [f"exit status {process.returncode}"])[-1]
            raise Failure(f"QEMU did not start: {cause}")

    def trouble(self):
        """The lines of the console that must not be there, each with what follows it."""
        lines = self.forgive(read(self.console).replace("\r", "").splitlines())
        picked, until = [], -1
        for number, line in enumerate(lines):
            if is_trouble(line):
                until = number + 12
            if number <= until and len(picked) < 60:
                picked.append(line)
        return picked

    def _judge(self):
        def fail(what, lines=()):
            text = "".join(f"\n    {line}" for line in lines)
            raise Failure(f"{what}; the whole log is {show(self.console)}{text}")

        bad = self.trouble()
        told = [line[6:] for line in self.lines if line.startswith("error ")]
        tail = read(self.console).replace("\r", "").splitlines()[-15:]
        if bad:
            fail("the guest's kernel reported trouble" + (f" ({told[-1]})" if told else ""), bad)
        if told:
            fail(f"the job in the guest failed: {told[-1]}", tail[-5:])
        if self.timed_out:
            fail(f"the guest was not done after {duration(self.timeout)} and was stopped", tail)
        if "success" not in self.lines:
            failed = [line for line in self.lines if line.startswith("failed ")]
            fail(f"the job in the guest ended with status {failed[-1][7:]}" if failed
                 else "the guest ended early, before its job was done", tail)
        if self.expect_llc and self.cpus > 1:
            have = set(self.values("llc"))
            if have != llcs(self.shape):
                fail(f"the guest's last-level caches are {' '.join(sorted(have)) or 'unknown'}, not "
                     f"{' '.join(sorted(llcs(self.shape)))} as laid out")

    def values(self, word):
        """The rest of every result line that begins with a word."""
        return [line[len(word) + 1:] for line in self.lines if line.startswith(word + " ")]

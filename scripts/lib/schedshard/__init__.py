# SPDX-License-Identifier: GPL-2.0-only
"""What the programs in scripts/ share: places, messages, running commands."""

import ctypes
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
OUT = REPO / "out"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schedshard"
SCRIPTS = REPO / "scripts"
CONFIGS = REPO / "configs"
GUEST = REPO / "tools/testing/sched/guest"
KERNEL = "6.12"
PROG = Path(sys.argv[0]).name


class Failure(Exception):
    """An error the user can understand: one line, cause and remedy."""


def say(text):
    print(f"{PROG}: {text}", file=sys.stderr, flush=True)


def main(func):
    """Run a program's main function; failures become one line and a status."""
    # Being told to end is like Ctrl-C: what was started here ends as well.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(func())
    except Failure as failure:
        print(f"{PROG}: error: {failure}", file=sys.stderr)
        sys.exit(1)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        print(f"{PROG}: error: {failure}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        sys.exit(130)
    except OSError as failure:
        # A full disk, a directory that is another user's, a program that is not installed.
        print(f"{PROG}: error: {failure.filename or 'a file'}: {failure.strerror or failure}", file=sys.stderr)
        sys.exit(1)


def end_with_parent():
    """For a child before its exec: no build, guest or test outlives who wanted it."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # 1: PR_SET_PDEATHSIG


def need(purpose):
    """Install, or name, the packages for a purpose."""
    if subprocess.run([SCRIPTS / "deps", purpose], stdout=2).returncode:
        raise Failure(f"the packages for '{purpose}' are not all installed")


def show(path):
    """A path as short as it can be read from where the user stands."""
    try:
        return os.path.relpath(path) if Path(path).is_relative_to(REPO) else str(path)
    except ValueError:
        return str(path)


def duration(seconds):
    return f"{int(seconds) // 60}m{int(seconds) % 60:02}s" if seconds >= 60 else f"{seconds:.0f}s"


class Progress:
    """A line on standard error every few seconds while a long step runs."""

    def __init__(self, title, every=10):
        self.title, self.every, self.note = title, every, ""
        self.start = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def _tick(self):
        while not self._done.wait(self.every):
            self.report()

    def report(self):
        say(f"{self.title}: {duration(self.elapsed())}{', ' + self.note if self.note else ''}")

    def elapsed(self):
        return time.monotonic() - self.start

    def __enter__(self):
        say(self.title)
        self._thread.start()
        return self

    def __exit__(self, kind, *_):
        self._done.set()
        self._thread.join()
        if kind is None and self.elapsed() >= 2:
            say(f"{self.title}: done in {duration(self.elapsed())}{', ' + self.note if self.note else ''}")


def run_logged(command, log, on_line=None, **kwargs):
    """Run a command, all output into a log file; True if it succeeded."""
    with open(log, "a", buffering=1) as out:
        out.write(f"$ {' '.join(map(str, command))}\n")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace",
                                   preexec_fn=end_with_parent, **kwargs)
        try:
            for line in process.stdout:
                out.write(line)
                if on_line:
                    on_line(line)
            return process.wait() == 0
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


@contextmanager
def locked(path, what, shared=False):
    """Hold a file lock, so that two programs do not work in one directory.

    Gives a function that changes the lock to fcntl.LOCK_EX or LOCK_SH.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as handle:
        def change(kind):
            try:
                fcntl.flock(handle, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"another program is working on {what}; waiting for it")
                fcntl.flock(handle, kind)
        change(fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield change


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else str(part).encode())
        total.update(b"\0")
    return total.hexdigest()


def files_digest(paths):
    """A digest of files and whole directories: names and contents."""
    total = hashlib.sha256()
    for path in sorted(paths):
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(f"{file}\0{file.stat().st_mode & 0o111}\0".encode())
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def read(path):
    try:
        return Path(path).read_text(errors="replace")
    except FileNotFoundError:
        return ""


def write(path, text):
    """Write a file in one step, so that no reader ever sees half of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)

# SPDX-License-Identifier: GPL-2.0-only
"""From a kernel source to a grafted, configured and built kernel in out/."""

import fcntl
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from . import (CACHE, CONFIGS, OUT, REPO, SCRIPTS, Failure, Progress, digest, files_digest,
               graft, locked, read, run_logged, say, show, write)

# The fragments of each configuration, later ones win.
_FEATURES = ["guest.config", "swqueue.config", "cid-cache.config"]
_DEBUG = [*_FEATURES, "debug.config", "torture.config"]
FRAGMENTS = {
    "run": _FEATURES,
    "stock": [*_FEATURES, "stock.config"],
    "debug": _DEBUG,
    "kcsan": [*_FEATURES, "kcsan.config", "torture.config"],
    "rt": [*_DEBUG, "rt.config"],
    "none": [*_DEBUG, "none.config"],
    "fault": [*_DEBUG, "fault.config"],
    "uml": ["uml.config", "swqueue.config"],
}
# The architecture of a configuration, if it is not the guests'.
ARCH = {"uml": "um"}
# What is booted: the target, and where make leaves it.
IMAGE = {"x86_64": ("bzImage", "arch/x86/boot/bzImage"), "um": ("linux", "linux")}
# A configuration that differs in little starts from the other's objects.
SEEDS = {"stock": "run", "run": "stock"}
# What of the project goes into a kernel tree, and how.
GRAFTED = ["kernel", "include", "kunit", "Documentation", "Kconfig", "scripts/graft*",
           "scripts/lib/schedshard/graft*"]
# What a build inside the user's tree left there: kbuild refuses to build
# elsewhere from a tree that was built in.
NOT_COPIED = ["/.git", "*.o", "*.a", "*.ko", ".*.cmd", "/vmlinux*", "/.config", "/include/config",
              "/include/generated", "/arch/*/include/generated", "/scripts/basic/fixdep"]


class Kernel:
    """One kernel source, its grafted copy and its build directories."""

    def __init__(self, version, kdir=None):
        if kdir:
            self.source = Path(kdir).resolve()
            self.version = self._version_of(kdir)
            self.name = f"{self.version}-{digest(self.source)[:8]}"
        else:
            self.source, self.version, self.name = None, version, version
        self.dir = OUT / self.name
        self.tree = self.dir / "tree"
        self.content = self.dir / "tree.content"
        self.log = self.dir / "graft.log"
        self.kdir = kdir

    @staticmethod
    def _version_of(kdir):
        makefile = read(Path(kdir) / "Makefile")
        parts = [re.search(rf"^{key} = (\d+)$", makefile, re.M) for key in ("VERSION", "PATCHLEVEL")]
        if not all(parts) or not (Path(kdir) / "kernel/sched/core.c").is_file():
            raise Failure(f"KDIR={kdir} is no Linux kernel tree; give the top directory of one")
        return ".".join(part.group(1) for part in parts)

    def build_dir(self, config):
        return self.dir / config

    @staticmethod
    def arch(config):
        return ARCH.get(config, "x86_64")

    def image(self, config):
        return self.build_dir(config) / IMAGE[self.arch(config)][1]

    # -- the grafted copy ---------------------------------------------------

    def fetch(self):
        if self.source:
            return
        tree = CACHE / "src" / f"linux-{self.version}"
        if not (tree / "Makefile").is_file():
            with Progress(f"fetching the source of {self.version}", every=30):
                got = subprocess.run([SCRIPTS / "fetch-kernel", self.version],
                                     stdout=subprocess.PIPE, text=True)
            if got.returncode:
                raise Failure(f"no source of kernel {self.version}; see the line above")
            tree = Path(got.stdout.split("\n")[-2])
        self.source = tree

    def _source_state(self):
        if not self.kdir:
            return digest(self.source, read(self.source / "Makefile"))
        # The user's tree changes at any time: look at every file's size and date.
        listing = []
        for top, dirs, files in os.walk(self.source):
            dirs[:] = sorted(d for d in dirs if d != ".git")
            for name in sorted(files):
                state = os.lstat(os.path.join(top, name))
                listing.append(f"{top}/{name} {state.st_size} {state.st_mtime_ns}")
        return digest(*listing)

    def _sync(self, *options):
        return ["rsync", "-a", "--delete", "--delete-excluded",
                *(f"--exclude={pattern}" for pattern in NOT_COPIED),
                *options, f"{self.source}/", f"{self.tree}/"]

    def _grafted_files(self):
        """Files of the copy that differ from the source, with content and date."""
        lines = subprocess.run(self._sync("-n", "--out-format=%o %n"), text=True, check=True,
                               stdout=subprocess.PIPE).stdout.splitlines()
        files = {}
        for line in lines:
            path = self.tree / line.split(" ", 1)[1]
            if path.is_file() and not path.is_symlink():
                files[path] = (digest(path.read_bytes()), path.stat().st_mtime_ns)
        return files

    def graft(self):
        """Bring the grafted copy up to date."""
        with self.grafted():
            pass

    @contextmanager
    def grafted(self):
        """Hold the copy, brought up to date: it is not grafted anew meanwhile.

        Any number may build from the copy; who has to change it waits for them.
        """
        self.fetch()
        stamp = self.dir / "tree.stamp"
        state = digest(self._source_state(), files_digest(
            path for part in GRAFTED for path in REPO.glob(part)))
        with locked(self.dir / ".lock", f"{show(self.tree)}", shared=True) as lock:
            while read(stamp) != state:
                lock(fcntl.LOCK_EX)
                if read(stamp) != state:
                    self._graft(stamp, state)
                # Not in one step: somebody with other sources may come between.
                lock(fcntl.LOCK_SH)
            yield

    def _graft_tree(self, *options):
        done = subprocess.run([SCRIPTS / "graft-tree", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        with open(self.log, "a") as log:
            log.write(done.stdout)
        if done.returncode:
            lines = done.stdout.strip().splitlines() or ["graft-tree failed"]
            raise Failure(lines[-1].removeprefix("graft-tree: error: "))

    def _graft(self, stamp, state):
        before = self._grafted_files() if self.tree.exists() else {}
        stamp.unlink(missing_ok=True)
        self.log.write_text("")
        if self.kdir:
            # A tree that will be refused need not be copied first.
            self._graft_tree("--plan", "--kdir", self.source)
        self.tree.mkdir(exist_ok=True)
        try:
            with Progress(f"copying {self.source} to {show(self.tree)}"):
                if not run_logged(self._sync(), self.log):
                    raise Failure(f"the copy failed: {first_errors(self.log)}")
            with Progress("grafting the copy"):
                self._graft_tree("--kdir", self.tree)
        finally:
            # Same content, same date: make has nothing to do for such a file.
            # Other content, today's date: the source's own may be older than
            # our objects.
            for path, (content, date) in before.items():
                if path.is_file():
                    if digest(path.read_bytes()) != content:
                        date = time.time_ns()
                    os.utime(path, ns=(date, date))
        after = self._grafted_files()
        # What a build depends on; documents are not among it.
        write(self.content, digest(self._source_state(), *(
            f"{path} {content}" for path, (content, _) in sorted(after.items())
            if not path.is_relative_to(self.tree / "Documentation"))))
        write(stamp, state)

    # -- configuration ------------------------------------------------------

    def make(self, config, *targets):
        ours = [f"O={self.build_dir(config)}", f"ARCH={self.arch(config)}", "CC=ccache gcc",
                "HOSTCC=ccache gcc"]
        return ["make", "-C", self.tree, f"-j{os.cpu_count() + 1}", *ours, *targets]

    @staticmethod
    def make_env():
        """The same words in every tree and directory, so that ccache can hit."""
        drop = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KDIR", "KERNEL", "CPUS", "ARCH",
                "CROSS_COMPILE", "KBUILD_OUTPUT", "KCONFIG_CONFIG", "KCFLAGS"}
        env = {key: value for key, value in os.environ.items() if key not in drop}
        env.update(LC_ALL="C", KBUILD_BUILD_USER="schedshard", KBUILD_BUILD_HOST="schedshard",
                   KBUILD_BUILD_VERSION="1", KBUILD_BUILD_TIMESTAMP="2024-11-17",
                   CCACHE_DIR=str(CACHE / "ccache"), CCACHE_BASEDIR="/", CCACHE_NOHASHDIR="1",
                   CCACHE_MAXSIZE="4G",
                   # What kbuild learns about dependencies is enough: a file that is not
                   # in the cache need not go through the preprocessor twice more.
                   CCACHE_DEPEND="1")
        return env

    def fragments(self, config):
        paths = []
        for name in FRAGMENTS[config]:
            # What only some kernels have goes behind what all have.
            paths += [CONFIGS / name, CONFIGS / name.replace(".config", f"-{self.version}.config")]
        # What the user chose in menuconfig; never in the debug kernel, whose
        # tests need the options they were written for.
        local = self.dir / "local.config"
        if config == "stock":
            paths.insert(-2, local)
        elif config == "run":
            paths.append(local)
        return [path for path in paths if path.exists()]

    def _fragment(self, path):
        """Its text, without the options of features that this kernel does not get."""
        return graft.without(read(path), graft.left_out(self.version))

    def configure(self, config):
        """Make the .config out of the fragments; True if it changed."""
        odir = self.build_dir(config)
        dotconfig, stamp = odir / ".config", odir / ".fragments"
        paths = self.fragments(config)
        text = "".join(self._fragment(path) for path in paths)
        state = digest(text, read(self.content))
        if dotconfig.exists() and read(stamp) == state:
            return False
        before = read(dotconfig)
        odir.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        # allnoconfig with the fragments as its answers: unlike tinyconfig and a
        # merge it also says no to what only the fragments make visible, and so
        # leaves a third fewer objects to compile.
        answers = odir / ".answers"
        write(answers, text)
        log = odir / "config.log"
        log.unlink(missing_ok=True)
        if not run_logged(self.make(config, "allnoconfig"), log,
                          env={**self.make_env(), "KCONFIG_ALLCONFIG": str(answers)}):
            raise Failure(f"the configuration '{config}' failed: {first_errors(log)}")
        self._check_config(dotconfig, paths, config)
        write(stamp, state)
        return read(dotconfig) != before

    def _check_config(self, dotconfig, paths, config):
        wanted, have = {}, options(read(dotconfig))
        for path in paths:
            wanted.update({name: (value, path.name) for name, value in options(self._fragment(path)).items()})
        lost = [f"{name}={value} ({where})" for name, (value, where) in sorted(wanted.items())
                if have.get(name, "n") != value]
        if lost:
            dotconfig.unlink()
            raise Failure(f"kernel {self.version} does not take these options of '{config}' (a symbol "
                          f"it does not have, or one that depends on another): {', '.join(lost)}")

    # -- building -----------------------------------------------------------

    def build(self, config):
        """What is booted of a configuration, built if anything changed."""
        odir, image = self.build_dir(config), self.image(config)
        with self.grafted(), locked(self.dir / f".lock-{config}", show(odir)):
            self._seed(config)
            self.configure(config)
            stamp = odir / ".built"
            state = digest(read(self.content), read(odir / ".config"))
            if image.exists() and read(stamp) == state:
                return image
            stamp.unlink(missing_ok=True)
            log = odir / "build.log"
            log.unlink(missing_ok=True)
            with Progress(f"building kernel {self.name}, configuration '{config}'") as progress:
                built = 0

                def count(line):
                    nonlocal built
                    if line.startswith(("  CC ", "  AS ")):
                        built += 1
                        progress.note = f"{built} objects"
                if not run_logged(self.make(config, IMAGE[self.arch(config)][0]), log, count, env=self.make_env()):
                    raise Failure(f"the build of '{config}' failed: {first_errors(log)}")
            write(stamp, state)
        return image

    def _seed(self, config):
        odir, other = self.build_dir(config), SEEDS.get(config)
        if odir.exists() or not other or not (self.build_dir(other) / ".built").exists():
            return
        temporary = self.dir / f".seed-{config}"
        shutil.rmtree(temporary, ignore_errors=True)
        with locked(self.dir / f".lock-{other}", show(self.build_dir(other))):
            shutil.copytree(self.build_dir(other), temporary, symlinks=True)
        for name in (".built", ".fragments"):
            (temporary / name).unlink(missing_ok=True)
        # objtool alone notes where it was built, and when it is built again
        # every object is.
        for path in (temporary / "tools/objtool").rglob(".*"):
            if path.is_file():
                date = path.stat().st_mtime_ns
                path.write_bytes(path.read_bytes().replace(bytes(self.build_dir(other)) + b"/",
                                                           bytes(odir) + b"/"))
                os.utime(path, ns=(date, date))
        temporary.rename(odir)


def options(text):
    """The options that a fragment or a .config sets, 'n' for those it turns off."""
    found = {}
    for line in text.splitlines():
        if match := re.match(r"(CONFIG_\w+)=(.*)$", line):
            found[match.group(1)] = match.group(2)
        elif match := re.match(r"# (CONFIG_\w+) is not set$", line):
            found[match.group(1)] = "n"
    return found


def first_errors(log, most=8):
    """The lines of a log that say what went wrong first, and where all of it is."""
    lines = read(log).splitlines()
    errors = [line for line in lines
              if re.search(r"\berror\b|undefined reference|multiple definition|No rule|\*\*\*|not found", line, re.I)]
    picked = "\n    ".join((errors or lines)[:most] if errors else lines[-most:])
    return f"see {show(log)}\n    {picked}"

# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of documents, sources and object code share: TAP output, what
the graft made of a tree, builds of single objects, and a small git repository
for those of the kernel's checkers that work in nothing else."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from . import KERNEL, OUT, SCRIPTS, Failure, digest, kbuild, read, show, write

# Kbuild's words for a checker that it will not run; it succeeds without.
NOT_CHECKED = "not available or not up to date"


class Tap:
    """Results as TAP, each as soon as it is there."""

    MOST = 100

    def __init__(self, name):
        self.name, self.number = name, 0
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def _result(self, status, kind, text, details=()):
        self.number += 1
        self.counts[kind] += 1
        lines = [line.rstrip() for line in details if line.strip()]
        more = [f"... and {len(lines) - self.MOST} lines more"] if len(lines) > self.MOST else []
        print(f"{status} {self.number} - {self.name}: {text}",
              *(f"#   {line}" for line in lines[:self.MOST] + more), sep="\n", flush=True)

    def result(self, text, complaints=()):
        """Passed if there is no complaint."""
        complaints = list(complaints)
        self._result("not ok" if complaints else "ok", "failed" if complaints else "passed", text, complaints)

    def skip(self, text, reason):
        self._result("ok", "skipped", f"{text} # SKIP {reason}")

    def end(self):
        print(f"1..{self.number}")
        print(f"# {self.name}: " + ", ".join(f"{n} {kind}" for kind, n in self.counts.items()), flush=True)
        return int(self.counts["failed"] > 0 or not self.counts["passed"])


class Graft:
    """A grafted tree beside the pristine one: which files are ours, which were changed."""

    SKIP = {".git", ".schedshard", "__pycache__"}
    # In kernel/sched small sources are compiled as parts of these.
    COLLECTORS = ("kernel/sched/build_policy.c", "kernel/sched/build_utility.c")

    def __init__(self, tree, pristine):
        self.tree, self.pristine = Path(tree).resolve(), Path(pristine).resolve()
        for path in (self.tree, self.pristine):
            if not (path / "kernel/sched/core.c").is_file():
                raise Failure(f"{path} is no Linux kernel tree; give the top directory of one")
        ours, theirs = self._files(self.tree), self._files(self.pristine)
        self.own = sorted(set(ours) - set(theirs))
        self.touched = sorted(name for name in set(ours) & set(theirs)
                              if ours[name] != theirs[name] and self._differs(name, ours, theirs))
        if not any(name.startswith("kernel/") for name in self.own):
            raise Failure(f"{tree} is not grafted; do that with: scripts/graft-tree --kdir {tree}")

    def _files(self, top):
        found, todo = {}, [""]
        while todo:
            prefix = todo.pop()
            for entry in os.scandir(top / prefix):
                if entry.is_symlink():
                    continue
                if entry.is_dir():
                    if entry.name not in self.SKIP:
                        todo.append(f"{prefix}{entry.name}/")
                else:
                    stat = entry.stat()
                    found[prefix + entry.name] = (stat.st_size, stat.st_mtime_ns)
        return found

    def _differs(self, name, ours, theirs):
        return (ours[name][0] != theirs[name][0] or
                (self.tree / name).read_bytes() != (self.pristine / name).read_bytes())

    def sources(self, *suffixes):
        return [name for name in self.own if name.endswith(suffixes)]

    def own_objects(self, tests):
        """The objects of our sources: those of the KUnit suites or the others."""
        return [f"{name[:-2]}.o" for name in self.sources(".c")
                if name.startswith("kernel/") and ("/tests/" in name) == tests]

    def touched_objects(self):
        """The objects that the changed files are compiled into."""
        objects = set()
        part_of = {f"kernel/sched/{part}": collector for collector in self.COLLECTORS
                   for part in re.findall(r'#\s*include "(\w+\.c)"', read(self.tree / collector))}
        for name in self.touched:
            if name.startswith("kernel/sched/") and name.endswith(".h"):
                objects |= {"kernel/sched/core.o", "kernel/sched/fair.o"}
                objects |= {f"{collector[:-2]}.o" for collector in self.COLLECTORS}
            elif name.startswith("include/linux/"):
                # Everything includes it: those that are made of its structures.
                objects |= {"init/init_task.o", "kernel/exit.o", "kernel/fork.o", "mm/init-mm.o"}
            elif name.endswith(".c"):
                objects.add(f"{part_of.get(name, name)[:-2]}.o")
        return sorted(objects)


def arguments(parser, build=False):
    parser.add_argument("--version", default=os.environ.get("KERNEL", KERNEL),
                        help=f"which kernel, without --tree (default {KERNEL})")
    parser.add_argument("--tree", metavar="DIR", help="a grafted kernel tree (default: the copy in out/)")
    parser.add_argument("--pristine", metavar="DIR",
                        help="the same tree without the graft (default: the source of that version)")
    if build:
        parser.add_argument("--build", metavar="DIR", action="append",
                            help="a configured O= directory with the feature on, of which only the .config is "
                                 "used; may be given again (default: the configurations 'run' and 'debug')")
    parser.add_argument("--work", metavar="DIR", help="where to build and keep logs (default: in out/test/)")


def trees(args):
    """The grafted beside the pristine tree, as the arguments say."""
    if args.tree:
        tree, kernel = Path(args.tree), kbuild.Kernel(kbuild.Kernel._version_of(args.tree))
    else:
        kernel = kbuild.Kernel(args.version)
        kernel.graft()
        tree = kernel.tree
    if not args.pristine:
        kernel.fetch()
    return Graft(tree, args.pristine or kernel.source), kernel


def work_dir(args, name, version):
    path = Path(args.work).resolve() if args.work else OUT / "test" / name / version
    path.mkdir(parents=True, exist_ok=True)
    return path


class Scratch:
    """An O= directory of our own for one tree, so that no other build is disturbed."""

    def __init__(self, tree, odir):
        self.tree, self.odir = Path(tree), Path(odir)
        self.log = self.odir.with_name(f"{self.odir.name}.log")
        self.odir.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)

    def make(self, *words, **extra):
        """Run make; its status and what it said, each target's output in one piece."""
        command = ["make", "-C", self.tree, f"-j{os.cpu_count()}", "-Otarget", "--no-print-directory",
                   f"O={self.odir}", "ARCH=x86_64", "CC=ccache gcc", "HOSTCC=ccache gcc", *words]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              # Paths as they are: ccache would make them relative, and
                              # __FILE__ would then differ from tree to tree.
                              env={**kbuild.Kernel.make_env(), "CCACHE_BASEDIR": "", **extra})
        with open(self.log, "a") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}")
        return done.returncode, done.stdout

    def must(self, *words, **extra):
        status, output = self.make(*words, **extra)
        if status:
            raise Failure(f"'make {words[0]}' in {show(self.odir)} failed: {first_error(output)}; "
                          f"see {show(self.log)}")
        return output

    def configure(self, text, target="olddefconfig", **extra):
        """Settle a .config from a text, or from a target that makes one; what kconfig said."""
        if text is not None:
            write(self.odir / ".config", text)
        said = self.must(target, **extra)
        # An equal .config with a new date would have make look at everything again.
        old, new = self.odir / ".config.settled", self.odir / ".config"
        if old.exists() and read(old) == read(new):
            shutil.copystat(old, new)
        else:
            shutil.copy2(new, old)
        return said

    def options(self):
        return kbuild.options(read(self.odir / ".config"))

    def forget(self, objects):
        for name in objects:
            (self.odir / name).unlink(missing_ok=True)


def first_error(output):
    lines = [line for line in output.splitlines() if re.search(r"\berror:|\*\*\*|No rule|not found", line, re.I)]
    return (lines or output.strip().splitlines() or ["no output"])[0].strip()


MESSAGE = re.compile(r"^([^\s:]+):(\d+):(?:\d+:)? *(.*)$")


def in_tree(path, *trees):
    """The name of a file within one of the trees, however a tool got at it."""
    for tree in trees:
        # ccache makes the paths in messages relative to the build directory.
        at = path.find(f"{str(tree).lstrip('/')}/")
        if at >= 0:
            return path[at + len(str(tree).lstrip("/")) + 1:]
    return os.path.normpath(path)


def messages(output, tree):
    """What a compiler or checker said about lines: [(file, text without numbers, line)]."""
    found = []
    for line in output.splitlines():
        match = MESSAGE.match(line)
        if match and not match.group(3).startswith("note:"):
            text = re.sub(r":\d+\b", "", match.group(3).replace(f"{tree}/", ""))
            found.append((in_tree(match.group(1), tree), text, line.replace(f"{tree}/", "")))
    return found


def new_messages(ours, theirs):
    """The lines of those messages that the other list does not have, line numbers aside."""
    left = Counter((path, text) for path, text, _ in theirs)
    fresh = []
    for path, text, line in ours:
        if left[path, text]:
            left[path, text] -= 1
        else:
            fresh.append(line)
    return fresh


def repository(where, tree, names, extra=(), link=False):
    """A git repository with some files of a tree, for checkers that ask git.

    With link, the rest of the tree is there too, as symbolic links that git
    does not know. The extra files are {name: text}.
    """
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    for name in names:
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / name, where / name)
    for name, text in dict(extra).items():
        write(where / name, text)
    git = ["git", "-C", where, "-c", "user.name=schedshard", "-c", "user.email=schedshard@localhost",
           "-c", "core.excludesFile=/dev/null", "-c", "commit.gpgSign=false"]
    for words in (["init", "-q"], ["add", "-A", "-f", "."], ["commit", "-q", "-n", "-m", "scratch"]):
        done = subprocess.run([*git, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Failure(f"git {words[0]} in {show(where)} failed: {first_error(done.stdout)}")
    if link:
        _link_rest(where, tree)
    return where


def _link_rest(where, tree):
    for entry in os.scandir(tree):
        target = where / entry.name
        # Git refuses to read its own files through links.
        if entry.name in Graft.SKIP or entry.name.startswith(".git"):
            continue
        if target.is_dir() and not target.is_symlink():
            _link_rest(target, tree / entry.name)
        elif not target.exists():
            target.symlink_to(entry.path)


def system_path():
    """Programs of the system first: some tools start python3 again and again,
    and a wrapper that chooses a version of it takes longer than they do."""
    return {**os.environ, "PATH": f"/usr/bin:/bin:{os.environ.get('PATH', '')}", "LC_ALL": "C"}


def dictionary():
    """Codespell's word list; checkpatch does not know where Debian has it."""
    places = [Path("/usr/share/codespell/dictionary.txt"),
              Path("/usr/lib/python3/dist-packages/codespell_lib/data/dictionary.txt")]
    done = subprocess.run(["python3", "-c", "import codespell_lib as c; print(c.__path__[0])"], env=system_path(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if not done.returncode:
        places.append(Path(done.stdout.strip()) / "data/dictionary.txt")
    return next((place for place in places if place.exists()), None)


def sparse_for(tree):
    """The sparse that kbuild of this tree uses; the installed one where none can be had; or None."""
    found = subprocess.run([SCRIPTS / "fetch-sparse", "--kdir", tree], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, text=True)
    return found.stdout.strip() if not found.returncode else shutil.which("sparse")


def script(tree, *names):
    """The first of some scripts that this version of the kernel has."""
    for name in names:
        if (tree / name).exists():
            return name
    return None


def kept(path, parts, make):
    """A result that is made again only when something that it depends on has changed."""
    key = digest(*parts)
    try:
        old = json.loads(read(path) or "{}")
    except ValueError:
        old = {}
    if old.get("key") == key:
        return old["value"]
    value = make()
    write(path, json.dumps({"key": key, "value": value}))
    # As it will be read back: lists instead of tuples.
    return json.loads(json.dumps(value))


def kernel_doc(graft, work):
    """What kernel-doc has to say about our sources; it must also see a planted fault."""
    planted = work / "kernel-doc-fault.c"
    write(planted, "/**\n * fault() - a function\n * @a: described\n */\nint fault(int a, int b)\n{\n}\n")
    names = [name for name in graft.sources(".c", ".h") if not name.startswith("tools/")]
    done = subprocess.run(["scripts/kernel-doc", "-none", "-Wall", "-Werror", *names, planted], cwd=graft.tree,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    lines = done.stdout.splitlines()
    found = [line for line in lines if str(planted) not in line and not re.search(r"\d+ (warnings|errors)", line)]
    if not any(f"{planted}:" in line and "'b'" in line for line in lines):
        found.append(f"scripts/kernel-doc does not see the fault planted in {show(planted)}; its status: "
                     f"{done.returncode}, its output: {' '.join(lines[:3]) or 'none'}")
    return found

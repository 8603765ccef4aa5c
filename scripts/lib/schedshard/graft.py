# SPDX-License-Identifier: GPL-2.0-only
"""The graft: put the project's files and hooks into a kernel tree, and back.

A rule in scripts/graft/<feature>/ puts one hook or one piece of text into the
kernel. A .cocci rule is run by spatch, a .anchor rule is a regular expression
that must match exactly once. Both say in their head comment what they promise,
and nothing is believed that was not counted: the tree is touched only when
every rule has kept its promise on a copy.

What is needed to undo a graft lies in .schedshard/ in the tree: the originals
by their checksum, and a manifest. Every move of a file is a rename of
something prepared, and between any two of them the manifest tells original
and result apart, so that ungraft-tree can put right whatever a kill left.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import REPO, Failure, Progress, say

RULES = REPO / "scripts/graft"
MACROS = RULES / "macros.h"
SUPPORTED = ("6.12", "7.3")
STATE = ".schedshard"
# For scripts/test-graft: "TERM:3" sends SIGTERM to the program at its third move.
TEST_SIGNAL = "SCHEDSHARD_GRAFT_SIGNAL"

# Repository pattern, and where its files go. None keeps the path.
PROJECT_FILES = (
    ("kernel/sched/*.c", None),
    ("kernel/sched/*.h", None),
    ("include/linux/*.h", None),
    ("kunit/*.c", "kernel/sched/tests"),
    ("kunit/*.h", "kernel/sched/tests"),
    ("kunit/Makefile", "kernel/sched/tests"),
    ("kunit/Kconfig", "kernel/sched/tests"),
    ("kunit/.kunitconfig", "kernel/sched/tests"),
    ("Documentation/**/*", None),
)
KCONFIG = "kernel/sched/Kconfig.schedshard"
# A function takes spatch a tenth of a second.
CPU_SECONDS = 60
# The anchor of a hook that has to be the last thing a function does.
END = "end of function"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def split(data):
    """Lines with their ends; every byte comes back from join()."""
    *lines, rest = data.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def join(lines):
    return "".join(lines).encode("utf-8", "surrogateescape")


# -- the kernel tree ---------------------------------------------------------

class Kernel:
    """A kernel tree: where it is, and which version."""

    def __init__(self, kdir):
        self.dir = Path(kdir)
        if not self.dir.is_dir():
            raise Failure(f"{kdir} is no directory; give the top directory of a kernel tree")
        self.dir = self.dir.resolve()
        version = {}
        with contextlib.suppress(OSError):
            for line in (self.dir / "Makefile").read_text(errors="replace").splitlines()[:20]:
                found = re.fullmatch(r"(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) =\s*(\S*)", line)
                if found:
                    version[found[1]] = found[2]
        parts = [self.dir / name for name in ("kernel/sched/core.c", "init/Kconfig")]
        if len(version) < 4 or not all(part.is_file() for part in parts):
            raise Failure(f"{kdir} is no Linux kernel tree; give the top directory of one")
        self.series = f"{version['VERSION']}.{version['PATCHLEVEL']}"
        self.name = f"Linux {self.series}.{version['SUBLEVEL']}{version['EXTRAVERSION']}"

    def path(self, name):
        return self.dir / name

    def read(self, name):
        """Content of a file, or None. A link would be replaced by a file: refuse it."""
        path = self.path(name)
        if path.is_symlink():
            raise Failure(f"{path} is a symbolic link; the graft edits plain files only")
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    @contextlib.contextmanager
    def locked(self):
        """One graft at a time. The lock is the directory itself: it leaves no file."""
        handle = os.open(self.dir, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another graft or ungraft is at work in {self.dir}") from None
        except OSError:
            pass    # A file system without locks.
        try:
            yield
        finally:
            os.close(handle)


class Git:
    """The repository of the tree, if the tree is the top of one."""

    def __init__(self, kernel):
        self.dir = kernel.dir
        self.here = False
        if not (self.dir / ".git").exists():
            return
        if not shutil.which("git"):
            say("git is not installed; uncommitted changes are not looked for")
            return
        top = subprocess.run(["git", "-C", self.dir, "rev-parse", "--show-toplevel"],
                             capture_output=True, text=True)
        if top.returncode:
            reason = (top.stderr.strip().splitlines() or ["no reason given"])[0]
            raise Failure(f"git refuses to read {self.dir}: {reason}")
        self.here = Path(top.stdout.rstrip("\n")).resolve() == self.dir

    def run(self, *args, env=None, data=None):
        done = subprocess.run(["git", "-C", self.dir, *args], input=data, capture_output=True,
                              env={**os.environ, **(env or {})})
        if done.returncode:
            reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])
            raise Failure(f"git {args[0]} failed in {self.dir}: {reason[-1]}")
        return done.stdout.decode(errors="surrogateescape")

    def dirty(self, names):
        """Which of these files differ from HEAD or are not tracked."""
        listing = self.run("status", "--porcelain=v1", "-z", "--untracked-files=all",
                           "--ignored=no", "--", *names)
        return [entry[3:] for entry in listing.split("\0") if entry[3:]]

    def head(self):
        try:
            return self.run("rev-parse", "--verify", "-q", "HEAD^{commit}").strip()
        except Failure:
            raise Failure(f"the git repository in {self.dir} has no commit yet; "
                          "--commit needs one to build on") from None

    def blob(self, commit, name):
        """Content of a file in a commit, or None."""
        done = subprocess.run(["git", "-C", self.dir, "cat-file", "blob", f"{commit}:{name}"],
                              capture_output=True)
        return None if done.returncode else done.stdout

    def commit(self, parent, changes, message):
        """A commit object on top of parent. Neither index nor work tree are touched."""
        with tempfile.TemporaryDirectory(prefix="graft-index-") as scratch:
            env = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
            self.run("read-tree", parent, env=env)
            lines = []
            for name, (data, mode) in changes.items():
                if data is None:
                    lines.append(f"0 {'0' * 40}\t{name}\0")
                    continue
                blob = self.run("hash-object", "-w", "--stdin", data=data).strip()
                lines.append(f"{'100755' if mode & 0o111 else '100644'} {blob}\t{name}\0")
            self.run("update-index", "-z", "--index-info", env=env, data="".join(lines).encode())
            tree = self.run("write-tree", env=env).strip()
        return self.run("commit-tree", tree, "-p", parent, data=message.encode()).strip()


# -- C, as far as it is needed here ------------------------------------------

def without_comments(text):
    """The same text with comments and strings blanked, line breaks kept."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', blank, text, flags=re.S)


def definitions(lines, function):
    """(first, last) line of every definition of a function, kernel layout.

    A definition starts in column 0, its body is opened and closed by a brace
    that is alone in column 0.
    """
    found = []
    name = re.compile(rf"(?:^|[\s*]){re.escape(function)}\s*\(")
    for start, line in enumerate(lines):
        if not re.match(r"[A-Za-z_]", line) or not name.search(line):
            continue
        for last in range(start, min(start + 20, len(lines))):
            text = lines[last].rstrip()
            if text == "{":
                break
            if not text or text.endswith(";") or text.startswith(("}", "#")):
                last = None
                break
        else:
            last = None
        if last is None:
            continue
        for end in range(last, len(lines)):
            if lines[end].rstrip() == "}":
                break
        else:
            continue
        # A return type on a line of its own belongs to the function.
        if start and re.match(r"[A-Za-z_][^;{}()]*$", lines[start - 1].rstrip()):
            start -= 1
        found.append((start, end))
    return found


def past_blank(lines, index):
    """Where a hook goes that spatch put between the last declaration and the empty
    line behind it: past that line, as kernel style has it."""
    declaration = r"\s+(?!return\b|goto\b|else\b)(\w+\s+)+\**\w+(\[.*\])?(\s*=.*)?;\s*$"
    if 0 < index < len(lines) and not lines[index].strip() and re.match(declaration, lines[index - 1]):
        return index + 1
    return index


def above_comment(lines, index):
    """Where a hook goes that spatch put between a comment and what it is about: above
    the comment."""
    start = index
    if 0 < start < len(lines) and lines[index].strip() and re.match(r"\s*(/\*.*)?\*/\s*$", lines[start - 1]):
        while start > 0 and re.match(r"\s*\*", lines[start - 1]):
            start -= 1
        # A comment that begins behind code is that code's.
        if start > 0 and re.match(r"\s*/\*", lines[start - 1]):
            return start - 1
    return index


def conditional_depth(lines):
    """How many #if are open behind these lines."""
    depth = 0
    for line in lines:
        word = re.match(r"\s*#\s*(if|endif)", line)
        if word:
            depth += 1 if word[1] == "if" else -1
    return depth


def last_thing(function, index):
    """Is this the place that every path through the function passes last?"""
    early = without_comments("".join(function[:index]))
    rest = without_comments("".join(function[index:])).split()
    return (not re.search(r"\breturn\b", early) and
            re.fullmatch(r"(return\b[^;]*; )?}", " ".join(rest)) is not None)


def added(before, after):
    """What stands in after and not in before: [(index in before, [lines])].

    None if after is anything but before with lines added.
    """
    edits, index = [], 0
    for line in after:
        if index < len(before) and line == before[index]:
            index += 1
        elif edits and edits[-1][0] == index:
            edits[-1][1].append(line)
        else:
            edits.append((index, [line]))
    return edits if index == len(before) else None


# -- rules -------------------------------------------------------------------

class Unplaced(Exception):
    """Why a rule found no place in this tree."""


@dataclass
class Edit:
    """Lines that go before a line of an original file."""
    file: str
    index: int
    lines: list


@dataclass
class Place:
    """Where a Coccinelle rule says its hook will be."""
    file: str
    function: str
    count: int
    after: bool

    def __str__(self):
        return f"{'after ' if self.after else ''}{self.function}()"


@dataclass
class Rule:
    path: Path
    subject: str
    why: str
    keys: dict
    body: str
    places: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.name}"

    def one(self, key, default=None):
        values = self.keys.get(key, [])
        if len(values) > 1 or (not values and default is None):
            raise Failure(f"rule {self.name}: needs one line \"{key}:\" in its head comment")
        return values[0] if values else default

    def meant_for(self, series):
        """Is it for this kernel? "Since:" and "Before:" name series in which its place has changed."""
        def number(text):
            if not re.fullmatch(r"\d+\.\d+", text):
                raise Failure(f"rule {self.name}: '{text}' is no kernel series like 6.12")
            return tuple(map(int, text.split(".")))

        since, before = self.one("Since", "0.0"), self.one("Before", "999.0")
        return number(since) <= number(series) < number(before)

    def files(self):
        raise NotImplementedError


KEYS = ("Subject", "Since", "Before", "File", "Anchor", "Where", "Blank", "Mark", "Text", "In", "After", "Hook",
        "Lines")


def parse_rule(path):
    comment = "//" if path.suffix == ".cocci" else "#"
    keys, why, lines = {}, [], path.read_text().splitlines(keepends=True)
    head = 0
    for line in lines:
        if not line.startswith(comment):
            break
        head += 1
        text = line[len(comment):].strip()
        found = re.fullmatch(rf"({'|'.join(KEYS)}): (.*)", text)
        if found:
            keys.setdefault(found[1], []).append(found[2])
        elif not text.startswith("SPDX-License-Identifier"):
            why.append(text)
    kind = CocciRule if path.suffix == ".cocci" else AnchorRule
    rule = kind(path, "", "\n".join(why).strip(), keys, "".join(lines[head:]).strip("\n"))
    rule.subject = rule.one("Subject")
    rule.check()
    return rule


class CocciRule(Rule):
    """A hook in, or an include behind, a function."""

    def check(self):
        self.hook = self.one("Hook")
        self.lines = int(self.one("Lines"))
        self.anchor = self.one("Anchor", "")
        for key in ("In", "After"):
            for value in self.keys.get(key, []):
                words = value.split()
                if len(words) not in (2, 3):
                    raise Failure(f"rule {self.name}: \"{key}: {value}\" is not FILE FUNCTION [COUNT]")
                self.places.append(Place(words[0], words[1],
                                         int(words[2]) if len(words) > 2 else 1, key == "After"))
        if not self.places:
            raise Failure(f"rule {self.name}: names no place with \"In:\" or \"After:\"")

    def files(self):
        return list(dict.fromkeys(place.file for place in self.places))

    def _hooks(self, lines):
        text = "".join(lines)
        if not self.hook.endswith(".h"):
            text = without_comments(text)
        return len(re.findall(rf"(?<!\w){re.escape(self.hook)}(?!\w)", text))

    def there(self, read):
        """The first file that has the hook already, or None."""
        return next((file for file in self.files() if self._hooks(split(read(file) or b""))), None)

    def edits(self, read, spatch):
        return [edit for place in self.places for edit in self._place(place, read, spatch)]

    def _place(self, place, read, spatch):
        data = read(place.file)
        if data is None:
            raise Unplaced(f"{place.file} does not exist")
        lines = split(data)
        found = definitions(lines, place.function)
        if not found:
            raise Unplaced(f"{place.file} defines no function {place.function}()")
        edits, hooks = [], 0
        for start, end in found:
            # spatch is given the function alone: it answers at once, and what
            # else in the file it cannot parse does not matter.
            function = lines[start:end + 1]
            result = split(spatch.run(self.path, place.file, join(function)))
            new = added(function, result)
            if new is None:
                raise Unplaced(f"spatch changed more of {place.function}() than the hook")
            for index, text in new:
                index = above_comment(function, past_blank(function, index))
                if place.after != (index == len(function)):
                    raise Unplaced(f"{self.hook} would not stand {'behind' if place.after else 'inside'}"
                                   f" {place.function}()")
                if conditional_depth(function[:index]):
                    raise Unplaced(f"{self.hook} would stand inside an #if of {place.function}()")
                if self.anchor == END and not last_thing(function, index):
                    raise Unplaced(f"{self.hook} would not be the last thing on every path through "
                                   f"{place.function}()")
                hooks += self._hooks(text)
                edits.append(Edit(place.file, start + index, text))
        if hooks != place.count:
            anchor = f" (anchor: {self.anchor})" if self.anchor else ""
            reason = ""
            if not hooks:
                reason = "".join(filter(None, (spatch.complaint(place.file, join(lines[s:e + 1]))
                                               for s, e in found)))
            raise Unplaced(reason or f"found {hooks} places in {place.function}() of {place.file}, "
                           f"not {place.count}{anchor}")
        total = sum(len(edit.lines) for edit in edits)
        if total != self.lines * place.count:
            raise Unplaced(f"spatch added {total} lines to {place.function}(), "
                           f"not {self.lines * place.count}")
        return edits

    def verify(self, read):
        """Count the hooks in the finished files."""
        for file in self.files():
            lines = split(read(file))
            expected = sum(place.count for place in self.places if place.file == file)
            if self._hooks(lines) != expected:
                raise Unplaced(f"{file} has {self._hooks(lines)} times {self.hook}, not {expected}")
        for place in self.places:
            lines = split(read(place.file))
            found = 0
            for start, end in definitions(lines, place.function):
                found += self._hooks(lines[end + 1:end + 1 + self.lines] if place.after
                                     else lines[start:end + 1])
            if found != place.count:
                raise Unplaced(f"{self.hook} stands {found} times {place}, not {place.count}")


class AnchorRule(Rule):
    """Text beside a regular expression that matches exactly once."""

    def check(self):
        self.file = self.one("File")
        self.anchor = self.one("Anchor")
        self.where = self.one("Where")
        self.mark = self.one("Mark")
        blank = self.one("Blank", "none")
        if self.where not in ("before", "after") or blank not in ("before", "after", "none"):
            raise Failure(f"rule {self.name}: \"Where:\" and \"Blank:\" are before or after")
        try:
            self.regex = re.compile(self.anchor, re.M)
        except re.error as error:
            raise Failure(f"rule {self.name}: its anchor is no regular expression: {error}") from None
        text = self.body
        if "Text" in self.keys:
            source = self.path.parent / self.one("Text")
            if not source.is_file():
                raise Failure(f"rule {self.name}: its text {source.name} is missing")
            text = re.sub(r"\A.*SPDX-License-Identifier:.*\n", "", source.read_text()).strip("\n")
        if not text or not self._marks(text):
            raise Failure(f"rule {self.name}: its text does not hold its mark {self.mark}")
        self.text = "\n" * (blank == "before") + text + "\n" + "\n" * (blank == "after")
        self.places = [Place(self.file, "", 1, False)]

    def files(self):
        return [self.file]

    def _marks(self, text):
        return len(re.findall(rf"(?<!\w){re.escape(self.mark)}(?!\w)", text))

    def there(self, read):
        data = read(self.file)
        return self.file if data and self._marks(data.decode("utf-8", "surrogateescape")) else None

    def edits(self, read, spatch):
        data = read(self.file)
        if data is None:
            raise Unplaced(f"{self.file} does not exist")
        text = data.decode("utf-8", "surrogateescape")
        found = list(self.regex.finditer(text))
        if len(found) != 1:
            raise Unplaced(f"its anchor matches {len(found)} times in {self.file}, not once "
                           f"(anchor: {self.anchor})")
        offset = found[0].start() if self.where == "before" else found[0].end()
        if offset and text[offset - 1] != "\n":
            raise Unplaced(f"its anchor does not end at a line of {self.file}")
        return [Edit(self.file, text.count("\n", 0, offset), self.text.splitlines(keepends=True))]

    def verify(self, read):
        count = read(self.file).decode("utf-8", "surrogateescape").count(self.text)
        if count != 1:
            raise Unplaced(f"its text stands {count} times in {self.file}, not once")


def left_out(series):
    """Features that have no hooks for this kernel; their file "kernels" says for which they do."""
    return sorted(path.parent.name for path in RULES.glob("*/kernels")
                  if series not in path.read_text().split())


def load_rules(series):
    """The rules for a kernel in the order of the steps: features by name, what is common last."""
    paths = sorted((path for pattern in ("*/*.cocci", "*/*.anchor") for path in RULES.glob(pattern)
                    if path.parent.name not in left_out(series)),
                   key=lambda path: (path.parent.name == "common", path.parent.name, path.name))
    if not paths or not MACROS.is_file():
        raise Failure(f"the rules in {RULES} are missing; is the project complete?")
    return [rule for rule in map(parse_rule, paths) if rule.meant_for(series)]


def need_spatch():
    if not shutil.which("spatch"):
        raise Failure("spatch is missing; install the package coccinelle")


class Spatch:
    """Runs spatch on one function at a time, in a directory of its own."""

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="graft-")
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def _call(self, file, data, *options):
        path = Path(self.scratch.name) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        # HOME is set so that a .cocciconfig of the user's has no say.
        env = {**os.environ, "LC_ALL": "C", "HOME": self.scratch.name}
        done = subprocess.run(["spatch", "--macro-file", MACROS, *options, file],
                              cwd=self.scratch.name, env=env, capture_output=True, text=True,
                              errors="replace", preexec_fn=self._limit)
        return path, done

    @staticmethod
    def _limit():
        # Processor time, so that a busy machine is no reason to give up.
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    def run(self, rule, file, data):
        path, done = self._call(file, data, "--sp-file", rule, "--in-place", "--no-includes",
                                "--no-show-diff", "--very-quiet")
        if done.returncode < 0:
            raise Unplaced(f"spatch was killed (signal {-done.returncode}); it may use "
                           f"{CPU_SECONDS} s of processor time")
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise Unplaced(f"spatch failed: {lines[-1].strip() if lines else done.returncode}")
        return path.read_bytes()

    def complaint(self, file, data):
        """What spatch cannot parse of a function, or nothing."""
        _, done = self._call(file, data, "--parse-c")
        bad = re.search(r"^BAD:!*\s*(.*)$", done.stdout + done.stderr, re.M)
        return f"spatch cannot parse the function, near \"{bad[1].strip()}\"" if bad else ""


# -- what a grafted tree looks like ------------------------------------------

def project_files():
    """Path in the kernel -> file of the project."""
    files = {}
    for pattern, target in PROJECT_FILES:
        for path in sorted(REPO.glob(pattern)):
            hidden = path.name.startswith(".") and path.name != ".kunitconfig"
            if path.is_file() and not hidden and not path.name.endswith("~"):
                name = f"{target}/{path.name}" if target else str(path.relative_to(REPO))
                files[name] = path
    if (REPO / "Kconfig").is_file():
        files[KCONFIG] = REPO / "Kconfig"
    return files


def without(text, features, gone=()):
    """A Kconfig, kbuild or configuration text without the options of some features,
    without those that depend on them, and without objects that are gone."""
    for feature in features:
        option = rf"SCHED_{feature.upper()}(_\w+)?"
        # An entry ends where the next begins, and is set off by an empty line.
        entry = r"^\n?config (\w+)\n(?:(?:[ \t].*)?\n)*?(?=\n?[^ \t\n]|\n?\Z)"
        text = re.sub(entry, lambda found: "" if re.search(rf"^\tdepends on .*\b{option}\b", found[0], re.M)
                      or re.fullmatch(option, found[1]) else found[0], text, flags=re.M)
        text = re.sub(rf"^.*\bCONFIG_{option}\b.*\n", "", text, flags=re.M)
    for name in gone:
        text = re.sub(rf"^.*\b{name}\.o\b.*\n", "", text, flags=re.M)
    return text


CONDITION = re.compile(r"#if LINUX_VERSION_CODE (<|>=) KERNEL_VERSION\((\d+), (\d+), 0\)\n")


def resolved(text, series):
    """A C source for one kernel: conditions on the version alone are decided.

    The project's files serve several kernels; in a tree there is only one, and
    mainline has no use for the others.
    """
    lines, result, changed = text.splitlines(keepends=True), [], False

    def block(start):
        """(lines of #if, lines of #else, line behind #endif), or None for what is no plain #if."""
        parts, depth = [[], []], 1
        for number in range(start + 1, len(lines)):
            word = re.match(r"\s*#\s*(if|elif|else|endif)", lines[number])
            kind = word[1] if word else ""
            depth += {"if": 1, "endif": -1}.get(kind, 0)
            if not depth:
                return parts[0], parts[-1] if len(parts) > 2 else [], number + 1
            if depth == 1 and kind == "elif":
                return None
            if depth == 1 and kind == "else":
                parts.append([])
            else:
                parts[-1 if len(parts) > 2 else 0].append(lines[number])
        return None

    number = 0
    while number < len(lines):
        found = CONDITION.match(lines[number])
        parts = block(number) if found else None
        if not parts:
            result.append(lines[number])
            number += 1
            continue
        older = tuple(map(int, series.split("."))) < (int(found[2]), int(found[3]))
        result += parts[0] if older == (found[1] == "<") else parts[1]
        number, changed = parts[2], True
    if not changed:
        return text
    done = "".join(result)
    if not re.search(r"LINUX_VERSION_CODE|KERNEL_VERSION", done):
        done = done.replace("#include <linux/version.h>\n", "")
    return re.sub(r"\n{3,}", "\n\n", done)


def project_contents(series):
    """Path in the kernel -> content, without the features that have no hooks for it
    and without what is only for other kernels."""
    features = left_out(series)
    names = tuple(word for feature in features for word in (feature, feature.replace("_", "-")))
    files = {name: path for name, path in project_files().items() if not any(word in path.name for word in names)}
    # What serves two features, and so includes a file of the one that is left out.
    both = [name for name, path in files.items() if names and path.suffix in (".c", ".h")
            and re.search(rf'^#include ".*({"|".join(names)})', path.read_text(), re.M)]
    gone = [Path(name).stem for name in both]
    contents = {}
    for name, path in files.items():
        if name in both:
            continue
        data = path.read_bytes()
        if path.name in ("Kconfig", "Makefile", ".kunitconfig"):
            data = without(data.decode(), features, gone).encode()
        if name.endswith((".c", ".h")):
            data = resolved(data.decode(), series).encode()
        contents[name] = data
    return contents


def references(file, text):
    """Files that added text refers to, as paths in the kernel."""
    base = os.path.dirname(file)
    for name in re.findall(r'^#include "([^"]+)"', text, re.M):
        yield f"{base}/{name}"
    for name in re.findall(r'^source "([^"]+)"', text, re.M):
        yield name
    if file.endswith("Makefile"):
        for line in re.findall(r"^obj-\S+ [+:]?= (.*)$", text, re.M):
            for word in line.split():
                if word.endswith(".o"):
                    yield f"{base}/{word[:-2]}.c"
                elif word.endswith("/"):
                    yield f"{base}/{word}Makefile"
    if file.endswith("index.rst"):
        for word in re.findall(r"^\s+([\w/-]+)$", text, re.M):
            yield f"{base}/{word}.rst"


@dataclass
class Step:
    """One commit's worth: files with their content after it."""
    title: str
    why: str
    changes: dict


class Graft:
    """The wanted state of a tree, worked out without touching it."""

    def __init__(self, kernel, read):
        self.kernel, self.read = kernel, read
        self.rules = load_rules(kernel.series)
        self.new = project_contents(kernel.series)
        self.reports = []
        self.touched = list(dict.fromkeys(file for rule in self.rules for file in rule.files()))

    def work_out(self, stop=True):
        """Run the rules, up to the first that fails or all of them."""
        self.placed = []
        with Spatch() as spatch:
            for rule in self.rules:
                there = rule.there(self.read)
                reason, edits = None, []
                if not there:
                    try:
                        edits = rule.edits(self.read, spatch)
                    except Unplaced as why:
                        reason = str(why)
                self.reports.append((rule, there, reason))
                self.placed.append((rule, edits))
                if reason and stop:
                    return

    def problem(self):
        """The first rule that was not placed, as one line, or None."""
        for rule, _, reason in self.reports:
            if reason:
                return self._say(rule, reason)
        return None

    def _say(self, rule, reason):
        return f"rule {rule.name} on {self.kernel.name}: {reason}"

    def _apply(self, rules):
        edits = {}
        for _, some in rules:
            for edit in some:
                edits.setdefault(edit.file, {}).setdefault(edit.index, []).extend(edit.lines)
        results = {}
        for file, inserts in edits.items():
            lines, result = split(self.read(file)), []
            for index in range(len(lines) + 1):
                result += inserts.get(index, [])
                result += lines[index:index + 1]
            results[file] = join(result)
        return results

    def finish(self):
        """Contents of all touched files, every promise of every rule checked."""
        self.results = self._apply(self.placed)
        for rule, _ in self.placed:
            try:
                rule.verify(self.results.get)
            except Unplaced as why:
                raise Failure(f"{self._say(rule, why)}; {self.kernel.dir} is unchanged") from None
        for rule, edits in self.placed:
            for edit in edits:
                for name in references(edit.file, "".join(edit.lines)):
                    if name not in self.new and self.read(name) is None:
                        raise Failure(f"the project has no file for {name}, which rule "
                                      f"{rule.name} needs; is the project complete?")
        return {**self.results, **self.new}

    def steps(self, mode):
        """The graft as a list of commits."""
        changes = {name: (data, 0o644) for name, data in self.new.items()}
        features = dict.fromkeys(rule.path.parent.name for rule in self.rules)
        yield Step(f"sched: Add the files of {' and '.join(f for f in features if f != 'common')}",
                   "Nothing builds or reads them yet; the hooks follow one by one, and the\n"
                   "options come last.", changes)
        before = {}
        for count in range(1, len(self.placed) + 1):
            after = self._apply(self.placed[:count])
            rule = self.placed[count - 1][0]
            yield Step(rule.subject, rule.why,
                       {name: (data, mode(name)) for name, data in after.items()
                        if before.get(name) != data})
            before = after


# -- the record in the tree --------------------------------------------------

class Record:
    """.schedshard/: what the graft did to the tree."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.dir = kernel.path(STATE)
        self.data = None
        if self.dir.is_dir():
            try:
                self.data = json.loads((self.dir / "manifest.json").read_text())
                if self.data["format"] != 1:
                    raise ValueError
            except (OSError, ValueError, KeyError, TypeError):
                raise Failure(f"{self.dir} is damaged; put the tree back by other means (git "
                              f"checkout, or unpack it again) and delete {self.dir}") from None

    def __bool__(self):
        return self.data is not None

    @property
    def files(self):
        return self.data["files"]

    def original(self, name):
        """The content from before the graft; None for a file that is new."""
        wanted = self.files[name]["original"]
        if wanted is None:
            return None
        try:
            data = (self.dir / "originals" / wanted).read_bytes()
        except OSError:
            data = self.kernel.read(name) or b""
        if sha(data) != wanted:
            raise Failure(f"the original of {name} in {self.dir} is damaged; put the tree back "
                          f"by other means (git checkout, or unpack it again)")
        return data

    def classify(self):
        """(original, grafted, changed): names of files by what they hold now."""
        original, grafted, changed = [], [], []
        for name, entry in self.files.items():
            data = self.kernel.read(name)
            now = None if data is None else sha(data)
            if now == entry["original"]:
                original.append(name)
            elif now in (entry["result"], entry.get("also")):
                grafted.append(name)
            else:
                changed.append(name)
        return original, grafted, changed

    @property
    def complete(self):
        return self.data["complete"]

    def write(self, directory=None):
        directory = directory or self.dir
        temporary = directory / "manifest.new"
        temporary.write_text(json.dumps(self.data, indent=1, sort_keys=True) + "\n")
        os.replace(temporary, directory / "manifest.json")


class Interrupted(BaseException):
    """A signal asked the program to stop."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


class Signals:
    """SIGINT, SIGTERM and SIGHUP stop the program, but not between two moves."""

    def __init__(self):
        self.deferred, self.pending, self.moves = False, None, 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._caught)

    def _caught(self, number, _frame):
        if not self.deferred:
            raise Interrupted(number)
        self.pending = number

    @contextlib.contextmanager
    def held(self):
        self.deferred = True
        try:
            yield
        finally:
            self.deferred = False

    def moved(self):
        """Called after each move."""
        self.moves += 1
        name, _, count = os.environ.get(TEST_SIGNAL, "").partition(":")
        if name and int(count) == self.moves:
            os.kill(os.getpid(), getattr(signal, f"SIG{name}"))

    def check(self):
        if self.pending:
            raise Interrupted(self.pending)


def owned_like(path, like):
    """Give a file the owner of another, where that is allowed."""
    with contextlib.suppress(OSError):
        state = os.stat(like)
        os.chown(path, state.st_uid, state.st_gid)


def discard(path):
    shutil.rmtree(path, ignore_errors=True)


def parents(names):
    """Directories of these files, outer ones first."""
    found = {str(parent) for name in names for parent in Path(name).parents if str(parent) != "."}
    return sorted(found)


def check_writable(kernel, names):
    places = {kernel.dir}
    for name in names:
        parent = kernel.path(name).parent
        while not parent.exists():
            parent = parent.parent
        places.add(parent)
    for place in sorted(places):
        if not os.access(place, os.W_OK | os.X_OK):
            raise Failure(f"{place} cannot be written to; graft a copy with --copy-to DIR")


class Move:
    """Puts a wanted state into the tree: prepared first, then moved file by file.

    What needs space is done before the first move; moving back needs none.
    """

    def __init__(self, kernel, record, signals):
        self.kernel, self.record, self.signals = kernel, record, signals
        self.old = record.data
        self.home = record.dir if record else kernel.path(f"{STATE}-new")
        self.done, self.made = [], []

    def make(self, wanted, original, commits=None, publish=None):
        """Make the tree hold wanted (name -> content); returns how many files moved.

        Files of an earlier graft that are no longer wanted become original
        again. publish() is called when all files are in place and may still
        fail.
        """
        with self.signals.held():
            try:
                moves = self._prepare(wanted, original, commits)
                self._move(moves)
                self.signals.check()
                if publish:
                    publish()
                os.replace(self.record.dir / "stage/manifest.json",
                           self.record.dir / "manifest.json")
            except BaseException:
                self._roll_back()
                raise
            self._sweep()
        return len(moves)

    def _prepare(self, wanted, original, commits):
        kernel, record, home = self.kernel, self.record, self.home
        before = self.old["files"] if self.old else {}
        stage = home / "stage"
        if not self.old:
            home.mkdir()
            (home / "originals").mkdir()
            # git then ignores the directory without being told elsewhere.
            (home / ".gitignore").write_text("*\n")
            (home / "README").write_text(
                "Made by graft-tree: the originals of the files it changed. ungraft-tree\n"
                "needs them to give the tree back as it was.\n")
        discard(stage)
        stage.mkdir()
        files, moves = {}, []
        for number, name in enumerate(dict.fromkeys([*wanted, *before])):
            self.signals.check()
            path, now, first = kernel.path(name), kernel.read(name), original(name)
            new = wanted.get(name, first)
            entry = {"original": first and sha(first), "result": new and sha(new),
                     "mode": 0o644 if now is None else path.stat().st_mode & 0o7777}
            if name in before:
                entry["mode"] = before[name]["mode"]
                entry["also"] = before[name]["result"]
            files[name] = entry
            if first is not None and not (home / "originals" / sha(first)).exists():
                (home / "originals" / sha(first)).write_bytes(first)
            if new == now:
                continue
            if now is not None:
                self._copy(path, stage / f"{number}.old")
            if new is not None:
                (stage / f"{number}.new").write_bytes(new)
                os.chmod(stage / f"{number}.new", entry["mode"])
                owned_like(stage / f"{number}.new", path if now is not None else kernel.dir)
            moves.append((path, stage.name, number, now is not None, new is not None))
        dirs = list(self.old["dirs"]) if self.old else []
        dirs += [name for name in parents(wanted) if not kernel.path(name).is_dir()]
        record.data = {"format": 1, "kernel": kernel.name, "complete": True,
                       "dirs": sorted(set(dirs)), "commits": commits or {},
                       "files": {name: {"original": entry["original"], "mode": entry["mode"],
                                        "result": entry["result"]}
                                 for name, entry in files.items() if name in wanted}}
        record.write(stage)
        record.data = {**record.data, "complete": False, "files": files}
        record.write(home)
        if not self.old:
            os.rename(home, record.dir)
            self.home = record.dir
        return moves

    @staticmethod
    def _copy(source, target):
        # A link costs no space, and gives back the very file when rolled back.
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)

    def _move(self, moves):
        for path, stage, number, was, will in moves:
            self.signals.check()
            for parent in reversed(path.parents):
                if not parent.is_dir():
                    parent.mkdir()
                    owned_like(parent, self.kernel.dir)
                    self.made.append(parent)
            if will:
                os.replace(self.home / stage / f"{number}.new", path)
            else:
                path.unlink()
            self.done.append((path, self.home / stage / f"{number}.old" if was else None))
            self.signals.moved()

    def _roll_back(self):
        for path, old in reversed(self.done):
            if old:
                os.replace(old, path)
            else:
                path.unlink(missing_ok=True)
        for directory in reversed(self.made):
            with contextlib.suppress(OSError):
                directory.rmdir()
        self.record.data = self.old
        if self.old:
            with contextlib.suppress(OSError):
                self.record.write()
            discard(self.home / "stage")
        else:
            discard(self.home)

    def _sweep(self):
        """Directories and originals that an earlier graft needed and this does not."""
        data = json.loads((self.record.dir / "manifest.json").read_text())
        self.record.data = data
        for name in sorted(data["dirs"], reverse=True):
            with contextlib.suppress(OSError):
                self.kernel.path(name).rmdir()
        needed = {entry["original"] for entry in data["files"].values()}
        for path in (self.record.dir / "originals").iterdir():
            if path.name not in needed:
                path.unlink()
        discard(self.record.dir / "stage")


# -- the two verbs -----------------------------------------------------------

def clear_leavings(kernel):
    """What a killed run prepared and never used; the lock says that nobody does."""
    for name in (f"{STATE}-new", f"{STATE}-old"):
        if kernel.path(name).is_dir():
            discard(kernel.path(name))


def open_record(kernel):
    """The record, after a look whether it and the tree agree. Drops one that is void."""
    record = Record(kernel)
    if not record:
        return record
    original, grafted, changed = record.classify()
    if changed:
        raise Failure(f"{kernel.path(changed[0])} was changed since the graft"
                      f"{f' (and {len(changed) - 1} more)' if len(changed) > 1 else ''}; "
                      "save that change elsewhere and put the file back first")
    return record


def plan(kernel, any_version):
    record = Record(kernel)
    read = reader(kernel, record if record else None)
    graft = Graft(kernel, read)
    grafted = bool(record) and record.complete and not record.classify()[0]
    graft.work_out(stop=False)
    rows = [("rule", "file", "function", "state")]
    for rule, there, reason in graft.reports:
        state = ("already there" if there or (grafted and not reason) else
                 f"not found: {reason}" if reason else "found")
        for place in rule.places:
            rows.append((rule.name, place.file, str(place) if place.function else "-", state))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    print(f"{kernel.name} in {kernel.dir}")
    for feature in left_out(kernel.series):
        print(f"not for {kernel.series}: {feature}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + f"  {row[3]}")
    for name in graft.new:
        print(f"new file  {name}{'  already there' if kernel.read(name) is not None else ''}")
    places = [row for row in rows[1:] if not row[3].startswith("not found")]
    print(f"{len(places)} of {len(rows) - 1} places found; nothing was changed")
    if kernel.series not in SUPPORTED and not any_version:
        raise Failure(unsupported(kernel))
    if graft.problem():
        raise Failure(graft.problem())


def reader(kernel, record):
    """Reads files as they are, or were, without the graft."""
    def read(name):
        if record and name in record.files:
            return record.original(name)
        return kernel.read(name)
    return read


def unsupported(kernel):
    return (f"{kernel.name} is not supported; supported are {' and '.join(f'{v}.x' for v in SUPPORTED)}"
            " (--any-version tries another one)")


def copy_tree(kdir, target):
    """A writable copy of a kernel tree, without its git repository."""
    kernel = Kernel(kdir)
    target = Path(target).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Failure(f"{target} exists; give --copy-to a directory that does not, "
                      f"or graft it where it is with --kdir")
    if target.resolve().is_relative_to(kernel.dir):
        raise Failure(f"{target} lies inside {kernel.dir}; give --copy-to a place outside of it")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise Failure(f"cannot write to {target.parent}: {error.strerror}") from None
    try:
        entries = [str(entry) for entry in kernel.dir.iterdir() if entry.name != ".git"]
        with Progress(f"copying {kernel.dir} to {target}"):
            for command in (["cp", "-a", "--reflink=auto", "-t", partial, "--", *entries],
                            ["chmod", "-R", "u+w", partial]):
                done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
                if done.returncode:
                    reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
                    raise Failure(f"the copy to {target} failed: {reason}")
        os.chmod(partial, 0o755)
    except BaseException:
        discard(partial)
        raise
    return partial, target


def graft_tree(kdir, commit=False, only_plan=False, copy_to=None, any_version=False):
    signals = Signals()
    if copy_to and (commit or only_plan):
        raise Failure("--copy-to goes neither with --commit nor with --plan")
    if not copy_to:
        kernel = Kernel(kdir)
        with kernel.locked():
            if only_plan:
                plan(kernel, any_version)
            else:
                print(graft_here(kernel, signals, commit, any_version))
        return
    need_spatch()
    kernel = Kernel(kdir)
    if kernel.series not in SUPPORTED and not any_version:
        raise Failure(unsupported(kernel))
    partial, target = copy_tree(kdir, copy_to)
    try:
        copy = Kernel(partial)
        with copy.locked():
            result = graft_here(copy, signals, False, any_version)
            with contextlib.suppress(OSError):
                target.rmdir()
            os.rename(partial, target)
    except BaseException as error:
        discard(partial)
        if isinstance(error, Failure):
            raise Failure(str(error).replace(str(partial), str(target))) from None
        raise
    print(result.replace(str(partial), str(target)))


def graft_here(kernel, signals, commit, any_version):
    if kernel.series not in SUPPORTED and not any_version:
        raise Failure(unsupported(kernel))
    need_spatch()
    git = Git(kernel)
    if commit and not git.here:
        raise Failure(f"--commit needs a git repository in {kernel.dir}")
    record = open_record(kernel)
    if record:
        original, grafted, _ = record.classify()
        if not grafted:
            # Undone by other means, such as git reset: the record is void.
            record.data = None
        elif original or not record.complete:
            raise Failure(f"{kernel.dir} is half-grafted ({original[0] if original else 'a graft'}"
                          f"{' has no graft' if original else ' was interrupted'}); put it back "
                          f"with ungraft-tree --kdir {kernel.dir}")
    void = kernel.path(STATE).is_dir() and not record

    graft = Graft(kernel, reader(kernel, record if record else None))
    if not graft.new:
        raise Failure(f"no file to graft in {REPO}; is the project complete?")
    if not record:
        half(kernel, graft)
        if git.here:
            dirty = git.dirty([*graft.touched, *graft.new])
            if dirty:
                raise Failure(f"{kernel.path(dirty[0])} has uncommitted changes"
                              f"{f' (and {len(dirty) - 1} more files)' if len(dirty) > 1 else ''}; "
                              "commit or stash them first")
    check_writable(kernel, [*graft.touched, *graft.new])

    say(f"placing {len(graft.rules)} rules in {kernel.name}")
    graft.work_out()
    if graft.problem():
        raise Failure(f"{graft.problem()}; {kernel.dir} is unchanged")
    wanted = graft.finish()

    def mode(name):
        return kernel.path(name).stat().st_mode

    commits, names = [], sorted({*wanted, *(record.files if record else {})})
    info = record.data["commits"] if record else {}
    if commit:
        head, commits = make_commits(git, graft, names, wanted, mode)
        if commits:
            info = {"base": info.get("base", head), "last": commits[-1]}

    def publish():
        if commits:
            git.run("update-ref", "-m", "graft-tree", "HEAD", commits[-1], head)

    if record and not commits and all(kernel.read(name) == wanted.get(name) for name in names):
        return f"{kernel.dir} is already grafted, nothing to do"
    clear_leavings(kernel)
    if void:
        discard(kernel.path(STATE))
    again = bool(record)
    try:
        moved = Move(kernel, record, signals).make(wanted, graft.read, info, publish)
    except OSError as error:
        raise Failure(f"cannot write to {kernel.dir}: {error.strerror}; it is unchanged") from None
    if commits:
        # The index still shows the old commit.
        git.run("reset", "-q", "--", *names)
    note = f", {len(commits)} commits" if commits else ""
    if again:
        return f"{kernel.dir}: {moved} files brought up to date{note}"
    return (f"{kernel.dir} ({kernel.name}): {len(graft.results)} files changed, "
            f"{len(graft.new)} added{note}; undo with ungraft-tree --kdir {kernel.dir}")


def half(kernel, graft):
    """Refuse a tree that holds part of a graft and no record of it."""
    remedy = "put it back (git checkout, or unpack it again) before grafting"
    for rule in graft.rules:
        there = rule.there(kernel.read)
        if there:
            what = rule.hook if isinstance(rule, CocciRule) else rule.mark
            raise Failure(f"{kernel.dir} is half-grafted: {there} has {what}, and there is "
                          f"no {STATE} to undo it with; {remedy}")
    for name in graft.new:
        if kernel.path(name).exists() or kernel.path(name).is_symlink():
            raise Failure(f"{kernel.dir} is half-grafted: it has a file {name}, and there is "
                          f"no {STATE} that knows it; {remedy}")


def make_commits(git, graft, names, wanted, mode):
    """Commits for the graft, made but not yet in any branch."""
    head = git.head()
    git.run("var", "GIT_COMMITTER_IDENT")
    inside = {name: git.blob(head, name) for name in names}
    if all(inside[name] == graft.read(name) for name in names):
        steps = graft.steps(mode)
    elif all(inside[name] == graft.kernel.read(name) for name in names):
        changes = {name: (wanted.get(name, graft.read(name)),
                          0o644 if name in graft.new else mode(name))
                   for name in names if inside[name] != wanted.get(name, graft.read(name))}
        steps = [Step("sched: Bring the graft up to date",
                      "The files or the rules of the project have changed.", changes)]
    else:
        name = next(name for name in names if inside[name] != graft.read(name))
        raise Failure(f"{name} in HEAD is neither as before nor as after the graft; "
                      "ungraft first, or graft without --commit")
    commits = []
    for step in steps:
        if step.changes:
            commits.append(git.commit(commits[-1] if commits else head, step.changes,
                                      f"{step.title}\n\n{step.why}\n"))
    return head, commits


def ungraft_tree(kdir):
    signals = Signals()
    kernel = Kernel(kdir)
    with kernel.locked():
        print(ungraft_here(kernel, signals))


def ungraft_here(kernel, signals):
    record = open_record(kernel)
    if not record:
        half(kernel, Graft(kernel, kernel.read))
        clear_leavings(kernel)
        return f"{kernel.dir} is not grafted, nothing to do"
    check_writable(kernel, record.files)
    originals = {name: record.original(name) for name in record.files}
    clear_leavings(kernel)
    with signals.held():
        try:
            left = put_back(kernel, record, originals, signals)
        except OSError as error:
            raise Failure(f"cannot write to {kernel.dir}: {error.strerror}; make room or mend the "
                          "rights, then run ungraft-tree again") from None
    note = f"; {left[0]} stays, it holds files of others" if left else ""
    base = record.data["commits"].get("base")
    if base:
        note += (f"; the commits of the graft are still in the history, git reset {base[:12]} "
                 "drops them")
    return f"{kernel.dir} ({kernel.name}) is as it was before the graft{note}"


def put_back(kernel, record, originals, signals):
    for name, data in originals.items():
        path = kernel.path(name)
        if kernel.read(name) == data:
            continue
        if data is None:
            path.unlink()
        else:
            source = record.dir / "originals" / record.files[name]["original"]
            os.chmod(source, record.files[name]["mode"])
            owned_like(source, path if path.exists() else kernel.dir)
            # Objects of the grafted kernel must not look newer than their source.
            os.utime(source)
            os.replace(source, path)
        signals.moved()
    left = []
    for name in sorted(record.data["dirs"], reverse=True):
        try:
            kernel.path(name).rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            left.append(name)
    gone = kernel.path(f"{STATE}-old")
    os.rename(record.dir, gone)
    discard(gone)
    return left


def run(verb, *args, **options):
    """Run a verb; what can go wrong becomes one line and an exit status."""
    try:
        return verb(*args, **options)
    except Interrupted as stop:
        say("interrupted; the tree is as it was")
        return 128 + stop.number
    except OSError as error:
        raise Failure(f"{error.filename or 'a file'}: {error.strerror}") from None

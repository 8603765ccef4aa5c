# SPDX-License-Identifier: GPL-2.0-only
"""The graft as a series of patches: what each commit brings, and the proof that
all of them together are the graft.

A directory in scripts/series.d/ is a feature, a file in it is a commit: its
message. What the commit brings is not written down anywhere: it follows from
the graft's own files and rules by the table below. A text that can only arrive
in parts (Kconfig, Makefile, MAINTAINERS) is at every commit the final text
without the lines about what is not there yet.
"""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from . import OUT, REPO, SCRIPTS, Failure, cidrun, digest, graft, read, report, say, show

TEXTS = SCRIPTS / "series.d"
# What each kind of commit brings of a feature: files of the kernel tree by their
# names ("@" is the name of the feature), the rest with the hooks. A rule comes
# with the file that it edits.
STEPS = {
    "structure": ["kernel/sched/@.c", "kernel/sched/@.h", "kernel/sched/@_idle.c", "include/linux/@_types.h"],
    "kunit": ["kernel/sched/tests/*"],
    "knobs": ["kernel/sched/@_debug.c"],
    "documentation": ["Documentation/*"],
    "hooks": ["*"],
    "maintainers": [],
}
# checkpatch wants a parameter described by the patch that brings it.
EXCEPTIONS = {"Documentation/admin-guide/kernel-parameters.txt": "hooks"}
# Files that all features share, by the step that first brings them.
SHARED = {graft.KCONFIG: "structure", "kernel/sched/tests/Makefile": "kunit",
          "kernel/sched/tests/.kunitconfig": "kunit"}
# Files that are about all features, and so come with the last one.
BOTH = ("kernel/sched/tests/shard_torture.c",)
# Files of the kernel whose lines arrive with what they name.
GROWING = ("kernel/sched/Makefile", "init/Kconfig", "MAINTAINERS")
# Files that a feature serves without changing them: their maintainers want to know.
ALSO = {"cid_cache": ["kernel/rseq.c"]}
TRAILER = re.compile(r"(?m)^(Signed-off-by|Co-developed-by|Acked-by|Reviewed-by|Tested-by):")
COVER = re.compile(r"(v\d+-)?0000-")


@dataclass
class Commit:
    feature: str
    step: str
    text: str
    files: dict    # path -> content, of all files that differ from before


def texts():
    """[(feature, step, path)] in the order of the series."""
    found = []
    for directory in sorted(path for path in TEXTS.iterdir() if path.is_dir()):
        feature = directory.name.partition("-")[2]
        for path in sorted(directory.glob("[0-9]*.txt")):
            step = path.stem.partition("-")[2]
            if step not in STEPS:
                raise Failure(f"{show(path)} is for no known step; there are: {', '.join(STEPS)}")
            found.append((feature, step, path))
    return found


def message(path):
    """The text of a commit: a subject, an empty line, the reasons."""
    text = read(path).strip("\n") + "\n"
    lines = text.splitlines()
    if len(lines) < 3 or lines[1] or not lines[2]:
        raise Failure(f"{show(path)} is no commit message: a subject, an empty line, and then why")
    if len(lines[0]) > 75 or not re.match(r"[\w/-]+: [A-Z]", lines[0]):
        raise Failure(f"{show(path)}: the subject is not of the form \"subsystem/part: Do what\" in 75 characters")
    for number, line in enumerate(lines, 1):
        if len(line) > 75 and "://" not in line:
            raise Failure(f"{show(path)}: line {number} has more than 75 characters, of which checkpatch complains")
    if TRAILER.search(text):
        raise Failure(f"{show(path)} has a trailer like Signed-off-by, which only a person can give")
    return text


def step_of(feature, name):
    """The step in which a feature brings a file, or edits one."""
    if name in EXCEPTIONS:
        return EXCEPTIONS[name]
    for step, patterns in STEPS.items():
        if any(fnmatch.fnmatchcase(name, pattern.replace("@", feature)) for pattern in patterns):
            return step
    raise AssertionError(name)


def feature_of(name, features):
    """Whose file of the project this is."""
    for feature in features:
        if feature in name or feature.replace("_", "-") in name:
            return feature
    if name in BOTH:
        return features[-1]
    raise Failure(f"{name} has no feature's name in its own ({', '.join(features)}), so no commit of the series "
                  "brings it; rename it, or name it as SHARED or BOTH in scripts/lib/schedshard/series.py")


class Plan:
    """The commits that lead from a pristine tree to the grafted one."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.graft = graft.Graft(kernel, kernel.read)
        there = next((rule for rule in self.graft.rules if rule.there(kernel.read)), None)
        if there or kernel.path(graft.STATE).exists():
            raise Failure(f"{kernel.dir} is grafted; a series starts from a pristine tree "
                          f"(ungraft-tree --kdir {kernel.dir})")
        self.graft.work_out()
        if self.graft.problem():
            raise Failure(self.graft.problem())
        self.wanted = self.graft.finish()
        present = {rule.path.parent.name for rule in self.graft.rules} - {"common"}
        self.texts = [entry for entry in texts() if entry[0] in present]
        self.features = list(dict.fromkeys(feature for feature, _, _ in self.texts))
        if set(self.features) != present:
            raise Failure(f"{show(TEXTS)} has no messages for {', '.join(sorted(present - set(self.features)))}")
        self.base = {name: kernel.read(name) for name in sorted(self.graft.touched)}
        self.commits = self._commits()

    def _commits(self):
        arrived, before, commits = set(), dict(self.base), []
        for feature, step, path in self.texts:
            arrived.add((feature, step))
            after = self._state(arrived)
            files = {name: data for name, data in after.items() if before.get(name) != data}
            if not files:
                raise Failure(f"{show(path)} brings nothing; take it away")
            commits.append(Commit(feature, step, message(path), files))
            before = after
        if before != {**self.base, **self.wanted}:
            name = next(name for name in self.wanted if before.get(name) != self.wanted[name])
            raise Failure(f"the last commit leaves {name} other than the graft does; is a step missing in {show(TEXTS)}?")
        return commits

    def _state(self, arrived):
        """All files after some steps."""
        missing = [part for feature in self.features for part, step in
                   ((feature, "structure"), (f"{feature}_kunit_test", "kunit")) if (feature, step) not in arrived]
        last = self.features[-1]
        gone = [Path(name).stem for name in BOTH if (last, step_of(last, name)) not in arrived]
        files = {}
        for name, data in self.graft.new.items():
            if name in SHARED:
                if any((feature, SHARED[name]) in arrived for feature in self.features):
                    files[name] = graft.without(data.decode(), missing, gone).encode()
                continue
            feature = feature_of(name, self.features)
            if (feature, step_of(feature, name)) in arrived:
                files[name] = data
        placed = []
        for rule, edits in self.graft.placed:
            feature = rule.path.parent.name
            kept = [graft.Edit(edit.file, edit.index, self._lines(feature, edit, arrived, files, missing))
                    for edit in edits]
            placed.append((rule, [edit for edit in kept if edit.lines]))
        return {**self.base, **self.graft._apply(placed), **files}

    def _lines(self, feature, edit, arrived, files, missing):
        """The lines of an edit that are due after some steps."""
        name, lines = edit.file, edit.lines
        if name not in GROWING:
            return lines if (feature, step_of(feature, name)) in arrived else []
        if feature == "common":
            return lines if arrived else []
        if (feature, "structure") not in arrived:
            return []
        if name == "MAINTAINERS":
            # A pattern when there is something it matches; words to look for at the end.
            return [line for line in lines if not line.startswith(("F:", "K:")) or
                    (line[0] == "F" and any(matches(line[2:].strip(), path) for path in files)) or
                    (line[0] == "K" and (feature, "maintainers") in arrived)]
        if name.endswith("Makefile"):
            text = graft.without("".join(lines), missing)
            return makefile(text, os.path.dirname(name), files).splitlines(keepends=True)
        return lines


def matches(pattern, path):
    """Does a file pattern of MAINTAINERS name this file?"""
    return path.startswith(pattern) if pattern.endswith("/") else fnmatch.fnmatchcase(path, pattern)


def makefile(text, directory, files):
    """Lines of a Makefile without objects whose sources are not there."""
    def there(word):
        source = f"{word[:-2]}.c" if word.endswith(".o") else f"{word}Makefile"
        return f"{directory}/{source}" in files

    result = []
    for line in text.splitlines(keepends=True):
        objects = re.fullmatch(r"(obj-\S+ [+:]?=)((?: \S+)+)\n", line)
        option = re.match(r"[A-Z_]+_([a-z]\w*\.o) :=", line)
        if objects:
            words = [word for word in objects[2].split() if there(word)]
            line = f"{objects[1]} {' '.join(words)}\n" if words else ""
        elif option and not there(option[1]):
            line = ""
        result.append(line)
    return "".join(result)


# -- git ---------------------------------------------------------------------

class Repo:
    """A scratch repository; no configuration of the user's has a say in it."""

    def __init__(self, where, name, email, date):
        self.dir = Path(where)
        self.dir.mkdir(parents=True)
        self.env = {**{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
                    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "LC_ALL": "C",
                    "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": date,
                    "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email, "GIT_COMMITTER_DATE": date}
        self("init", "-q", "-b", "series")

    def __call__(self, *words, check=True):
        done = subprocess.run(["git", "-C", self.dir, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="surrogateescape", env=self.env)
        if check and done.returncode:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            wrong = [line for line in lines if re.match(r"(error|fatal): ", line)]
            raise Failure(f"git {words[0]} failed: {(wrong or lines or ['no reason given'])[0]}")
        return done.stdout

    def put(self, files):
        for name, data in files.items():
            path = self.dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def commit(self, text):
        self("add", "-A", "-f")
        message_file = self.dir / ".git/SERIES_MESSAGE"
        message_file.write_text(text)
        self("commit", "-q", "--no-verify", "--cleanup=verbatim", "-F", str(message_file))

    def files(self):
        """All files of HEAD, with content and mode."""
        found = {}
        for line in self("ls-files", "-s", "-z").split("\0"):
            if line:
                mode, _, name = line.split("\t")[0].split()[0], None, line.split("\t", 1)[1]
                found[name] = ((self.dir / name).read_bytes(), mode)
        return found


def patches(directory):
    """The patches in a directory, in order and without the cover letter."""
    return [path for path in sorted(Path(directory).glob("*.patch")) if not COVER.match(path.name)]


def changed_names(files):
    """Files that patches change or make."""
    return sorted({name for path in files for name in re.findall(r"(?m)^diff --git a/\S+ b/(\S+)$", read(path))})


def applied(kernel, files, scratch, names=()):
    """What git am makes of a pristine tree: name -> (content, mode).

    The repository holds all files of the tree that matter, and no others: those
    that the patches or the graft change, and any that the patches would make.
    """
    repo = Repo(scratch, "series", "series@localhost", "2000-01-01T00:00:00Z")
    there = {name: kernel.read(name) for name in {*changed_names(files), *names, "Makefile"}}
    repo.put({name: data for name, data in there.items() if data is not None})
    repo.commit("pristine\n")
    repo("am", "-q", "--keep-cr", *map(str, files))
    return repo.files()


def grafted(kernel, plan, scratch):
    """What graft-tree makes of those same files, by running it: name -> (content, mode)."""
    tree = Path(scratch)
    for name in {*plan.base, *plan.graft.new, "Makefile", "kernel/sched/core.c", "init/Kconfig"}:
        data = kernel.read(name)
        if data is not None:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(data)
    done = subprocess.run([SCRIPTS / "graft-tree", "--any-version", "--kdir", tree], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure(done.stderr.strip().splitlines()[-1].removeprefix("graft-tree: error: "))
    return {str(path.relative_to(tree)): (path.read_bytes(), "100755" if os.access(path, os.X_OK) else "100644")
            for path in tree.rglob("*") if path.is_file() and graft.STATE not in path.parts}


def differences(ours, theirs):
    """How two sets of files differ, for people."""
    found = []
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            found.append(f"{name}: only {'the series' if name in ours else 'the graft'} has it")
        elif ours[name][0] != theirs[name][0]:
            pairs = zip(ours[name][0].split(b"\n"), theirs[name][0].split(b"\n"))
            line = next((number for number, (a, b) in enumerate(pairs, 1) if a != b), "the last")
            found.append(f"{name}: the contents differ, first in line {line}")
        elif ours[name][1] != theirs[name][1]:
            found.append(f"{name}: mode {ours[name][1]} by the series, {theirs[name][1]} by the graft")
    return found


def verify(kernel, plan, files):
    """Where git am of these patches and the graft of the same tree differ."""
    with tempfile.TemporaryDirectory(prefix="series-") as scratch:
        scratch = Path(scratch)
        try:
            ours = applied(kernel, files, scratch / "am", [*plan.base, *plan.graft.new])
        except Failure as failure:
            return [str(failure)]
        return differences(ours, grafted(kernel, plan, scratch / "graft"))


# -- the cover letter ----------------------------------------------------------

def _provenance(path, *words):
    when = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).strftime("%Y-%m-%d")
    return "\n".join(textwrap.wrap("; ".join([*words, when]), 72, initial_indent="  [", subsequent_indent="   ",
                                   break_long_words=False)) + "]"


def _indent(text):
    return textwrap.indent(text.strip("\n"), "  ", lambda line: line.strip())


def _run(path, result, part):
    command = f"make run KERNEL={result['kernel']} CPUS={'x'.join(str(result['topology'][key]) for key in ('sockets', 'cores', 'threads'))} " \
              f"ROUNDS={result['rounds']} SECONDS={result['seconds']}"
    where = _provenance(path, f"Linux {result['release']}", result["what"], f"accelerator {result['accel']}", command)
    if part not in result:
        return None
    return f"{_indent(report.table(result) if part == 'loads' else cidrun.table(result[part]))}\n{where}"


def _icount(path, result, _):
    lines = [("swqueue: round trip of two processes through pipes", "instructions", "")]
    stock = result["settings"][0]["instructions"]
    lines += [(f"  {line['name']}", f"{line['instructions']:.1f}", f"{100 * (line['instructions'] / stock - 1):+.2f} %")
              for line in result["settings"]]
    if result.get("cid_cache"):
        lines.append(("CID cache: against sched_cid_cache=off", "instructions", ""))
        lines += [(f"  {line['name']}", f"{line['instructions']:.1f}", f"{100 * (line['instructions'] / line['off'] - 1):+.2f} %")
                  for line in result["cid_cache"]]
    text = "\n".join(f"{name:52} {value:>12} {change:>9}".rstrip() for name, value, change in lines)
    repetitions = len(result["settings"][0]["repetitions"])
    return f"{_indent(text)}\n" + _provenance(path, f"Linux {result['tree']}", "accelerator tcg, -icount shift=0",
                                              f"medians of {repetitions}", f"make bench KERNEL={result['kernel']}")


def _kept_text(path, result, command):
    text = path.with_suffix(".txt")
    if not text.is_file():
        return None
    return f"{_indent(read(text))}\n" + _provenance(path, f"{result['cpus']} CPUs", f"make {command} KERNEL={result['kernel']}")


# Title, the file with the figures, how to show them, and what measures them.
FIGURES = [
    ("swqueue: shard locks, and rates against off", "run/report.json", _run, "loads", "run"),
    ("Instructions per operation", "bench/icount.json", _icount, None, "bench"),
    ("Concurrency ids: which way a switch got its id", "run/report.json", _run, "cid_cache", "run"),
    ("Concurrency ids: what keep_ms does", "bench/keep_ms.json", _kept_text, "bench-cid", "bench-cid"),
    ("Concurrency ids: PostgreSQL under sysbench", "bench/sysbench.json", _kept_text, "bench-sysbench",
     "bench-sysbench"),
]


def tables(version, out=OUT):
    """What was measured here on this kernel, each with where it comes from; and what was not."""
    parts = []
    for title, name, show_it, argument, target in FIGURES:
        path, text = Path(out) / name, None
        missing = f"  not measured here: run `make {target} KERNEL={version}`"
        if path.is_file():
            try:
                result = json.loads(path.read_text())
                if str(result["kernel"]) != version:
                    missing += f"\n  (what is in {show(path)} is of {result['kernel']})"
                else:
                    text = show_it(path, result, argument)
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError) as error:
                raise Failure(f"{show(path)} is damaged ({type(error).__name__}: {error}); measure again with "
                              f"'make {target} KERNEL={version}', or remove it") from None
        parts.append(f"{title}\n\n{text or missing}")
    return "\n\n".join(parts)


def checked(version, files, out=OUT):
    """What series-check said about these very patches, if it has seen them."""
    path = Path(out) / "series-check" / f"{version}.json"
    result = json.loads(read(path) or "{}")
    if result.get("patches") != patches_digest(files):
        return f"series-check: not run on these patches here: `make series-check KERNEL={version}`"
    return "\n".join(textwrap.wrap(
        f"series-check of these patches, {result['when']}: {result['passed']} passed, {result['failed']} failed, "
        f"{result['skipped']} skipped ({result['what']}).", 72))


def patches_digest(files):
    """Of what the patches do and say, not of who sends them when."""
    return digest(*(text[text.find("\nSubject: "):] for text in map(read, files)))


def cover(plan, source, name, checks):
    """Subject and text of the cover letter."""
    numbers, features, limits = {}, [], []
    for number, commit in enumerate(plan.commits, 1):
        numbers.setdefault(commit.feature, []).append(number)
    for feature in plan.features:
        directory = next(path for path in TEXTS.iterdir() if path.name.partition("-")[2] == feature)
        features.append(_fill(directory / "cover.txt", {"patches": f"{numbers[feature][0]} to {numbers[feature][-1]}"}))
        limits.append(read(directory / "limits.txt").strip("\n"))
    return _fill(TEXTS / "cover.txt", {
        "kernel": plan.kernel.name, "source": source, "features": "\n\n".join(features), "limits": "\n".join(limits),
        "others": " and ".join(series for series in graft.SUPPORTED if series != plan.kernel.series),
        "tables": tables(name), "checks": checks})


def _fill(path, values):
    if not path.is_file():
        raise Failure(f"{show(path)} is missing; is the project complete?")

    def value(found):
        if found[1] not in values:
            raise Failure(f"{show(path)}: there is no {{{{{found[1]}}}}}")
        return values[found[1]]

    return re.sub(r"\{\{(\w+)\}\}", value, read(path).strip("\n"))


# -- patches -----------------------------------------------------------------

def write_patches(plan, cover, name, email, date, directory):
    """Commit everything and let git write the patches."""
    with tempfile.TemporaryDirectory(prefix="series-") as scratch:
        repo = Repo(Path(scratch) / "repo", name, email, date)
        repo.put(plan.base)
        repo.commit(f"{plan.kernel.name}\n")
        repo("tag", "base")
        for commit in plan.commits:
            repo.put(commit.files)
            repo.commit(commit.text)
        # format-patch takes subject and text of a cover letter from here.
        repo("config", "branch.series.description", cover)
        repo("format-patch", "-q", "--cover-letter", "--cover-from-description=subject", "--zero-commit",
             "--no-renames", "--abbrev=12", "--no-signature", "-o", str(directory), "base..series")


def recipients(kernel, files, features):
    """Lines 'To: ...' and 'Cc: ...': maintainers, and then reviewers and lists."""
    def ask(*what):
        done = subprocess.run(["perl", "scripts/get_maintainer.pl", "--no-git", "--no-git-fallback", "--no-rolestats",
                               "--roles", *map(str, what)], cwd=kernel.dir, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Failure(f"scripts/get_maintainer.pl of {kernel.dir} failed: "
                          f"{(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        return done.stdout.splitlines()

    to, cc = {}, {}
    also = [name for feature in features for name in ALSO.get(feature, ()) if kernel.path(name).is_file()]
    for line in ask(*files) + (ask("-f", *also) if also else []):
        found = re.fullmatch(r"(.+?) \((\w[^()]*?):.*\)|(.+?) \(open list\)", line.strip())
        if found and found[2] and found[2].startswith(("maintainer", "supporter")):
            to[found[1]] = None
        elif line.strip():
            cc[(found and (found[1] or found[3])) or line.strip()] = None
    if not to:
        raise Failure(f"scripts/get_maintainer.pl of {kernel.dir} names nobody")
    return [*(f"To: {line}" for line in to), *(f"Cc: {line}" for line in cc if line not in to)]


# -- the directory the user sees ----------------------------------------------

MANIFEST = ".written"


def sums(directory):
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                   for path in sorted(Path(directory).iterdir()) if path.is_file() and path.name != MANIFEST)


def edited(directory):
    """Does the directory hold anything that the program did not write itself?"""
    directory = Path(directory)
    return directory.is_dir() and any(directory.iterdir()) and sums(directory) != read(directory / MANIFEST)


def publish(fresh, target):
    """Put a finished directory in its place; what somebody has edited is kept beside it."""
    fresh, target = Path(fresh), Path(target)
    (fresh / MANIFEST).write_text(sums(fresh))
    if edited(target):
        number = 1
        while (kept := target.with_name(f"{target.name}.edited-{number}")).exists():
            number += 1
        target.rename(kept)
        say(f"{show(target)} was edited; that is kept as {show(kept)}")
    elif target.exists():
        shutil.rmtree(target)
    fresh.rename(target)


def submitter(name, email):
    """(name, address, where they come from)"""
    def git(*words):
        return subprocess.run(["git", "-C", REPO, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout.strip()

    if bool(name) != bool(email):
        raise Failure("the submitter has a name and an address: give both NAME= and EMAIL=, or neither")
    where = "as given"
    if not name:
        name, email, where = git("config", "user.name"), git("config", "user.email"), "from git config"
    if not name or not email:
        name, _, email = git("log", "-1", "--format=%an%x00%ae").partition("\0")
        where = "the author of the project's last commit"
    if not name or not email:
        raise Failure("who submits the series is not known: say NAME='Your Name' EMAIL=you@example.com, or set "
                      "git config user.name and user.email")
    if not re.fullmatch(r"[^<>\n]*[^<>\s][^<>\n]*", name) or not re.fullmatch(r"[^\s<>@]+@[^\s<>@]+", email):
        raise Failure(f"'{name} <{email}>' is no name with an address, such as 'Your Name' and you@example.com")
    return name, email, where


def project_date():
    """Of the project's last commit: the same sources give the same patches."""
    done = subprocess.run(["git", "-C", REPO, "log", "-1", "--format=%aI"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or "2000-01-01T00:00:00Z"

# SPDX-License-Identifier: GPL-2.0-only
"""Breakages that only a guest shows: the patches in breaks/glue/.

They are built in a copy of the project, so the kernels that were built of the
sources as they are stay what they are. The copy remains: the next breakage
compiles only what differs.
"""

import os
import re
import subprocess
import time

from . import OUT, REPO, Failure, Progress, end_with_parent, locked, run_logged, show
from .userspace import glue_patches, run

COPY = OUT / "mutants/glue"
# Which configuration of the kernel each stage boots.
CONFIGS = {"test-knobs": "debug", "test-live": "debug", "test-run": "run", "test-cid": "run",
           "test-hooks": "run"}


def stages(patch):
    """Command lines of the stages that have to notice; one of them is enough."""
    found = re.findall(r"^Caught-by: (.+)$", patch.read_text().partition("\n--- ")[0], re.M)
    if not found or any(stage.split()[0] not in CONFIGS for stage in found):
        raise Failure(f"{show(patch)} names no stage that is known; lines 'Caught-by: STAGE OPTIONS' "
                      f"with one of {', '.join(CONFIGS)}")
    return [stage.split() for stage in found]


def sources():
    """Bring the copy to what the project is now."""
    files = subprocess.run(["git", "-C", REPO, "ls-files", "-co", "--exclude-standard", "-z"],
                           stdout=subprocess.PIPE).stdout
    if not files:
        raise Failure(f"{show(REPO)} is no git repository; breakages for guests are made in a copy of what git lists")
    COPY.mkdir(parents=True, exist_ok=True)
    listed = {name.decode() for name in files.split(b"\0") if name and (REPO / name.decode()).exists()}
    for path in [path for path in COPY.rglob("*") if path.is_file() or path.is_symlink()]:
        name = str(path.relative_to(COPY))
        if not name.startswith("out/") and name not in listed:
            path.unlink()
    # By content: what a breakage has changed is put back with the date of the original.
    subprocess.run(["rsync", "-a", "--checksum", "--from0", "--files-from=-", f"{REPO}/", f"{COPY}/"], check=True,
                   input=b"\0".join(name.encode() for name in sorted(listed)))


def build_and_run(stage, log, title):
    """(built, exit status, output) of a stage of the copy."""
    version = os.environ.get("KERNEL")
    config = CONFIGS[stage[0]]
    if stage[0] == "test-cid" and "live" in stage:
        config = "debug"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    with Progress(f"{title}: kernel '{config}'", every=30):
        if not run_logged(["nice", COPY / "scripts/build-kernel", "--config", config,
                           *(["--version", version] if version else [])], log):
            return False, 1, log.read_text()
    with Progress(f"{title}: {' '.join(stage)}", every=30):
        status, text = run(["nice", COPY / "scripts" / stage[0], *stage[1:]], log.with_suffix(".stage"), 3600,
                           preexec_fn=end_with_parent)
    return True, status, text


def judge(stage_list, title):
    log = OUT / "mutants/log-glue" / f"{title}.log"
    said = ""
    for stage in stage_list:
        built, status, text = build_and_run(stage, log, title)
        if not built:
            return "no build", "compiler", text[-300:]
        reds = re.findall(r"^not ok \d+ - (.*)$", text, re.M)
        if status and reds:
            why = re.search(r"^# (.*)$", text[text.find("not ok"):], re.M)
            why = why.group(1) if why else ""
            return "killed", f"{' '.join(stage)}: {reds[0]}", why
        if status:
            return "no verdict", " ".join(stage), f"status {status} and no test that failed: {text[-300:]}"
        said += f"{' '.join(stage)} is green; "
    return "survived", "", said


def glue(only=None, unbroken=False):
    """Entries as of mutants.run(), for each breakage in a guest."""
    patches = [patch for patch in glue_patches() if not only or any(text in patch.stem for text in only)]
    if not patches:
        raise Failure(f"no such breakage; there are: {', '.join(patch.stem for patch in glue_patches())}")
    entries = []
    with locked(OUT / "mutants/glue.lock", show(COPY)):
        todo = [(patch.stem, patch, stages(patch)) for patch in patches]
        if unbroken:
            # Each stage once, or its being red says nothing.
            distinct = sorted({tuple(stage) for _, _, these in todo for stage in these})
            todo = [(f"unbroken {' '.join(stage)}", None, [list(stage)]) for stage in distinct] + todo
        for title, patch, these in todo:
            start = time.monotonic()
            sources()
            head = ""
            if patch:
                text = patch.read_text()
                head = text.partition("\n")[0].partition(": ")[2]
                status, said = run(["patch", "-p1", "-F0", "--no-backup-if-mismatch", "-i", patch],
                                   OUT / "mutants/patch.log", cwd=COPY)
                if status:
                    raise Failure(f"{show(patch)} does not apply: {said.strip().splitlines()[-1]}")
            status, by, why = judge(these, title.replace(" ", "_"))
            if not patch:
                if status != "survived":
                    raise Failure(f"{title}: {status} without a breakage: {by} {why}")
                continue
            match = re.search(r"^--- a/\S*?([^/\s]+)$.*?^@@ -(\d+)", text, re.M | re.S)
            entries.append({"mutant": f"glue/{title}", "file": match.group(1), "line": int(match.group(2)),
                            "function": "", "operator": "hand-made", "old": "", "new": head, "status": status,
                            "by": by, "why": why, "seconds": round(time.monotonic() - start, 1), "class": "", "reason": ""})
        sources()
    return entries

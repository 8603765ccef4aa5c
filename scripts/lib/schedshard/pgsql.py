# SPDX-License-Identifier: GPL-2.0-only
"""PostgreSQL and sysbench for a guest, without installing them on the host.

Debian's packages are downloaded and unpacked in the cache, a data directory is
made and filled by them, once.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import CACHE, Failure, Progress, write
from .guest import libraries

PACKAGES = ["postgresql-15", "sysbench"]
# Only for compiling queries, which is off.
WITHOUT = re.compile(r"lib(llvm|z3)")
BIN = "usr/lib/postgresql/15/bin"
TREES = ["usr/lib/postgresql/15/lib", "usr/share/postgresql/15", "usr/share/sysbench"]
TABLES, ROWS = 4, 5000
# Who runs the server, which refuses to be root: "nobody".
USER = 65534


def _run(what, command, env=None, cwd=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=cwd)
    if done.returncode:
        raise Failure(f"{what} failed: {(done.stdout.strip().splitlines() or ['no message'])[-1]}")
    return done.stdout


def as_user(*command):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command] if os.geteuid() == 0 \
        else list(command)


def _environment(root):
    return {**os.environ, "LD_LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu", "LC_ALL": "C", "TZ": "UTC",
            "LUA_PATH": f"{root}/usr/share/sysbench/?.lua"}


def _unpack(work, root):
    for tool in ("apt-get", "dpkg-deb", "dpkg-query"):
        if not shutil.which(tool):
            raise Failure(f"{tool} is missing: PostgreSQL and sysbench are taken from Debian's packages")
    listing = _run("apt-get", ["apt-get", "-s", "install", "--no-install-recommends", "--reinstall", *PACKAGES])
    names = [name for name in re.findall(r"^Inst (\S+)", listing, re.M) if not WITHOUT.match(name)]
    debs = work / "debs"
    debs.mkdir()
    _run("the download of " + ", ".join(PACKAGES), ["apt-get", "-q", "download", *names], cwd=debs)
    for deb in sorted(debs.glob("*.deb")):
        _run(f"unpacking {deb.name}", ["dpkg-deb", "-x", deb, root])
    for program in (f"{BIN}/postgres", "usr/bin/sysbench"):
        if not (root / program).exists():
            raise Failure(f"the packages {', '.join(PACKAGES)} hold no {program}; they are Debian 12's")


def _fill(work, root):
    """A data directory with sysbench's tables."""
    data, env = work / "data", _environment(root)
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        for path in (work, data):
            shutil.chown(path, USER, USER)
    binaries = root / BIN
    _run("initdb", as_user(binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8",
                           "--no-sync"), env, work)
    # The guest has no time zones but the one that is built in.
    with open(data / "postgresql.conf", "a") as conf:
        conf.write("timezone = 'GMT'\nlog_timezone = 'GMT'\n")
    control = [binaries / "pg_ctl", "-D", data, "-w", "-s"]
    _run("the start of PostgreSQL", as_user(*control, "-l", work / "log", "-o",
                                            f"-k {work} -c listen_addresses='' -c fsync=off", "start"), env, work)
    try:
        _run("sysbench's preparation",
             [root / "usr/bin/sysbench", root / "usr/share/sysbench/oltp_read_only.lua", "--db-driver=pgsql",
              f"--pgsql-host={work}", "--pgsql-user=postgres", "--pgsql-db=postgres", f"--tables={TABLES}",
              f"--table-size={ROWS}", "prepare"], env, work)
    finally:
        _run("the stop of PostgreSQL", as_user(*control, "-m", "fast", "stop"), env, work)
    for name in ("postmaster.pid", "postmaster.opts"):
        (data / name).unlink(missing_ok=True)


def prepare():
    """The directory with root/ and data/, made if it is not there."""
    ready = CACHE / "pgsql"
    if (ready / "stamp").exists():
        return ready
    # Not in the cache: "nobody" must be able to reach it while it is made.
    work = Path(tempfile.mkdtemp(prefix="schedshard-pgsql-"))
    try:
        work.chmod(0o755)
        with Progress("fetching PostgreSQL and sysbench, filling a database"):
            _unpack(work, work / "root")
            _fill(work, work / "root")
        shutil.rmtree(ready, ignore_errors=True)
        ready.mkdir(parents=True)
        for name in ("root", "data"):
            shutil.move(work / name, ready / name)
        write(ready / "stamp", "")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return ready


def files(ready):
    """[(name in the guest, file)]: programs, their libraries, what they read, the data."""
    root = ready / "root"
    found = {}
    for program in (f"{BIN}/postgres", "usr/bin/sysbench"):
        found[program] = root / program
        # Where the loader looks is set in the environment, as for a run here.
        for library in libraries(root / program, _environment(root)):
            path = Path(library)
            name = path.relative_to(root) if path.is_relative_to(root) else path
            found[str(name).strip("/")] = path
    for tree, place in [(root / tree, tree) for tree in TREES] + [(ready / "data", "pgdata")]:
        for path in sorted(tree.rglob("*")):
            if path.is_file() and not re.search(r"llvmjit|/man/|/locale/|/bitcode/", str(path)):
                found[f"{place}/{path.relative_to(tree)}"] = path
    # Empty directories count for PostgreSQL.
    folders = [f"pgdata/{path.relative_to(ready / 'data')}" for path in sorted((ready / "data").rglob("*"))
               if path.is_dir()]
    return list(found.items()), folders

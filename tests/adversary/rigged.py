#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small commands in which one allocation, or one system call, fails: each in turn. weft ends with an exit code
of its list and with words, never by a signal; a file that it leaves is whole.

usage: rigged.py [--each N]
With N, that many allocations of each command fail, spread evenly, and a tenth as many system calls of each kind
(below 10: one of each, in the first command); else all.
Allocations fail by a library that is loaded before the C library (rigged.c), system calls by strace, if it is
installed. WEFT and WEFT_SOURCE_DIR are set as in tests.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
SECONDS = 60
CODES = (0, 1, 2, 3, 4, 5)
# What a command reads is made before; {} is the folder of these files.
MADE = [["gen", "stencil2d", "-n", "4", "-o", "t.weft"],
        ["replay", "t.weft", "--record", "-o", "r.json"]]
COMMANDS = [["replay", "gen:ring", "-n", "4", "-o", "out.json"],
            ["gen", "stencil2d", "-n", "4", "--parts", "2", "-o", "out.weft"],
            ["convert", "{}/t.weft", "out.goal"],
            ["info", "{}/t.weft"],
            ["report", "{}/r.json", "-o", "out.html"],
            ["replay", "{}/t.weft", "--sched", "conservative", "--threads", "2", "-p", "engine.fit=no", "-q", "--json"],
            ["replay", "{}/t.weft", "--net", "packet", "--topo", "torus:2x2", "--json"]]
PROGRAM = """#include <mpi.h>
int main(int n, char **words)
{
    MPI_Init(&n, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
# Failures of calls that end weft for good reasons are EIO; what is not there is ENOSYS.
CALLS = {"openat": "EACCES", "read": "EIO", "write": "ENOSPC", "close": "EIO", "fstat": "EIO",
         "newfstatat": "EACCES", "lseek": "EIO", "rename": "EACCES", "renameat2": "ENOSYS",
         "mmap": "ENOMEM", "munmap": "EINVAL", "mkdir": "ENOSPC", "fcntl": "EMFILE",
         "clone3": "EAGAIN", "rt_sigaction": "EINVAL", "getdents64": "EIO", "flock": "ENOSYS",
         "pread64": "EIO", "pwrite64": "ENOSPC", "sysinfo": "EPERM", "prlimit64": "EPERM",
         "sched_getaffinity": "EPERM", "readlink": "EACCES", "ftruncate": "ENOSPC", "fsync": "EIO"}


def build(folder):
    library = folder / "rigged.so"
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", SOURCE / "tests/adversary/rigged.c", "-o",
                    library], check=True)
    return library


def build_program(folder):
    """A command that runs ranks, if this build can compile them."""
    compiler = pathlib.Path(WEFT).parent / "weftcc"
    (folder / "program.c").write_text(PROGRAM)
    if not compiler.exists() or not (compiler.parent / "libweftmpi.so").exists():
        return []
    subprocess.run([compiler, folder / "program.c", "-o", folder / "program"], check=True)
    return [["run", "{}/program", "-n", "4", "-o", "out.json"]]


def run(words, made, prefix=(), **variables):
    """The outcome, and what is wrong with it or None. In a folder of its own."""
    with tempfile.TemporaryDirectory() as path:
        command = [*prefix, WEFT, *(word.replace("{}", str(made)) for word in words)]
        try:
            done = subprocess.run(command, cwd=path, capture_output=True, check=False,
                                  env={**os.environ, **variables}, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None, "does not end"
        left = sorted(p for p in pathlib.Path(path).iterdir())
        return done.returncode, what_is_wrong(done, left)


def is_whole(path):
    """Whether weft, with all its memory, reads a trace to its end."""
    done = subprocess.run([WEFT, "info", path], capture_output=True, check=False, timeout=SECONDS)
    return path.suffix in (".weft", ".goal") and done.returncode == 0


def what_is_wrong(done, left):
    words = done.stderr.decode(errors="replace")
    if done.returncode not in CODES:
        return f"exit code {done.returncode}: {words[-300:]}"
    if done.returncode != 0 and not words:
        return f"exit code {done.returncode} without words"
    for path in left:
        if path.name.endswith(".tmp"):
            return f"left {path.name}"
        if done.returncode == 0 and path.suffix == ".json":
            try:
                json.loads(path.read_text())
            except ValueError as error:
                return f"{path.name} is not JSON: {error}"
        # A trace is there before the line about it is printed; what stays must be whole.
        if done.returncode not in (0, 1) and not is_whole(path):
            return f"left {path.name} after exit code {done.returncode}: {words[-200:]}"
    return None


def spread(count, each):
    """The failures to try, of 0 to count - 1."""
    if each is None or count <= each:
        return range(count)
    return sorted({i * count // each for i in range(each)})


class Tally:
    def __init__(self):
        self.codes = collections.Counter()
        self.failed = 0

    def note(self, code, wrong, what):
        self.codes[code] += 1
        if wrong is not None:
            self.failed += 1
            print(f"not ok - {what}: {wrong}")


def rig_memory(words, made, library, each, tally):
    number = made / "count"
    run(words, made, LD_PRELOAD=str(library), RIGGED_COUNT=str(number))
    for at in spread(int(number.read_text()), each):
        for more in ({}, {"RIGGED_ON": "1"}):
            code, wrong = run(words, made, LD_PRELOAD=str(library), RIGGED_AT=str(at), **more)
            tally.note(code, wrong, f"RIGGED_AT={at} {' '.join(more)} weft {' '.join(words)}")


def rig_calls(words, made, each, tally):
    """What comes before the first rt_sigaction is the loader's."""
    log = made / "calls"
    run(words, made, ["strace", "-f", "-qq", "-o", str(log)])
    total, before = collections.Counter(), None
    for call in re.findall(r"^(?:\d+ +)?(\w+)\(", log.read_text(errors="replace"), re.MULTILINE):
        if call == "rt_sigaction" and before is None:
            before = total.copy()
        total[call] += 1
    before = before or total
    for call, error in CALLS.items():
        for at in spread(total[call] - before[call], each):
            when = before[call] + at + 1
            rule = f"inject={call}:error={error}:when={when}"
            code, wrong = run(words, made, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                                            "-e", rule])
            tally.note(code, wrong, f"strace -f -e {rule} weft {' '.join(words)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int)
    each = parser.parse_args().each
    tally = Tally()
    with tempfile.TemporaryDirectory() as path:
        made = pathlib.Path(path)
        library = build(made)
        for words in MADE:
            subprocess.run([WEFT, *words], cwd=made, check=True, capture_output=True)
        for words in COMMANDS + build_program(made):
            rig_memory(words, made, library, each, tally)
            if shutil.which("strace") and (each is None or each >= 10 or words is COMMANDS[0]):
                rig_calls(words, made, each and max(1, each // 10), tally)
    print(f"{sum(tally.codes.values())} failures of memory or system calls: exit codes",
          ", ".join(f"{code}: {n}" for code, n in sorted(tally.codes.items(), key=str)))
    return 1 if tally.failed else 0


sys.exit(main())

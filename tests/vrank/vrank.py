# SPDX-License-Identifier: Apache-2.0
"""Programs that are run as virtual ranks and, where it is installed, under MPICH."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

WEFT = os.environ["WEFT"]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
COMPILERS = {".c": ("weftcc", "mpicc.mpich"), ".cc": ("weftc++", "mpicxx.mpich"),
             ".f90": ("weftf90", "mpif90.mpich")}
SKIPPED = 77
YIELD = BUILD / "tests/libmpich_yield.so"

_failures = []


def complain(what, *details):
    _failures.append(what)
    print(f"not ok - {what}")
    for detail in details:
        print("  " + str(detail)[:1500].replace("\n", "\n  "))


def finish():
    print(f"{len(_failures)} failures")
    sys.exit(1 if _failures else 0)


def build(source, other=False, debug=False, flags=(), name=None):
    """The program, or None if there is no compiler for it."""
    compiler = COMPILERS[source.suffix][other]
    path = shutil.which(compiler) if other else BUILD / compiler
    if path is None or not pathlib.Path(path).exists():
        return None
    program = f"./{name or source.stem}{'_other' if other else ''}"
    flags = [*flags]
    flags += ["-w"] if source.suffix == ".f90" else [f"-I{SOURCE / 'include'}"] if other else []
    flags += ["-g"] if debug else []
    done = subprocess.run([path, "-O1", *flags, source, "-o", program, "-lm"], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        complain(f"{compiler} {source.name}", done.stderr)
        return None
    return program


def under_other(program, ranks, *args):
    """What the program says under MPICH; None if it cannot be run."""
    launcher = shutil.which("mpiexec.mpich")
    if program is None or launcher is None:
        return None
    preload = ["-genv", "LD_PRELOAD", str(YIELD)] if YIELD.exists() else []
    done = subprocess.run([launcher, *preload, "-n", str(ranks), program, *args], text=True,
                          capture_output=True, check=False, timeout=120,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        complain(f"mpiexec -n {ranks} {program}", done.stdout, done.stderr)
        return None
    return done.stdout


def under_weft(program, ranks, *args, options=()):
    """What the program says as virtual ranks, and the digest of the run."""
    command = [WEFT, "run", "-n", str(ranks), "--compute", "none", "-f", "-o", "result.json",
               *options, "--", program, *args]
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=240,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        complain(" ".join(command), done.stdout, done.stderr)
        return None, None
    digest = json.loads(pathlib.Path("result.json").read_text())["result"]["digest"]
    return done.stdout, digest


def compile_text(compiler, name, text, *flags):
    """Builds ./<name> from a program's text; False, with a complaint, if that fails."""
    source = pathlib.Path(f"{pathlib.Path(name).stem}_source.c")
    source.write_text(text, encoding="utf-8")
    done = subprocess.run([compiler, "-O1", "-w", str(source), "-o", name, *flags], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        complain(f"building {name}", done.stderr)
    return done.returncode == 0


def check_lines(command, ranks, schedules, expected):
    """The program prints these lines, in any order, and has one digest under these schedules."""
    digests = set()
    for options in schedules:
        said, digest = under_weft(*command[:1], ranks, *command[1:], options=options)
        digests.add(digest)
        lines = sorted(said.splitlines()) if said is not None else []
        if lines != sorted(expected):
            complain(f"{' '.join(command)} {options} says", lines)
    if len(digests) > 1:
        complain(f"digests of {' '.join(command)}", digests)


def says(expected, text):
    return re.search(expected, text) is not None


def differs(one, other):
    """The first line that is not the same in both, or None."""
    a, b = one.splitlines(), other.splitlines()
    for i in range(max(len(a), len(b))):
        x, y = (lines[i] if i < len(lines) else "(nothing)" for lines in (a, b))
        if x != y:
            return f"line {i + 1}: {x!r} and {y!r}"
    return None

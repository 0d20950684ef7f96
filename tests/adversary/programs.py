# SPDX-License-Identifier: Apache-2.0
"""Random faulty programs under `weft run`: weft ends in time, with its own words and a code that
exit-codes.md knows, and the same one under another schedule."""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

WEFT = os.environ["WEFT"]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 60
CODES = (0, 4)
# Ranks share the memory of the process: who destroys it may destroy weft's, and what happens then
# depends on where the memory was. weft must end nevertheless.
BY_LUCK = ("corrupt_heap", "free_twice", "bad_request")


def build(folder):
    """The faulty program and its faults, or None."""
    compiler = BUILD / "weftcc"
    if not compiler.exists():
        return None, []
    program = folder / "faulty"
    subprocess.run([compiler, "-g", "-O0", "-w", HERE / "faulty.c", "-o", program], check=True)
    names = subprocess.run([WEFT, "run", "-q", "-n", "1", program], capture_output=True,
                           text=True, check=True, timeout=SECONDS).stdout.split()
    return str(program), [name for name in names if name.islower() and name.isidentifier()]


def outcome(command, folder):
    """How a run ended, and the one document on its stdout."""
    done = subprocess.run([*command[:2], "--json", *command[2:]], text=True,
                          capture_output=True, errors="replace", check=False, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(folder)})
    # What the program prints comes before.
    begin = max(done.stdout.find('{\n  "schema"'), 0)
    try:
        return done, json.loads(done.stdout[begin:])
    except ValueError:
        return done, {}


def check(done, document, name, folder):
    """What is wrong with the end of a run, or None."""
    if name in BY_LUCK:
        return None
    if name == "close_output" and done.returncode == 3:
        return None  # weft's own output is closed as well
    if done.returncode not in CODES:
        return f"exit code {done.returncode}"
    if done.returncode == 4 and "weft: " not in done.stderr and name != "close_output":
        return "no words"
    if not document and name != "close_output":
        return f"no document: {done.stdout[-300:]!r}"
    left = [p.name for p in folder.iterdir() if p.name != "faulty"]
    return f"left behind: {left}" if left else None


def one(rng, program, names, folder):
    name, ranks = rng.choice(names), rng.choice([1, 2, 3, 5, 8])
    where = [name, str(rng.randrange(ranks)), str(rng.choice([-1, 0, 0, 1, 1, 2, 3]))]
    schedule = rng.choice([["--sched", "conservative", "--threads", "2"], ["--sched", "conservative"],
                           ["--net", "latency", "--topo", "full:8"],
                           ["--net", "packet", "--topo", "torus:4x2"]])
    command = [WEFT, "run", "-q", "-n", str(ranks), "--compute", "none", "--stack", "256KiB"]
    results = []
    for options in ([], schedule):
        full = [*command, *options, "--", program, *where]
        try:
            done, document = outcome(full, folder)
        except subprocess.TimeoutExpired:
            return name, f"does not end\n  command: {shlex.join(full)}"
        wrong = check(done, document, name, folder)
        if wrong:
            return name, f"{wrong}: {done.stderr[-600:]}\n  command: {shlex.join(full)}"
        results.append((done.returncode, options))
    if results[0][0] != results[1][0] and name not in BY_LUCK:
        return name, f"exit codes {results}\n  command: {shlex.join(command)} -- {where}"
    return f"code {results[0][0]}", None


def run(kind, cases, log):
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        program, names = build(folder)
        if program is None:
            return "there is no weftcc"
        for number, rng in cases:
            name, wrong = one(rng, program, names, folder)
            log.count(kind, "failed" if wrong else name)
            if wrong:
                log.failed(kind, number, f"{name}: {wrong}")
    return None

# SPDX-License-Identifier: Apache-2.0
"""Several MPI processes in trouble: damaged inputs, or one process that is killed or crashes at a random time.
The launcher ends, no process is left, and damaged inputs are an error with words or a result."""
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time

import damage

WEFT = os.environ["WEFT"]
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "")
NEVER = 90
LONG = [["replay", "gen:stencil3d", "-n", "512", "-p", "gen.iterations=100000", "--net", "packet", "--topo", "torus:8x8x8"],
        ["replay", "gen:stencil3d", "-n", "512", "-p", "gen.iterations=100000"],
        ["bench", "phold", "--lps", "2000", "--end", "1s"]]


def own_processes(folder):
    """Processes of weft that work in this folder."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.samefile(path / "exe", WEFT) and os.path.samefile(path / "cwd", folder):
                yield int(path.name)
        except OSError:
            pass


def launch(command, folder, n):
    return subprocess.Popen([MPIEXEC, "-n", str(n), WEFT, *command], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "TMPDIR": str(folder), "WEFT_WAIT": "20"})


def end(process):
    """Its outcome; None if it does not end."""
    try:
        _, err = process.communicate(timeout=NEVER)
    except subprocess.TimeoutExpired:
        process.terminate()
        return None, b""
    return process.returncode, err


def kill_one(rng, folder, n):
    command = [*rng.choice(LONG), "--sched", rng.choice(["conservative", "optimistic"]), "-o", "result.json"]
    process = launch(command, folder, n)
    until = time.monotonic() + 10
    while len(list(own_processes(folder))) < n and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(rng.random() * rng.choice([0.05, 1]))
    victims = sorted(own_processes(folder))
    number = rng.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
    if victims:
        os.kill(rng.choice(victims), number)
    code, _ = end(process)
    return command, "killed", f"exit code {code} after signal {number}" if code in (None, 0) else None


def damage_input(rng, folder, n, inputs):
    path, commands = rng.choice([(path, commands) for path, commands in inputs if path.is_file()])
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    damage.damage_file(rng, copy)
    command = [word.replace("{}", str(copy)) for word in rng.choice(commands)]
    code, err = end(launch(command, folder, n))
    good = code is not None and 0 <= code < 128 and (code == 0 or b"weft: " in err) and b"ERROR: Addr" not in err
    return command, "damaged", None if good else f"exit code {code}: {err[-400:]!r}"


def leftovers(folder):
    """What is left when the launcher has ended, after a moment."""
    until = time.monotonic() + 10
    while list(own_processes(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    left = [f"process {pid}" for pid in own_processes(folder)]
    for pid in own_processes(folder):
        os.kill(pid, signal.SIGKILL)
    return left


def run(kind, cases, log):
    if not MPIEXEC:
        return "there is no MPI"
    with tempfile.TemporaryDirectory() as kept:
        inputs = damage.originals(pathlib.Path(kept))
        for number, rng in cases:
            with tempfile.TemporaryDirectory() as path:
                folder, n = pathlib.Path(path), rng.choice([2, 2, 3])
                command, outcome, wrong = (kill_one(rng, folder, n) if rng.random() < 0.4 else
                                           damage_input(rng, folder, n, inputs))
                left = leftovers(folder)
                wrong = wrong or (f"left: {left}" if left else None)
                log.count(kind, "failed" if wrong else outcome)
                if wrong:
                    log.failed(kind, number, f"{wrong}\n  command: mpiexec -n {n} weft {shlex.join(command)}")
    return None

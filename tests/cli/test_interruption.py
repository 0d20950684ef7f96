# SPDX-License-Identifier: Apache-2.0
"""Signals to scripts that run weft for hours: they end with a code that names the signal, after what they have started,
and leave no temporary file and no half-written one. A stand-in for weft waits for the signal."""
import os
import pathlib
import signal
import subprocess
import sys
import time

from weft_cli import SOURCE, check, finish

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 60  # seconds; nothing here ends by itself
# It takes its time to end, so that a second signal would be counted.
STAND_IN = """#!/bin/sh
trap 'echo >>ended; sleep 0.1; exit 143' TERM
echo >>begun
while :; do sleep 0.05; done
"""
TAKEN_BY_ANOTHER_THREAD = """import signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import interruption

def work():
    time.sleep(0.2)  # until the main thread waits
    signal.pthread_kill(threading.get_ident(), int(sys.argv[2]))
    interruption.run(["sleep", "3600"])

interruption.catch_signals()
with interruption.threads(1) as pool:
    pool.submit(work).result()
"""
PAPERS = SOURCE / "examples/papers.py"
VALIDATE = SOURCE / "tools/validate"


def lines(name):
    return pathlib.Path(name).read_text(encoding="ascii").count("\n") if os.path.exists(name) else 0


def prepare_validate(kept):
    """Two runs that wait for their predictions, and what was fitted for them."""
    (kept / "calibrations").mkdir(parents=True)
    (kept / "traces").mkdir()
    rows = ["network,mpi,program,ranks,recorded_s,reason"]
    for program in ("ring", "hello", "sort"):
        rows.append(f"star,openmpi,{program},2,0.05,not predicted yet")
        (kept / f"traces/star-openmpi-{program}-2").touch()
    (kept / "calibrations/star-openmpi-2.yaml").touch()
    (kept / "star-openmpi-2.yaml").touch()
    pathlib.Path("table.csv").write_text("\n".join(rows) + "\n", encoding="ascii")


def interrupted(number, n_children, script, *words):
    """Sends the signal when so many stand-ins run, and compares what they and the script left behind."""
    for name in ("begun", "ended"):
        pathlib.Path(name).unlink(missing_ok=True)
    before = sorted(str(path) for path in pathlib.Path(".").rglob("*"))
    started = subprocess.Popen([sys.executable, "-B", script, *words, "--weft", "./stand-in"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "TMPDIR": os.path.abspath("tmp")})
    until = time.monotonic() + PATIENCE
    while lines("begun") < n_children and started.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    started.send_signal(number)
    out, err = started.communicate(timeout=PATIENCE)
    done = subprocess.CompletedProcess([str(a) for a in started.args], started.returncode, out, err)
    check(started.returncode == 128 + number, f"signal {number}: exit code {started.returncode}", done)
    check("Traceback" not in err and "interrupted" in err, f"signal {number}: not one message", done)
    check(lines("ended") == n_children, f"signal {number}: {lines('ended')} of {n_children} programs were ended", done)
    after = sorted(str(path) for path in pathlib.Path(".").rglob("*") if str(path) not in ("begun", "ended"))
    check(after == before, f"signal {number}: left behind: {set(after) ^ set(before)}", done)


def taken_by_another_thread(number):
    """The main thread waits for a lock, which the signal does not interrupt."""
    words = [sys.executable, "-B", "-c", TAKEN_BY_ANOTHER_THREAD, SOURCE / "tools", str(int(number))]
    done = subprocess.run(words, text=True, capture_output=True, timeout=PATIENCE, check=False)
    check(done.returncode == 128 + number, f"signal {number} to another thread: exit code {done.returncode}", done)


def main():
    stand_in = pathlib.Path("stand-in")
    stand_in.write_text(STAND_IN, encoding="ascii")
    stand_in.chmod(0o755)
    kept = pathlib.Path("kept")
    prepare_validate(kept)
    for directory in ("tmp", "out/tracer", "out/insee", "fig"):
        os.makedirs(directory)
    table = pathlib.Path("table.csv").read_bytes()
    cores = min(3, os.cpu_count())
    for number in SIGNALS:
        taken_by_another_thread(number)
        interrupted(number, 1, PAPERS, "run", "tracer/fig2", "--quick", "--out", "out")
        interrupted(number, 2, SOURCE / "examples/insee/workloads.py", "--quick", "--jobs", "2", "--out", "fig")
        interrupted(number, cores, VALIDATE, "--work", "kept", "--table", "table.csv", "--only", "star,openmpi,n=2,ring,hello,sort")
        check(pathlib.Path("table.csv").read_bytes() == table, "the table of tools/validate changed")
    finish()


main()

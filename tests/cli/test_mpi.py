# SPDX-License-Identifier: Apache-2.0
"""Under an MPI launcher: one voice, one exit code."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from weft_cli import MPIEXEC, WEFT, check, finish, parse, run

REPLAY = ["replay", "gen:stencil3d", "-n", "30"]


def check_failure(args, code, words):
    done = run(*args, processes=3)
    check(done.returncode == code, f"{args}: exit code {done.returncode}, expected {code}", done)
    check(done.stderr.count("weft: ") == 1, f"{args}: not said once", done)
    check(words in done.stderr, f"{args}: no '{words}'", done)
    return done


def cpu_ticks(pid):
    """What a process has used so far; it is well under way when it has used something."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
    return sum(int(field) for field in fields.split()[11:13])


def processes_with(word):
    """The processes of weft that have this word on their command line."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().split(b"\0")
            if word.encode() in command and os.path.samefile(command[0], WEFT):
                yield int(path.name)
        except OSError:
            pass


def check_interrupt(scheduler):
    """An interrupt that reaches one process stops all, with one partial result."""
    mark = f"1000{os.getpid()}"
    launched = subprocess.Popen(
        [MPIEXEC, "-n", "2", WEFT, "bench", "phold", "--lps", "2000", "--end", "1s", "--sched",
         scheduler, "--seed", mark, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    started = []
    while launched.poll() is None:
        started = sorted(processes_with(mark))
        if len(started) == 2 and all(cpu_ticks(pid) > 50 for pid in started):
            break
        time.sleep(0.05)
    os.kill(started[-1], signal.SIGINT)
    out, err = launched.communicate(timeout=100)
    check(launched.returncode == 130, f"{scheduler}: exit code {launched.returncode}: {err}")
    check(json.loads(out)["result"]["status"] == "interrupted", f"{scheduler}: {out}")


def start_stuck(number, **variables):
    """A run of which one process stands still, as if the network to it were cut."""
    mark = f"200{number}{os.getpid()}"
    log = open(f"stuck-{number}.log", "w+", encoding="utf-8")
    launched = subprocess.Popen(
        [MPIEXEC, "-n", "2", WEFT, "bench", "phold", "--lps", "2000", "--end", "1s", "--sched",
         "conservative", "--seed", mark], stdout=subprocess.DEVNULL, stderr=log,
        stdin=subprocess.DEVNULL, env={**os.environ, **variables})
    started = []
    while launched.poll() is None:
        started = sorted(processes_with(mark))
        if len(started) == 2 and all(cpu_ticks(pid) > 50 for pid in started):
            break
        time.sleep(0.05)
    os.kill(started[-1], signal.SIGSTOP)
    return launched, log, mark


def check_stuck(launched, log, mark):
    """The others say whom they wait for, and an interrupt of the launcher ends all."""
    until = time.monotonic() + 100
    text = ""
    while "has waited 5 s for process" not in text and time.monotonic() < until:
        time.sleep(0.1)
        log.seek(0)
        text = log.read()
    check("has waited 5 s for process" in text, f"no word about who waits: {text}")
    launched.send_signal(signal.SIGINT)
    launched.wait(timeout=100)
    while list(processes_with(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    check(not list(processes_with(mark)), "processes are left")
    log.close()
    pathlib.Path(log.name).unlink()


def check_gives_up(launched, log, mark):
    """A process that has waited for WEFT_WAIT seconds ends the run."""
    code = launched.wait(timeout=100)
    log.seek(0)
    check(code != 0 and "and ends: that seems to be gone" in log.read(), f"exit code {code}")
    for pid in processes_with(mark):  # stopped ones may survive their launcher
        os.kill(pid, signal.SIGKILL)
    log.close()
    pathlib.Path(log.name).unlink()


def check_launchers():
    """Every launcher that is installed starts weft, whichever MPI it belongs to."""
    digests = {}
    # Parts of Open MPI leak, and are unloaded before a sanitizer could tell whose they are.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    for launcher in {shutil.which(name) for name in ("mpirun", "mpirun.mpich", "mpirun.openmpi")}:
        if launcher is not None:
            done = subprocess.run([launcher, "-n", "2", WEFT, *REPLAY, "--sched", "conservative",
                                   "--json"], capture_output=True, text=True, timeout=100,
                                  check=False, stdin=subprocess.DEVNULL, env=environment)
            check(done.returncode == 0, f"{launcher}: exit code {done.returncode}", done)
            document = parse(done)
            digests[document["result"]["digest"]] = launcher
            check(document["run"]["processes"] == 2, f"{launcher}: not two processes", done)
    check(len(digests) == 1, f"launchers give different results: {digests}")


def check_foreign_launcher():
    """A launcher that no library here understands is an error, not two separate runs."""
    done = run("--version", env={**os.environ, "PMI_SIZE": "3", "PMI_RANK": "0"})
    check(done.returncode == 2 and "3 processes" in done.stderr, "no word about PMI", done)


def main():
    if not MPIEXEC:
        sys.exit(77)
    stuck = start_stuck(0)  # beside all that follows
    given_up = start_stuck(1, WEFT_WAIT="7")
    done = run(*REPLAY, "--sched", "conservative", processes=3)
    notes = 1 if len(os.sched_getaffinity(0)) < 3 else 0
    check(done.stderr.count("3 processes of 1 thread share") == notes
          and done.stderr.count("\n") == notes, "stderr", done)
    check(done.returncode == 0 and done.stdout.count("Predicted time") == 1, "not one result", done)
    check("3 processes" in done.stdout, "not three processes", done)

    done = run(*REPLAY, processes=2)
    check("conservative, 1 thread" in done.stdout and "2 processes" in done.stdout, "auto leaves processes idle", done)
    done = run(*REPLAY, "--sched", "sequential", processes=3)
    check(done.stderr.count("weft: note: ") == 1, "no note that processes idle", done)

    check_failure([*REPLAY, "--net", "nonsense"], 2, "unknown network model")
    check_failure([*REPLAY, "-o", "nowhere/x.json"], 3, "cannot write")
    done = check_failure([*REPLAY, "--bogus", "--json"], 2, "unknown option")
    check(parse(done)["error"]["exit_code"] == 2, "no error document", done)

    done = run(*REPLAY, "-o", "a.json", processes=2)
    check(done.returncode == 0 and sorted(p.name for p in pathlib.Path().iterdir()) == ["a.json", "stuck-0.log", "stuck-1.log"],
          "not one file", done)
    done = run("--version", processes=2)
    check(done.stdout.count("weft ") == 1, "the version is not said once", done)
    check_launchers()
    check_foreign_launcher()
    check_interrupt("conservative")
    check_interrupt("optimistic")
    check_stuck(*stuck)
    check_gives_up(*given_up)
    finish()


main()

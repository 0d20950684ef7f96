# SPDX-License-Identifier: Apache-2.0
"""Processes of an MPI launcher share the points of a study: the same table and results as one process
alone, and what was finished before a kill is not run again."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from weft_cli import MPIEXEC, WEFT, check, finish, run

STUDY = """settings: {source: gen:random, ranks: 8, network: latency, gen.messages: 5}
grid:
  topology: ["torus:2x2x2", "ring:8", "ring:3"]
  gen.seed: [1, 2, 3]
"""
LOADS = """settings: {source: "traffic:uniform", network: router, topology: "torus:4x4"}
grid: {traffic.load: [0.05, 0.1, 0.15, 0.2, 0.25]}
"""
LONG = """settings: {source: gen:stencil3d, ranks: 64, network: packet, topology: "torus:4x4x4"}
grid: {gen.iterations: [1, 2, 3, 400, 401, 402], seed: [1]}
"""
# Parts of Open MPI leak, and are unloaded before a sanitizer could tell whose they are.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def launch(launcher, *words):
    return subprocess.run([launcher, *words], capture_output=True, text=True, timeout=100, check=False,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT)


def names(directory):
    return sorted(path.name for path in pathlib.Path(directory).iterdir())


def check_table(launcher, mark, studies):
    for study, code in studies:
        alone = run("sweep", f"{study}.yaml", "-o", f"{study}-alone")
        done = launch(launcher, "-n", "3", WEFT, "sweep", f"{study}.yaml", "-j", "1", "-o", f"{study}-{mark}")
        check(alone.returncode == code and done.returncode == code, f"{mark}: exit codes", done)
        check(done.stdout == alone.stdout, f"{mark}: another table than that of one process", done)
        check(code == 0 or done.stderr.count("3 of 9 points failed; the first, point 7: study.yaml:3:") == 1,
              f"{mark}: not one voice", done)
        check(names(f"{study}-{mark}") == names(f"{study}-alone"), f"{mark}: other files: {names(f'{study}-{mark}')}")


def check_errors(launcher, mark):
    for words, expected in ((("sweep", "nothing.yaml"), "cannot read 'nothing.yaml'"),
                            (("sweep", "study.yaml", "-o", "/proc/x"), "cannot make the directory '/proc/x'")):
        done = launch(launcher, "-n", "2", WEFT, *words)
        check(done.returncode == 3 and done.stderr.count(expected) == 1, f"{mark}: {words}", done)
    pathlib.Path("elsewhere").mkdir(exist_ok=True)
    shutil.copy("study.yaml", "elsewhere")
    there = f"cd elsewhere && exec {WEFT} sweep study.yaml -o own"
    done = launch(launcher, "-n", "1", WEFT, "sweep", "study.yaml", "-o", "own", ":", "-n", "1", "sh", "-c", there)
    check(done.returncode == 3 and "cannot write to the directory 'own' of the first process" in done.stderr,
          f"{mark}: directories that are not shared", done)


def check_kill():
    """All processes die at once, as when a job reaches its limit."""
    with subprocess.Popen([MPIEXEC, "-n", "2", WEFT, "sweep", "long.yaml", "-j", "1"], env=ENVIRONMENT, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as job:
        end = time.monotonic() + 60
        while time.monotonic() < end and len(list(pathlib.Path().glob("long/*.json"))) < 3:
            time.sleep(0.02)
        for pid in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (pid / "cmdline").read_bytes().split(b"\0")
                if b"long.yaml" in command and os.path.samefile(pid / "cwd", "."):
                    os.kill(int(pid.name), signal.SIGKILL)
            except OSError:
                pass
    done = {path: path.stat().st_mtime_ns for path in pathlib.Path("long").glob("*.json")}
    check(job.returncode != 0 and 3 <= len(done) < 6, f"killed too late or too early: {len(done)} points")
    again = launch(MPIEXEC, "-n", "2", WEFT, "sweep", "long.yaml")
    check(again.returncode == 0 and again.stdout.count("completed") == 6, "after the kill", again)
    check(len(names("long")) == 6, f"files are left: {names('long')}")
    check(all(path.stat().st_mtime_ns == mark for path, mark in done.items()), "a finished point was run again")


def main():
    if not MPIEXEC:
        sys.exit(77)
    for name, text in (("study", STUDY), ("loads", LOADS), ("long", LONG)):
        pathlib.Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    for mark in ("mpich", "openmpi"):
        launcher = shutil.which(f"mpirun.{mark}")
        if launcher is not None:
            check_table(launcher, mark, [("study", 3)])
    check_table(MPIEXEC, "first", [("loads", 0)])
    check_errors(MPIEXEC, "first")
    check_kill()
    done = run("sweep", "study.yaml", env={**os.environ, "SLURM_STEP_NUM_TASKS": "64"})
    check(done.returncode == 2 and "64 processes that do not know of each other" in done.stderr, "srun without MPI", done)
    finish()


main()

# SPDX-License-Identifier: Apache-2.0
"""Ranks share a process with each other and with weft: what one does to its standard streams, to signals
or to the process itself changes nothing for the others, or is reported with words."""
import os
import pathlib
import shutil
import subprocess
import sys

import vrank

RESULT = "Predicted time"


def line_of(mark):
    lines = (vrank.SOURCE / "tests/vrank/hosted.c").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if f"-> {mark}" in line)


def weft(program, how, *options):
    return subprocess.run([vrank.WEFT, "run", "-n", "4", "--compute", "none", *options, "--", program, how],
                          text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)


def check(what, done, code, out=(), err=(), never=()):
    """All of these words are there, in this order, and none of the others."""
    at = 0
    for words in out:
        at = done.stdout.find(words, at)
        if at < 0:
            break
    if (done.returncode != code or at < 0 or any(words not in done.stderr for words in err) or
            any(words in done.stdout + done.stderr for words in never)):
        vrank.complain(f"{what}: exit code {done.returncode}", done.stdout, done.stderr)


def check_streams(program):
    for options in ((), ("--labels",), ("--sched", "conservative", "--threads", "2")):
        rank = "[0] " if options == ("--labels",) else ""
        for how in ("reopen", "duplicate", "close"):
            check(f"{how} {options}", weft(program, how, *options), 0,
                  [f"{rank}rank 0 goes on", RESULT], ["and complains: 0"],
                  ["rank 1 goes on", "and complains: 1"])
    check("save", weft(program, "save"), 0, ["rank 1 is back", "rank 1 goes on", RESULT])
    for rank in range(4):
        text = pathlib.Path(f"saved.{rank}").read_text(encoding="utf-8")
        if text != f"in the file of rank {rank}\nstill in the file of rank {rank}, number 1\n":
            vrank.complain(f"the file of rank {rank}", text)


def check_processes(program):
    check("exec", weft(program, "exec"), 4, [], ["rank 1: ", "the program calls execlp()",
                                                 "in a child of fork()"])
    check("child", weft(program, "child"), 0, ["the child says 7", RESULT])
    check("leave", weft(program, "leave"), 4, ["deadlock"],
          ["rank 1 ended without MPI_Finalize: the simulated program is deadlocked"])


def check_ends(program):
    has_lines = shutil.which("addr2line") is not None
    for how, words in (("abort", "Aborted"), ("smash", "Aborted"),
                       ("signal", "it got signal 10, User defined signal 1, and does not handle it")):
        where = f" at hosted.c:{line_of(how)}, after MPI_Barrier" if has_lines else ""
        check(how, weft(program, how), 4, [],
              [f"rank 1 crashed at simulated time 0 ps: {words}", where])
    check("type", weft(program, "type"), 4, [],
          ["rank 1: MPI_Type_vector: the size or the extent of the datatype passes 2^63 bytes"])
    check("timer", weft(program, "timer"), 4, [], ["it got signal 14, Alarm clock"])
    check("handler", weft(program, "handler"), 4, ["before 1, caught 1, after 1"],
          ["it got signal 12, User defined signal 2"])


def check_two(program):
    """Two programs in one run: each has its own variables, and a crash is that of the right one."""
    other = ("-p", f"job.1.source=run:{program}", "-p", "job.1.ranks=3", "-p")
    done = weft(program, "count", *other, "job.1.run.args=count")
    check("two programs", done, 0, ["0 counts are wrong"], never=["crashed"])
    if done.stdout.count("0 counts are wrong") != 7:
        vrank.complain("two programs", done.stdout)
    check("the first crashes", weft(program, "abort", *other, "job.1.run.args=count"), 4, [],
          ["rank 1 crashed at simulated time", "Aborted"])
    check("the second crashes", weft(program, "count", *other, "job.1.run.args=abort"), 4, [],
          ["rank 1 crashed at simulated time", "Aborted"])


def check_library(program):
    """In a process that uses the library, a rank that crashes is an exception; the process goes on."""
    library = vrank.BUILD / "src/libweft.so"
    if not library.exists():
        return
    text = ("import weft\nfor how in ('abort', 'smash', 'signal', 'timer'):\n  try:\n"
            "    weft.run('run:' + %r, 4, run__args=how, run__compute='none')\n"
            "  except weft.Error as error:\n    print(error.code, error)\n"
            "print(weft.run('gen:ring', 4).seconds > 0)\n" % program)
    environment = {**os.environ, "WEFT_LIBRARY": str(library), "PYTHONPATH": str(vrank.SOURCE / "python")}
    done = subprocess.run([sys.executable, "-B", "-c", text], text=True, capture_output=True, check=False,
                          timeout=60, stdin=subprocess.DEVNULL, env=environment)
    check("library", done, 0, ["4 rank 1 crashed at simulated time 0 ps: Aborted, after MPI_Barrier",
                               "4 rank 1 crashed", "4 rank 1 crashed",
                               "it got signal 14, Alarm clock", "True"])


def check_host(program):
    """A process that uses the library is afterwards what it was, and its threads may run programs at once."""
    library = vrank.BUILD / "src/libweft.so"
    if not library.exists():
        return
    subprocess.run(["cc", "-Wall", f"-I{vrank.SOURCE}/include", f"-I{vrank.BUILD}/include",
                    vrank.SOURCE / "tests/vrank/host.c", "-o", "host", library, f"-Wl,-rpath,{library.parent}",
                    "-pthread"], check=True)
    done = subprocess.run(["./host", f"run:{program}"], text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    check("host", done, 0, ["0 failures"], never=["not so"])


def main():
    program = "./hosted"
    subprocess.run([vrank.BUILD / "weftcc", "-O1", "-g", "-fstack-protector-all", "-fopenmp",
                    vrank.SOURCE / "tests/vrank/hosted.c", "-o", program], check=True)
    check_streams(program)
    check_processes(program)
    check_ends(program)
    check_two(program)
    check_library(program)
    check_host(program)
    vrank.finish()


main()

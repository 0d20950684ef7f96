# SPDX-License-Identifier: Apache-2.0
"""OpenMP and thread-local variables in ranks: the threads of a rank are simulated. Results and digests are the same with any
number of threads of the host; a region takes the time of its slowest thread on the cores that
there are. Other threads are refused."""
import json
import os
import pathlib
import subprocess

import vrank

NETWORK = ("--net", "latency", "--topo", "torus:3")
SCHEDULES = ((), ("--sched", "conservative", "--threads", "2"), ("--sched", "optimistic"))
# Milliseconds by the number of threads, the cores of a node and the scale of compute times.
TIMES = {
    (1, None, 1): (8, 28, 13, 1, 8, 4, 4),
    (2, None, 1): (4, 16, 7, 2, 4, 4, 4),
    (4, None, 1): (2, 10, 6, 4, 2, 4, 4),
    (8, None, 1): (1, 7, 6, 8, 1, 4, 4),
    (4, 2, 1): (4, 14, 6.5, 4, 4, 4, 4),
    (None, 2, 1): (4, 16, 7, 2, 4, 4, 4),
    (4, None, 2): (4, 20, 12, 8, 4, 6, 6),
}
NAMES = ("static", "uneven", "dynamic", "critical", "tasks", "overlap", "inside")


def compile_with(compiler, source, *words):
    if not (vrank.BUILD / compiler).exists():
        return False
    done = subprocess.run([vrank.BUILD / compiler, "-O1", source, *words], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        vrank.complain(f"{compiler} {source}", done.stderr)
    return done.returncode == 0


def weft(*words, threads=None):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("OMP_")}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    return subprocess.run([vrank.WEFT, "run", "-q", "-f", "-o", "result.json", *words], text=True,
                          capture_output=True, check=False, timeout=60, env=environment,
                          stdin=subprocess.DEVNULL)


def digest():
    return json.loads(pathlib.Path("result.json").read_text())["result"]["digest"]


def check_results(program, ranks, expected):
    for threads in (None, 1, 3, 8):
        digests = set()
        for schedule in SCHEDULES:
            done = weft("-n", str(ranks), "--compute", "none", *schedule, "--", program,
                        threads=threads)
            if done.returncode != 0 or done.stdout != expected.format(threads or 1):
                vrank.complain(f"{program} with {threads} threads, {schedule}", done.stdout,
                               done.stderr)
                return
            digests.add(digest())
        if len(digests) != 1:
            vrank.complain(f"{program} with {threads} threads: digests {digests}")


def check_times(program):
    for (threads, cores, scale), expected in TIMES.items():
        options = ("-p", f"node.cores={cores}") if cores else ()
        done = weft("-n", "3", "--compute", "model", *NETWORK, *options, "-p",
                    f"cpu.scale={scale}", "--", program, "times", threads=threads)
        found = done.stdout.splitlines()[:-1]
        if found != [f"{name} {time} ms" for name, time in zip(NAMES, expected)]:
            vrank.complain(f"{threads} threads on {cores} cores, scale {scale}", done.stdout, done.stderr)
    done = weft("-n", "3", "--compute", "measured", "--", program, threads=4)
    if done.stdout != "4 threads, 0 failures\n":
        vrank.complain("measured", done.stdout, done.stderr)


def check_spinning(program):
    done = weft("-n", "4", "--compute", "none", "--", program, "spin", threads=2)
    if done.stdout != "2 threads, 0 failures\n":
        vrank.complain("a thread that waits for a variable", done.stdout, done.stderr)


here = vrank.SOURCE / "tests/vrank"
if compile_with("weftcc", here / "openmp.c", "-fopenmp", "-o", "openmp_c"):
    check_results("./openmp_c", 8, "{} threads, 0 failures\n")
    check_times("./openmp_c")
    check_spinning("./openmp_c")
if compile_with("weftf90", here / "openmp.f90", "-fopenmp", "-o", "openmp_f"):
    check_results("./openmp_f", 3, "largest 10001.0\n")
if compile_with("weftcc", here / "sweep.c", "-fopenmp", "-o", "sweep"):
    check_results("./sweep", 6, "".join(f"{how}: 49107713936\n" for how in
                                        ("regions", "one region", "tasks", "own messages")))
for compiler, name in (("weftcc", "thread_local.c"), ("weftc++", "thread_local.cc")):
    if compile_with(compiler, here / name, "-fopenmp", "-o", "thread_local"):
        check_results("./thread_local", 4, "0 failures\n")
vrank.finish()

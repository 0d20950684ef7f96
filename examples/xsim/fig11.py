#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 11: the time of the simulator for `random`."""

import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

EXPERIMENT = papers.Experiment(
    "xsim", "fig11", "time of the simulator", place="Fig. 11",
    setup="""`random`: n ranks, n * n messages of one integer between random pairs. Top: 128 virtual processes on a
    simulated 8x16 mesh, 2 to 128 native processes. Bottom: 256 to 65,536 virtual processes on 128 native ones, a 2D
    mesh. 10 runs each, on 16 nodes with 8 cores. Stated: strong scaling; the n * n messages show; no difference
    between no network model, the old and the new one (Sect. V.A).""",
    ours="""Threads instead of native processes, as many as there are cores. Top: the program examples/mpi/random.c as
    128 virtual ranks. Bottom: gen:random, one thread; 4,096 virtual processes on all threads too.""")
SHARED = 4096  # virtual processes of the bottom part that several threads share
HEADER = ["part", "ranks", "threads", "network", "messages", "wall_seconds", "cpu_seconds"]


def program_rows(ranks, rounds, threads):
    rows = []
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("random", where)
        for n in threads:
            sched = "sequential" if n == 1 else "conservative"
            document = EXPERIMENT.weft(
                "run", "-n", ranks, "--net", "latency", "--topo", xsim.plane("mesh", ranks), "--sched", sched,
                "--threads", n, "--compute", "none", "--", program, rounds,
                params={"engine.fit": "no", "net.link_latency": xsim.LATENCY, "net.bandwidth": xsim.BANDWIDTH})
            rows.append(["native", ranks, n, "mesh", document["result"]["messages"],
                         document["run"]["wall_seconds"], document["run"]["cpu_seconds"]])
    return rows


def scale_row(ranks, network, threads=1):
    topo = ["--topo", xsim.plane("mesh", ranks)] if network == "mesh" else []
    document = EXPERIMENT.weft("replay", "gen:random", "-n", ranks, "--net", "latency" if network == "mesh" else "none", *topo,
                               "--sched", "sequential" if threads == 1 else "conservative", "--threads", threads)
    return ["virtual", ranks, threads, network, document["result"]["messages"],
            document["run"]["wall_seconds"], document["run"]["cpu_seconds"]]


def scale_rows(sizes, threads):
    """All sizes on one thread, and one of them on several."""
    rows = [scale_row(ranks, network) for ranks in sizes for network in ("mesh", "none")]
    return rows + [scale_row(SHARED, "mesh", n) for n in threads[1:] if SHARED in sizes]


def compare(rows):
    native = {r[2]: r[5] for r in rows if r[0] == "native"}
    first, last = min(native), max(native)
    falls = native[last] < 0.9 * native[first]
    many = {r[2]: r[5] for r in rows if r[0] == "virtual" and r[3] == "mesh" and r[1] == SHARED}
    EXPERIMENT.row("128 virtual processes on more native ones", "strong scaling from 2 to 128",
                   ", ".join(f"{papers.number(1000 * t)} ms on {n}" for n, t in native.items()),
                   falls if last > first else papers.IMPOSSIBLE,
                   EXPERIMENT.given.busy or "two threads say something of their times on an idle machine only, and were not measured in this run" if last == first else
                   "" if falls else "16,384 messages are some milliseconds of work: too little to share")
    if len(many) > 1:
        faster = many[last] < 0.7 * many[first]
        EXPERIMENT.row(f"{SHARED} virtual processes on more native ones", "strong scaling (on 128, values only in the plot)",
                       ", ".join(f"{papers.number(t)} s on {n}" for n, t in many.items()), faster,
                       "" if faster else "a window of 1 us has some 50 events: too few for a barrier of threads")
    mesh, none = ({r[1]: r[6] for r in rows if r[0] == "virtual" and r[2] == 1 and r[3] == n} for n in ("mesh", "none"))
    small, large = min(mesh), max(mesh)
    growth = mesh[large] / mesh[small] / (large / small) ** 2
    EXPERIMENT.row(f"{small} to {large} virtual processes", "grows with the n * n messages",
                   ", ".join(f"{n}: {papers.number(t)} s" for n, t in mesh.items())
                   + f"; {growth:.1f} times the growth of n * n", 0.2 < growth < 5,
                   "" if 0.2 < growth < 5 else "a part of the time does not depend on the messages")
    EXPERIMENT.row("65,536 virtual processes", "on 128 cores (the time is only in the plot)",
                   f"about {papers.number(mesh[large] * (65536 / large) ** 2)} s of one core, extrapolated",
                   papers.IMPOSSIBLE, "4.3 thousand million messages: extrapolated from the largest size")
    ratio = mesh[large] / none[large]
    EXPERIMENT.row("network model against none", "no observable difference",
                   f"{ratio:.2f} times the CPU time with {large} ranks", ratio < 1.3,
                   "" if ratio < 1.3 else "an event takes so little here that counting hops is seen")


def main():
    given = EXPERIMENT.options()
    threads = papers.powers_of_two(1, given.threads) if given.form == "full" else [1]
    rows = program_rows(128, 128, threads)
    rows += scale_rows(EXPERIMENT.pick([64, 256], [256, 1024, 4096, 8192], short=[256, 1024, 2048]), threads)
    EXPERIMENT.csv(HEADER, rows)
    compare(rows)
    figure = Figure("Time of the simulator for random", "virtual processes", "CPU seconds",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="n * n messages of 4 bytes, one thread")
    for network in ("mesh", "none"):
        figure.add(network, [(r[1], r[6]) for r in rows if r[0] == "virtual" and r[2] == 1 and r[3] == network])
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

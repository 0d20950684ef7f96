#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 9: the predicted time does not depend on how many real processors simulate."""
import shutil

import bigsim
import papers
from plot import Figure, Linear, Log

EXPERIMENT = papers.Experiment(
    "bigsim", "fig9", "predicted time over real processors", place="Fig. 9",
    setup="""Jacobi with several network latencies (multiples of 5 ns a hop and 75 ns a corner), simulated on different numbers of real
    processors: the same predicted time (Sect. 6.2). Sizes and values are only in the plot.""",
    ours="""jacobi1d.c, four chunks of 10 us a processor, 1,024 processors; threads with each scheduler, and processes of MPI where there is
    mpiexec.mpich.""")
FACTORS = [1, 100, 1000]


def ways(quick):
    """(scheduler, processes, threads) of each run."""
    yield "sequential", 1, 1
    for threads in (2,) if quick else (1, 2, 4):
        yield "conservative", 1, threads
        yield "optimistic", 1, threads
    launcher = shutil.which("mpiexec.mpich")
    for processes in (2, 4) if launcher and not quick else ():
        yield "conservative", processes, 1


def main():
    given = EXPERIMENT.options()
    processors = EXPERIMENT.pick(32, 1024)
    factors = EXPERIMENT.pick(FACTORS[:1], FACTORS)
    rows = []
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("jacobi1d", where, "bigsim")
        for factor in factors:
            for sched, processes, threads in ways(given.form == "quick"):
                words, latencies = bigsim.network(processors, factor)
                with papers.interruption.directory() as out:
                    path = f"{out}/result.json"
                    launcher = [shutil.which("mpiexec.mpich"), "-n", processes] if processes > 1 else []
                    settings = [w for k, v in {**latencies, "engine.fit": "no"}.items() for w in ("-p", f"{k}={v}")]
                    EXPERIMENT.run(*launcher, given.weft, "run", "-q", "-n", processors, *words, *settings, "--compute", "model",
                                   "--sched", sched, "--threads", threads, "-o", path, "--", program, 4 * processors, 10, 10)
                    with open(path, encoding="utf-8") as file:
                        result = papers.json.load(file)["result"]
                rows.append([factor, sched, processes, threads, result["predicted_time_ps"] / bigsim.PS_PER_US, result["digest"]])
    EXPERIMENT.csv(["factor", "scheduler", "processes", "threads", "predicted_us", "digest"], rows)
    for factor in factors:
        some = [r for r in rows if r[0] == factor]
        same = len({r[4] for r in some}) == 1 and len({r[5] for r in some}) == 1
        EXPERIMENT.row(f"latency factor {factor}, {len(some)} ways to simulate", "the same predicted time",
                       f"{some[0][4]:.3f} us and digest {some[0][5]} each time", same, "" if same else "they differ: a defect")
    figure = Figure("Predicted time and real processors", "threads and processes that simulate", "microseconds",
                    x=Log(2, text="{:.0f}".format), y=Linear(), subtitle=f"Jacobi1D on {processors} simulated processors")
    for factor in factors:
        figure.add(f"factor {factor}", [(r[2] * r[3], r[4]) for r in rows if r[0] == factor and r[1] == "conservative"])
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

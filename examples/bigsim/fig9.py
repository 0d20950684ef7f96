#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 9: the predicted time does not depend on how many real processors simulate."""
import shutil
import tempfile

import bigsim
from plot import Figure, Linear, Log


def ways(given):
    """(scheduler, processes, threads) of each run."""
    yield "sequential", 1, 1
    for threads in (1, 2, 4):
        yield "conservative", 1, threads
        if threads < 4 or not given.quick:
            yield "optimistic", 1, threads
    for processes in (2, 4):
        if processes <= given.processes:
            yield "conservative", processes, 1


def main():
    made = bigsim.parser(__doc__)
    made.add_argument("--processes", type=int, default=1,
                      help="the most MPI processes; more than 1 needs mpirun")
    given = bigsim.options(made)
    ranks, args = (64, ["24", "4"]) if given.quick else (512, ["64", "10"])
    rows = []
    with tempfile.TemporaryDirectory() as where:
        program = bigsim.build(given, "jacobi3d", where)
        for sched, processes, threads in ways(given):
            launcher = [shutil.which("mpirun"), "-n", processes] if processes > 1 else []
            document = bigsim.predict(given, program, args, ranks, "--net", "latency", "--topo",
                                      bigsim.cubic(ranks), "--sched", sched, "--threads",
                                      threads, launcher=launcher)
            rows.append([sched, processes, threads, bigsim.microseconds(document),
                         document["result"]["digest"], document["run"]["wall_seconds"]])
    header = ["scheduler", "processes", "threads", "predicted_us", "digest", "wall_seconds"]
    bigsim.write_csv(given.out / "fig9.csv", header, rows)
    figure = Figure("Predicted time and real processors", "processors that simulate",
                    "microseconds", x=Log(2, text="{:.0f}".format), y=Linear(),
                    subtitle=f"jacobi3d, {ranks} virtual ranks on a torus")
    for sched in ("conservative", "optimistic"):
        figure.add(sched, [(r[1] * r[2], r[3]) for r in rows if r[0] == sched])
    figure.write(given.out / "fig9.svg")
    bigsim.print_rows(header, rows)
    bigsim.say("the predicted time is the same on any number of real processors.", [
        (f"{len(rows)} runs predict the same time", len({r[3] for r in rows}) == 1),
        ("and have the same digest", len({r[4] for r in rows}) == 1),
    ])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 2: conservative against optimistic scheduling, a stencil on a torus of 4096 nodes."""
import tracer
from plot import Figure, Log

DETAILS = {"trains": {}, "packets": tracer.PACKETS}


def measure(given, nodes, threads):
    rows = []
    for detail, params in DETAILS.items():
        for sched in tracer.SCHEDULERS:
            for n in threads if sched != "sequential" else [1]:
                rows += tracer.measure(given, nodes, sched=sched, threads=n, params=params,
                                       label={"detail": detail})
    return rows


def curve(rows, sched, threads):
    """Seconds for each number of threads; a sequential run has one for all."""
    found = tracer.where(rows, scheduler=sched)
    return {n: tracer.best(tracer.where(found, threads=n) or found, "wall_seconds")
            for n in threads}


def plot(rows, nodes, threads, detail, path):
    what = "trains of packets" if detail == "trains" else "every packet on its own"
    figure = Figure(f"Conservative and optimistic, {nodes} nodes", "threads", "seconds",
                    x=Log(2, text="{:.0f}".format),
                    subtitle=f"stencil of 128 KiB, 3 iterations, {tracer.torus(nodes)}; {what}")
    for sched in tracer.SCHEDULERS:
        figure.add(sched, list(curve(rows, sched, threads).items()))
    figure.write(path)


def compare(rows, most):
    checks = [("all schedulers predict the same, and run the same events",
               all(tracer.same(tracer.where(rows, detail=d)) for d in DETAILS)),
              ("so do trains and packets, but for the events",
               tracer.same(rows, ["predicted_ps", "digest"]))]
    for detail in DETAILS:
        some = tracer.where(rows, detail=detail)
        time = {s: curve(some, s, [1, most]) for s in tracer.SCHEDULERS}
        checks += [(f"{detail}: conservative is faster than optimistic on {most} threads",
                    time["conservative"][most] < time["optimistic"][most])]
        checks += [(f"{detail}: {s} is faster on {most} threads than on 1",
                    time[s][most] < time[s][1]) for s in ("conservative", "optimistic")]
    tracer.say("compares the two schedulers on 4096 nodes; our notes do not say by how much "
               "which won.", checks)


def main():
    given = tracer.options(tracer.parser(__doc__))
    nodes = 64 if given.quick else 4096
    threads = tracer.powers_of_two(1, given.threads)
    rows = measure(given, nodes, threads)
    tracer.write_csv(given.out / "fig2.csv", rows)
    for detail in DETAILS:
        some = tracer.where(rows, detail=detail)
        plot(some, nodes, threads, detail, given.out / f"fig2-{detail}.svg")
        tracer.print_table({s: curve(some, s, threads) for s in tracer.SCHEDULERS}, threads,
                           f"s on threads, {detail}")
    compare(rows, threads[-1])


if __name__ == "__main__":
    main()

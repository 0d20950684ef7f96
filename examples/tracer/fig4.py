#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 4: how many processes (LPs) roll back together (a KP): efficiency, time, rollbacks."""
import tracer
from plot import Figure, Linear, Log

LPS_PER_KP = [1, 2, 16, 128]
# Neighbours of a block are mostly on the same thread, those of a cyclic partition are not.
PARTITIONS = ["block", "cyclic"]
# Name: source, dimensions of the torus; then nodes and parameters, and the same if quick.
WORKLOADS = {
    "stencil": ("gen:stencil3d", 3, (4096, {}), (512, {})),
    # No two ranks do the same at the same time, messages cross the whole torus, and threads run
    # far ahead between two looks at what others sent: there is much to roll back.
    "random": ("gen:random", 3,
               (4096, {"gen.bytes": "2KiB", "gen.messages": 8, "engine.batch": 256}),
               (512, {"gen.bytes": "2KiB", "gen.messages": 4, "engine.batch": 256})),
    "leanmd": ("gen:leanmd", 5, (1024, {"gen.cells": "16x16x16"}), (32, {"gen.cells": "6x6x6"})),
}
PLOTS = {
    "efficiency": ("efficiency_percent", "Efficiency", "percent", tracer.middle),
    "time": ("wall_seconds", "Time", "seconds", tracer.best),
    "cpu": ("cpu_seconds", "CPU time", "seconds", tracer.best),
    "rollbacks": ("rollbacks", "Rollbacks", "rollbacks", tracer.middle),
}


def measure(given):
    source, dims, *sizes = WORKLOADS[given.workload]
    nodes, params = sizes[given.quick]
    rows = []
    for partition in PARTITIONS:
        for together in LPS_PER_KP:
            rows += tracer.measure(
                given, nodes, source=source, topology=tracer.torus(nodes, dims),
                sched="optimistic", threads=given.threads,
                params={**params, "engine.lps_per_kp": together, "engine.partition": partition},
                label={"partition": partition, "lps_per_kp": together})
    return rows


def curve(rows, partition, name):
    column, _, _, choose = PLOTS[name]
    return {n: choose(tracer.where(rows, partition=partition, lps_per_kp=n), column)
            for n in LPS_PER_KP}


def plot(given, rows, name, path):
    _, title, unit, _ = PLOTS[name]
    curves = {p: curve(rows, p, name) for p in PARTITIONS}
    lowest = min(min(c.values()) for c in curves.values())
    low = 10 * ((lowest - 1) // 10) if unit == "percent" else 0
    figure = Figure(f"{title} by LPs per KP, {rows[0]['nodes']} nodes", "LPs per KP", unit,
                    x=Log(2, text="{:.0f}".format), y=Linear(low=low),
                    subtitle=f"optimistic on {given.threads} threads; "
                             f"{given.workload}, {rows[0]['topology']}")
    for partition, points in curves.items():
        figure.add(partition, list(points.items()))
    figure.write(path)


def undone(rows, together):
    """Events undone by a rollback, over all runs; 0 if there were none."""
    some = tracer.where(rows, lps_per_kp=together)
    return (sum(r["rolled_back"] for r in some) / max(1, sum(r["rollbacks"] for r in some)))


def compare(rows, workload):
    least, most = LPS_PER_KP[0], LPS_PER_KP[-1]
    checks = [("the prediction and the events are the same for all", tracer.same(rows))]
    for partition in PARTITIONS:
        one, many = (tracer.where(rows, partition=partition, lps_per_kp=n)
                     for n in (least, most))
        checks += [
            (f"{partition}: efficiency is clearly lower with {most} LPs per KP than with {least}",
             tracer.clearly_less(many, one, "efficiency_percent")),
            (f"{partition}: it takes clearly longer with {most}",
             tracer.clearly_less(one, many, "wall_seconds")),
            (f"{partition}: it takes clearly more CPU time with {most}",
             tracer.clearly_less(one, many, "cpu_seconds")),
            (f"{partition}: there are clearly fewer rollbacks with {most}",
             tracer.clearly_less(many, one, "rollbacks"))]
    checks += [(f"a rollback undoes more events with {most}",
                undone(rows, most) >= undone(rows, least))]
    tracer.say("the more LPs share a KP, the lower the efficiency and the longer the time: what "
               "did not have to roll back does.", checks)
    if workload == "stencil":
        print("\nThe stencil hardly rolls back here: all ranks do the same at the same times, one "
              "hop apart, so\nthere is nothing for larger KPs to make worse. --workload random "
              "has something to roll back.")
    print("\nClearly: all of the repeated runs of the one are below all of the other.")
    print("Events undone by a rollback: "
          + ", ".join(f"{undone(rows, n):.3g} with {n}" for n in LPS_PER_KP))


def main():
    made = tracer.parser(__doc__, repeat=5)
    made.add_argument("--workload", default="stencil", choices=list(WORKLOADS),
                      help="default: stencil; the files of the others are called fig4-random, fig4-leanmd")
    given = tracer.options(made)
    rows = measure(given)
    prefix = "fig4" if given.workload == "stencil" else f"fig4-{given.workload}"
    tracer.write_csv(given.out / f"{prefix}.csv", rows)
    for name, (_, title, unit, _) in PLOTS.items():
        plot(given, rows, name, given.out / f"{prefix}-{name}.svg")
        tracer.print_table({p: curve(rows, p, name) for p in PARTITIONS}, LPS_PER_KP,
                           f"{title}, {unit}")
    compare(rows, given.workload)


if __name__ == "__main__":
    main()

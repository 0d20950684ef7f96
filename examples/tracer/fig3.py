#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 3: batch size and GVT interval of the optimistic scheduler, a stencil on 8192 nodes."""
import tracer
from plot import Figure, Linear, Log

BATCHES = [4, 16, 64, 256, 1024]
INTERVALS = [1, 4, 16, 64, 256, 1024]
ADAPTS = 0  # an interval that the engine chooses
# Column: title, label of its axis, which of repeated runs.
PLOTS = {
    "time": ("wall_seconds", "Time", "seconds", tracer.best),
    "efficiency": ("efficiency_percent", "Efficiency", "percent", tracer.middle),
    "memory": ("memory_bytes", "Memory", "MiB", tracer.best),
}


def measure(given, nodes, batches, intervals):
    rows = []
    for batch in batches:
        for interval in [ADAPTS, *intervals]:
            rows += tracer.measure(
                given, nodes, sched="optimistic", threads=given.threads,
                params={"engine.batch": batch, "engine.gvt_interval": interval},
                label={"batch": batch, "gvt_interval": interval})
    return rows


def curve(rows, batch, intervals, name):
    column, _, unit, choose = PLOTS[name]
    scale = tracer.MIB if unit == "MiB" else 1
    return {i: choose(tracer.where(rows, batch=batch, gvt_interval=i), column) / scale
            for i in intervals}


def plot(rows, nodes, batches, intervals, name, path):
    _, title, unit, _ = PLOTS[name]
    curves = {b: curve(rows, b, intervals, name) for b in batches}
    lowest = min(min(c.values()) for c in curves.values())
    y = Linear(low=10 * ((lowest - 1) // 10)) if unit == "percent" else Log()
    figure = Figure(f"{title} by batch size and GVT interval, {nodes} nodes",
                    "batches between two GVT rounds", unit,
                    x=Log(4, text="{:.0f}".format), y=y,
                    subtitle=f"optimistic on {rows[0]['threads']} threads; stencil of 128 KiB, "
                             f"3 iterations, {tracer.torus(nodes)}")
    for batch, points in curves.items():
        figure.add(f"batch {batch}", list(points.items()))
    figure.write(path)


def compare(rows, batches, intervals):
    time = {(b, i): t for b in batches
            for i, t in curve(rows, b, [ADAPTS, *intervals], "time").items()}
    least, most = intervals[0], intervals[-1]
    fixed = {key: t for key, t in time.items() if key[1] != ADAPTS}
    fastest = min(fixed, key=fixed.get)
    adapted = time[64, ADAPTS]
    print(f"\nThe fastest pair: batch {fastest[0]}, interval {fastest[1]}: "
          f"{fixed[fastest]:.3g} s; the slowest takes {max(fixed.values()):.3g} s; "
          f"what the engine does by itself (batch 64, an interval that adapts): {adapted:.3g} s")
    tracer.say("sweeps both parameters on 8192 nodes; our notes do not say which pair was best.", [
        ("no pair changes the prediction or the number of events", tracer.same(rows)),
        (f"a GVT round after each batch of {batches[0]} is slower than one after {most}",
         time[batches[0], least] > time[batches[0], most]),
        ("frequent rounds need less memory",
         all(curve(rows, b, [least, most], "memory")[least]
             <= curve(rows, b, [least, most], "memory")[most] for b in batches)),
        ("the interval that adapts is within 1.3 times the fastest pair",
         adapted <= 1.3 * fixed[fastest]),
    ])


def main():
    given = tracer.options(tracer.parser(__doc__))
    nodes = 512 if given.quick else 8192
    batches = [4, 64] if given.quick else BATCHES
    intervals = [1, 256] if given.quick else INTERVALS
    rows = measure(given, nodes, batches, intervals)
    tracer.write_csv(given.out / "fig3.csv", rows)
    for name, (_, title, unit, _) in PLOTS.items():
        plot(rows, nodes, batches, intervals, name, given.out / f"fig3-{name}.svg")
        tracer.print_table({f"batch {b}": curve(rows, b, [ADAPTS, *intervals], name)
                            for b in batches}, [ADAPTS, *intervals], f"{title}, {unit}")
    compare(rows, batches, intervals)


if __name__ == "__main__":
    main()

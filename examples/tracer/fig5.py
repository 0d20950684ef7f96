#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 5: sequential runs of a stencil on 512 to 32,768 nodes, in several degrees of detail."""
import tracer
from plot import Figure, Log

# Name: network, parameters.
WAYS = {
    "trains": ("packet", {}),
    "packets, 512 B": ("packet", tracer.PACKETS),
    "packets, 4 KiB": ("packet", {**tracer.PACKETS, "net.packet": "4KiB"}),
    "credits, 4 KiB": ("packet", {"net.preset": "torusnet", "net.packet": "4KiB"}),
    "loggp": ("loggp", {}),
}
# Nodes: seconds of one core, MiB, of TraceR with CODES on the same workload with packets of
# 4 KiB; from our notes of a run on another machine of two cores. 32,768 nodes did not fit
# into 19 GB.
NOTED = {512: (1.8, 300), 4096: (36.9, 1000)}
PLOTS = {"time": ("cpu_seconds", "CPU time", "seconds", 1, 0),
         "memory": ("memory_bytes", "Memory", "MiB", tracer.MIB, 1)}


def measure(given, sizes):
    rows = []
    for way, (net, params) in WAYS.items():
        for nodes in sizes:
            rows += tracer.measure(given, nodes, net=net, params=params, label={"way": way})
    return rows


def curve(rows, way, sizes, name):
    column, _, _, scale, _ = PLOTS[name]
    return {n: tracer.best(tracer.where(rows, way=way, nodes=n), column) / scale for n in sizes}


def plot(rows, sizes, name, path):
    _, title, unit, _, noted = PLOTS[name]
    figure = Figure(f"{title} of sequential runs", "nodes", unit,
                    x=Log(2, text=tracer.in_thousands), y=Log(),
                    subtitle="stencil of 128 KiB, 3 iterations, on a 3D torus; TraceR + CODES: "
                             "another machine, 4 KiB, from our notes")
    for way in WAYS:
        figure.add(way, list(curve(rows, way, sizes, name).items()))
    figure.add("TraceR + CODES", [(n, values[noted]) for n, values in NOTED.items()])
    figure.write(path)


def compare(rows, sizes):
    time = {way: curve(rows, way, sizes, "time") for way in WAYS}
    last = sizes[-1]
    events = {way: tracer.where(rows, way=way, nodes=last)[0]["events"] for way in WAYS}
    noted = [n for n in sizes if n in NOTED]
    tracer.say("compares sequential simulators; our notes have no numbers of the figure. What they "
               "have is a run of TraceR with CODES: " + ", ".join(
                   f"{n} nodes {s} s" for n, (s, _) in NOTED.items()) + ".", [
        ("packet by packet predicts for each size what trains do",
         all(tracer.same([r for w in ("trains", "packets, 512 B")
                          for r in tracer.where(rows, way=w, nodes=n)],
                         ["predicted_ps", "digest"]) for n in sizes)),
        (f"trains need less than a tenth of the events of packets of 512 B "
         f"({events['packets, 512 B'] / events['trains']:.0f} times fewer)",
         10 * events["trains"] < events["packets, 512 B"]),
        (f"and less than a tenth of the time on {last} nodes "
         f"({time['packets, 512 B'][last] / time['trains'][last]:.0f} times faster)",
         10 * time["trains"][last] < time["packets, 512 B"][last]),
        *[(f"packets of 4 KiB with credits are faster than TraceR + CODES on {n} nodes "
           f"({NOTED[n][0] / time['credits, 4 KiB'][n]:.0f} times)",
           time["credits, 4 KiB"][n] < NOTED[n][0]) for n in noted],
    ])


def main():
    given = tracer.options(tracer.parser(__doc__, repeat=1))
    sizes = [64, 512] if given.quick else tracer.powers_of_two(512, 32768, step=3)
    rows = measure(given, sizes)
    tracer.write_csv(given.out / "fig5.csv", rows)
    for name, (_, title, unit, _, _) in PLOTS.items():
        plot(rows, sizes, name, given.out / f"fig5-{name}.svg")
        tracer.print_table({w: curve(rows, w, sizes, name) for w in WAYS}, sizes,
                           f"{title}, {unit}")
    compare(rows, sizes)


if __name__ == "__main__":
    main()

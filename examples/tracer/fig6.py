#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 6: a stencil on 512 to 524,288 nodes, packets against the models without a topology."""
import tracer
from plot import Figure, Log

MODELS = ["packet", "loggp", "alphabeta"]
CORES, SECONDS = 512, 542  # TraceR's time for the largest, on a Cray XE6; from our notes
LARGEST = 524288
PLOTS = {"time": ("cpu_seconds", "CPU time", "seconds", 1),
         "events": ("events", "Events", "million", 1e6),
         "memory": ("memory_bytes", "Memory", "MiB", tracer.MIB)}


def curve(rows, net, sizes, name):
    column, _, _, scale = PLOTS[name]
    return {n: tracer.best(tracer.where(rows, network=net, nodes=n), column) / scale
            for n in sizes}


def plot(rows, sizes, name, path):
    _, title, unit, _ = PLOTS[name]
    figure = Figure(f"{title} by nodes and network model", "nodes", unit,
                    x=Log(2, text=tracer.in_thousands), y=Log(),
                    subtitle="stencil of 128 KiB, 3 iterations, one rank per node; packets of "
                             "512 B on a 3D torus; sequential")
    for net in MODELS:
        figure.add(net, list(curve(rows, net, sizes, name).items()))
    figure.write(path)


def compare(rows, sizes):
    at = {(net, name): curve(rows, net, sizes, name) for net in MODELS for name in PLOTS}
    last, time = sizes[-1], at["packet", "time"][sizes[-1]]
    checks = [
        ("a node has the same number of events on every network, within 1 %, in each model",
         all(abs(e / n / (at[net, "events"][last] / last) - 1) < 0.01
             for net in MODELS for n, e in at[net, "events"].items())),
        ("a network of any size is predicted to take as long: all messages go one hop",
         all(tracer.same(tracer.where(rows, network=net), ["predicted_ps"]) for net in MODELS)),
        ("packets cost more time than the models without a topology",
         all(time > at[net, "time"][last] for net in MODELS[1:])),
        (f"packets need less than 2 GiB for {last} nodes "
         f"({at['packet', 'memory'][last] * tracer.MIB / last:.0f} bytes a node)",
         at["packet", "memory"][last] < 2048)]
    if last == LARGEST:
        checks += [(f"one core is faster than {SECONDS} s: {time:.3g} s, "
                    f"{CORES * SECONDS / time:,.0f} times fewer seconds of a core",
                    time < SECONDS)]
    tracer.say(f"{LARGEST:,} nodes took {SECONDS} s on {CORES} cores of a Cray XE6.", checks)


def main():
    given = tracer.options(tracer.parser(__doc__, repeat=1))
    sizes = [64, 512] if given.quick else [512, 4096, 32768, 262144, LARGEST]
    rows = [row for net in MODELS for nodes in sizes
            for row in tracer.measure(given, nodes, net=net)]
    tracer.write_csv(given.out / "fig6.csv", rows)
    for name, (_, title, unit, _) in PLOTS.items():
        plot(rows, sizes, name, given.out / f"fig6-{name}.svg")
        tracer.print_table({net: curve(rows, net, sizes, name) for net in MODELS}, sizes,
                           f"{title}, {unit}")
    compare(rows, sizes)


if __name__ == "__main__":
    main()

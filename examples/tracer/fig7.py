#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 7: LeanMD, molecular dynamics driven by messages, on a 5D torus."""
import tracer
from plot import Figure, Log

IDEAL = "none"  # the network that costs nothing


def measure(given, sizes, cells):
    rows = []
    for nodes in sizes:
        for net, sched in [(given.net, s) for s in tracer.SCHEDULERS] + [(IDEAL, "sequential")]:
            rows += tracer.measure(given, nodes, net=net, topology=tracer.torus(nodes, 5),
                                   source="gen:leanmd", sched=sched,
                                   threads=1 if sched == "sequential" else given.threads,
                                   params={"gen.cells": cells}, label={"cells": cells})
    return rows


def seconds(rows, net, sched, sizes):
    return {n: tracer.best(tracer.where(rows, network=net, scheduler=sched, nodes=n),
                           "wall_seconds") for n in sizes}


def predicted(rows, net, sizes):
    return {n: tracer.where(rows, network=net, nodes=n)[0]["predicted_ps"] / 1e9 for n in sizes}


def plot_time(given, rows, sizes, cells):
    figure = Figure("Time to simulate LeanMD on a 5D torus", "nodes", "seconds",
                    x=Log(2, text="{:.0f}".format), y=Log(),
                    subtitle=f"{cells} cells, 3 steps, network model {given.net}; in parallel "
                             f"on {given.threads} threads")
    for sched in tracer.SCHEDULERS:
        figure.add(sched, list(seconds(rows, given.net, sched, sizes).items()))
    figure.write(given.out / "fig7-time.svg")


def plot_predicted(given, rows, sizes, cells):
    figure = Figure("Predicted time of LeanMD on a 5D torus", "nodes", "milliseconds",
                    x=Log(2, text="{:.0f}".format), y=Log(),
                    subtitle=f"{cells} cells, 3 steps; none is a network that costs nothing")
    for net in (given.net, IDEAL):
        figure.add(net, list(predicted(rows, net, sizes).items()))
    figure.write(given.out / "fig7-predicted.svg")


def compare(given, rows, sizes):
    real, ideal = (predicted(rows, net, sizes) for net in (given.net, IDEAL))
    time = {s: seconds(rows, given.net, s, sizes)[sizes[-1]] for s in tracer.SCHEDULERS}
    tracer.say("LeanMD was simulated on a 5D torus; our notes have no numbers of it.", [
        ("all schedulers predict the same, and run the same events",
         all(tracer.same(tracer.where(rows, network=given.net, nodes=n)) for n in sizes)),
        ("the network that costs nothing is the fastest, within 1 % (a message that comes later "
         "may make a better order of the work)",
         all(real[n] >= 0.99 * ideal[n] for n in sizes)),
        ("more nodes finish sooner, each step in size",
         all(real[a] > real[b] for a, b in zip(sizes, sizes[1:]))),
        (f"{given.threads} threads are faster than one on {sizes[-1]} nodes",
         min(time["conservative"], time["optimistic"]) < time["sequential"]),
    ])
    print("\nShare of the network in the predicted time: "
          + ", ".join(f"{1 - ideal[n] / real[n]:.1%} on {n} nodes" for n in sizes))


def main():
    made = tracer.parser(__doc__)
    made.add_argument("--net", default="packet", choices=["packet", "latency", "loggp"],
                      help="network model (default: packet)")
    given = tracer.options(made)
    sizes = [32, 128] if given.quick else tracer.powers_of_two(64, 4096, step=2)
    cells = "8x8x8" if given.quick else "16x16x16"
    rows = measure(given, sizes, cells)
    tracer.write_csv(given.out / "fig7.csv", rows)
    plot_time(given, rows, sizes, cells)
    plot_predicted(given, rows, sizes, cells)
    tracer.print_table({s: seconds(rows, given.net, s, sizes) for s in tracer.SCHEDULERS}, sizes,
                       "Time, s")
    tracer.print_table({net: predicted(rows, net, sizes) for net in (given.net, IDEAL)}, sizes,
                       "Predicted, ms")
    compare(given, rows, sizes)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 7: LeanMD on a 5D torus."""
import tracer  # first: it finds papers.py
import papers
from plot import Figure, Log

# Partitions of Blue Gene/Q, from a midplane on.
TORI = {512: "4x4x4x4x2", 1024: "4x4x4x8x2", 2048: "4x4x8x8x2", 4096: "4x8x8x8x2", 8192: "8x8x8x8x2",
        16384: "8x8x8x16x2", 32768: "8x8x16x16x2", 32: "2x2x2x2x2", 128: "2x2x4x4x2"}
PAPER = {"SimpleNet": 2, "TorusNet": 65}  # seconds, 32K nodes, 128 cores
EXPERIMENT = papers.Experiment(
    "tracer", "fig7", "LeanMD on a 5D torus", place="Fig. 7",
    setup="""LeanMD, 1.2 million atoms, three iterations. Left: 32K nodes of a 5D torus, 2 s with SimpleNet and 65 s with
    TorusNet on 128 cores; the speed-up is lower than the stencil's. Right: predicted against measured on Vulcan (Blue
    Gene/Q), 512 to 8,192 nodes: less than 9 % off, mostly within 2 % (Sect. 6.2).""",
    ours="""gen:leanmd: 20x20x20 cells of 150 atoms are 1.2 million (the cells are not printed; those are LeanMD's usual
    ones), one cell away, 1 ns a pair of atoms: a node of Blue Gene/Q has 205 Gflop/s, and a pair takes some hundred operations. Tori are those of Blue Gene/Q's partitions. Messages leave a cell
    one after the other at 2 GB/s; what a network costs is the difference to one that costs nothing.""")
ATOMS = {"gen.atoms": 150, "gen.cells": "20x20x20", "gen.pair_time": "1ns", "gen.atom_time": "5ns"}
HEADER = ["network", "nodes", "predicted_ps", "digest", *tracer.COUNTS]


def measure(sizes, params):
    runs = {}
    for nodes in sizes:
        for name, network in {**tracer.NETWORKS, "none": ("none", {})}.items():
            runs[name, nodes] = tracer.simulate(EXPERIMENT, network, nodes, source="gen:leanmd", params=params,
                                                topology=f"torus:{TORI[nodes]}")
    return runs


def predicted(runs, name, nodes):
    return runs[name, nodes]["result"]["predicted_time_ps"] / 1e9


def compare(runs, sizes, params):
    last = sizes[-1]
    for name, theirs in PAPER.items():
        run = runs[name, last]["run"]
        same = last == 32768
        EXPERIMENT.row(f"{name}, time to simulate 32K nodes", f"{theirs} s on 128 cores",
                       f"{papers.number(run['cpu_seconds'])} s on one core"
                       + ("" if same else f" for {last} nodes"), papers.DIFFERS if same else papers.IMPOSSIBLE,
                       f"{128 * theirs / run['cpu_seconds']:,.0f} times less time of a core" if same else
                       "not the paper's size in this form")
    share = {n: 1 - predicted(runs, "none", n) / predicted(runs, "TorusNet", n) for n in sizes}
    EXPERIMENT.row("share of the network in the predicted time", "not printed",
                   ", ".join(f"{share[n]:.0%} on {n:,}" for n in sizes) + " nodes", papers.IMPOSSIBLE,
                   "nothing to compare with")
    EXPERIMENT.row("predicted against measured, 512 to 8,192 nodes", "less than 9 % off, mostly within 2 %", "-",
                   papers.IMPOSSIBLE, "the measured times of Vulcan are only in the plot; docs/models/validation.md "
                   "compares weft with machines that we can measure")
    if EXPERIMENT.given.form == "full":
        compare_rollbacks(sizes[0], params)


def compare_rollbacks(nodes, params):
    common = {"sched": "optimistic", "threads": EXPERIMENT.given.threads}
    stencil = tracer.simulate(EXPERIMENT, tracer.NETWORKS["TorusNet"], nodes, **common)["run"]
    leanmd = tracer.simulate(EXPERIMENT, tracer.NETWORKS["TorusNet"], nodes, source="gen:leanmd", params=params,
                             topology=f"torus:{TORI[nodes]}", **common)["run"]
    more = leanmd["efficiency_percent"] < stencil["efficiency_percent"]
    EXPERIMENT.row("rollbacks of LeanMD against the stencil, optimistic", "more: a more complicated dependency graph",
                   f"efficiency {leanmd['efficiency_percent']:.0f} % against {stencil['efficiency_percent']:.0f} %", more,
                   "" if more else "on so few threads it is a matter of how they happen to run")


def plot(runs, sizes):
    figure = Figure("Time to simulate LeanMD, one core", "nodes", "CPU seconds", x=Log(2, text=tracer.in_thousands),
                    y=Log(), subtitle="1.2 million atoms, 5D torus; the paper's values are on 128 cores")
    for name in tracer.NETWORKS:
        figure.add(name, [(n, runs[name, n]["run"]["cpu_seconds"]) for n in sizes])
        figure.add(name, [(32768, PAPER[name])], paper=True)
    EXPERIMENT.picture(figure)
    figure = Figure("Predicted time of LeanMD on a 5D torus", "nodes", "milliseconds",
                    x=Log(2, text=tracer.in_thousands), y=Log(), subtitle="three steps; none is a network that costs nothing")
    for name in (*tracer.NETWORKS, "none"):
        figure.add(name, [(n, predicted(runs, name, n)) for n in sizes])
    EXPERIMENT.picture(figure, "-predicted")


def main():
    EXPERIMENT.options()
    sizes = EXPERIMENT.pick([32, 128], [512, 2048, 8192, 32768], short=[512, 4096])
    params = EXPERIMENT.pick({**ATOMS, "gen.cells": "5x5x5"}, ATOMS)
    runs = measure(sizes, params)
    EXPERIMENT.csv(HEADER, [[*key, d["result"]["predicted_time_ps"], d["result"]["digest"], *tracer.counts(d)]
                            for key, d in runs.items()])
    compare(runs, sizes, params)
    plot(runs, sizes)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 5: sequential runs of a 3D stencil."""
import tracer  # first: it finds papers.py
import papers
from plot import Figure, Log

EXPERIMENT = papers.Experiment(
    "tracer", "fig5", "sequential simulation time", place="Fig. 5",
    setup="""3D Stencil on a 3D torus of various sizes, packet-level, one core: BigSim, SST (online), TraceR-single
    and TraceR-multi (Sect. 6.1). Stated: TraceR is an order of magnitude faster than BigSim; TraceR-single takes
    50 % less than SST; single beats multi here, and multi beats single in other experiments. The times themselves
    are only in the plot.""",
    ours="""TraceR with CODES was measured by us on another machine of two cores, with packets of 4 KiB: 1.8 s for
    512 nodes, 36.9 s for 4096, and 32,768 did not fit into 19 GB. Granularity is a parameter of task graphs
    (replay.granularity), so LeanMD is its workload.""")
WAYS = {**tracer.NETWORKS, "trains": tracer.TRAINS,
        "packets of 512 B": ("packet", {"net.trains": "off"})}
MEASURED = {512: 1.8, 4096: 36.9}
HEADER = ["network", "nodes", "predicted_ps", *tracer.COUNTS]


def measure(sizes, most):
    rows = []
    for name, network in WAYS.items():
        for nodes in sizes:
            if name != "packets of 512 B" or nodes <= most:
                document = tracer.simulate(EXPERIMENT, network, nodes)
                rows.append([name, nodes, document["result"]["predicted_time_ps"], *tracer.counts(document)])
    return rows


def granularity(nodes, cells):
    found = {}
    for how in ("single", "multi"):
        document = tracer.simulate(EXPERIMENT, tracer.NETWORKS["SimpleNet"], nodes, source="gen:leanmd",
                                   params={"gen.cells": cells, "replay.granularity": how})
        found[how] = document
    return found


def compare(rows, found):
    time = {(r[0], r[1]): r[HEADER.index("cpu_seconds")] for r in rows}
    sizes = sorted({r[1] for r in rows})
    EXPERIMENT.row("BigSim and SST", "TraceR is 10 times as fast as BigSim and twice as fast as SST",
                   "-", papers.IMPOSSIBLE,
                   "the plot's values are not in the text, and neither simulator is here")
    for nodes in [n for n in sizes if n in MEASURED]:
        ours = time["TorusNet", nodes]
        EXPERIMENT.row(f"TraceR on {nodes} nodes, measured by us", f"{MEASURED[nodes]} s",
                       f"{papers.number(ours)} CPU s with TorusNet, {papers.number(time['trains', nodes])} s with trains",
                       papers.DIFFERS, f"weft is {MEASURED[nodes] / ours:.0f} times as fast packet by packet: 2 events a "
                       "packet and hop instead of 5.5, of 50 bytes instead of 900")
    events = {how: d["run"]["events_committed"] for how, d in found.items()}
    seconds = {how: d["run"]["cpu_seconds"] for how, d in found.items()}
    fewer = events["multi"] < events["single"]
    EXPERIMENT.row("events of multi against single", "fewer: the minimum required",
                   f"{events['single']:,} and {events['multi']:,}", fewer,
                   "" if fewer else "no two tasks were ready at the same time")
    EXPERIMENT.row("time of single against multi", "single is faster in Fig. 5; multi in other experiments",
                   f"{papers.number(seconds['single'])} and {papers.number(seconds['multi'])} CPU s",
                   papers.AGREES if seconds["single"] < seconds["multi"] else papers.DIFFERS,
                   "" if seconds["single"] < seconds["multi"] else "fewer events are worth more here than the longer "
                   "undo information, which a sequential run does not keep")


def plot(rows):
    figure = Figure("Sequential simulation of a 3D stencil", "nodes", "CPU seconds",
                    x=Log(2, text=tracer.in_thousands), y=Log(),
                    subtitle="128 KiB messages, 3 iterations; TraceR measured by us on another machine")
    for name in WAYS:
        figure.add(name, [(r[1], r[HEADER.index("cpu_seconds")]) for r in rows if r[0] == name])
    figure.add("TraceR", list(MEASURED.items()), paper=True)
    EXPERIMENT.picture(figure)


def main():
    EXPERIMENT.options()
    sizes = EXPERIMENT.pick([64, 512], [512, 4096, 32768], short=[512, 4096])
    rows = measure(sizes, EXPERIMENT.pick(64, 4096, short=512))
    EXPERIMENT.csv(HEADER, rows)
    compare(rows, granularity(*EXPERIMENT.pick((27, "4x4x4"), (512, "16x16x16"))))
    plot(rows)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 6: a 3D stencil on 512 to 524,288 nodes."""
import tracer  # first: it finds papers.py
import papers
from plot import Figure, Log

LARGEST = 524288
PAPER = {"TorusNet": 542, "SimpleNet": 95}  # seconds for the largest on 512 cores
EXPERIMENT = papers.Experiment(
    "tracer", "fig6", "scaling to half a million nodes", place="Fig. 6",
    setup="""3D Stencil on 3D tori of 512 to 524,288 nodes, up to 512 cores of Blue Waters (Sect. 6.2). 524,288 nodes:
    542 s with TorusNet, 95 s with SimpleNet. Smaller systems: less than 100 s, even for TorusNet.""",
    ours="""CPU seconds of one core, and wall-clock seconds on as many threads as there are cores; a curve to 512 cores
    is predicted from windows and events, as in Fig. 2. 'trains' are packets without limits of buffers, simulated
    as trains.""")
WAYS = {**tracer.NETWORKS, "trains": tracer.TRAINS}
HEADER = ["network", "nodes", "threads", "predicted_ps", "digest", *tracer.COUNTS]
CORES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


def measure(sizes, threads):
    runs = {}
    for name, network in WAYS.items():
        for nodes in sizes:
            runs[name, nodes, 1] = tracer.simulate(EXPERIMENT, network, nodes)
        for n in threads[1:]:
            runs[name, sizes[-1], n] = tracer.simulate(EXPERIMENT, network, sizes[-1], sched="conservative", threads=n)
    return runs


def compare_threads(runs, last, threads, busy):
    """Measured times over threads, if there are any."""
    if EXPERIMENT.given.form != "full":
        return
    most = threads[-1]
    if most == 1 or busy:
        EXPERIMENT.row(f"time over threads, {last:,} nodes", "falls with the cores", "-", papers.IMPOSSIBLE,
                       EXPERIMENT.given.busy or busy or "threads were not asked for in this run (--threads)")
        return
    gain = {name: runs[name, last, 1]["run"]["wall_seconds"] / runs[name, last, most]["run"]["wall_seconds"] for name in WAYS}
    EXPERIMENT.row(f"time over threads, {last:,} nodes", "falls with the cores",
                   f"on {most} threads " + ", ".join(f"{name} {g:.2f} times as fast" for name, g in gain.items()),
                   min(gain.values()) > 1, "" if min(gain.values()) > 1 else "too little work a window for two threads")


def compare(runs, sizes, threads):
    last = sizes[-1]
    busy = papers.busy_words([d["run"] for (_, _, n), d in runs.items() if n == 1])
    for name, theirs in PAPER.items():
        run = runs[name, last, 1]["run"]
        words = f"{papers.number(run['cpu_seconds'])} s on one core"
        if threads[-1] > 1 and not busy:
            words += (f", {papers.number(runs[name, last, threads[-1]]['run']['wall_seconds'])} s on "
                      f"{threads[-1]} threads")
        if last == LARGEST:
            EXPERIMENT.row(f"{name}, {last:,} nodes", f"{theirs} s on 512 cores", words,
                           papers.DIFFERS, f"{512 * theirs / run['cpu_seconds']:,.0f} times less time of a core, on "
                           "processors that are ten years younger; fewer and smaller events do most of it")
        else:
            EXPERIMENT.row(f"{name}, {LARGEST:,} nodes", f"{theirs} s on 512 cores",
                           f"{last:,} nodes: {words}", papers.IMPOSSIBLE, "not the paper's size in this form")
    compare_threads(runs, last, threads, busy)
    smaller = [runs["TorusNet", n, 1]["run"]["cpu_seconds"] for n in sizes if n < LARGEST]
    EXPERIMENT.row("TorusNet, smaller systems", "less than 100 s, on up to 512 cores",
                   f"up to {papers.number(max(smaller))} s on one core", max(smaller) < 100,
                   "" if max(smaller) < 100 else "one core instead of hundreds")
    rate = {name: [runs[name, n, 1]["run"]["events_committed"] / n for n in sizes] for name in WAYS}
    even = all(max(r) < 1.02 * min(r) for r in rate.values())
    EXPERIMENT.row("work grows with the nodes", "all sizes scale well",
                   "events a node: " + ", ".join(f"{name} {r[-1]:.0f}" for name, r in rate.items())
                   + " at every size", even, "" if even else "more events a node on some size")
    cores = {name: [papers.on_cores(runs[name, last, 1]["run"], c) for c in CORES] for name in WAYS}
    EXPERIMENT.csv(["cores", *WAYS], [[c, *(cores[n][i] for n in WAYS)] for i, c in enumerate(CORES)], "-cores")
    EXPERIMENT.row(f"speed-up on 512 cores, {last:,} nodes", "scales well (values only in the plot)",
                   "predicted from windows and events: "
                   + ", ".join(f"{n} {c[0] / c[-1]:.0f}" for n, c in cores.items()),
                   cores["TorusNet"][0] / cores["TorusNet"][-1] > 50,
                   "" if cores["TorusNet"][0] / cores["TorusNet"][-1] > 50 else "windows have too few events for 512 cores at this size")
    return cores


def plot(runs, sizes, cores):
    figure = Figure("Simulation time by nodes, one core", "nodes", "CPU seconds",
                    x=Log(2, text=tracer.in_thousands), y=Log(), subtitle="3D Stencil; the paper's values are on 512 cores")
    for name in WAYS:
        figure.add(name, [(n, runs[name, n, 1]["run"]["cpu_seconds"]) for n in sizes])
        if name in PAPER:
            figure.add(name, [(LARGEST, PAPER[name])], paper=True)
    EXPERIMENT.picture(figure)
    figure = Figure(f"Predicted time over cores, {sizes[-1]:,} nodes", "cores", "seconds",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="from windows and events of one run; conservative")
    for name, values in cores.items():
        figure.add(name, list(zip(CORES, values)))
        if name in PAPER:
            figure.add(name, [(512, PAPER[name])], paper=True)
    EXPERIMENT.picture(figure, "-cores")


def main():
    given = EXPERIMENT.options()
    sizes = EXPERIMENT.pick([64, 512], [512, 4096, 32768, LARGEST], short=[512, 4096, 32768])
    threads = papers.powers_of_two(1, given.threads) if given.form == "full" else [1]
    runs = measure(sizes, threads)
    EXPERIMENT.csv(HEADER, [[*key, d["result"]["predicted_time_ps"], d["result"]["digest"], *tracer.counts(d)]
                            for key, d in runs.items()])
    plot(runs, sizes, compare(runs, sizes, threads))
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

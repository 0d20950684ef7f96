#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 14: the average latency on nested networks, 128 processes on processors of 1 to 128 cores."""
import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

RANKS = 128
OUTER, INNER = ("1us", "1Gbit/s"), ("0.1us", "10Gbit/s")
EXPERIMENT = papers.Experiment(
    "xsim", "fig14", "latency on nested networks", place="Fig. 14",
    setup="""`random`, 128 virtual processes; the same topology between processors (1 us, 1 Gbit/s) and between the cores of
    a processor (0.1 us, 10 Gbit/s); cores per processor varied (Sect. V.A). Stated: mesh, torus and twisted torus have
    almost identical results; with more cores the latency falls to that of the cores.""")


def network(make, cores):
    """One core needs no network on the processor, one processor none between."""
    if cores == 1:
        return make(RANKS), *OUTER
    if cores == RANKS:
        return make(RANKS), *INNER
    return f"{make(RANKS // cores)}/{make(cores)}", f"{OUTER[0]},{INNER[0]}", f"{OUTER[1]},{INNER[1]}"


def compare(curves, cores):
    first, last = cores[0], cores[-1]
    tenth = {name: c[last] / c[first] for name, c in curves.items()}
    EXPERIMENT.row("one processor of 128 cores against 128 processors", "the latency falls to the core latency",
                   ", ".join(f"{name} {c[first]:.2f} to {c[last]:.3f} us" for name, c in curves.items()),
                   all(abs(t - 0.1) < 0.005 for t in tenth.values()),
                   "" if all(abs(t - 0.1) < 0.005 for t in tenth.values()) else "not a tenth")
    grids = ["mesh", "torus", "twisted torus"]
    apart = max(max(curves[g][n] for g in grids) / min(curves[g][n] for g in grids) for n in cores)
    EXPERIMENT.row("mesh, torus and twisted torus", "almost identical", f"up to {apart:.2f} times apart", apart < 1.1,
                   "loops around the edges save a quarter of the distance; see Fig. 12")
    up = [name for name, c in curves.items() if any(c[a] < c[b] for a, b in zip(cores, cores[1:]))]
    EXPERIMENT.row("every step to more cores lowers the latency", "with more cores it falls",
                   "on all" if not up else f"not on: {', '.join(up)}", not up,
                   """with two cores on a processor nearly all messages still cross the outer network, and the links of the
                   inner one besides; a message enters and leaves a processor at one node of its network""")


def main():
    EXPERIMENT.options()
    cores = EXPERIMENT.pick([1, 16, 128], papers.powers_of_two(1, RANKS))
    seeds = EXPERIMENT.pick(1, 10, short=2)
    curves = {}
    for name, make in xsim.TOPOLOGIES.items():
        curves[name] = {}
        for n in cores:
            spec, link, bandwidth = network(make, n)
            curves[name][n] = sum(xsim.latency(EXPERIMENT, "random", RANKS, spec, link=link, bandwidth=bandwidth, seed=s)
                                  for s in range(1, seeds + 1)) / seeds
    EXPERIMENT.csv(["topology", "cores", "mean_us"], [[name, n, t] for name, c in curves.items() for n, t in c.items()])
    compare(curves, cores)
    figure = Figure("Average message latency on nested networks", "cores per processor", "microseconds",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="128 processes; the same topology between and on processors")
    for name, c in curves.items():
        figure.add(name, list(c.items()))
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 14: the average latency of a message of 128 ranks on processors of 1 to 128 cores."""
import xsim
from plot import Figure, Log

RANKS = 128
# Of the network between processors and of that on a processor.
OUTER, INNER = ("1us", "1Gbit/s"), ("0.1us", "10Gbit/s")
KINDS = {
    "star": "star:{}".format,
    "ring": "ring:{}".format,
    "mesh": lambda n: xsim.plane("mesh", n),
    "torus": lambda n: xsim.plane("torus", n),
    "tree": "tree:{},nodes=all".format,
}
# Between processors, on a processor.
NESTINGS = [("ring", "star"), ("mesh", "mesh"), ("torus", "torus"), ("torus", "star"),
            ("tree", "star"), ("star", "star")]


def network(outer, inner, cores):
    """Topology, latencies and bandwidths. One core needs no network on the processor, one
    processor none between."""
    if cores == 1:
        return KINDS[outer](RANKS), *OUTER
    if cores == RANKS:
        return KINDS[inner](RANKS), *INNER
    return (f"{KINDS[outer](RANKS // cores)}/{KINDS[inner](cores)}",
            f"{OUTER[0]},{INNER[0]}", f"{OUTER[1]},{INNER[1]}")


def measure(weft, cores):
    """[traffic, nesting, cores, spec, mean, min, max] of every point."""
    rows = []
    for traffic in xsim.TRAFFIC:
        for outer, inner in NESTINGS:
            for n in cores:
                spec, *links = network(outer, inner, n)
                rows.append([traffic, f"{outer} / {inner}", n, spec,
                             *xsim.latency(weft, traffic, RANKS, spec, *links)])
    return rows


def plot(rows, traffic, path):
    figure = Figure(f"Average message latency on nested networks, {traffic} traffic",
                    "cores per processor", "microseconds",
                    x=Log(2, text="{:.0f}".format), y=Log(),
                    subtitle="128 ranks; between processors / on a processor: "
                             "1 us, 1 Gbit/s / 0.1 us, 10 Gbit/s per hop")
    for outer, inner in NESTINGS:
        name = f"{outer} / {inner}"
        figure.add(name, [(r[2], r[4]) for r in rows if r[:2] == [traffic, name]])
    figure.write(path)


def compare(rows, cores):
    curves = {(r[0], r[1]): [] for r in rows}
    for r in rows:
        curves[r[0], r[1]].append(r[4])
    xsim.say("the more cores share a processor, the lower the latency.", [
        ("so it is at each step from 2 cores on, on all networks and under both traffics",
         all(a > b for curve in curves.values() for a, b in zip(curve[1:], curve[2:]))),
        ("and from 1 core to more, except under random traffic on the star of stars: nearly "
         "all messages still cross the outer star, and two inner links more",
         all((curve[0] > curve[1]) != (key == ("random", "star / star"))
             for key, curve in curves.items())),
        ("on one processor of stars a message takes 0.2 us + 3.2 ns",
         all(abs(curve[-1] - 0.2032) < 1e-6 for (_, name), curve in curves.items()
             if name.endswith("/ star") and cores[-1] == RANKS)),
    ])


def main():
    options = xsim.options(__doc__)
    cores = [1, 4, 16, 128] if options.quick else xsim.powers_of_two(1, RANKS)
    rows = measure(options.weft, cores)
    xsim.write_csv(options.out / "fig14.csv", ["traffic", "nesting", "cores", "spec", "mean_us",
                                               "min_us", "max_us"], rows)
    for traffic in xsim.TRAFFIC:
        plot(rows, traffic, options.out / f"fig14-{traffic}.svg")
        xsim.print_table({f"{o} / {i}": {r[2]: r[4] for r in rows
                                         if r[:2] == [traffic, f"{o} / {i}"]}
                          for o, i in NESTINGS}, cores, f"us, {traffic} traffic")
    compare(rows, cores)


if __name__ == "__main__":
    main()

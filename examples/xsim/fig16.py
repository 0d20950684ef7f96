#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 16: NPB's MG on Gigabit Ethernet, 1 to 16 cores a processor."""
import argparse

import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

CORES = [1, 2, 4, 8, 16]
EXPERIMENT = papers.Experiment(
    "xsim", "fig16", "MG on Gigabit Ethernet", place="Fig. 16",
    setup="""NPB MG on Gigabit Ethernet (star, 25 us, 1 Gbit/s) with 1 to 16 cores a processor (star, 0.32 us, 12 Gbit/s)
    (Table I, Sect. V.B). Stated: MG scales to some extent; the impact of the network becomes visible at 4096 processes;
    the numbers of cores hardly differ.""",
    ours="""mg.weft, the messages of NPB's MG, one iteration; or NPB's own program with --npb. Class and speed of a core are not
    printed. A core does 500 million operations a second, 58 a point and iteration as NPB counts them. The class is 256 points a
    side (A or B): with 512 (C, the last row) all that the paper sees comes at more processes.""")


def compare(curves, sizes):
    one, none = curves["1 core"], curves["no network"]
    best = xsim.fastest(one)
    EXPERIMENT.row("scaling", "to some extent", f"fastest with {best} ranks, {one[sizes[0]] / one[best]:.1f} times as fast as "
                   f"with {sizes[0]}; " + xsim.curve_text(one), best > sizes[0],
                   "" if best > sizes[0] else "latency is more than the computing from the start")
    steps = {n: xsim.gain(one, n) for n in sizes if n // 4 in sizes}
    if 4096 in steps:
        visible = next((n for n, g in steps.items() if g < 1.5), None) == 4096
        EXPERIMENT.row("the network becomes visible", "at 4096 processes",
                       "four times the ranks are " + ", ".join(f"{g:.2f} times as fast with {n}" for n, g in steps.items())
                       + f"; without a network {xsim.gain(none, 4096):.2f} times", visible,
                       "" if visible else """each of the 23 exchanges of an iteration is three messages one after the other, of 50 us on this network: 3.5 ms
                       at least, however many ranks; 'visible' has no number in the paper""")
    apart = {n: max(curves[f"{c} core{'s' if c > 1 else ''}"][n] for c in CORES)
             / min(curves[f"{c} core{'s' if c > 1 else ''}"][n] for c in CORES) for n in sizes}
    EXPERIMENT.row("1 to 16 cores a processor", "not much difference",
                   ", ".join(f"{n}: {a:.2f} times" for n, a in apart.items()), max(apart.values()) < 1.35,
                   "" if max(apart.values()) < 1.35 else "neighbours along x and y share a processor of 16 cores, and two of three "
                   "exchanges then cost nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    xsim.add_npb(parser)
    EXPERIMENT.options(parser)
    xsim.say_programs(EXPERIMENT)
    sizes = EXPERIMENT.pick([64, 256], papers.powers_of_two(64, 16384), short=papers.powers_of_two(64, 4096, 2))
    networks = {f"{c} core{'s' if c > 1 else ''}": lambda n, c=c: xsim.ethernet(n, c) for c in CORES}
    curves = xsim.mg_curves(EXPERIMENT, {**networks, "no network": None}, sizes, xsim.MG["points"])
    if EXPERIMENT.given.form != "quick" and not EXPERIMENT.given.npb:
        large = {n: xsim.mg_time(EXPERIMENT, n, xsim.ethernet(n, 1), xsim.LARGER) for n in sizes[-2:]}
        curves[f"{xsim.LARGER} points"] = large
    EXPERIMENT.csv(["network", "ranks", "ms"], [[name, n, t] for name, c in curves.items() for n, t in c.items()])
    compare(curves, sizes)
    if f"{xsim.LARGER} points" in curves:
        large = curves[f"{xsim.LARGER} points"]
        EXPERIMENT.row("the same with 512 points a side (class C)", "the class is not printed", xsim.curve_text(large), papers.IMPOSSIBLE,
                       "nothing to compare with; eight times the computing on the same network scales further")
    figure = Figure("MG on Gigabit Ethernet", "virtual processes", "milliseconds an iteration",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="256 points a side, 1 to 16 cores a processor")
    for name, curve in curves.items():
        figure.add(name, list(curve.items()))
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

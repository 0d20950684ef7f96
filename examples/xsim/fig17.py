#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 17: NPB's MG on 2D meshes."""
import argparse

import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

WIDTHS = [32, 64, 128]
EXPERIMENT = papers.Experiment(
    "xsim", "fig17", "MG on 2D meshes", place="Fig. 17",
    setup="""NPB MG on 2D meshes 32, 64 and 128 processors wide, 7 us, 8.8 Gbit/s (Table I, Sect. V.B). Stated: practically no
    difference between the widths; the increased latency prevents any improvement by more processes; MG does not scale
    in this set-up.""",
    ours="mg.weft as in Fig. 16, and with 128 points a side (class W); process i is at place i of the mesh, the first dimension fastest.")


def compare(curves, sizes):
    names = [f"{w} wide" for w in WIDTHS]
    apart = {n: max(curves[w][n] for w in names) / min(curves[w][n] for w in names) for n in sizes}
    EXPERIMENT.row("32, 64 and 128 wide", "practically no difference", ", ".join(f"{n}: {a:.2f} times" for n, a in apart.items()),
                   max(apart.values()) < 1.1,
                   "" if max(apart.values()) < 1.1 else """how far apart neighbours along y and z are depends on the width; with few ranks a wide mesh is a chain. The numbers of
                   processes in the plot are not printed""")
    best = xsim.fastest(curves[names[0]])
    EXPERIMENT.row("more processes", "no improvement", f"32 wide: fastest with {best} ranks; " + xsim.curve_text(curves[names[0]]),
                   curves[names[0]][sizes[0]] < 1.5 * curves[names[0]][best],
                   f"""below {best} ranks there is enough to compute with 256 points a side; beyond, more processes make it slower, as in the
                   paper. The class is not printed: see the next row""" if curves[names[0]][sizes[0]] >= 1.5 * curves[names[0]][best] else "")
    small = curves.get("32 wide, class W")
    if small:
        EXPERIMENT.row(f"more processes, {xsim.SMALLER} points a side (class W)", "no improvement", "32 wide: " + xsim.curve_text(small),
                       not xsim.improves(small), "" if not xsim.improves(small) else "it still becomes faster at first")
    slower = curves[names[0]][sizes[-1]] > 2 * curves["Ethernet"][sizes[-1]]
    EXPERIMENT.row("against Gigabit Ethernet (Fig. 16)", "the mesh's latency is what hinders",
                   f"{papers.number(curves[names[0]][sizes[-1]])} ms against {papers.number(curves['Ethernet'][sizes[-1]])} ms "
                   f"with {sizes[-1]} ranks", slower, "" if slower else "distances are still short with so few ranks")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    xsim.add_npb(parser)
    EXPERIMENT.options(parser)
    xsim.say_programs(EXPERIMENT)
    sizes = EXPERIMENT.pick([128], papers.powers_of_two(128, 16384), short=papers.powers_of_two(128, 4096))
    networks = {f"{w} wide": lambda n, w=w: xsim.mesh(n, w) for w in WIDTHS}
    networks["Ethernet"] = lambda n: xsim.ethernet(n, 1)
    curves = xsim.mg_curves(EXPERIMENT, {**networks, "no network": None}, sizes, xsim.MG["points"])
    if EXPERIMENT.given.form != "quick" and not EXPERIMENT.given.npb:
        curves["32 wide, class W"] = {n: xsim.mg_time(EXPERIMENT, n, xsim.mesh(n, 32), xsim.SMALLER) for n in sizes}
    EXPERIMENT.csv(["network", "ranks", "ms"], [[name, n, t] for name, c in curves.items() for n, t in c.items()])
    compare(curves, sizes)
    figure = Figure("MG on 2D meshes", "virtual processes", "milliseconds an iteration",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="256 points a side; 7 us, 8.8 Gbit/s a link")
    for name, curve in curves.items():
        figure.add(name, list(curve.items()))
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

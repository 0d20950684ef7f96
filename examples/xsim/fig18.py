#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 18: NPB's MG on dual-core 3D mesh, torus and twisted torus."""
import argparse

import xsim  # first: it finds papers.py
import papers
from plot import Figure, Log

KINDS = {"mesh": "mesh", "torus": "torus", "twisted torus": "ttorus"}
EXPERIMENT = papers.Experiment(
    "xsim", "fig18", "MG on 3D mesh, torus and twisted torus", place="Fig. 18",
    setup="""NPB MG on 8 x 8 x n processors with two cores: 3D mesh, torus, twisted torus (jumps by 1 in each dimension, wraps by
    1 dimension), 7 us, 8.8 Gbit/s, cores by a star of 0.32 us, 9.6 Gbit/s (Table I, Sect. V.B). Stated: MG does not scale
    in the mesh; it scales in torus and twisted torus until 4096 processes; the two do not differ.""",
    ours="mg.weft as in Fig. 16, the mesh also with 128 points a side (class W); process i is on core i % 2 of processor i / 2, the first dimension fastest.")


def compare(curves, sizes):
    best = {name: xsim.fastest(curves[name]) for name in KINDS}
    EXPERIMENT.row("mesh", "does not scale", f"fastest with {best['mesh']} ranks; " + xsim.curve_text(curves["mesh"]),
                   best["mesh"] == sizes[0] and len(sizes) > 1,
                   "" if best["mesh"] == sizes[0] and len(sizes) > 1 else "with few ranks there is enough to compute with 256 points a side; beyond 1,024 more of them make it slower, as in the paper. The class is not printed: see the next row")
    small = curves.get("mesh, class W")
    if small:
        EXPERIMENT.row(f"mesh, {xsim.SMALLER} points a side (class W)", "does not scale", xsim.curve_text(small), not xsim.improves(small),
                       "" if not xsim.improves(small) else "it still becomes faster at first")
    for name in ("torus", "twisted torus"):
        largest = ", the most of this form" if best[name] == sizes[-1] else ""
        EXPERIMENT.row(name, "scales until 4096", f"fastest with {best[name]} ranks{largest}; " + xsim.curve_text(curves[name]),
                       best[name] == 4096,
                       "" if best[name] == 4096 else """the third dimension grows with the ranks and its neighbours are 8 x 8 processors apart;
                       where computing and latency meet depends on class and speed, which are not printed""")
    apart = max(max(curves["torus"][n], curves["twisted torus"][n]) / min(curves["torus"][n], curves["twisted torus"][n])
                for n in sizes)
    EXPERIMENT.row("torus against twisted torus", "no difference", f"up to {apart:.2f} times apart", apart < 1.1,
                   "" if apart < 1.1 else "the loops of the twisted torus end one node further, which moves neighbours across edges")
    ratio = {n: curves["mesh"][n] / curves["torus"][n] for n in sizes}
    EXPERIMENT.row("mesh against torus", "clearly slower", ", ".join(f"{n}: {r:.2f} times" for n, r in ratio.items()),
                   max(ratio.values()) > 1.3,
                   "" if max(ratio.values()) > 1.3 else "an exchange waits for its slowest pair, which is far apart in both")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    xsim.add_npb(parser)
    EXPERIMENT.options(parser)
    xsim.say_programs(EXPERIMENT)
    sizes = EXPERIMENT.pick([256], papers.powers_of_two(256, 16384), short=papers.powers_of_two(256, 4096))
    networks = {name: lambda n, kind=kind: xsim.dual_core(kind, n) for name, kind in KINDS.items()}
    curves = xsim.mg_curves(EXPERIMENT, {**networks, "no network": None}, sizes, xsim.MG["points"])
    if EXPERIMENT.given.form != "quick" and not EXPERIMENT.given.npb:
        curves["mesh, class W"] = {n: xsim.mg_time(EXPERIMENT, n, xsim.dual_core("mesh", n), xsim.SMALLER) for n in sizes}
    EXPERIMENT.csv(["network", "ranks", "ms"], [[name, n, t] for name, c in curves.items() for n, t in c.items()])
    compare(curves, sizes)
    figure = Figure("MG on dual-core 3D networks", "virtual processes", "milliseconds an iteration",
                    x=Log(2, text="{:.0f}".format), y=Log(), subtitle="256 points a side; 8 x 8 x n processors of two cores")
    for name, curve in curves.items():
        figure.add(name, list(curve.items()))
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

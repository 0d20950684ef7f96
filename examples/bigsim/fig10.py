#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 10: the predicted time over the latency factor."""

import bigsim
import papers
from plot import Figure, Log

EXPERIMENT = papers.Experiment(
    "bigsim", "fig10", "predicted time over latency", place="Fig. 10",
    setup="""Jacobi; per-hop (5 ns) and per-corner (75 ns) latencies multiplied by a factor: the predicted time stays constant up to a limit, then
    rises, since computing and communication overlap (Sect. 6.2). Sizes and values are only in the plot.""",
    ours="""jacobi1d.c on 1,024 processors. Overlap needs several chunks on a processor; with one chunk nothing overlaps and the time rises
    from the start. Work is 40 us a processor and iteration in all.""")
FACTORS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
STEPS = 10


def main():
    EXPERIMENT.options()
    processors = EXPERIMENT.pick(64, 1024)
    factors = EXPERIMENT.pick([1, 20, 5000], FACTORS)
    curves = {}
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("jacobi1d", where, "bigsim")
        for chunks in (1, 4):
            curves[chunks] = {f: bigsim.step_us(bigsim.jacobi(EXPERIMENT, program, processors, chunks=chunks, us=40 / chunks,
                                                              steps=STEPS, factor=f), STEPS) for f in factors}
    EXPERIMENT.csv(["chunks", "factor", "step_us"], [[c, f, t] for c, curve in curves.items() for f, t in curve.items()])
    four = curves[4]
    flat = [f for f in factors if four[f] < 1.05 * four[factors[0]]]
    rises = four[factors[-1]] > 2 * four[factors[0]]
    EXPERIMENT.row("four chunks a processor", "constant up to a limit, then rising",
                   f"within 5 % up to factor {flat[-1]}, {four[factors[-1]] / four[factors[0]]:.1f} times at {factors[-1]}",
                   flat[-1] >= 10 and rises, "" if flat[-1] >= 10 and rises else "no flat part")
    worse = [f for f in factors if curves[1][f] > 1.05 * curves[1][factors[0]]]
    EXPERIMENT.row("one chunk a processor", "not printed", f"above 5 % from factor {worse[0]} on" if worse else "no rise",
                   papers.IMPOSSIBLE, "how many chunks a processor has is not printed")
    figure = Figure("Time of an iteration and latency", "latency factor", "microseconds", x=Log(text="{:.0f}".format), y=Log(),
                    subtitle=f"Jacobi1D, {processors} simulated processors, 5 ns a hop and 75 ns a corner")
    for chunks, curve in curves.items():
        figure.add(f"{chunks} chunk{'s' if chunks > 1 else ''}", list(curve.items()))
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

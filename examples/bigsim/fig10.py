#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 10: the time of a step against the latency of the network, in multiples of 1 us."""
import tempfile

import bigsim
from plot import Figure, Log

RANKS = 64
FACTORS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
FEW, MANY = 2, 12  # steps: what the run costs besides is in both


def time_of_step(given, program, side, latency):
    few, many = (bigsim.microseconds(bigsim.predict(given, program, [side, steps], RANKS, "--net",
                                                    "loggp", "-p", f"net.L={latency}us"))
                 for steps in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def main():
    given = bigsim.options(bigsim.parser(__doc__))
    points = [96] if given.quick else [32, 64, 96]
    factors = FACTORS[::2] if given.quick else FACTORS
    with tempfile.TemporaryDirectory() as where:
        program = bigsim.build(given, "jacobi3d", where)
        rows = [[side, factor, time_of_step(given, program, side, factor)] for side in points
                for factor in factors]
    header = ["points", "latency_us", "step_us"]
    bigsim.write_csv(given.out / "fig10.csv", header, rows)
    figure = Figure("Time of a step and latency", "latency factor", "microseconds",
                    x=Log(text="{:.0f}".format), y=Log(),
                    subtitle=f"jacobi3d, {RANKS} virtual ranks")
    for side in points:
        figure.add(f"{side} points cubed", [(r[1], r[2]) for r in rows if r[0] == side])
    figure.write(given.out / "fig10.svg")
    bigsim.print_rows(header, rows)
    compare(rows, points[-1], factors)


def compare(rows, side, factors):
    time = {r[1]: r[2] for r in rows if r[0] == side}
    inside = (side / 4 - 2) ** 3 * 5e-3  # us of computing that does not need the neighbours
    hidden = [f for f in factors if f < inside / 2]
    last, before = factors[-1], factors[-2]
    bigsim.say("flat as long as computing hides the latency, then rising in proportion to it.", [
        (f"below half of the {inside:.0f} us that are computed meanwhile a step takes the same within "
         "5 % (later messages interrupt less)",
         max(time[f] for f in hidden) < 1.05 * min(time[f] for f in hidden)),
        ("in the end a step costs one latency more for each that there is",
         abs((time[last] - time[before]) / (last - before) - 1) < 0.01),
    ])


if __name__ == "__main__":
    main()

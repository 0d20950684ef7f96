#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table 1: Jacobi3D on 64 to 512 processors of Lemieux."""

import bigsim
import papers
from plot import Figure, Log

ACTUAL = {64: 1.072, 128: 0.481, 256: 0.259, 512: 0.145}
PREDICTED = {64: 1.046, 128: 0.512, 256: 0.270, 512: 0.155}
STEPS, ALL_STEPS = 10, 100
EXPERIMENT = papers.Experiment(
    "bigsim", "table1", "Jacobi3D on Lemieux", place="Table 1",
    setup="""Jacobi3D in MPI, seven points, an MPI_Allreduce of the error in each step, one problem on 64 to 512 processors of Lemieux: actual 1.072, 0.481,
    0.259, 0.145 s; predicted by BigSim 1.046, 0.512, 0.270, 0.155 s, within about 6 % (Sect. 6.1). Points and steps are not printed.""",
    ours=f"""jacobi3d.c on the machine lemieux of the library. 256 points a side and {ALL_STEPS} steps are a choice, of which {STEPS} are run; the time of a point
    is taken so that 64 processors take the paper's actual 1.072 s. The other three are predictions.""")


def seconds(program, processors, points, ns):
    document = EXPERIMENT.weft("run", "-n", processors, "--machine", "lemieux", "--compute", "model", "--no-payload", "--", program, points, STEPS,
                               ns, 1)
    return document["result"]["predicted_time_ps"] / 1e12 * ALL_STEPS / STEPS


def main():
    EXPERIMENT.options()
    points = EXPERIMENT.pick(64, 256)
    sizes = list(ACTUAL)[:EXPERIMENT.pick(2, 4)]
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("jacobi3d", where)
        ns = ACTUAL[64] * 64 / ALL_STEPS / points ** 3 * 1e9
        for _ in range(2):  # less what messages take
            ns *= 1 + (ACTUAL[64] - seconds(program, 64, points, ns)) / ACTUAL[64]
        ours = {n: seconds(program, n, points, ns) for n in sizes}
    EXPERIMENT.csv(["processors", "actual_s", "bigsim_s", "weft_s", "ns_per_point"], [[n, ACTUAL[n], PREDICTED[n], ours[n], ns] for n in sizes])
    for n in sizes[1:]:
        good = abs(ours[n] / ACTUAL[n] - 1) < 0.065
        EXPERIMENT.row(f"{n} processors", f"actual {ACTUAL[n]} s, predicted {PREDICTED[n]} s ({papers.signed(PREDICTED[n], ACTUAL[n])})",
                       f"{ours[n]:.3f} s ({papers.signed(ours[n], ACTUAL[n])})", good,
                       "" if good else """from 64 to 128 processors the program really became 2.23 times as fast, since its data then fits the caches; a fixed time a
                       point has no caches. BigSim ran the code itself on such processors""" if ours[n] > ACTUAL[n] else
                       "the library's figures for the network may be too good: o_send and o_recv are derived from a latency of 5 us")
    figure = Figure("Jacobi3D on Lemieux", "processors", "seconds", x=Log(2, text="{:.0f}".format), y=Log(),
                    subtitle="64 processors: the time of a point was taken from the actual time")
    figure.add("weft", list(ours.items()))
    figure.add("actual", list(ACTUAL.items()), paper=True)
    figure.add("BigSim", list(PREDICTED.items()), paper=True)
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 11: the speed-up of Jacobi1D at several latencies."""

import bigsim
import papers
from plot import Figure, Log

EXPERIMENT = papers.Experiment(
    "bigsim", "fig11", "speed-up of Jacobi1D", place="Fig. 11",
    setup="""Jacobi1D, one problem on more and more simulated processors, for several latency factors: close to linear for a very low latency,
    less for higher ones, since the work of a processor shrinks (Sect. 6.2). Sizes and values are only in the plot.""",
    ours="""jacobi1d.c, four chunks a processor, up to 65,536 processors of BigSim's network; the whole problem is 0.66 s of work an iteration,
    which is 10 us for each of 65,536 processors. The speed-up is that work over the time of an iteration.""")
FACTORS = [1, 10, 100, 1000]
STEPS, WORK_US = 5, 655360.0


def main():
    EXPERIMENT.options()
    sizes = EXPERIMENT.pick([8, 64], [64, 512, 4096, 16384, 65536], short=[64, 512, 4096])
    work = WORK_US * sizes[-1] / 65536
    rows = []
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("jacobi1d", where, "bigsim")
        for factor in FACTORS:
            for n in sizes:
                document = bigsim.jacobi(EXPERIMENT, program, n, chunks=4, us=work / n / 4, steps=STEPS, factor=factor)
                time = bigsim.step_us(document, STEPS)
                rows.append([factor, n, time, work / time])
    EXPERIMENT.csv(["factor", "processors", "iteration_us", "speed_up"], rows)
    speed = {(r[0], r[1]): r[3] for r in rows}
    last = sizes[-1]
    part = speed[1, last] / last
    EXPERIMENT.row("latency factor 1", "close to linear", f"{speed[1, last]:,.0f} on {last:,} processors, {part:.0%} of linear", part > 0.8,
                   "" if part > 0.8 else "the bytes of the strips, at 175 MB/s, take as long as the work")
    falls = all(speed[a, last] >= speed[b, last] for a, b in zip(FACTORS, FACTORS[1:])) and speed[1000, last] < 0.8 * speed[1, last]
    EXPERIMENT.row("higher factors", "drops as the factor rises",
                   ", ".join(f"{f}: {speed[f, last]:,.0f}" for f in FACTORS) + f" on {last:,}", falls, "" if falls else "no drop")
    figure = Figure("Speed-up of Jacobi1D", "simulated processors", "speed-up", x=Log(2, text="{:.0f}".format), y=Log(2, text="{:.0f}".format),
                    subtitle=f"{work / 1e3:g} ms of work an iteration, four chunks a processor")
    for factor in FACTORS:
        figure.add(f"factor {factor}", [(r[1], r[3]) for r in rows if r[0] == factor])
    figure.add("linear", [(n, n) for n in sizes], paper=True)
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

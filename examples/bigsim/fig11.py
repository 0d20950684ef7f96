#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 11: the speed-up of one problem on more and more ranks, at several latencies."""
import tempfile

import bigsim
from plot import Figure, Log

LATENCIES = [1, 10, 100, 1000]  # microseconds
STEPS = 10


def main():
    given = bigsim.options(bigsim.parser(__doc__))
    side, sizes = (32, [1, 8, 64]) if given.quick else (96, [1, 8, 64, 512, 4096])
    rows = []
    with tempfile.TemporaryDirectory() as where:
        program = bigsim.build(given, "jacobi3d", where)
        for latency in LATENCIES:
            alone = None
            for ranks in sizes:
                document = bigsim.predict(given, program, [side, STEPS], ranks, "--net", "loggp",
                                          "-p", f"net.L={latency}us")
                time = bigsim.microseconds(document)
                alone = alone or time
                rows.append([latency, ranks, time, alone / time])
    header = ["latency_us", "ranks", "predicted_us", "speed_up"]
    bigsim.write_csv(given.out / "fig11.csv", header, rows)
    figure = Figure("Speed-up and latency", "ranks", "speed-up",
                    x=Log(2, text="{:.0f}".format), y=Log(2, text="{:g}".format),
                    subtitle=f"jacobi3d, {side} points cubed, {STEPS} steps")
    for latency in LATENCIES:
        figure.add(f"{latency} us", [(r[1], r[3]) for r in rows if r[0] == latency])
    figure.write(given.out / "fig11.svg")
    bigsim.print_rows(header, rows)
    compare(rows, sizes)


def compare(rows, sizes):
    speed_up = {(r[0], r[1]): r[3] for r in rows}
    bigsim.say("the longer the latency, the sooner the speed-up ends.", [
        ("more latency is never faster",
         all(speed_up[a, n] >= speed_up[b, n] for a, b in zip(LATENCIES, LATENCIES[1:])
             for n in sizes)),
        ("no speed-up is above the number of ranks",
         all(s <= n * 1.0001 for (_, n), s in speed_up.items())),
        (f"at {LATENCIES[0]} us {sizes[-1]} ranks are the fastest, at {LATENCIES[-1]} us they are "
         "not, or hardly",
         speed_up[LATENCIES[0], sizes[-1]] == max(speed_up[LATENCIES[0], n] for n in sizes)
         and speed_up[LATENCIES[-1], sizes[-1]] < 2 * speed_up[LATENCIES[-1], sizes[-2]]),
    ])


if __name__ == "__main__":
    main()

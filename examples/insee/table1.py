#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One trace on 8x8 tori of 100 Mbit/s, 1 Gbit/s and 10 Gbit/s, with its compute times: INSEE's
Table 1. The trace is one that `weft gen` writes, unless another is given."""
import subprocess
import sys

import insee
from plot import Figure, Log

# A link moves 32 bits in a cycle.
SPEEDS = {100: "320ns", 1000: "32ns", 10000: "3200ps"}
# A product takes as long as the 8000 elements of its rows at some 200 million operations a second,
# on a processor of the time of the paper.
TRACE = {"gen.n": 7000, "gen.iterations": 1, "gen.compute": "80us"}


def make_trace(given):
    path = given.out / "cg.weft"
    command = [given.weft, "gen", "cg", "-n", str(insee.RANKS), "-f", "-o", str(path)]
    for name, value in {**TRACE, **({"gen.n": 1750} if given.quick else {})}.items():
        command += ["-p", f"{name}={value}"]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("no trace")
    return str(path)


def main():
    parser = insee.parser(__doc__)
    parser.add_argument("--design", default="adaptive-3vc", choices=insee.DESIGNS)
    parser.add_argument("trace", nargs="?", help="a trace of 64 ranks")
    given = insee.options(parser)
    trace = given.trace or make_trace(given)
    rows, before = [], None
    print(f"{'Mbit/s':>7}{'time, ms':>11}{'computing, ms':>15}{'speed-up':>10}")
    for speed, cycle in SPEEDS.items():
        result = insee.replay(given.weft, (trace, {"net.cycle": cycle}), given.design, "timed", 1)
        time = result["predicted_time_ps"] / 1e9
        compute = result["ranks"]["compute_ps"]["mean"] / 1e9
        gain = before / time if before else None
        rows.append([speed, round(time, 6), round(compute, 6), round(gain, 3) if gain else ""])
        print(f"{speed:7}{time:11.3f}{compute:15.3f}" + (f"{gain:10.2f}" if gain else ""))
        before = time
    insee.write_csv(given.out / "table1.csv", ["mbit_per_s", "time_ms", "compute_ms", "speed_up"],
                    rows)
    figure = Figure("Time of a program against the speed of links", "Mbit/s", "ms", x=Log(), y=Log(),
                    subtitle=f"timed replay, 8x8 torus, {given.design}")
    figure.add("predicted", [(r[0], r[1]) for r in rows])
    figure.add("computing", [(r[0], r[2]) for r in rows])
    figure.write(given.out / "table1.svg")
    insee.say("a large speed-up from the first to the second, a smaller one to the third.", [
        ("more than 5 from 100 Mbit/s to 1 Gbit/s", rows[1][3] > 5),
        ("less from 1 to 10 Gbit/s", rows[2][3] < rows[1][3]),
    ])


if __name__ == "__main__":
    main()

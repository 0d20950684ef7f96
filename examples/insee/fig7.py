#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time to deliver the messages of application programs under three router designs, relative to
the first, in causal order: INSEE's Fig. 7. Averages over seeds, confidence of 99 %.

Traces (of BT, CG and IS, class W, 64 ranks) come after the options, as FILE or NAME=FILE; the
generators' programs are always there."""
import pathlib
import statistics

import insee
from plot import Bars


def programs_of(given):
    made = dict(given.programs)
    for word in given.traces:
        name, _, path = word.rpartition("=")
        made[name or pathlib.Path(path).stem] = (path, {})
    return made


def measure(given, programs):
    more = ["--placement", given.placement]
    results = insee.replay_all(given, {(name, design): (program, design, "causal", *more)
                                       for name, program in programs.items()
                                       for design in insee.DESIGNS})
    rows = []
    for (name, design), many in results.items():
        times = insee.cycles(many)
        first = statistics.mean(insee.cycles(results[name, insee.DESIGNS[0]]))
        rows.append([name, design, len(times), round(statistics.mean(times), 1),
                     round(insee.confidence(times), 1),
                     round(statistics.mean(times) / first, 4),
                     round(insee.confidence(times) / first, 4)])
    return rows


def claims_of(part):
    first, channels, adaptive = (
        {name: part[name, design] for name in ("BT-like", "CG-like", "IS-like")}
        for design in insee.DESIGNS)
    gain = {name: first[name] - channels[name] for name in first}
    return [
        ("BT-like, to neighbours: within 1 % of each other",
         max(abs(1 - channels["BT-like"]), abs(1 - adaptive["BT-like"])) < 0.01),
        ("IS-like, all to all: the most from virtual channels", max(gain, key=gain.get) == "IS-like"),
        ("CG-like: adaptive routing gains more than a tenth on top",
         adaptive["CG-like"] < 0.9 * channels["CG-like"]),
    ]


def main():
    parser = insee.parser(__doc__)
    parser.add_argument("--placement", default="linear",
                        help="nodes of the ranks: linear, or random, another for each seed")
    parser.add_argument("traces", nargs="*", metavar="NAME=FILE", help="a trace of 64 ranks")
    given = insee.options(parser)
    rows = measure(given, programs_of(given))
    insee.write_csv(given.out / "fig7.csv", ["program", "design", "seeds", "cycles",
                                             "cycles_99", "relative", "relative_99"], rows)
    figure = Bars("Time to deliver, relative to oblivious-1vc", "relative time",
                  subtitle=f"causal order, 8x8 torus, {given.placement} placement; "
                           f"{given.seeds} seeds, 99 % confidence")
    print(f"{'program':16}{'design':16}{'cycles':>12}{'+-':>9}{'relative':>10}{'+-':>8}")
    for name, design, _, mean, width, relative, relative_width in rows:
        print(f"{name:16}{design:16}{mean:12.0f}{width:9.0f}{relative:10.3f}{relative_width:8.3f}")
        figure.add(design, name, relative, relative_width)
    figure.write(given.out / "fig7.svg")
    insee.say("neighbours gain nothing from virtual channels, all-to-all the most; CG gains from "
              "adaptive routing on top.", claims_of({(r[0], r[1]): r[5] for r in rows}))


if __name__ == "__main__":
    main()

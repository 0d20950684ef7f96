#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 7: three router designs under BT, CG and IS. Traces (of BT, CG and IS, class W, 64 ranks) may come after
the options, as FILE or NAME=FILE."""
import statistics

import insee
import papers
from plot import Bars

EXPERIMENT = papers.Experiment(
    "insee", "fig7", "virtual channels and adaptive routing", place="Fig. 7",
    setup="""8x8 torus; BT, CG and IS of NPB, class W, 64 processes, in causal order, computing takes no time; packets of 64 bytes,
    queues of 4 packets, links of 32 bits a cycle; Oblivious 1 VC, Oblivious 3 VC and Adaptive 3 VC, with bubbles; 10 runs,
    99 % confidence (Sect. 6.1). Stated: BT gains nothing; IS gains most of its improvement from virtual channels, little more
    from adaptivity; CG gains less than IS from channels, and much from adaptivity. The values are only in the plot.""",
    ours="""Programs are weft's generators in the sizes of class W with fewer iterations, which are all alike; NPB's own traces may be
    given as BT=bt.W.64.weft. Against recordings of class S on 16 ranks the generators have the same messages but for 5 % (CG's
    residual).""")


def measure(given, programs):
    results = insee.replay_all(given, {(name, design): (program, design, "causal")
                                       for name, program in programs.items() for design in insee.DESIGNS})
    rows = []
    for (name, design), many in results.items():
        times = insee.cycles(many)
        first = statistics.mean(insee.cycles(results[name, insee.DESIGNS[0]]))
        rows.append([name, design, len(times), round(statistics.mean(times), 1), round(insee.confidence(times), 1),
                     round(statistics.mean(times) / first, 4), round(insee.confidence(times) / first, 4)])
    return rows


def compare(rows):
    part = {(r[0], r[1]): r[5] for r in rows}
    width = {(r[0], r[1]): r[6] for r in rows}

    def text(name):
        return ", ".join(f"{part[name, d]:.3f} +- {width[name, d]:.3f}" for d in insee.DESIGNS[1:])

    first, channels, adaptive = ({n: part[n, d] for n in ("BT-like", "CG-like", "IS-like")} for d in insee.DESIGNS)
    gain = {n: first[n] - channels[n] for n in first}
    more = {n: channels[n] - adaptive[n] for n in first}
    bt = max(abs(1 - channels["BT-like"]), abs(1 - adaptive["BT-like"])) < 0.02
    EXPERIMENT.row("BT: 3 VC and adaptive, relative to 1 VC", "no advantage", text("BT-like"), bt,
                   "" if bt else "its messages are not all to neighbours of the torus")
    is_ = gain["IS-like"] > 2 * more["IS-like"]
    EXPERIMENT.row("IS", "most of the gain from channels, adaptivity minor", text("IS-like"), is_,
                   "" if is_ else "adaptivity gains more than half of what channels do")
    less = gain["CG-like"] < gain["IS-like"]
    EXPERIMENT.row("CG: gain from channels", "less than IS", f"{gain['CG-like']:.3f} against {gain['IS-like']:.3f}", less,
                   "" if less else "more than IS")
    cg = more["CG-like"] > 0.1 and more["CG-like"] > more["IS-like"]
    EXPERIMENT.row("CG: gain from adaptivity", "significant, more than IS",
                   f"{more['CG-like']:.3f} against {more['IS-like']:.3f}; {text('CG-like')}", cg,
                   "" if cg else "less than a tenth, or less than IS")


def main():
    parser = insee.parser(__doc__)
    parser.add_argument("traces", nargs="*", metavar="NAME=FILE", help="a trace of 64 ranks")
    given = insee.settle(EXPERIMENT.options(parser))
    rows = measure(given, insee.programs_of(given))
    EXPERIMENT.csv(["program", "design", "seeds", "cycles", "cycles_99", "relative", "relative_99"], rows)
    compare(rows)
    figure = Bars("Time to deliver, relative to oblivious-1vc", "relative time",
                  subtitle=f"causal order, 8x8 torus; {given.seeds} seeds, 99 % confidence")
    for name, design, _, _, _, relative, width in rows:
        figure.add(design, name, relative, width)
    EXPERIMENT.picture(figure)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

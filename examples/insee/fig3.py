#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 3: causal order against as fast as possible. Traces of 64 ranks may come after the options, as FILE or
NAME=FILE."""
import pathlib
import statistics

import insee
import papers
from plot import Bars

POLICIES = ["causal", "asap"]
EXPERIMENT = papers.Experiment(
    "insee", "fig3", "how a trace feeds the network", place="Fig. 3",
    setup="""Sect. 4: all messages injected as fast as the network accepts them, or in causal order: a receive holds back what follows it
    until its message has come (the interface that Fig. 3 draws). Stated: only causal order reproduces how messages are
    interleaved. No numbers.""",
    ours="""replay.policy=asap and causal, for BT, CG, IS and a wavefront (workloads/sweep2.weft) on the 8x8 torus of Sect. 6.""")


def main():
    parser = insee.parser(__doc__)
    parser.add_argument("traces", nargs="*", metavar="NAME=FILE", help="a trace of 64 ranks")
    given = insee.settle(EXPERIMENT.options(parser), full=3)
    sweep = pathlib.Path(__file__).resolve().parent / "workloads" / "sweep2.weft"
    programs = {**insee.programs_of(given), "wavefront": ("gen:text", {"gen.file": sweep})}
    designs = EXPERIMENT.pick(insee.DESIGNS[:1], insee.DESIGNS)
    results = insee.replay_all(given, {(name, design, policy): (program, design, policy)
                                       for name, program in programs.items() for design in designs for policy in POLICIES})
    rows = [[*key, round(statistics.mean(insee.cycles(many)), 1),
             round(many[0]["message_latency_ps"]["mean"] / insee.PS_PER_CYCLE, 1), many[0]["messages"]]
            for key, many in results.items()]
    EXPERIMENT.csv(["program", "design", "policy", "cycles", "latency_cycles", "messages"], rows)
    time = {tuple(r[:3]): r[3] for r in rows}
    figure = Bars("All at once, relative to causal order", "relative time",
                  subtitle=f"time until all is delivered, 8x8 torus; {given.seeds} seeds")
    for name in programs:
        for design in designs:
            figure.add(design, name, time[name, design, "asap"] / time[name, design, "causal"])
    EXPERIMENT.picture(figure)
    first = designs[0]
    ratio = {name: time[name, first, "asap"] / time[name, first, "causal"] for name in programs}
    EXPERIMENT.row("time without order, relative to causal order", "the temporal pattern is lost",
                   ", ".join(f"{name} {r:.3f}" for name, r in ratio.items()) + f" ({first})", ratio["wavefront"] < 0.5,
                   "" if ratio["wavefront"] < 0.5 else "a chain of messages should have vanished")
    same = all(r[5] == q[5] for r in rows for q in rows if r[:2] == q[:2])
    EXPERIMENT.row("spatial pattern and sizes", "accurately reproduced by both", "the same messages", same,
                   "" if same else "other messages")
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figs. 7 and 8: timelines of Jacobi before and after the correction of timestamps."""
import re

import bigsim
import papers
from plot import Timeline

EXPERIMENT = papers.Experiment(
    "bigsim", "fig7", "timelines before and after correction", place="Figs. 7 and 8",
    setup="""Jacobi in Charm++ and Structured Dagger, timelines of some of 64,000 simulated processors. Fig. 7: emulated only; messages are
    delivered out of order, which leaves gaps between events. Fig. 8: simulated; timestamps are corrected and the gaps
    disappear (Sect. 6.2).""",
    ours="""jacobi1d.c, four chunks a processor. Fig. 8 is a simulation on BigSim's network. weft has no timeline before correction: it handles
    events in the order of their times, or rolls back. Next to it stands the emulation alone: the same program on a network that costs
    nothing.""")
SHOWN = 8
WORK_US = 10


def spans_of(recording):
    for row, text in enumerate(recording["spans"][:SHOWN]):
        now = 0
        for kind, length in ((k, int(n)) for k, n in re.findall(r"([a-z-])(\d+)", text)):
            if kind == "c":
                yield row, now / 1e6, (now + length) / 1e6
            now += length


def gaps(recording):
    """The share of the time before the last event of a processor in which it does nothing."""
    spans = {}
    for row, begin, end in spans_of(recording):
        spans.setdefault(row, []).append((begin, end))
    idle = [1 - sum(e - b for b, e in s) / (s[-1][1] - s[0][0]) for s in spans.values()]
    return sum(idle) / len(idle)


def add_events(figure, row, begin, end):
    """The events of a span, with a line between two that follow each other at once."""
    for i in range(max(1, round((end - begin) / WORK_US))):
        last = min(end, begin + (i + 1) * WORK_US)
        figure.add(row, "doWork", begin + i * WORK_US, last - 0.05 * WORK_US)


def main():
    EXPERIMENT.options()
    processors, steps = EXPERIMENT.pick((64, 4), (65536, 6), short=(4096, 6))
    found = {}
    with papers.interruption.directory() as where:
        program = EXPERIMENT.build("jacobi1d", where, "bigsim")
        first = processors // 2
        for name, words, params in (("emulated", ["--net", "none"], {}), ("simulated", [], {})):
            settings, latencies = bigsim.network(processors)
            found[name] = EXPERIMENT.weft(
                "run", "-n", processors, *(words or settings), "--compute", "model", "--record", "--record-ranks",
                f"{first}:{first + SHOWN - 1}", "--record-limit", 1000000, "--", program, 4 * processors, steps, WORK_US,
                params={} if words else {**latencies, **params})
    rows = []
    for name, document in found.items():
        figure = Timeline(f"Jacobi on {processors:,} processors, {name}", "microseconds",
                          [f"{first + i}" for i in range(SHOWN)], subtitle=f"four chunks a processor; work of one chunk is {WORK_US} us")
        for row, begin, end in spans_of(document["recording"]):
            add_events(figure, row, begin, end)
            rows.append([name, first + row, begin, end])
        EXPERIMENT.picture(figure, f"-{name}")
    EXPERIMENT.csv(["run", "processor", "begin_us", "end_us"], rows)
    share = {name: gaps(d["recording"]) for name, d in found.items()}
    EXPERIMENT.row("Fig. 7: the timeline before correction", "gaps from messages out of order", "-", papers.IMPOSSIBLE,
                   "weft never has such a timeline: no event is handled before another of an earlier time, or it is rolled back")
    EXPERIMENT.row("Fig. 8: the timeline after correction", "no gaps",
                   f"{share['simulated']:.1%} of the time idle between events of {SHOWN} processors, {share['emulated']:.1%} on a network that "
                   "costs nothing", share["simulated"] < 0.05, "" if share["simulated"] < 0.05 else "messages take longer than the work")
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

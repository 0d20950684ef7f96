#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figs. 13 and 14: LeanMD: utilisation over time, and how the load is spread."""
import base64

import bigsim
import papers
from plot import Bars, Figure, Linear

EXPERIMENT = papers.Experiment(
    "bigsim", "fig13", "utilisation and load of LeanMD", place="Figs. 13 and 14",
    setup="""LeanMD, 36,573 atoms, 23 x 23 x 23 cells, three away. Fig. 13: average utilisation per interval on 32,000 simulated processors; it
    stabilises at about 50 %, and rises and falls within each step. Fig. 14: load of the processors with 8K and 16K: about 6,000 of
    16,000 have a load of about 2 ms, a few as much as 8 ms (Sect. 6.3).""",
    ours="""gen:leanmd with open boundaries, three steps. The time of a pair of atoms is taken so that the mean load is the paper's 2 ms on 16,384
    processors. How many atoms a cell has is not printed: none to six, all with the same probability. Computes are dealt to processors in
    blocks.""")
BINS = 60


def utilisation(recording):
    """Percent of the processors that compute, for each of BINS intervals."""
    bins, rows = recording["bins"], recording["rows"]
    width = 6 if "kinds" in recording else 5
    shares, weight = [0.0] * bins, 0
    ranks, each = recording["ranks"], recording["ranks_per_row"]
    for place, row in enumerate(rows):
        raw = base64.b64decode(row["shares"])
        n = min(each, ranks - place * each)
        weight += n
        for i in range(bins):
            shares[i] += n * raw[i * width] / 255
    used = max(1, round(recording["end_ps"] / recording["bin_ps"]))
    step = max(1, used // BINS)
    return [(i * recording["bin_ps"] / bigsim.PS_PER_US, 100 * sum(shares[i:i + step]) / step / weight)
            for i in range(0, used - step + 1, step)]


def loads(recording):
    """[(ms, processors)] of the groups of processors with a similar load."""
    groups = recording["similar"]
    found = [(g["compute_ps"] / bigsim.PS_PER_MS, g.get("ranks", g.get("n_ranks", 1))) for g in groups]
    return sorted(found)


def compare(busy, spread, sizes, steps):
    inner = [u for _, u in busy[len(busy) // 10:-len(busy) // 10 or None]]
    mean = sum(inner) / len(inner)
    swings = max(inner) - min(inner)
    EXPERIMENT.row(f"utilisation on {sizes[-1]:,} processors", "about 50 %", f"{mean:.0f} % without the first and the last tenth",
                   40 <= mean <= 60, "" if 40 <= mean <= 60 else "the spread of atoms over the cells, which is not printed, sets the imbalance")
    EXPERIMENT.row("within each step", "rises and falls", f"between {min(inner):.0f} and {max(inner):.0f} %",
                   swings > 15 if steps > 1 else papers.IMPOSSIBLE,
                   "one step only in this form" if steps == 1 else "" if swings > 15 else "steps of different cells overlap")
    for n in sizes[:-1]:
        total = sum(c for _, c in spread[n])
        mean = sum(m * c for m, c in spread[n]) / total
        near = sum(c for m, c in spread[n] if abs(m - mean) <= mean / 4)
        most = max(m for m, _ in spread[n])
        ratio = most / mean
        EXPERIMENT.row(f"load on {n:,} processors", "16K: about 6,000 at about 2 ms, a few at 8 ms: 4 times" if n > 8192 else "values only in the plot",
                       f"{near:,} of {total:,} within a quarter of the mean of {mean:.2f} ms, the most {most:.2f} ms: {ratio:.1f} times",
                       3 <= ratio <= 5 if n > 8192 else papers.IMPOSSIBLE,
                       "values only in the plot" if n <= 8192 else "" if 3 <= ratio <= 5 else "the paper's molecule has denser and emptier places than our random cells")


def main():
    EXPERIMENT.options()
    cells = EXPERIMENT.pick("8x8x8", bigsim.CELLS)
    steps = EXPERIMENT.pick(2, 3, short=1)
    sizes = EXPERIMENT.pick([256, 512], [8192, 16384, 32768])
    pair_ns = bigsim.pair_time(EXPERIMENT, cells, steps)
    runs = {n: bigsim.leanmd(EXPERIMENT, n, pair_ns=pair_ns, cells=cells, words=["--record", "--record-limit", 0],
                             params={"gen.steps": steps}) for n in sizes}
    busy = utilisation(runs[sizes[-1]]["recording"])
    spread = {n: loads(d["recording"]) for n, d in runs.items()}
    EXPERIMENT.csv(["us", "utilisation_percent"], busy)
    EXPERIMENT.csv(["processors", "load_ms", "count"], [[n, m, c] for n in sizes for m, c in spread[n]], "-load")
    compare(busy, spread, sizes, steps)
    figure = Figure(f"Utilisation of {sizes[-1]:,} processors", "microseconds", "percent of processors that compute", x=Linear(), y=Linear(),
                    subtitle=f"LeanMD, {cells} cells, three away, {steps} steps; BigSim: about 50 %")
    figure.add("weft", busy)
    figure.add("BigSim", [(busy[0][0], 50), (busy[-1][0], 50)], paper=True)
    EXPERIMENT.picture(figure)
    bars = Bars("Load of the processors", "processors", subtitle="ms of computing in the whole run; classes of half a millisecond")
    for n in sizes[:-1]:
        classes = {}
        for m, c in spread[n]:
            classes[int(2 * m)] = classes.get(int(2 * m), 0) + c
        for k in range(max(classes) + 1):
            bars.add(f"{n:,}", f"{k / 2:g}", classes.get(k, 0))
    EXPERIMENT.picture(bars, "-load")
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

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
    processors. How many atoms a cell has is not printed: none to six, all with the same probability. Nor is where the objects are:
    cells and computes are dealt to the processors in turn; the last rows have them in blocks, and other spreads of the atoms.""")
BINS = 60
# What the paper does not print, and other choices: placement of the objects, and how far cells differ.
CHOICES = {"in turn, none to six atoms": {}, "in turn, three atoms": {"gen.imbalance": 0},
           "in blocks, none to six atoms": {"gen.map": "block"}, "in blocks, three atoms": {"gen.map": "block", "gen.imbalance": 0}}


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
                   40 <= mean <= 60, "" if 40 <= mean <= 60 else "placement and spread of atoms, which are not printed, set the imbalance: see the last row")
    EXPERIMENT.row("within each step", "rises and falls", f"between {min(inner):.0f} and {max(inner):.0f} %",
                   swings > 15 if steps > 1 else papers.IMPOSSIBLE,
                   "one step only in this form" if steps == 1 else "" if swings > 15 else "steps of different cells overlap")
    for n in sizes[:-1]:
        compare_load(n, spread[n])


def compare_load(n, spread):
    """Fig. 14: its classes are not printed; ours are half a millisecond wide."""
    classes = by_class(spread)
    mean = sum(m * c for m, c in spread) / sum(c for _, c in spread)
    most = max(m for m, _ in spread)
    large = sorted(classes, key=classes.get)[-2:]
    text = " and ".join(f"{classes[k]:,} from {k / 2:g} to {(k + 1) / 2:g} ms" for k in sorted(large))
    if n != bigsim.LOAD_PROCESSORS:
        EXPERIMENT.row(f"load on {n:,} processors", "values only in the plot", f"{text}, the most {most:.2f} ms", papers.IMPOSSIBLE, "values only in the plot")
        return
    good = any(4000 <= classes[k] <= 9000 and abs(k / 2 + 0.25 - bigsim.LOAD_MS) < 0.3 for k in large)
    EXPERIMENT.row(f"load on {n:,} processors", "about 6,000 have about 2 ms", text, good, "" if good else "the spread of atoms is not printed")
    good = 6 <= most <= 10
    EXPERIMENT.row(f"the largest load on {n:,} processors", "a few have as much as 8 ms", f"{most:.2f} ms, {most / mean:.1f} times the mean", good,
                   "" if good else """half of 32,768 processors are busy (Fig. 13), so that their largest load is twice the mean, and it is less than that on 16,384: not 4 times
                   the 2 ms that most have. With objects in blocks the largest is 3.7 times the mean, but then 21 % of 32,768 processors are
                   busy. No placement that we tried gives both""")


def by_class(spread):
    """Processors by classes of half a millisecond."""
    classes = {}
    for m, c in spread:
        classes[int(2 * m)] = classes.get(int(2 * m), 0) + c
    return classes


def try_choices(n, cells, pair_ns):
    """How much of the processors the most loaded one lets work, by what the paper does not print."""
    found = {}
    for name, params in CHOICES.items():
        load = bigsim.leanmd(EXPERIMENT, n, pair_ns=pair_ns, cells=cells, params={"gen.steps": 1, **params})["result"]["ranks"]["compute_ps"]
        found[name] = load["mean"] / load["max"]
    EXPERIMENT.csv(["choice", "mean_over_max_load"], list(found.items()), "-choices")
    EXPERIMENT.row(f"mean over maximum load on {n:,} processors, by what is not printed", "about 50 %",
                   ", ".join(f"{name}: {share:.0%}" for name, share in found.items()), papers.IMPOSSIBLE,
                   "the paper prints neither where the objects are nor where the atoms are; the placement matters more than the spread")


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
    try_choices(sizes[-1], cells, pair_ns)
    figure = Figure(f"Utilisation of {sizes[-1]:,} processors", "microseconds", "percent of processors that compute", x=Linear(), y=Linear(),
                    subtitle=f"LeanMD, {cells} cells, three away, {steps} steps; BigSim: about 50 %")
    figure.add("weft", busy)
    figure.add("BigSim", [(busy[0][0], 50), (busy[-1][0], 50)], paper=True)
    EXPERIMENT.picture(figure)
    bars = Bars("Load of the processors", "processors", subtitle="ms of computing in the whole run; classes of half a millisecond")
    for n in sizes[:-1]:
        classes = by_class(spread[n])
        for k in range(max(classes) + 1):
            bars.add(f"{n:,}", f"{k / 2:g}", classes.get(k, 0))
    EXPERIMENT.picture(bars, "-load")
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 13 to 15: molecular dynamics driven by messages: how busy the ranks are over time, and
how the load is spread over them."""
import csv
import tempfile

import bigsim
from plot import Bars, Figure, Linear

BINS = 60
CLASSES = 10


def spans(given, program, args, ranks):
    """(rank, from, until) of all computing, in us."""
    with tempfile.TemporaryDirectory() as where:
        path = f"{where}/run.timeline.csv"
        bigsim.run([given.weft, "run", "-q", "-n", ranks, "--compute", "model", "--record-limit",
                    5000000, "-o", path, "--", program, *args])
        with open(path, encoding="utf-8", newline="") as file:
            return [(int(r["first_rank"]), int(r["from_ps"]) / bigsim.PS_PER_US,
                     int(r["until_ps"]) / bigsim.PS_PER_US)
                    for r in csv.DictReader(file) if r["what"] == "computing"]


def utilisation(computing, ranks, end):
    """The share of ranks that compute, for each bin of time."""
    width = end / BINS
    busy = [0.0] * BINS
    for _, begin, until in computing:
        for i in range(int(begin / width), min(BINS, int(until / width) + 1)):
            busy[i] += max(0.0, min(until, (i + 1) * width) - max(begin, i * width))
    return [100 * b / width / ranks for b in busy]


def loads(computing, ranks):
    time = [0.0] * ranks
    for rank, begin, until in computing:
        time[rank] += until - begin
    return time


def histogram(time):
    """[(least, most, ranks)] of equal classes of load."""
    low, high = min(time), max(time)
    width = (high - low) / CLASSES or 1
    counts = [0] * CLASSES
    for t in time:
        counts[min(CLASSES - 1, int((t - low) / width))] += 1
    return [(low + i * width, low + (i + 1) * width, n) for i, n in enumerate(counts)]


def plot(given, busy, classes, end, ranks):
    figure = Figure("Utilisation over time", "microseconds", "% of ranks that compute",
                    x=Linear(), y=Linear(), subtitle=f"leanmd, {ranks} virtual ranks")
    figure.add("utilisation", [((i + 0.5) * end / BINS, u) for i, u in enumerate(busy)])
    figure.write(given.out / "fig13-utilisation.svg")
    bars = Bars("Load of the ranks", "ranks", subtitle="us of computing, least of each class")
    for low, _, n in classes:
        bars.add("ranks", f"{low:.0f}", n)
    bars.write(given.out / "fig13-load.svg")


def main():
    given = bigsim.options(bigsim.parser(__doc__))
    ranks, args = (27, ["6", "3"]) if given.quick else (200, ["10", "5"])
    args += ["100", "imbalance=0", "dense=50"]
    with tempfile.TemporaryDirectory() as where:
        program = bigsim.build(given, "leanmd", where)
        computing = spans(given, program, args, ranks)
    end = max(until for _, _, until in computing)
    busy, time = utilisation(computing, ranks, end), loads(computing, ranks)
    classes = histogram(time)
    bigsim.write_csv(given.out / "fig13.csv", ["us", "utilisation_percent"],
                     [[round((i + 0.5) * end / BINS, 3), round(u, 3)]
                      for i, u in enumerate(busy)])
    bigsim.write_csv(given.out / "fig15.csv", ["least_us", "most_us", "ranks"],
                     [[round(a, 3), round(b, 3), n] for a, b, n in classes])
    plot(given, busy, classes, end, ranks)
    bigsim.print_rows(["from us", "to us", "ranks"], classes)
    compare(busy, time, end)


def compare(busy, time, end):
    mean, most = sum(time) / len(time), max(time)
    middle, last = sum(busy[10:40]) / 30, sum(busy[-6:]) / 6
    print(f"\n{end:.0f} us, utilisation {100 * mean / end:.1f} %, in the middle {middle:.1f} %, "
          f"in the last tenth {last:.1f} %; load {min(time):.0f} to {most:.0f} us")
    bigsim.say("the picture shows where processors idle, the histogram that some have more to do "
               "than others.", [
                   ("the mean of the utilisation is the mean load over the whole time",
                    abs(sum(busy) / BINS - 100 * mean / end) < 0.01),
                   ("nobody computes longer than the run takes", most <= end * 1.0001),
                   ("the load is uneven: the busiest rank has 1.2 times the mean or more",
                    most > 1.2 * mean),
                   ("at the end only the ranks with much to do are busy", last < middle),
               ])


if __name__ == "__main__":
    main()

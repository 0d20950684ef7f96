#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Closed workloads on an 8x8 torus, against what INSEE took for them
(reference/insee_workloads.csv). The programs are in workloads/. Exits with 1 if an average is off
by more than 5 percent."""
import csv
import pathlib
import statistics
import sys

import insee
import papers

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 5.0
PACKET = 64
DESIGN = dict(zip("abc", insee.DESIGNS))


def program_of(trace):
    name, size = trace.rsplit("_", 1)
    return ("gen:text", {"gen.file": HERE / "workloads" / f"{name}.weft",
                         "gen.set": f"bytes={size}iB"})


def packets_of(result):
    """Messages of these workloads fill their packets."""
    return result["bytes"] // PACKET


def compare(row, results):
    """The columns of the table. INSEE ran once: whether its time is among those of our seeds says
    more than the difference to their mean."""
    times, theirs = insee.cycles(results), int(row["cycles"])
    mean = statistics.mean(times)
    return [row["trace"], DESIGN[row["design"]], int(row["packets"]), packets_of(results[0]), theirs,
            round(mean, 1), round(insee.confidence(times), 1), round(min(times)),
            round(max(times)), round(100 * (mean - theirs) / theirs, 2)]


def main():
    given = insee.settle(papers.options_of(insee.parser(__doc__)))
    with open(HERE / "reference" / "insee_workloads.csv", encoding="ascii") as file:
        reference = [row for row in csv.DictReader(file)
                     if not (given.form == "quick" and row["trace"] == "alltoall_8K")]
    found = insee.replay_all(given, {
        i: (program_of(row["trace"]), DESIGN[row["design"]], "causal")
        for i, row in enumerate(reference)})
    rows = [compare(row, found[i]) for i, row in enumerate(reference)]
    with open(given.out / "workloads.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["workload", "design", "packets_insee", "packets", "cycles_insee", "cycles",
                         "cycles_99", "cycles_min", "cycles_max", "difference_percent"])
        writer.writerows(rows)
    print(f"{'workload':14}{'design':16}{'packets':>8}{'INSEE':>9}{'weft':>9}{'+-':>7}"
          f"{'seeds':>17}{'diff':>9}")
    failed = False
    for name, design, theirs, ours, insee_cycles, mean, width, low, high, difference in rows:
        off = abs(difference) > LIMIT or theirs != ours
        failed = failed or off
        print(f"{name:14}{design:16}{ours:8}{insee_cycles:9}{mean:9.0f}{width:7.0f}"
              f"{low:9} ..{high:6}{difference:+7.1f} %" + ("  <-" if off else ""))
    print(f"largest difference: {max(abs(r[-1]) for r in rows):.1f} %")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

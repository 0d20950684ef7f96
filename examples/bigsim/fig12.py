#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 12: one cell away and three away."""
import bigsim  # noqa: F401, finds papers.py
import papers

EXPERIMENT = papers.Experiment(
    "bigsim", "fig12", "one cell away and three away", place="Fig. 12",
    setup="""A cut-off of 15 A in 150 A: 1,000 cells and 13,000 interactions one cell away; 27,000 cells and more than 4 million three away. LeanMD:
    36,573 atoms, cut-off 12 A, cells of 4 A, 23 x 23 x 23 cells, more than 1.6 million interactions (Sect. 6.3).""",
    ours="""gen:leanmd, tasks of one step. The paper's first number is 1000 * 27 / 2, which leaves out half of the pairs of a cell with itself;
    1.6 million is what cells with open boundaries have.""")
CASES = [
    ("10x10x10, one away", "10x10x10", 1, True, "13,000", 13000, 0.1),
    ("30x30x30, three away", "30x30x30", 3, True, "more than 4 million", 4e6, None),
    ("23x23x23, three away, open boundaries", "23x23x23", 3, False, "more than 1.6 million", 1.6e6, 0.05),
    ("23x23x23, three away, periodic", "23x23x23", 3, True, "more than 1.6 million", 1.6e6, 0.05),
]


def main():
    EXPERIMENT.options()
    rows = []
    for what, cells, kaway, periodic, text, theirs, most in EXPERIMENT.pick(CASES[:1], CASES, short=CASES[:1] + CASES[2:3]):
        side = int(cells.split("x")[0])
        document = EXPERIMENT.weft("replay", "gen:leanmd", "-n", 1024, "--net", "none",
                                   params={"gen.cells": cells, "gen.kaway": kaway, "gen.steps": 1, "gen.atoms": 3,
                                           "gen.periodic": "yes" if periodic else "no"})
        pairs = document["result"]["tasks"] - 2 * side ** 3
        rows.append([what, pairs])
        good = pairs >= theirs and (most is None or pairs <= theirs * (1 + most))
        EXPERIMENT.row(what, text, f"{pairs:,} interactions", good,
                       "" if good else "the paper's cells at the edge have no neighbours beyond it")
    EXPERIMENT.csv(["case", "interactions"], rows)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The figures of examples/xsim have the shapes that the model gives on paper."""
import csv
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from weft_cli import SOURCE, WEFT, check, finish  # noqa: E402

FIGURES = {
    "fig12": ["fig12-random.svg", "fig12-ring.svg"],
    "fig13": ["fig13.svg"],
    "fig14": ["fig14-random.svg", "fig14-ring.svg"],
    **{f"fig{n}": [f"fig{n}.svg"] for n in (15, 16, 17, 18)},
}
TRANSFER = 0.032  # microseconds: 32 bits at 1 Gbit/s
TOLERANCE = 1e-6


def near(a, b, tolerance=TOLERANCE):
    return abs(a - b) <= tolerance


def make(figure):
    """Runs a script and returns its table as dictionaries."""
    done = subprocess.run([os.environ["PYTHON"], "-B", SOURCE / f"examples/xsim/{figure}.py",
                           "--weft", WEFT, "--quick", "--out", "out"],
                          capture_output=True, text=True, timeout=100, check=False)
    done.args = [str(a) for a in done.args]
    check(done.returncode == 0, f"{figure}: exit code {done.returncode}", done)
    check("The paper: " in done.stdout, f"{figure} does not compare", done)
    check("  NO  " not in done.stdout, f"{figure}: not as in the paper", done)
    for name in FIGURES[figure]:
        root = xml.etree.ElementTree.parse(pathlib.Path("out") / name).getroot()
        check(root.tag.endswith("svg") and len(list(root.iter())) > 30, f"{name} is empty")
    with open(f"out/{figure}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def torus_mean(x, y):
    """Mean distance of two different nodes of an x by y torus, counted pair by pair."""
    hops = [min(a, x - a) + min(b, y - b) for a in range(x) for b in range(y)]
    return sum(hops) / (x * y - 1)


def tree_mean_of_ring(n):
    """Mean distance of i and i + 1 in a binary tree numbered row by row."""
    def distance(a, b):
        hops = 0
        while a != b:
            a, b, hops = (a, (b - 1) // 2, hops + 1) if b > a else ((a - 1) // 2, b, hops + 1)
        return hops
    return sum(distance(i, (i + 1) % n) for i in range(n)) / n


def check_fig12():
    mean = {(r["traffic"], r["topology"], int(r["ranks"])): float(r["mean_us"])
            for r in make("fig12")}
    sizes = sorted({n for _, _, n in mean})
    largest = sizes[-1]
    for traffic in ("random", "ring"):
        for n in sizes:
            check(near(mean[traffic, "star", n], 2 + TRANSFER), f"star of {n}: not flat")
    for n in sizes:
        side = round(n ** 0.5)
        torus = mean["random", "torus", n]
        # Four ranks send too few messages for a mean.
        check(n == 4 or near(torus, torus_mean(side, side) + TRANSFER, 0.05 * torus),
              f"torus of {n}: {torus} is not the mean distance")
        check(near(mean["ring", "ring", n], 1 + TRANSFER), f"ring traffic on a ring of {n}")
        check(near(mean["ring", "binary tree", n], tree_mean_of_ring(n) + TRANSFER),
              f"ring traffic on a tree of {n}: {mean['ring', 'binary tree', n]}")
        # i and i + 1 are a hop apart except at the end of a row; there and back is two.
        check(near(mean["ring", "torus", n], 1 + 1 / side + TRANSFER),
              f"ring traffic on a torus of {n}: {mean['ring', 'torus', n]}")
        # A 2 x 2 mesh is a 2 x 2 torus.
        check(n == 4 or mean["random", "mesh", n] > torus, f"mesh and torus of {n}")
    last = {(t, name): value for (t, name, n), value in mean.items() if n == largest}
    random = sorted((v, name) for (t, name), v in last.items() if t == "random")
    check([name for _, name in random[:3]] == ["star", "binary tree", "twisted torus"]
          and random[-1][1] == "ring", f"order under random traffic: {random}")
    check(last["ring", "twisted torus"] < 1.1 + TRANSFER, "ring traffic on the twisted torus")
    check(max((v, name) for (t, name), v in last.items() if t == "ring")[1] == "binary tree",
          "the tree is not the worst under ring traffic")


def check_fig13():
    rows = make("fig13")
    for traffic in ("random", "ring"):
        mean = {float(r["bits_per_second"]): float(r["mean_us"])
                for r in rows if r["traffic"] == traffic}
        check(min(mean) == 0.1 and max(mean) == 1e6, "fig13: another range of bandwidths")
        hops = {b: value - 32e6 / b for b, value in mean.items()}
        for b, value in hops.items():
            check(near(value, hops[1e6], 1e-9 * mean[b] + TOLERANCE),
                  f"fig13: {traffic}: at {b} bit/s the hops take {value} us")
    # Along rows of 8 in an 8 x 16 mesh: 7 of 8 steps are one hop, the eighth is 8; the last
    # message goes from corner to corner, 22 hops.
    check(near(hops[1e6], (112 + 15 * 8 + 22) / 128), f"fig13: ring traffic: {hops[1e6]}")


def check_fig14():
    curves = {}
    for r in make("fig14"):
        curves.setdefault((r["traffic"], r["nesting"]), []).append(float(r["mean_us"]))
    for (traffic, nesting), curve in curves.items():
        check(len(curve) >= 4 and all(a > b for a, b in zip(curve[1:], curve[2:])),
              f"fig14: {traffic}, {nesting}: more cores, and not faster: {curve}")
        check(curve[0] > curve[-1], f"fig14: {traffic}, {nesting}: {curve}")
        if nesting.endswith("/ star"):
            check(near(curve[-1], 0.2 + TRANSFER / 10), f"fig14: one star takes {curve[-1]}")
    check(near(curves["random", "star / star"][0], 2 + TRANSFER), "fig14: processors of one core")


def check_programs():
    for figure in ("fig15", "fig16", "fig17", "fig18"):
        for r in make(figure):
            ranks, us = int(r["ranks"]), 1000 * float(r["ms"])
            if r["program"] != "ep" or r["topology"] != "star":
                continue
            # 2^16 pairs of 400 ns; then 16 and 80 bytes, doubling the ranks that have met each
            # time, over two hops.
            meet = (ranks.bit_length() - 1) * (2 * 2 + 96 * 0.008)
            check(near(us, 65536 * 0.4 / ranks + meet, 1e-3),
                  f"{figure}: EP with {ranks} ranks on a star takes {us} us, not "
                  f"{65536 * 0.4 / ranks + meet}")


def main():
    check_programs()
    check_fig12()
    check_fig13()
    check_fig14()
    finish()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fig. 12: the average latency of a message on six topologies."""
import xsim  # first: it finds papers.py
import papers
from plot import Figure, Linear, Log

EXPERIMENT = papers.Experiment(
    "xsim", "fig12", "latency over topologies", place="Fig. 12",
    setup="""`random` and `ring`, 2 to 2,048 virtual processes, one integer a message. Star, ring, 2D mesh, 2D torus,
    2D twisted torus (toroidal degree 1, jump [1 ... 1]) and a binary tree whose leaves are the processes; 1 us
    a link, 1 Gbit/s; 10 runs (Sect. V.A).""",
    ours="""2D networks are as square as the number allows. `random` sends each of the n messages of a rank to another
    rank; the paper draws the source of each of the n * n messages as well. Messages to oneself are left out.""")
HEADER = ["traffic", "topology", "spec", "ranks", "mean_us", "average_distance"]


def measure(sizes, seeds):
    rows = []
    for name, make in xsim.TOPOLOGIES.items():
        for n in sizes:
            spec = make(n)
            distance = EXPERIMENT.weft("topo", spec)["average_distance"]
            random = [xsim.latency(EXPERIMENT, "random", n, spec, seed=s) for s in range(1, seeds + 1)]
            rows.append(["random", name, spec, n, sum(random) / seeds, distance])
            rows.append(["ring", name, spec, n, xsim.latency(EXPERIMENT, "ring", n, spec), distance])
    return rows


def at(rows, traffic, n):
    return {r[1]: r[4] for r in rows if r[0] == traffic and r[3] == n}


def sizes_where(sizes, holds):
    """The sizes for which something holds, as text, and whether it is all of them."""
    found = [n for n in sizes if holds(n)]
    if len(found) == len(sizes):
        return "all sizes", True
    return (", ".join(map(str, found)) if found else "no size"), False


def compare_random(rows, sizes):
    lat = {n: at(rows, "random", n) for n in sizes}
    text, same = sizes_where(sizes, lambda n: lat[n]["star"] == min(lat[n].values()) or n <= 4)
    EXPERIMENT.row("random: the star outperforms all others", "at all sizes (no congestion)", f"holds for {text}", same,
                   "" if same else "up to 16 nodes a 2D network is at most two hops wide on average")
    text, same = sizes_where([n for n in sizes if n > 2], lambda n: sorted(lat[n], key=lat[n].get)[1] == "binary tree")
    EXPERIMENT.row("random: the binary tree is next best", "its longest distance is 2 log2(n)", f"holds for {text}", same,
                   """the mean distance of leaves is about 2 log2(n) - 2 hops, that of a square torus sqrt(n) / 2: the tree is shorter only
                   above 1,024 nodes""")
    squares = [n for n in sizes if xsim.sides(n)[0] == xsim.sides(n)[1] and n > 4]
    text, same = sizes_where(squares, lambda n: max(lat[n]["torus"], lat[n]["twisted torus"]) < lat[n]["mesh"])
    EXPERIMENT.row("random: on squares, torus and twisted torus beat the mesh", "yes", f"holds for {text} of the squares", same,
                   "" if same else "not on the smallest")
    others = [n for n in sizes if n not in squares and n > 4]
    gains = {n: 1 - lat[n]["torus"] / lat[n]["mesh"] for n in others}
    EXPERIMENT.row("random: on other shapes the torus loses its advantage", "mesh, torus and twisted torus are very similar",
                   "the torus is " + ", ".join(f"{gains[n]:.0%}" for n in others) + f" faster with {', '.join(map(str, others))} ranks",
                   all(g < 0.05 for g in gains.values()) if others else papers.IMPOSSIBLE,
                   """a ring of m nodes has a mean distance of m/4, a chain of m/3: the gain of a quarter does not depend on the
                   shape. The paper's shapes for these sizes are not printed""")


def compare_ring(rows, sizes):
    lat = {n: at(rows, "ring", n) for n in sizes}
    large = [n for n in sizes if n >= 16]
    flat = {lat[n]["star"] for n in sizes}
    EXPERIMENT.row("ring: the star is constant", "yes", f"{min(flat):.3f} to {max(flat):.3f} us", max(flat) - min(flat) < 1e-6,
                   "" if max(flat) - min(flat) < 1e-6 else "not constant")
    worst = max(max(lat[n]["torus"], lat[n]["twisted torus"]) / lat[n]["ring"] for n in large) if large else 1
    EXPERIMENT.row("ring: torus and twisted torus are close to the ring", "similar performance",
                   f"at most {worst:.2f} times the ring's {lat[sizes[-1]]['ring']:.3f} us from 16 ranks on", worst < 1.3,
                   "" if worst < 1.3 else "the end of each row costs another hop")
    text, same = sizes_where(large, lambda n: lat[n]["mesh"] > 1.2 * lat[n]["torus"])
    EXPERIMENT.row("ring: the mesh suffers from the missing loops", "slower than the torus", f"holds for {text} of 16 and more", same,
                   "" if same else "not at every size")
    text, same = sizes_where(large, lambda n: lat[n]["binary tree"] == max(lat[n].values()))
    EXPERIMENT.row("ring: the binary tree is worst", "worse", f"holds for {text} of 16 and more "
                   f"({lat[sizes[-1]]['binary tree']:.2f} us with {sizes[-1]})", same, "" if same else "not at every size")


def check_distances(rows):
    """Random traffic is as far as the mean distance of the topology, within what chance allows."""
    off = [abs(r[4] - 0.032 - r[5]) / r[5] for r in rows if r[0] == "random" and r[3] >= 64]
    EXPERIMENT.row("latency is mean distance * 1 us + 32 ns", "L = h * l + s / b (Sect. III)",
                   f"within {max(off):.2%} of `weft topo` from 64 ranks on", max(off) < 0.03,
                   "" if max(off) < 0.03 else "too few messages")


def plot(rows, traffic):
    figure = Figure(f"Average message latency, {traffic}", "virtual processes", "microseconds",
                    x=Log(2, text="{:.0f}".format), y=Log() if traffic == "random" else Linear(),
                    subtitle="one process a node, 1 us a link, 1 Gbit/s, messages of 4 bytes")
    for name in xsim.TOPOLOGIES:
        figure.add(name, [(r[3], r[4]) for r in rows if r[:2] == [traffic, name]])
    EXPERIMENT.picture(figure, f"-{traffic}")


def main():
    EXPERIMENT.options()
    sizes = EXPERIMENT.pick([16, 64, 128], papers.powers_of_two(2, 2048), short=papers.powers_of_two(2, 1024))
    rows = measure(sizes, EXPERIMENT.pick(1, 10, short=2))
    EXPERIMENT.csv(HEADER, rows)
    compare_random(rows, sizes)
    compare_ring(rows, sizes)
    check_distances(rows)
    for traffic in ("random", "ring"):
        plot(rows, traffic)
    EXPERIMENT.finish()


if __name__ == "__main__":
    main()

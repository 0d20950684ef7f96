#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 12: the average latency of a message on six topologies of 2 to 2048 nodes."""
import xsim
from plot import Figure, Linear, Log

TOPOLOGIES = {
    "star": "star:{}".format,
    "ring": "ring:{}".format,
    "mesh": lambda n: xsim.plane("mesh", n),
    "torus": lambda n: xsim.plane("torus", n),
    "twisted torus": xsim.twisted,
    "binary tree": "tree:{},nodes=all".format,
}


def measure(weft, sizes):
    """[traffic, topology, spec, ranks, mean, min, max] of every point."""
    return [[traffic, name, spec(n), n, *xsim.latency(weft, traffic, n, spec(n))]
            for traffic in xsim.TRAFFIC for name, spec in TOPOLOGIES.items() for n in sizes]


def plot(rows, traffic, path):
    figure = Figure(f"Average message latency, {traffic} traffic", "ranks", "microseconds",
                    x=Log(2, text="{:.0f}".format),
                    y=Log() if traffic == "random" else Linear(),
                    subtitle="one rank per node, 1 us per hop, 1 Gbit/s, messages of 4 bytes")
    for name in TOPOLOGIES:
        figure.add(name, [(r[3], r[4]) for r in rows if r[:2] == [traffic, name]])
    figure.write(path)


def compare(rows, largest):
    random, ring = ({r[1]: r[4] for r in rows if r[0] == t and r[3] == largest}
                    for t in xsim.TRAFFIC)
    stars = [r[4] for r in rows if r[1] == "star"]
    best = sorted(random, key=random.get)
    xsim.say("random traffic: the star is flat at 2 us, the tree next best when there are many "
             "nodes; the torus beats the mesh.", [
                 ("the star is at 2 us + 32 ns everywhere",
                  all(abs(s - 2.032) < 1e-6 for s in stars)),
                 (f"the order at {largest} ranks begins star, binary tree",
                  best[:2] == ["star", "binary tree"]),
                 ("the mesh is slower than the torus, the twisted torus the fastest of the three",
                  random["mesh"] > random["torus"] > random["twisted torus"]),
                 ("the ring is the slowest", best[-1] == "ring"),
             ])
    xsim.say("ring traffic: ring, torus and twisted torus are near 1 us, the tree is worst.", [
        ("the ring is at 1 us + 32 ns", abs(ring["ring"] - 1.032) < 1e-6),
        ("torus and twisted torus are within 20 % of that",
         max(ring["torus"], ring["twisted torus"]) < 1.2 * ring["ring"]),
        ("the mesh, which goes back along every row, is near the star's 2 us",
         abs(ring["mesh"] - ring["star"]) < 0.2),
        ("the tree is the slowest", max(ring, key=ring.get) == "binary tree"),
    ])


def main():
    options = xsim.options(__doc__)
    sizes = [4, 16, 64, 256, 1024] if options.quick else xsim.powers_of_two(2, 2048)
    rows = measure(options.weft, sizes)
    xsim.write_csv(options.out / "fig12.csv", ["traffic", "topology", "spec", "ranks", "mean_us",
                                               "min_us", "max_us"], rows)
    for traffic in xsim.TRAFFIC:
        plot(rows, traffic, options.out / f"fig12-{traffic}.svg")
        xsim.print_table({name: {r[3]: r[4] for r in rows if r[:2] == [traffic, name]}
                          for name in TOPOLOGIES}, sizes, f"us, {traffic} traffic")
    compare(rows, sizes[-1])


if __name__ == "__main__":
    main()

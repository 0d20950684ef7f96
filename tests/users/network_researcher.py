# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who has a network of his own."""
import pathlib

from minutes import check, document, finish, page, says, weft

NETWORK = """switch north south
a north 100Gbit/s 500ns
b north 100Gbit/s 500ns
c south 100Gbit/s 500ns
d south 100Gbit/s 500ns
north south bandwidth=40Gbit/s latency=2us class=trunk
north middle 100Gbit/s 1us
middle south 100Gbit/s 1us
"""
STUDY = """title: routing
settings: {source: "gen:random", ranks: 16, network: packet, topology: "torus:4x4", gen.bytes: 64KiB}
grid:
  net.routing: [minimal, adaptive, valiant]
  seed: [1, 2]
plot: {x: net.routing, y: ranks.wait_ps.mean}
"""


def main():
    pathlib.Path("mine.edges").write_text(NETWORK.replace("switch north south", "switch north south middle"), encoding="ascii")
    says(["topo", "graph:mine.edges"], "Nodes             4", "Diameter")
    weft("topo", "graph:mine.edges", "-o", "mine.svg")
    drawing = pathlib.Path("mine.svg").read_text(encoding="utf-8")
    check(all(f">{name}</text>" in drawing for name in ("a", "north", "middle")), "names are lost in the drawing")
    replay = ["replay", "gen:random", "-n", "4", "--net", "packet", "--topo", "graph:mine.edges", "-q"]
    weft(*replay, "-o", "whole.json")
    weft(*replay, "-p", "net.fail=link:north-south", "-o", "cut.json")
    weft(*replay, "-p", "net.fail=links:trunk:100%", "-o", "trunk.json")
    whole, cut, trunk = (document(f"{name}.json")["result"] for name in ("whole", "cut", "trunk"))
    check(cut["digest"] == trunk["digest"] != whole["digest"], "the trunk is the link from north to south")
    says([*replay, "-p", "net.fail=link:nord-south"], "did you mean 'north'", code=3)
    # Its speeds are no whole fractions of a link of 4 bytes a nanosecond; routers take the cycle that fits them.
    says(["traffic", "uniform", "--topo", "graph:mine.edges", "--load", "0.05"], "0.05", "accepted")
    says(["traffic", "uniform", "--topo", "graph:mine.edges", "--load", "0.05:0.15:0.05", "--vary", "net.link_delay=1,100", "-q", "--plot", "own.svg"], "0.15")
    weft(*replay, "-o", "names.html")
    page("names.html", "north", looks=((1400, "light", ""),), holds=("vertexName(0) === 'a'", "vertexName(4) === 'north'"))
    says(["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.1:0.5:0.2", "-q", "--plot", "curve.svg"], "0.1")
    pathlib.Path("study.yaml").write_text(STUDY, encoding="ascii")
    weft("sweep", "study.yaml", "-q", "--table", "study.csv", "--plot", "study.svg")
    plot = pathlib.Path("study.svg").read_text(encoding="utf-8")
    # The page opens on what the study plots, and folds seeds into intervals.
    weft("sweep", "study.yaml", "-q", "-o", "study.html")
    page("study.html", "means over the seeds",
         holds=("document.getElementById('measure').value === 'ranks.wait_ps.mean'", "document.getElementById('x-axis').value === 'net.routing'",
                "foldSeeds(doc.points).length === 3"))
    check("valiant" in plot and "nan" not in plot.lower(), "the plot has no names")
    finish()


main()

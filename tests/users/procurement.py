# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes of somebody who buys a machine."""
import csv
import pathlib

from minutes import check, document, finish, page, says, weft

STUDY = """title: machines and programs
settings: {ranks: 32}
grid:
  machine: [frontier, infiniband-hdr, gige]
  source: ["gen:stencil3d", "gen:cg"]
plot: {x: machine, y: predicted_time_ps}
"""


def main():
    says(["machine", "list"], "frontier", "infiniband-hdr", "gige")
    says(["machine", "show", "frontier"], "Origin of the figures")
    pathlib.Path("study.yaml").write_text(STUDY, encoding="ascii")
    weft("sweep", "study.yaml", "-q", "-o", "points", "--table", "table.csv", "--plot", "bars.svg")
    with open("table.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    times = {(row["machine"], row["source"]): int(row["predicted_time_ps"]) for row in rows}
    check(len(times) == 6 and times["gige", "gen:cg"] > times["frontier", "gen:cg"], f"{times}")
    check("infiniband-hdr" in pathlib.Path("bars.svg").read_text(encoding="utf-8"), "bars without names")
    weft("sweep", "study.yaml", "-q", "-o", "table.html")
    page("table.html", "machines and programs", "gige")
    # The cheapest of three, with a machine file of one's own; the page and the table have the same order.
    pathlib.Path("offer.yaml").write_text("include: gige\nname: offer\nsummary: twice the links\nnetwork: {bandwidth: 2Gbit/s}\n"
                                          "price: {node_hour: 0.08}\npower: {idle: 150}\n", encoding="ascii")
    buy = ["table", "gen:stencil3d", "gen:cg", "-n", "32", "--machine", "frontier,gige,offer.yaml", "--price", "frontier=4.5",
           "--price", "gige=0.05", "--sort", "cost", "-q"]
    says(buy, "program", "offer.yaml", "energy", "cost")
    weft(*buy, "-o", "buy.csv", "--plot", "buy.pdf")
    with open("buy.csv", encoding="utf-8") as file:
        costs = [float(row["cost.total"]) for row in csv.DictReader(file)]
    check(len(costs) == 6 and costs == sorted(costs) and costs[0] > 0, f"{costs}")
    weft(*buy, "-o", "buy.html")
    page("buy.html", "offer.yaml", "gen:cg")
    # A machine that is too small has a line that says so, beside the others.
    done = weft("table", "gen:cg", "-n", "512", "--machine", "frontier,gige", "-q", code=3)
    check("512 ranks, 4 on a node, need 128 nodes" in done.stdout and "gen:cg   frontier" in done.stdout, "no table", done)
    # Results of which one has a setting that the other lacks, on one page.
    pathlib.Path("offers").mkdir()
    for name, more in (("as-is", []), ("slower", ["-p", "net.bandwidth=500Mbit/s"])):
        weft("replay", "gen:cg", "-n", "32", "--machine", "gige", *more, "-q", "-o", f"offers/{name}.json")
    weft("table", "offers", "-o", "offers.html")
    page("offers.html", "not set", "500Mbit/s", holds=("document.querySelectorAll('#multiples figure').length === 1",))
    # What a run costs: the nodes that it uses, its time and its energy are in the result.
    weft("replay", "gen:cg", "-n", "32", "--machine", "frontier", "-q", "-o", "run.json")
    result = document("run.json")["result"]
    check(result["nodes_used"] == 4 and result["predicted_time_ps"] == times["frontier", "gen:cg"], f"{result['nodes_used']}")
    finish()


main()

# SPDX-License-Identifier: Apache-2.0
"""weft table: programs on machines, prices, orders, files and folders of results."""
import csv
import json
import pathlib
import re

from weft_cli import check, check_run, finish, parse, run

FEW = ["table", "gen:ring", "gen:coll", "-n", "4", "--ranks-per-node", "1", "--machine", "gige,xc", "-q"]
ERRORS = [
    (["table", "gen:ring"], 2, "'gen:ring' is a program; --machine or --vary is missing"),
    (["table", "nowhere.json"], 3, "cannot read 'nowhere.json'"),
    (["table", "."], 3, "'.' has no result of weft"),
    (["table", ".", "-p", "net.L=1us"], 2, "the arguments are results"),
    ([*FEW, "--price", "frontier=3"], 2, "'frontier=3': the table has no such machine"),
    ([*FEW, "--sort", "prize"], 2, "no point has a result or setting 'prize'"),
    ([*FEW, "--sort", "tme"], 2, "did you mean 'time'"),
    ([*FEW, "-o", "table.pdf"], 2, "must end in .txt, .csv, .json or .html"),
    ([*FEW, "--plot", "table.csv"], 2, "must end in .svg, .png or .pdf"),
    (["table", "gen:ring", "-n", "4", "--machine", "gige,xd"], 3, "unknown machine 'xd'"),
    (["table", "gen:ring", "--vary", "ranks"], 2, "expected a setting and its values"),
]


def check_costs():
    """Cost is the price of the node hours, whether a table, a parameter or a machine file has it."""
    text = check_run([*FEW, "--price", "gige=0.5", "--price", "xc=1000", "--sort", "cost", "--json"], 0)
    points = parse(text)["points"]
    check([p["settings"]["machine"] for p in points[:2]] == ["gige", "gige"], f"{points}")
    for point in points:
        result = point["result"]
        hours = result["nodes_used"] * result["predicted_time_ps"] / 3.6e15
        expected = hours * {"gige": 0.5, "xc": 1000}[point["settings"]["machine"]]
        check(result["nodes_used"] == 4 and abs(result["cost.total"] - expected) < 1e-9 * expected, f"{point}")
    pathlib.Path("own.yaml").write_text("name: own\nnetwork: {model: loggp}\nprice: {node_hour: 3, kwh: 0.5, currency: EUR}\n"
                                        "power: {idle: 1000}\n", encoding="ascii")
    args = ["replay", "gen:ring", "-n", "4", "--machine", "own.yaml", "-q"]
    result = parse(run(*args, "--json"))["result"]
    seconds, nodes = result["predicted_time_ps"] / 1e12, result["nodes_used"]
    check(abs(result["cost"]["total"] / (nodes * seconds * (3 / 3600 + 0.5 / 3600)) - 1) < 1e-9 and
          result["cost"]["currency"] == "EUR", f"{result['cost']}")
    check_run(args, 0, stdout=r"\nCost +\S+ EUR for \S+ node hours\n")
    check_run([*args, "-p", "price.node_hour=-1"], 2, "price.node_hour")
    check("cost" not in parse(run("replay", "gen:ring", "-n", "4", "--json", "-q"))["result"], "a cost without a price")


def check_rows():
    """A row for each program and machine, the first the fastest; the same in every format."""
    done = check_run([*FEW, "--runs", "3", "-p", "uncertainty.net.bandwidth=5%", "-p", "power.idle=100"], 0,
                     stdout=r"^program +machine +nodes +time +90 % of runs +energy\n")
    lines = done.stdout.splitlines()
    check(len(lines) == 5 and re.search(r"^gen:coll +gige +4 +\S+ [mun]s +\S+ [mun]s \.\. \S+ [mun]s +\S+ m?J$", done.stdout, re.MULTILINE), "rows", done)
    check_run([*FEW, "-o", "table.csv", "--plot", "table.pdf"], 0, stdout="^$")
    with open("table.csv", encoding="utf-8") as file:
        times = [int(row["predicted_time_ps"]) for row in csv.DictReader(file)]
    check(len(times) == 4 and times == sorted(times), f"{times}")
    check(pathlib.Path("table.pdf").read_bytes().startswith(b"%PDF-1.4\n"), "table.pdf")
    check_run([*FEW, "-o", "table.csv"], 3, "'table.csv' exists; -f overwrites it")
    falls = check_run([*FEW, "--sort=-time"], 0).stdout.splitlines()
    rises = check_run(FEW, 0).stdout.splitlines()
    check(falls[1:] == rises[:0:-1] and falls[0] == rises[0], f"{falls} {rises}")
    check_run([*FEW, "--vary", "gen.bytes=1KiB,1MiB", "--plot", "bytes.svg"], 0, stdout=r"gen\.bytes")
    check(">1 MiB<" in pathlib.Path("bytes.svg").read_text(encoding="utf-8"), "ticks of sizes")
    bad = check_run(["table", "gen:ring", "-q", "--vary", "ranks=4,0"], 2, "out of range")
    check("4" in bad.stdout and "not run" not in bad.stdout, "the row that ran, and why the other did not", bad)


def check_folder():
    """All results of a folder and those in it, whatever else is there."""
    folder = pathlib.Path("results/deeper")
    folder.mkdir(parents=True)
    for name, latency in (("a", 1), ("deeper/b", 5)):
        check_run(["replay", "gen:ring", "-n", "4", "-p", f"net.L={latency}us", "-q", "-o", f"results/{name}.json"], 0)
    pathlib.Path("results/other.json").write_text("{}", encoding="ascii")
    pathlib.Path("results/note.txt").write_text("a note", encoding="ascii")
    done = check_run(["table", "results"], 0, "1 other file is in these folders", stdout=r"^net\.L +nodes +time\n1us .*\n5us .*\n$")
    check_run(["table", "results", "-q", "-o", "results.html"], 0)
    page = pathlib.Path("results.html").read_text(encoding="utf-8")
    check("weft-sweep-1" in page and "net.L" in page, "the page of a folder", done)
    same = check_run(["table", "results/a.json", "results/a.json", "--json"], 0)
    check([p["settings"]["file"] for p in parse(same)["points"]] == ["results/a.json"] * 2, "equal results have names", same)


def check_curves():
    """--vary: the curves of each value, and each is the curve without it."""
    words = ["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.1,0.3", "--cycles", "1000", "-q"]
    both = parse(check_run([*words, "--vary", "net.routing=minimal,valiant", "--json"], 0))["points"]
    check([p["settings"] for p in both] == [{"net.routing": r} for r in ("minimal", "valiant") for _ in range(2)], f"{both}")
    for i, routing in enumerate(("minimal", "valiant")):
        alone = parse(run(*words, "-p", f"net.routing={routing}", "--json"))["points"]
        for one, other in zip(alone, both[2 * i:2 * i + 2]):
            check(one == {k: v for k, v in other.items() if k != "settings"}, f"{one} {other}")
    check_run([*words, "--vary", "topology=torus:4x4;star:16", "--plot", "curves.svg"], 0,
              stdout=r"(?s)topology=torus:4x4\n.*topology=star:16\n")
    picture = pathlib.Path("curves.svg").read_text(encoding="utf-8")
    check(all(f">{word}<" in picture for word in ("topology", "star:16", "latency, cycles")), "legend of the curves")
    check_run([*words, "--vary", "net.routing=minimal,valiant", "-o", "curves.html"], 0)
    check_run([*words, "--vary", "net.routing=minimal,valiant", "-o", "curves.csv"], 0)
    head = pathlib.Path("curves.csv").read_text(encoding="utf-8").splitlines()
    check(head[0].startswith("net.routing,load,") and head[1].startswith("minimal,0.1,"), f"{head}")


def main():
    for args, code, words in ERRORS:
        check_run(args, code, words)
    check_costs()
    check_rows()
    check_folder()
    check_curves()
    finish()


main()

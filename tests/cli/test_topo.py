# SPDX-License-Identifier: Apache-2.0
"""weft topo: the list, the figures, the document, routes, files, and every mistake."""
import csv
import io
import os
import pathlib
import re
import xml.etree.ElementTree as ElementTree

from weft_cli import check, check_run, finish, parse, run

SVG = "{http://www.w3.org/2000/svg}"
KEYS = {"schema", "version", "spec", "nodes", "routers", "vertices", "links", "one_way",
        "max_ports", "diameter", "average_distance", "bisection_links", "links_per_node",
        "router_ports_per_node", "routers_per_node", "link_classes", "levels",
        "distance_histogram"}
# Words after the command, exit code, what stderr must say.
ERRORS = [
    (["topo"], 2, "no topology; for example: weft topo torus:8x8x8"),
    (["topo", "tours:8x8"], 3, "unknown topology 'tours'.*did you mean 'torus'"),
    (["topo", "lst"], 3, "unknown topology 'lst'"),
    (["topo", "torus:8x0"], 3, "a size of 0"),
    (["topo", "torus:99999x99999x99999"], 3, "torus"),
    (["topo", "torus:4x4/mesh:0"], 3, "a size of 0"),
    (["topo", "torus"], 3, "torus needs its size"),
    (["topo", "star:4,size=5"], 3, r"star: size is given twice \(character 8 of 'star:4,size=5'"),
    (["topo", "torus:4x4/mseh:2"], 3, "unknown topology 'mseh' at character 11 .*mean 'mesh'"),
    (["topo", "torus:4x4/mesh"], 3, "mesh needs its size"),
    (["topo", "star/mesh:4"], 3, "star needs its size"),
    (["topo", "star,4"], 3, "expected a ':' after 'star' at character 5 of 'star,4'"),
    (["topo", "torus:4x4,rap=1,0"], 3, "^weft: torus: unknown parameter 'rap'; .*mean 'wrap'"),
    (["topo", "dragonfly:4,a=8,a=9"], 3, "dragonfly: a is given twice"),
    (["topo", "torus:4x4", "mesh:4"], 2, "also 'mesh:4'"),
    (["topo", "torus:4x4", "--route", "0,1"], 2, "did you mean '--routes'"),
    (["topo", "torus:4x4", "--routes", "0"], 2, "two nodes expected"),
    (["topo", "torus:4x4", "--routes", "0,16"], 2, "node 16 is out of range; expected 0 to 15"),
    (["topo", "torus:4x4", "--routes", "16", "0"], 2, "node 16 is out of range"),
    (["topo", "torus:4x4", "--routes", "0,99999999999999999999"], 2, "out of range"),
    (["topo", "torus:4x4", "--routes", "a,b"], 2, "'a' is not the number of a node"),
    (["topo", "torus:4x4", "--routes=-1,2"], 2, "'-1' is not the number of a node"),
    (["topo", "torus:4x4", "--routes", "1,"], 2, "'' is not the number of a node"),
    (["topo", "list", "--routes", "0,1"], 2, "topo list: --routes needs a topology"),
    (["topo", "list", "-o", "net.svg"], 2, "topo list: --output needs a topology"),
    (["topo", "mesh:1000000000"], 5, "up to 999999999 hops, but they are counted up to 20000000"),
    (["topo", "torus:4x4", "-o", "net.png"], 2, "must end in .svg, .dot or .csv"),
    (["topo", "torus:4x4", "-o", "nowhere/net.svg"], 3, "cannot write 'nowhere/net.svg'"),
    (["topo", "torus:4x4", "-o", "there.svg"], 3, "'there.svg' exists; -f overwrites it"),
    (["topo", "torus:4096x4096", "-o", "big.csv"], 5, "33554432 lines.*-f writes it anyway"),
]


def check_list():
    done = check_run(["topo", "list"], 0)
    names = re.findall(r"^  ([\w+]+):", done.stdout, re.MULTILINE)
    check({"star", "ring", "mesh", "torus"} <= set(names), "list: kinds are missing", done)
    for line in done.stdout.splitlines():
        check(len(line) <= 80, f"list: a line of {len(line)} columns: {line}")
        check(line == line.rstrip(), f"list: white space at the end of a line: {line!r}")
    document = parse(run("topo", "list", "--json"))
    check([kind["name"] for kind in document["topologies"]] == names, "list --json differs")
    for kind in document["topologies"]:
        check(kind["summary"] and kind["args"], f"list --json: no words on {kind['name']}")
        if "example" in kind:
            check_run(["topo", kind["example"]], 0)


def check_figures():
    done = check_run(["topo", "torus:8x8x8"], 0)
    for words in ["Nodes +512", "Routers +512", "Links +1,536", "Ports per router +6",
                  "Diameter +12 hops", "Average distance +6.012 hops", "Bisection +128 links",
                  "Cost per node +links 3, router ports 6, routers 1"]:
        check(re.search(rf"^{words}", done.stdout, re.MULTILINE), f"no '{words}'", done)
    check("Level" not in done.stdout, "a plain network has levels", done)
    check_run(["topo", "mesh:3x3"], 0, stdout="(?m)^Bisection +unknown$")
    check_run(["topo", "torus:4x4/star:4"], 0,
              stdout=r"Level 0 +torus:4x4, .*\nLevel 1 +star:4, .*\nNodes +64\nRouters +16\n")


def check_document():
    document = parse(check_run(["topo", "torus:4x4", "--json"], 0))
    check(set(document) == KEYS, f"keys differ: {sorted(set(document) ^ KEYS)}")
    check(document["spec"] == "torus:4x4" and document["schema"] == "weft-topo-1", "wrong head")
    check((document["nodes"], document["routers"], document["links"], document["diameter"])
          == (16, 16, 32, 4), "torus:4x4: wrong figures")
    histogram = {int(d): n for d, n in document["distance_histogram"].items()}
    check(histogram == {0: 16, 1: 64, 2: 96, 3: 64, 4: 16}, f"wrong histogram: {histogram}")
    average = sum(d * n for d, n in histogram.items()) / (16 * 15)
    check(abs(document["average_distance"] - average) < 1e-12, "wrong average distance")
    check(document["bisection_links"] == 8 and document["max_ports"] == 4, "wrong ports")

    document = parse(check_run(["topo", "star:8", "--json"], 0))
    check((document["routers"], document["router_ports_per_node"], document["routers_per_node"],
           document["links_per_node"]) == (1, 1, 0.125, 1), "star:8: wrong cost")
    check(document["distance_histogram"] == {"0": 8, "2": 56}, "star:8: wrong histogram")

    document = parse(check_run(["topo", "mesh:3", "--json"], 0))
    check(document["bisection_links"] is None, "an unknown bisection is not null")

    document = parse(check_run(["topo", "star:3/mesh:2x2", "--json"], 0))
    check([level["spec"] for level in document["levels"]] == ["star:3", "mesh:2x2"],
          "wrong levels")
    check(document["link_classes"] == ["0.terminal", "1.x", "1.y"], "wrong link classes")
    check((document["nodes"], document["routers"]) == (12, 13), "star:3/mesh:2x2: wrong routers")


def check_routes():
    document = parse(check_run(["topo", "torus:4x4", "--routes", "0", "5", "--json"], 0))
    route = document["route"]
    check(route == {
        "from": 0, "to": 5, "hops": 2, "path": [
            {"vertex": "0", "coords": [0, 0], "port": 0, "next": "1", "class": "x",
             "minimal_ports": [0, 2]},
            {"vertex": "1", "coords": [1, 0], "port": 2, "next": "5", "class": "y",
             "minimal_ports": [2]},
        ]}, f"wrong route: {route}")
    text = check_run(["topo", "torus:4x4", "--routes", "0,5"], 0,
                     stdout=r"^Route from 0 to 5: 2 hops\n").stdout
    check(re.search(r"^ +1 +0 +0,0 +0 +1 +x +2 ports\n +2 +1 +1,0 +2 +5 +y +1 port$", text,
                    re.MULTILINE), f"wrong table: {text}")
    for words in (["torus:4x4", "--routes", "0:5"], ["--routes", "0", "5", "torus:4x4"],
                  ["torus:4x4", "--routes=0", "5"], ["--routes=0,5", "torus:4x4"]):
        check(run("topo", *words).stdout == text, f"{words}: another answer")
    check_run(["topo", "torus:4x4", "--routes", "3,3"], 0, stdout=r"^Route from 3 to 3: 0 hops\n$")
    check_run(["topo", "star:4", "--routes", "1,3"], 0, stdout=r"(?s) 1 +1 .* s0 .*2 +s0 .* 3 ")


def check_svg(spec, nodes, switches, lines):
    check_run(["topo", spec, "-f", "-o", "net.svg"], 0, stdout="^$")
    root = ElementTree.parse("net.svg").getroot()
    check(root.tag == f"{SVG}svg", f"{spec}: no svg")
    groups = {g.get("class"): g for g in root.iter(f"{SVG}g")}
    check(len(groups["nodes"].findall(f"{SVG}circle")) == nodes, f"{spec}: wrong nodes")
    check(len(groups["switches"].findall(f"{SVG}rect")) == switches, f"{spec}: wrong switches")
    drawn = sum(len(root.findall(f".//{SVG}{shape}")) for shape in ("line", "path"))
    check(drawn == lines, f"{spec}: {drawn} lines, expected {lines}")
    text = " ".join(t.text or "" for t in root.iter(f"{SVG}text"))
    check(spec in text and "diameter" in text, f"{spec}: no caption")
    check("http" not in pathlib.Path("net.svg").read_text(encoding="utf-8")
          .replace("http://www.w3.org/2000/svg", ""), f"{spec}: not self-contained")


def check_files():
    check_svg("mesh:8x8", 64, 0, 112)
    check_svg("torus:4x4/star:4", 64, 16, 96)
    check_run(["topo", "mesh:1000000000", "-f", "-o", "net.svg"], 0)
    check_run(["topo", "torus:100x100x100", "-f", "-o", "net.svg"], 0)
    check(os.path.getsize("net.svg") < 500_000, "a large picture")

    check_run(["topo", "star:4", "-o", "net.csv"], 0, stdout="^$")
    table = list(csv.DictReader(io.StringIO(pathlib.Path("net.csv").read_text(encoding="utf-8"))))
    check([(r["from"], r["to"], r["from_port"], r["to_port"]) for r in table]
          == [(str(i), "s0", "0", str(i)) for i in range(4)], f"wrong table: {table}")

    check_run(["topo", "torus:3x3", "-o", "net.dot"], 0, stdout="^$")
    dot = pathlib.Path("net.dot").read_text(encoding="utf-8")
    check(re.fullmatch(r'graph "torus:3x3" \{\n  node \[shape=circle\];\n(  \d+;\n){9}'
                       r"(  \d+ -- \d+;\n){18}\}\n", dot), f"not what Graphviz reads: {dot}")

    document = parse(check_run(["topo", "mesh:2", "-f", "-o", "net.dot", "--json"], 0))
    check(document["nodes"] == 2, "-o with --json: no document")


def one_line(done):
    return done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1


def check_errors():
    pathlib.Path("there.svg").write_text("precious", encoding="utf-8")
    before = sorted(os.listdir())
    for args, code, stderr in ERRORS:
        done = check_run(args, code, stderr)
        check(one_line(done) and done.stdout == "", f"{args}: not one line on stderr", done)
        done = run(*args, "--json")
        document = parse(done)
        check(document.get("error", {}).get("exit_code") == code,
              f"{args} --json: no document with the exit code", done)
    check(sorted(os.listdir()) == before, f"files were left behind: {sorted(os.listdir())}")
    check(pathlib.Path("there.svg").read_text(encoding="utf-8") == "precious", "overwritten")


def main():
    check_list()
    check_figures()
    check_document()
    check_routes()
    check_files()
    check_errors()
    finish()


main()
